"""What is wrong with an extracted task: the defects that the release's authors had to patch, found by rule.

A reply with any of them goes back to the model with the reason, and is refused with it in the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from expbench.construct.evidence import Quote, passages, unfounded_numbers, wrong_quote
from expbench.construct.records import Draft, DraftField
from expbench.construct.task import research_task
from expbench.dataset.lint import Finding, lint_text
from expbench.dataset.release import Paper
from expbench.errors import DataError
from expbench.papers.document import Element

_DEFECTS = {
    "result_in_prompt": "the result is stated",
    "paper_reference": "it refers to a table, figure or section of the paper",
    "hedged_outcome": "the outcome is an expectation and not an observation",
    "yes_no_question": "it is a yes/no question that gives the answer away",
    "short_outcome": "the outcome has fewer than 20 words",
    "artefact_outcome": "it asks for a program or file and not for a finding",
}
"""Rules of the lint, none of which an extracted task may break."""
_SECOND = re.compile(
    r"\b(?:in (?:a|another) (?:second|separate|further|different) (?:experiment|study)|separately,|"
    r"second(?:ly)?, (?:how|what|which|when|where)|additionally, (?:how|what|which|when|where)|"
    r"(?:also|furthermore),? (?:in|on) (?:another|a different))",
    re.IGNORECASE,
)
_MOST_SHOWN = 6


class Design(BaseModel):
    """The experiment's variables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    constant_variables: dict[str, Any]
    independent_variables: dict[str, Any]
    dependent_variables: dict[str, Any]


class ClaimReply(BaseModel):
    """One statement of the outcome."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str
    kind: Literal["relation", "number", "condition", "statement"]
    essential: bool


class TaskReply(BaseModel):
    """A whole task, as a model gives it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(max_length=4_000)
    method: str = Field(max_length=12_000)
    expected_outcome: str = Field(max_length=8_000)
    design: Design
    claims: tuple[ClaimReply, ...] = Field(max_length=40)
    experiments: int
    quotes: tuple[Quote, ...] = Field(max_length=200)
    refused: str = ""


def fields_of(
    reply: TaskReply, elements: Mapping[str, Element], title: str
) -> dict[str, DraftField]:
    """The draft's fields, each with the passages that it rests on; quotes must be right ones."""

    def field(name: str, value: Any) -> DraftField:
        return DraftField(
            value=value, passages=passages(reply.quotes, name, elements), stage="extract"
        )

    found = {
        "question": field("question", reply.question.strip()),
        "method": field("method", reply.method.strip()),
        "expected_outcome": field("expected_outcome", reply.expected_outcome.strip()),
        "design_complexity": field("design_complexity", reply.design.model_dump(mode="json")),
    }
    for number, claim in enumerate(reply.claims):
        found[f"claims/{number}"] = field(f"claims/{number}", claim.model_dump(mode="json"))
    return found


def wrong_task(reply: TaskReply, elements: Mapping[str, Element], paper: Paper) -> str:
    """All that is wrong with a reply, as sentences; empty when nothing is."""
    if reply.refused:
        return ""
    wrong = list(dict.fromkeys(_wrong(reply, elements, paper)))
    more = len(wrong) - _MOST_SHOWN
    return "; ".join([*wrong[:_MOST_SHOWN], *([f"and {more} more faults"] if more > 0 else [])])


def _wrong(reply: TaskReply, elements: Mapping[str, Element], paper: Paper) -> Iterator[str]:
    for quote in reply.quotes:
        if fault := wrong_quote(quote, elements):
            yield f"evidence for {quote.field}: {fault}"
    sound = [quote for quote in reply.quotes if not wrong_quote(quote, elements)]
    fields = fields_of(reply.model_copy(update={"quotes": tuple(sound)}), elements, paper.title)
    for name, field in fields.items():
        if not field.passages:
            yield f"{name} has no evidence: quote what it rests on"
    outcome = fields["expected_outcome"]
    if loose := unfounded_numbers(outcome.value, outcome.passages, elements):
        yield (
            f"the numbers {', '.join(loose[:5])} of expected_outcome stand in no element that is quoted "
            "for it"
        )
    if not reply.claims or not any(claim.essential for claim in reply.claims):
        yield "no claim is essential"
    if reply.experiments != 1 or _SECOND.search(reply.question):
        yield "the question asks for more than one experiment: keep one"
    if not (reply.design.independent_variables and reply.design.dependent_variables):
        yield "the design says not what is varied or not what is measured"
    yield from (fault for fault, _ in defects(Draft(id="draft", fields=fields), paper))


def defects(draft: Draft, paper: Paper) -> Iterator[tuple[str, Finding]]:
    """What the lint finds in a draft's text that no extracted task may have, in words."""
    try:
        task = research_task(draft, paper)
    except DataError as error:
        yield (
            str(error),
            Finding(
                task=draft.id, rule="file_shape", severity="error", place="", evidence="", mend=""
            ),
        )
        return
    for finding in lint_text(task):
        if finding.rule in _DEFECTS:
            yield f"{finding.place}: {_DEFECTS[finding.rule]} ({finding.evidence})", finding
