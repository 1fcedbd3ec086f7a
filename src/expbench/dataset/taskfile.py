"""The format of a task file: the release's names, written down as types.

:func:`check_file` tells everything that is wrong with a file of one's own, each fault with its place,
where loading it stops at the first. ``task.schema.json`` in this package is the same as a JSON Schema;
``template.json`` is an example that passes.
"""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from expbench.dataset.lint import Finding, lint_text
from expbench.dataset.lint.finding import finding
from expbench.dataset.release import Paper, load_paper
from expbench.errors import DataError, UserError
from expbench.schema import Claim, Repository, ResearchTask

SCHEMA_NAME = "task.schema.json"
TEMPLATE_NAME = "template.json"
OWN_VENUE = "own"
"""The venue of tasks that are not of the release: ``own/<file's name>/<index>``."""

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


def _inside(path: str) -> str:
    if ".." in path.split("/"):
        raise ValueError("leads out of the repository")
    return path


RepositoryPath = Annotated[
    str, Field(pattern=r"^(/workspace/|/tmp/|[^/\s]).*[^/]$"), AfterValidator(_inside)
]
"""A file of the repository: ``/workspace/src/run.py`` or ``src/run.py``. Only a program that was written
for a task may lie in ``/tmp``."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Design(_Shape):
    """The experiment's variables: name to value, list of values, or named values."""

    constant_variables: dict[str, Any] = {}
    independent_variables: dict[str, Any] = {}
    dependent_variables: dict[str, Any] = {}
    design_complexity: Design | None = None
    """The same once more inside itself, as 41 tasks of the release have it."""
    design_ambiguity: Any = None


class Question(_Shape):
    """One task. The agent reads ``question``, ``method`` and ``agent_instructions``, nothing else."""

    id: Text | None = None
    """A name for your own use; the task's id is ``<venue>/<paper>/<index>``."""
    question: Text
    method: Text | dict[str, Any]
    """What is to be done, in general."""
    expected_outcome: Text
    """The ground truth of the conclusion."""
    agent_instructions: str = ""
    """What the program has to do, in particular."""
    design_complexity: Design | None = None
    """The ground truth of the design."""
    requirements: list[Text] = []
    """The ground truth of the implementation: ``Step 1: … (/workspace/file.py:3-14)``."""
    claims: list[Claim] = []
    """Atomic statements of the outcome; without them the outcome is judged as a whole."""
    source: list[RepositoryPath] = []
    """The authors' scripts that answer the question; masked when ``mode`` is given."""
    masked_source: list[RepositoryPath] = []
    """Files that are taken out of the repository (an experiment of the paper, type 1)."""
    mode: Literal["A", "B"] | None = None
    """Only for tasks made from the repository (type 2): an existing script, or one written for it."""
    no_answer: str | None = None
    """Why no implementation is known (type 3); nothing is masked then."""
    usage_instructions: str = ""
    """How the authors' scripts are run."""
    subsection_source: str = ""
    design_ambiguity: Any = None
    experiment_constraints: Any = None
    experiment_design_ambiguity: Any = None
    experiment_design_complexity: Any = None
    experiment_setup_ambiguity: Any = None
    experiment_setup_complexity: Any = None
    experiment_steps: Any = None
    experiment_uncertainty: Any = None
    random_uncertainty: Any = None
    systematic_uncertainty: Any = None
    setup_ambiguity: Any = None
    reproduction_steps: Any = None
    references: Any = None
    related_figures: Any = None
    related_tables: Any = None
    attention: Any = None
    description_of_the_game: Any = None
    game_states: Any = None


class TaskFile(_Shape):
    """The tasks of one paper."""

    questions: list[Question] = Field(min_length=1)
    repository: Repository | None = None
    """Where the paper's code is: address and commit. The release's papers need none."""
    main_takeaways: Any = None
    follow_up_work_ideas: Any = None


class _Object(dict[str, Any]):
    """A JSON object that remembers the names it was given twice."""

    twice: tuple[str, ...] = ()


def schema_text() -> str:
    """The JSON Schema of a task file, as it is published."""
    schema = TypeAdapter(TaskFile).json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write_template(dest: Path) -> None:
    """Write the example file to a new path.

    Raises:
        UserError: something is there already, or its folder is not.
    """
    text = resources.files("expbench.dataset").joinpath(TEMPLATE_NAME).read_text("utf-8")
    try:
        with dest.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UserError(f"{dest} is there already: name a file that is not.") from None
    except OSError as error:
        raise UserError(f"{dest} cannot be written ({error.strerror}).") from None


