"""The released data set's files, read into clean tasks.

A paper's file is ``<venue>/<paper>/<paper>_complete_final.json`` with a list ``questions``. Its
variants (design nested twice, a method that is an object, masks that stand in ``source``) end here:
past this module there are only typed records. The release does not say where a paper's code is; its
repository and the commit it is pinned to come from ``papers.json`` in this package.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_core import from_json

from expbench.dataset.citations import repository_path, requirement_fields
from expbench.errors import DataError
from expbench.schema import (
    Record,
    Repository,
    ResearchTask,
)

SUFFIX = "_complete_final.json"
ORACLE_NAME = "oracle"
"""The folder beside a task file that holds solutions, each in a folder with its task's index."""


class Paper(Record):
    """Facts about a paper that its task file lacks.

    ``tree`` is the id of the pinned commit's tree, empty where it is not known; ``task_trees`` has the
    trees of commits that the errata pin single tasks to. ``describe`` is the answer of ``git describe
    --tags --long`` at the pinned commit, empty where no tag leads to it.
    """

    id: str
    venue: str
    title: str
    category: str
    url: str
    commit: str = ""
    tree: str = ""
    describe: str = ""
    submodules: tuple[str, ...] = ()
    task_trees: dict[str, str] = Field(default_factory=dict)


@functools.cache
def released_papers() -> dict[tuple[str, str], Paper]:
    """The 51 papers of the release by (venue, id), with pinned commits."""
    text = resources.files("expbench.dataset").joinpath("papers.json").read_text("utf-8")
    papers = [Paper.model_validate(entry) for entry in json.loads(text)]
    return {(paper.venue, paper.id): paper for paper in papers}


def known_tree(commit: str) -> str:
    """The id of the tree that a pinned commit of the release has; empty where it is not known."""
    for paper in released_papers().values():
        if commit == paper.commit:
            return paper.tree
        if commit in paper.task_trees:
            return paper.task_trees[commit]
    return ""


def known_describe(commit: str) -> str:
    """What ``git describe --tags --long`` says of a pinned commit of the release; empty where unknown."""
    return next((p.describe for p in released_papers().values() if p.commit == commit), "")


def release_id(data: Path) -> str:
    """A digest of the task files' names and contents: the version of the data as released."""
    digest = hashlib.sha256()
    for file in sorted(data.glob(f"*/*/*{SUFFIX}")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(data).as_posix()} {len(content)}\0".encode())
        digest.update(content)
    return f"sha256:{digest.hexdigest()}"


def load_release(data: Path) -> tuple[ResearchTask, ...]:
    """All tasks under ``data``, in the order of venue, paper and index.

    Python's collector is off meanwhile: it would walk the growing list of records again and again, a
    third of the time, and nothing here makes cycles.

    Raises:
        DataError: ``data`` is not a folder of the release, or a file in it cannot be read.
    """
    files = sorted(data.glob(f"*/*/*{SUFFIX}"))
    if not files:
        raise DataError(
            f"No task files (<venue>/<paper>/<paper>{SUFFIX}) under {data}: "
            "point --data or EXPBENCH_DATA at the released data set."
        )
    collecting = gc.isenabled()
    gc.disable()
    try:
        return tuple(task for file in files for task in load_paper(file, _paper_of(file)))
    finally:
        if collecting:
            gc.enable()


def _paper_of(file: Path) -> Paper:
    """The paper of a task file by its place; one that is not of the release has no facts yet."""
    paper_id, venue = file.parent.name, file.parent.parent.name
    unknown = Paper(id=paper_id, venue=venue, title="", category="", url="")
    return released_papers().get((venue, paper_id), unknown)


def load_paper(file: Path, paper: Paper) -> tuple[ResearchTask, ...]:
    """The tasks of one paper's file.

    Raises:
        DataError: the file is not JSON or a question lacks a field; the text names file and field.
    """
    try:
        content = from_json(file.read_bytes())
    except OSError as error:
        raise DataError(
            f"{file} cannot be read ({error.strerror}): check its permissions."
        ) from None
    except ValueError as error:
        raise DataError(f"{file} is not valid JSON ({error}): fetch the file again.") from None
    questions = content.get("questions") if isinstance(content, dict) else None
    if not isinstance(questions, list):
        raise DataError(f"{file} has no list 'questions': it is not a task file of the release.")
    paper = _with_repository(file, paper, content.get("repository"))
    tasks = tuple(_task(file, paper, index, entry) for index, entry in enumerate(questions))
    return _with_solutions(file.parent / ORACLE_NAME, tasks)


