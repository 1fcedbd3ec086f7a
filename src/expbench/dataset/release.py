"""The released data set's files, read into clean tasks.

A paper's file is ``<venue>/<paper>/<paper>_complete_final.json`` with a list ``questions``. Its
variants (design nested twice, a method that is an object, masks that stand in ``source``) end here:
past this module there are only typed records. The release does not say where a paper's code is; its
repository and the commit it is pinned to come from ``papers.json`` in this package.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from expbench.dataset.citations import parse_requirement, repository_path
from expbench.errors import DataError
from expbench.schema import (
    Claim,
    DesignItem,
    Record,
    Reference,
    Repository,
    ResearchTask,
)

SUFFIX = "_complete_final.json"


class Paper(Record):
    """Facts about a paper that its task file lacks; ``task_pins`` are commits of single tasks."""

    id: str
    venue: str
    title: str
    category: str
    url: str
    commit: str = ""
    submodules: tuple[str, ...] = ()
    task_pins: dict[str, str] = Field(default_factory=dict)


@functools.cache
def released_papers() -> dict[tuple[str, str], Paper]:
    """The 51 papers of the release by (venue, id), with pinned commits."""
    text = resources.files("expbench.dataset").joinpath("papers.json").read_text("utf-8")
    papers = [Paper.model_validate(entry) for entry in json.loads(text)]
    return {(paper.venue, paper.id): paper for paper in papers}


def load_release(data: Path) -> tuple[ResearchTask, ...]:
    """All tasks under ``data``, in the order of venue, paper and index.

    Raises:
        DataError: ``data`` is not a folder of the release, or a file in it cannot be read.
    """
    files = sorted(data.glob(f"*/*/*{SUFFIX}"))
    if not files:
        raise DataError(
            f"No task files (<venue>/<paper>/<paper>{SUFFIX}) under {data}: "
            "point --data or EXPBENCH_DATA at the released data set."
        )
    known = released_papers()
    tasks: list[ResearchTask] = []
    for file in files:
        paper_id, venue = file.parent.name, file.parent.parent.name
        paper = known.get((venue, paper_id)) or Paper(
            id=paper_id, venue=venue, title="", category="", url=""
        )
        tasks.extend(load_paper(file, paper))
    return tuple(tasks)


def load_paper(file: Path, paper: Paper) -> tuple[ResearchTask, ...]:
    """The tasks of one paper's file.

    Raises:
        DataError: the file is not JSON or a question lacks a field; the text names file and field.
    """
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise DataError(
            f"{file} cannot be read ({error.strerror}): check its permissions."
        ) from None
    except ValueError as error:
        raise DataError(f"{file} is not valid JSON ({error}): fetch the file again.") from None
    except RecursionError:
        raise DataError(f"{file} nests too deeply to be a task file of the release.") from None
    questions = content.get("questions") if isinstance(content, dict) else None
    if not isinstance(questions, list):
        raise DataError(f"{file} has no list 'questions': it is not a task file of the release.")
    paper = _with_repository(file, paper, content.get("repository"))
    return tuple(_task(file, paper, index, entry) for index, entry in enumerate(questions))


def _with_repository(file: Path, paper: Paper, given: Any) -> Paper:
    """A paper that is not of the release names its repository itself: ``{"url", "commit"}``."""
    if given is None:
        return paper
    try:
        repository = Repository.model_validate(given)
    except ValidationError as error:
        where = ".".join(["repository", *map(str, error.errors()[0]["loc"])])
        raise DataError(f"{file}, {where}: {error.errors()[0]['msg']}.") from None
    return paper.model_copy(update={**repository.model_dump(), "task_pins": {}})


def _task(file: Path, paper: Paper, index: int, entry: Any) -> ResearchTask:
    place = f"{file}, question {index}"
    if not isinstance(entry, dict):
        raise DataError(f"{place} is not an object.")
    missing = [name for name in ("question", "method", "expected_outcome") if not entry.get(name)]
    if missing:
        raise DataError(f"{place} lacks {', '.join(missing)}.")
    try:
        return ResearchTask(
            id=f"{paper.venue}/{paper.id}/{index}",
            paper=f"{paper.venue}/{paper.id}",
            venue=paper.venue,
            title=paper.title,
            category=paper.category,
            type=_type(entry),
            repository=Repository(
                url=paper.url,
                commit=paper.task_pins.get(str(index), paper.commit),
                submodules=paper.submodules,
            ),
            question=_string(entry, "question"),
            method=_text(_typed(entry, "method", (str, dict))),
            instructions=_string(entry, "agent_instructions"),
            mask=_mask(entry),
            reference=_reference(entry),
        )
    except (ValidationError, TypeError) as error:
        raise DataError(f"{place} cannot be read: {_explain(error)}.") from None


def _type(entry: Mapping[str, Any]) -> Literal[1, 2, 3]:
    if "no_answer" in entry:
        return 3
    return 2 if "mode" in entry else 1


def _mask(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Type 1 tasks mask ``masked_source``, type 2 tasks their ``source``, type 3 nothing."""
    field = {1: "masked_source", 2: "source", 3: ""}[_type(entry)]
    return tuple(dict.fromkeys(map(repository_path, _strings(entry, field))))


def _reference(entry: Mapping[str, Any]) -> Reference:
    return Reference(
        design=_design(_typed(entry, "design_complexity", (dict,)) or {}),
        requirements=tuple(map(parse_requirement, _strings(entry, "requirements"))),
        conclusion=_string(entry, "expected_outcome"),
        claims=tuple(map(Claim.model_validate, _typed(entry, "claims", (list,)) or ())),
        source=tuple(map(repository_path, _strings(entry, "source"))),
        usage=_string(entry, "usage_instructions"),
    )


def _typed(entry: Mapping[str, Any], field: str, types: tuple[type, ...]) -> Any:
    """A field's value, or None where it is absent or null. Raises TypeError, naming the field."""
    value = entry.get(field)
    if value is not None and not isinstance(value, types):
        wanted = " or ".join(_JSON_NAMES[kind] for kind in types)
        raise TypeError(f"its field {field!r} is not {wanted}")
    return value


def _string(entry: Mapping[str, Any], field: str) -> str:
    return str(_typed(entry, field, (str,)) or "")


def _strings(entry: Mapping[str, Any], field: str) -> tuple[str, ...]:
    values = _typed(entry, field, (list,)) or ()
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"its field {field!r} does not hold texts only")
    return tuple(values)


def _explain(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return str(error)
    first = error.errors()[0]
    place = ".".join(map(str, (error.title, *first["loc"])))
    return f"{place}: {first['msg']}"


_JSON_NAMES: Mapping[type, str] = {str: "a text", dict: "an object", list: "a list"}
_KINDS: tuple[Literal["constant", "independent", "dependent"], ...] = (
    "constant",
    "independent",
    "dependent",
)


def _design(complexity: Mapping[str, Any]) -> tuple[DesignItem, ...]:
    """The design's variables; 41 tasks of the release nest the object in itself once more."""
    inner = complexity.get("design_complexity")
    variables = inner if isinstance(inner, dict) else complexity
    return tuple(
        DesignItem(kind=kind, name=name, values=_values(value))
        for kind in _KINDS
        for name, value in (_typed(variables, f"{kind}_variables", (dict,)) or {}).items()
    )


def _values(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(_text(part) for part in value)
    if isinstance(value, dict):
        return tuple(f"{name}: {_text(part)}" for name, part in value.items())
    return (_text(value),)


def _text(value: Any) -> str:
    """A field as readable text; objects and lists become one ``name: value`` line for each leaf."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "; ".join(_text(part) for part in value)
    return str(value)
