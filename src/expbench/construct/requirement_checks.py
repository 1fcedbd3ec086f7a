"""What is wrong with steps and instructions that a model has worded: the trace and the lint decide.

Lines and values are the trace's. A step that names a place that is not in it, lines that the repository does
not have, or a number that does not stand in them, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field

from expbench.construct.records import Draft, DraftField
from expbench.construct.task import research_task, workspace_path
from expbench.dataset.lint import lint_text
from expbench.dataset.recipe import Files
from expbench.dataset.release import Paper
from expbench.tracer.graph import Span, Step

FEWEST, MOST = 3, 20
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*\d|\d)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
_FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]\w{0,5}\b")
_INSTRUCTION_RULES = frozenset({"result_in_prompt", "paper_reference", "mask_named_in_prompt"})


class StepReply(BaseModel):
    """One step: the places that it rests on, the main one first, and its wording."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    places: list[str] = Field(min_length=1, max_length=6)
    text: str = Field(min_length=10, max_length=600)


class StepsReply(BaseModel):
    """All steps in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    steps: list[StepReply] = Field(max_length=60)


class InstructionsReply(BaseModel):
    """The task's instructions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agent_instructions: str = Field(min_length=40, max_length=12_000)


def wrong_steps(
    reply: StepsReply, places: Mapping[str, Step], mask: Sequence[str], files: Files
) -> str:
    """All that is wrong with steps; empty when nothing is."""
    return "; ".join(list(dict.fromkeys(_step_faults(reply, places, mask, files)))[:6])


def _step_faults(
    reply: StepsReply, places: Mapping[str, Step], mask: Sequence[str], files: Files
) -> Iterator[str]:
    if not min(FEWEST, len(places)) <= len(reply.steps) <= MOST:
        yield f"there are {len(reply.steps)} steps, and it has to be {FEWEST} to {MOST}"
    for number, step in enumerate(reply.steps, 1):
        unknown = [name for name in step.places if name not in places]
        if unknown:
            yield f"step {number} names the place {unknown[0]!r}, which there is not"
            continue
        known = [places[name] for name in step.places]
        if known[0].span.path not in mask:
            yield f"step {number} is already in the repository: its main place has to be one to write"
        for fault in filter(None, (wrong_span(each.span, files) for each in known)):
            yield f"step {number}: {fault}"
        if strange := strange_numbers(step.text, known, files):
            yield (
                f"step {number} states {', '.join(strange[:4])}, which does not stand in its lines: "
                "leave it out or add the place where it stands"
            )
        if (
            re.match(r"\s*(?:final\s+)?step\b", step.text, re.IGNORECASE)
            or "/workspace/" in step.text
        ):
            yield f"step {number} is worded without a number and without paths"


def wrong_span(span: Span, files: Files) -> str:
    """Why lines are none of the repository's; empty when they are."""
    if span.path not in files.paths:
        return f"{span.path} is no file of the repository"
    count = len(files.read(span.path).splitlines())
    if not 1 <= span.start <= span.end <= count:
        return f"{span.path} has no lines {span.start}-{span.end} ({count} in all)"
    return ""


def strange_numbers(text: str, steps: Sequence[Step], files: Files) -> tuple[str, ...]:
    """The numbers of a wording that stand neither in the lines of its places nor in their values."""
    said = [excerpt(files, step.span) for step in steps]
    said += [f"{name} {value}" for step in steps for name, value in step.values.items()]
    known = _values("\n".join(said))
    return tuple(
        written
        for written, value in _numbers(text)
        if value not in known and value / 100 not in known
    )


def excerpt(files: Files, span: Span) -> str:
    """The lines of a span."""
    return "\n".join(files.read(span.path).splitlines()[span.start - 1 : span.end])


def requirement_fields(reply: StepsReply, places: Mapping[str, Step]) -> dict[str, DraftField]:
    """The steps in the release's form: ``Step 3: … (/workspace/path:12-40, …)``."""
    found = {}
    last = len(reply.steps) - 1
    for number, step in enumerate(reply.steps):
        spans = tuple(dict.fromkeys(places[name].span for name in step.places))
        head = "Final Step" if number == last else f"Step {number + 1}"
        cited = ", ".join(map(_cited, spans))
        text = step.text.strip().rstrip(".")
        found[f"requirements/{number}"] = DraftField(
            value=f"{head}: {text} ({cited})", spans=spans, stage="write"
        )
    return found


def wrong_instructions(text: str, draft: Draft, paper: Paper, files: Files) -> str:
    """Why instructions cannot be given to an agent; empty when they can.

    Args:
        draft: with its mask.
    """
    names = {PurePosixPath(path).name for path in files.paths}
    told = [
        match.group()
        for match in _FILE.finditer(text)
        if match.group().removeprefix("/workspace/") in files.paths
        or PurePosixPath(match.group()).name in names
    ]
    faults = [f"it names the file {name}" for name in dict.fromkeys(told)]
    fields = {**draft.fields, "agent_instructions": DraftField(value=text, stage="write")}
    task = research_task(draft.model_copy(update={"fields": fields}), paper)
    faults += [
        f"{each.rule}: {each.evidence}"
        for each in lint_text(task)
        if each.rule in _INSTRUCTION_RULES and each.place.startswith("instructions")
    ]
    return "; ".join(faults[:5])


def _cited(span: Span) -> str:
    lines = str(span.start) if span.start == span.end else f"{span.start}-{span.end}"
    return f"{workspace_path(span.path)}:{lines}"


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    for match in _NUMBER.finditer(text):
        yield match.group(), abs(float(match.group().replace(",", "")))


def _values(text: str) -> set[float]:
    loose = re.findall(r"\d[\d_,]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+", text)
    found = set()
    for written in loose:
        for form in (written, *written.split(",")):
            try:
                found.add(abs(float(form.replace(",", "").replace("_", ""))))
            except ValueError:
                continue
    return found
