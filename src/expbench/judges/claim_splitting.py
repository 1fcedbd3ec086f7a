"""Splitting a conclusion into claims by a model, which is believed only where the text bears it out.

A model reads what rules cannot: pronouns, lists without verbs, what answers the question. It also sharpens,
merges and invents. So each claim quotes the passage that it is made of, which must stand in the conclusion;
every number and every name in its wording must stand there too; and no finding that the rules call essential
may be left out. A split that breaks any of this is asked for once more and then refused as a whole, and the
rules' split is used, with the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict, Field

from expbench.dataset.claims import Span, StoredSplit, digest_of, split_by_rules
from expbench.errors import DataError
from expbench.judges.asking import Line, NoAnswer, fence
from expbench.judges.reply import parse_as
from expbench.models import load_model
from expbench.prompts import load
from expbench.schema import Claim, ResearchTask, Usage

_ATTEMPTS = 2
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(
    r"(?<![\w-])(?:\w*[a-z]\w*[A-Z]\w*|[A-Z]{2,}\w*|[A-Za-z]+[-_]?\d[\w.-]*)(?![\w-])"
)
"""Words written like names: *InfLLM*, *OPRO*, *SGD2*; a capital at a sentence's start is none."""


class _Claim(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    quote: str = Field(min_length=1)
    text: str = Field(min_length=1)
    kind: Literal["relation", "number", "condition", "statement"]
    essential: bool


class _Claims(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    claims: list[_Claim] = Field(min_length=1, max_length=60)


@dataclass(frozen=True)
class ModelSplit:
    """A split, ready to be stored; ``refused`` says why it is the rules' where the model's was not used."""

    split: StoredSplit
    claims: tuple[Claim, ...]
    refused: str = ""
    usage: Usage = field(default_factory=Usage)


class _UngroundedError(Exception):
    """A model's split says what the conclusion does not; the text says what."""


async def split_with(
    model: Model | str, task: ResearchTask, deadline: float = 600, retries: int = 5
) -> ModelSplit:
    """A task's conclusion split by a model, or by rules where its split is refused.

    Args:
        model: an Inspect model or its name, ``provider/model``.
        deadline: seconds until a call that gets no answer is given up.
        retries: repetitions of a call that failed for the moment.

    Raises:
        NotFoundError: no provider has that name.
        PrerequisiteError: the provider lacks its package or its key.
        DataError: the task has no conclusion.
    """
    asked = load_model(model) if isinstance(model, str) else model
    conclusion = task.reference.conclusion
    by_rules = split_by_rules(task)
    if by_rules is None:
        raise DataError(f"Task {task.id} has no conclusion: there is nothing to split.")
    line = Line(asked, 1, deadline, retries, shape=_Claims)
    try:
        spans = await _spans(line, task, by_rules)
    except (NoAnswer, _UngroundedError) as error:
        claims = by_rules.claims_for(conclusion)
        return ModelSplit(by_rules, claims, refused=str(error), usage=line.usage)
    made = StoredSplit(conclusion_sha256=digest_of(conclusion), by=f"model {asked}", claims=spans)
    return ModelSplit(made, made.claims_for(conclusion), usage=line.usage)


async def _spans(line: Line, task: ResearchTask, by_rules: StoredSplit) -> tuple[Span, ...]:
    """The model's claims as places in the conclusion. Raises NoAnswer and _UngroundedError."""
    conclusion = task.reference.conclusion
    prompt = load("claims_split").fill(
        question=task.question, conclusion=conclusion, fence=fence(task.id, conclusion)
    )
    messages: list[ChatMessage] = [ChatMessageUser(content=prompt)]
    problem = "unparsable reply"
    for _ in range(_ATTEMPTS):
        output = await line.ask(messages, one_verdict=True)
        reply = parse_as(_Claims, output.completion)
        problem = "unparsable reply"
        if reply is not None:
            try:
                return _grounded(reply, conclusion, by_rules)
            except _UngroundedError as error:
                problem = str(error)
        messages += [
            ChatMessageAssistant(content=output.completion or "(empty)"),
            ChatMessageUser(content=load("paper_again").fill(problem=problem)),
        ]
    raise _UngroundedError(problem)


def _grounded(reply: _Claims, conclusion: str, by_rules: StoredSplit) -> tuple[Span, ...]:
    spans = tuple(_span(claim, conclusion) for claim in reply.claims)
    if not any(span.essential for span in spans):
        raise _UngroundedError("no claim is essential")
    for finding in by_rules.claims:
        found = any(s.start < finding.end and finding.start < s.end for s in spans)
        if finding.essential and not found:
            lost = " ".join(conclusion[finding.start : finding.end].split())
            raise _UngroundedError(f"it leaves out {lost[:80]!r}")
    return spans


def _span(claim: _Claim, conclusion: str) -> Span:
    words = claim.quote.split()
    place = re.search(r"\s+".join(map(re.escape, words)), conclusion) if words else None
    if place is None:
        raise _UngroundedError(f"{claim.quote[:80]!r} does not stand in the conclusion")
    known = set(_NUMBER.findall(conclusion))
    if invented := [n for n in _NUMBER.findall(claim.text) if n not in known]:
        raise _UngroundedError(f"the number {invented[0]} does not stand in the conclusion")
    low = conclusion.lower()
    if invented := [n for n in _NAME.findall(claim.text) if n.lower() not in low]:
        raise _UngroundedError(f"the name {invented[0]} does not stand in the conclusion")
    same = claim.text.split() == words
    return Span(
        start=place.start(),
        end=place.end(),
        kind=claim.kind,
        essential=claim.essential,
        text="" if same else " ".join(claim.text.split()),
    )