def check_file(file: Path) -> tuple[Finding, ...]:
    """Everything that is wrong with a task file; its tasks' text is linted when its shape is right.

    Raises:
        DataError: the file cannot be read at all.
    """
    try:
        content = json.loads(
            file.read_bytes().decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
        )
    except OSError as error:
        raise DataError(f"{file} cannot be read ({error.strerror}).") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return (finding(file.name, "file_syntax", where, error.msg),)
    except (ValueError, RecursionError) as error:
        why = "nests too deeply" if isinstance(error, RecursionError) else str(error)
        return (finding(file.name, "file_syntax", "whole file", why),)
    found = [*_shape_faults(file.name, content), *_duplicates(file.name, content)]
    if not found:
        found += [each for task in tasks_of(file) for each in lint_text(task)]
    return tuple(found)


def tasks_of(file: Path) -> tuple[ResearchTask, ...]:
    """The tasks of one's own file. Raises DataError at the first fault."""
    paper = Paper(
        id=file.stem.removesuffix("_complete_final"), venue=OWN_VENUE, title="", category="", url=""
    )
    return load_paper(file, paper)


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    made.twice = tuple(
        name for name, count in Counter(name for name, _ in pairs).items() if count > 1
    )
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _shape_faults(name: str, content: Any) -> Iterator[Finding]:
    try:
        parsed = TaskFile.model_validate(content)
    except ValidationError as error:
        told: dict[str, list[str]] = {}
        for each in error.errors():
            place = _resolve(content, each["loc"])
            if each["type"] == "extra_forbidden":
                yield finding(name, "unknown_field", place, _similar(str(each["loc"][-1])))
            else:
                told.setdefault(place, []).append(_sentence(each))
        for place, sentences in told.items():
            yield finding(name, "file_shape", place, " or ".join(dict.fromkeys(sentences)))
        return
    for index, question in enumerate(parsed.questions):
        for field, sentence in _kind_faults(question):
            yield finding(name, "file_shape", f"questions[{index}].{field}", sentence)


def _kind_faults(question: Question) -> Iterator[tuple[str, str]]:
    """What the three kinds of tasks need and must not have."""
    if question.no_answer is not None:
        for field in ("masked_source", "requirements", "mode"):
            if getattr(question, field):
                yield field, "a task with 'no_answer' has none"
        return
    if question.mode is None and not question.masked_source:
        yield (
            "masked_source",
            "missing: name the masked files, or say in 'no_answer' why there are none",
        )
    if question.mode is not None and not question.source:
        yield "source", "missing: a task with 'mode' masks its source"


def _duplicates(name: str, content: Any) -> Iterator[Finding]:
    for place, node in _objects(content, ""):
        for twice in node.twice:
            where = f"{place}.{twice}".lstrip(".")
            yield finding(
                name, "duplicate", where, f"the name {twice!r} is given twice; one is lost"
            )
    questions = content.get("questions") if isinstance(content, dict) else None
    for field in ("id", "question"):
        seen: dict[str, int] = {}
        for index, entry in enumerate(questions if isinstance(questions, list) else ()):
            value = entry.get(field) if isinstance(entry, dict) else None
            if isinstance(value, str) and seen.setdefault(" ".join(value.split()), index) != index:
                first = seen[" ".join(value.split())]
                evidence = f"the same as questions[{first}].{field}: {value}"
                yield finding(name, "duplicate", f"questions[{index}].{field}", evidence)


def _objects(node: Any, place: str) -> Iterator[tuple[str, _Object]]:
    if isinstance(node, _Object):
        yield place, node
        for name, part in node.items():
            yield from _objects(part, f"{place}.{name}".lstrip("."))
    elif isinstance(node, list):
        for index, part in enumerate(node):
            yield from _objects(part, f"{place}[{index}]")


def _resolve(content: Any, loc: Sequence[int | str]) -> str:
    """A fault's place in the file, without the names of the alternatives that were tried."""
    node, place = content, ""
    for part in loc:
        if isinstance(part, int) and isinstance(node, list) and part < len(node):
            place, node = f"{place}[{part}]", node[part]
        elif isinstance(node, dict) and (part in node or _FIELDS & {part}):
            place, node = f"{place}.{part}".lstrip("."), node.get(str(part))
    return place or "whole file"


def _similar(name: str) -> str:
    close = difflib.get_close_matches(name, sorted(_FIELDS), n=1)
    return f"{name!r} is no field here" + (f"; did you mean {close[0]!r}?" if close else "")


_FIELDS = frozenset(
    name for shape in (TaskFile, Question, Design, Repository, Claim) for name in shape.model_fields
)


_TYPES: Mapping[str, str] = {
    "missing": "missing",
    "string_type": "is not a text",
    "list_type": "is not a list",
    "dict_type": "is not an object",
    "model_type": "is not an object",
    "model_attributes_type": "is not an object",
    "bool_type": "is not true or false",
    "string_too_short": "is empty",
    "too_short": "is empty",
    "string_pattern_mismatch": "is blank, or no path of a file in the repository",
}


def _sentence(error: Any) -> str:
    return _TYPES.get(error["type"], error["msg"].removeprefix("Value error, "))