def _with_solutions(folder: Path, tasks: tuple[ResearchTask, ...]) -> tuple[ResearchTask, ...]:
    """The tasks, each with the folder of its oracle solution where there is one."""
    if not folder.is_dir():
        return tasks
    found = {task.id: folder / task.id.rsplit("/", 1)[1] for task in tasks}
    return tuple(
        task.model_copy(update={"solution": str(found[task.id])})
        if found[task.id].is_dir()
        else task
        for task in tasks
    )


def task_of_entry(entry: Mapping[str, Any], paper: Paper, index: int = 0) -> ResearchTask:
    """The task that an entry of ``questions`` would be, before there is a file. Raises DataError."""
    return _task(Path(f"{paper.id}{SUFFIX}"), paper, index, dict(entry))


def _with_repository(file: Path, paper: Paper, given: Any) -> Paper:
    """A paper that is not of the release names its repository itself: ``{"url", "commit"}``."""
    if given is None:
        return paper
    try:
        repository = Repository.model_validate(given)
    except ValidationError as error:
        where = ".".join(["repository", *map(str, error.errors()[0]["loc"])])
        raise DataError(f"{file}, {where}: {error.errors()[0]['msg']}.") from None
    return paper.model_copy(update=repository.model_dump())


def _task(file: Path, paper: Paper, index: int, entry: Any) -> ResearchTask:
    place = f"{file}, question {index}"
    if not isinstance(entry, dict):
        raise DataError(f"{place} is not an object.")
    missing = [name for name in ("question", "method", "expected_outcome") if not entry.get(name)]
    if missing:
        raise DataError(f"{place} lacks {', '.join(missing)}.")
    try:
        return ResearchTask.model_validate(_fields(paper, index, entry))
    except (ValidationError, TypeError) as error:
        raise DataError(f"{place} cannot be read: {_explain(error)}.") from None


def _fields(paper: Paper, index: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """A task's fields, validated all at once by the caller: that is twice as fast as one by one."""
    return {
        "id": f"{paper.venue}/{paper.id}/{index}",
        "paper": f"{paper.venue}/{paper.id}",
        "venue": paper.venue,
        "title": paper.title,
        "category": paper.category,
        "type": _type(entry),
        "repository": {
            "url": paper.url,
            "commit": paper.commit,
            "submodules": paper.submodules,
        },
        "question": _string(entry, "question"),
        "method": _text(_typed(entry, "method", (str, dict))),
        "instructions": _string(entry, "agent_instructions"),
        "mask": _mask(entry),
        "reference": _reference(entry),
    }


def _type(entry: Mapping[str, Any]) -> Literal[1, 2, 3]:
    if "no_answer" in entry:
        return 3
    return 2 if "mode" in entry else 1


def _mask(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Type 1 tasks mask ``masked_source``, type 2 tasks their ``source``, type 3 nothing."""
    field = {1: "masked_source", 2: "source", 3: ""}[_type(entry)]
    return tuple(dict.fromkeys(map(repository_path, _strings(entry, field))))


def _reference(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "design": _design(_typed(entry, "design_complexity", (dict,)) or {}),
        "requirements": tuple(map(requirement_fields, _strings(entry, "requirements"))),
        "conclusion": _string(entry, "expected_outcome"),
        "claims": tuple(_typed(entry, "claims", (list,)) or ()),
        "source": tuple(map(repository_path, _strings(entry, "source"))),
        "usage": _string(entry, "usage_instructions"),
    }


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


def _design(complexity: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The design's variables; 41 tasks of the release nest the object in itself once more."""
    inner = complexity.get("design_complexity")
    variables = inner if isinstance(inner, dict) else complexity
    return tuple(
        {"kind": kind, "name": name, "values": _values(value)}
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
