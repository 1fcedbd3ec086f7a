"""Claims that a model finds besides those that the rules find.

A model understands pronouns and unusual wordings. It is believed only where the conclusion bears it out: a
claim's text has to stand there letter by letter, a number in that text, and every side somewhere in the
conclusion. What does not is dropped and counted. It adds to the rules' claims and takes none of them away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict, Field

from expbench.grounding.extraction import extract
from expbench.grounding.figures import Figure
from expbench.grounding.passages import Conclusion
from expbench.grounding.settings import Prompt, no_claim
from expbench.judges.asking import Line, NoAnswer, fence
from expbench.judges.reply import parse_as
from expbench.models import load_model
from expbench.prompts import load
from expbench.schema import Extraction, ReportedClaim, ResearchTask

_ATTEMPTS = 2
_REFUSED = ("stands in the task", "quoted", "a reference", "a level of significance")


class _Claim(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = Field(min_length=1, max_length=1_000)
    kind: Literal["number", "relation"]
    value: float | int | None
    unit: Literal["", "percent", "fraction", "seconds", "times", "points", "count"]
    metric: str = Field(max_length=200)
    condition: str = Field(max_length=300)
    relation: Literal["", ">", "<", "=", "ranking", "trend", "crossing", "significance"]
    sides: list[str] = Field(max_length=20)
    essential: bool


class _Claims(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    claims: list[_Claim] = Field(max_length=200)


async def extract_with(
    model: Model | str, conclusion: str, task: ResearchTask, deadline: float = 600, retries: int = 5
) -> Extraction:
    """The claims by rules, and those that a model adds.

    Args:
        model: an Inspect model or its name, ``provider/model``.
        deadline: seconds until a call that gets no answer is given up.
        retries: repetitions of a call that failed for the moment.

    Raises:
        NotFoundError: no provider has that name.
        PrerequisiteError: the provider lacks its package or its key.
    """
    asked = load_model(model) if isinstance(model, str) else model
    known = extract(conclusion, task)
    if not conclusion.strip():
        return Extraction(claims=known)
    line = Line(asked, 1, deadline, retries, shape=_Claims)
    try:
        reply = await _ask(line, conclusion, task)
    except NoAnswer as error:
        return Extraction(claims=known, reason=str(error), usage=line.usage)
    if reply is None:
        return Extraction(claims=known, reason="unparsable reply", usage=line.usage)
    checked = _Checked(Conclusion(conclusion), Prompt(task), known)
    added = [claim for each in reply.claims if (claim := checked.claim(each)) is not None]
    merged = sorted((*known, *added), key=lambda claim: (claim.start, claim.end))
    return Extraction(
        claims=tuple(merged),
        by=f"rules + model {asked}",
        dropped=checked.dropped,
        usage=line.usage,
    )


async def _ask(line: Line, conclusion: str, task: ResearchTask) -> _Claims | None:
    """The model's reply, asked for once more when it is not of the form. Raises NoAnswer."""
    prompt = load("grounding_claims").fill(
        question=task.question, conclusion=conclusion, fence=fence(task.id, conclusion)
    )
    messages: list[ChatMessage] = [ChatMessageUser(content=prompt)]
    for _ in range(_ATTEMPTS):
        output = await line.ask(messages, one_verdict=True)
        reply = parse_as(_Claims, output.completion)
        if reply is not None:
            return reply
        messages += [
            ChatMessageAssistant(content=output.completion or "(empty)"),
            ChatMessageUser(content=load("grounding_again").fill(problem="unparsable reply")),
        ]
    return None


@dataclass
class _Checked:
    """Makes a model's claims into ours, as far as the conclusion has them."""

    conclusion: Conclusion
    prompt: Prompt
    known: Sequence[ReportedClaim]
    dropped: int = 0

    def claim(self, said: _Claim) -> ReportedClaim | None:
        """The claim with its place; ``None`` when it is dropped, or known already."""
        words = said.text.split()
        place = (
            re.search(r"\s+".join(map(re.escape, words)), self.conclusion.text) if words else None
        )
        sides = all(self._stands(side) for side in said.sides)
        if place is None or not sides or (said.kind == "relation") != bool(said.relation):
            self.dropped += 1
            return None
        start, end = place.span()
        return (
            self._number(said, start, end)
            if said.kind == "number"
            else self._relation(said, start, end)
        )

    def _stands(self, side: str) -> bool:
        return " ".join(side.lower().split()) in " ".join(self.conclusion.text.lower().split())

    def _number(self, said: _Claim, start: int, end: int) -> ReportedClaim | None:
        figure = self._figure(said, start, end)
        if figure is None:
            self.dropped += 1
            return None
        if any(
            each.kind == "number" and each.start <= figure.start < each.end for each in self.known
        ):
            return None
        return _reported(said, self.conclusion.text, start, end, figure)

    def _figure(self, said: _Claim, start: int, end: int) -> Figure | None:
        """The one figure of a passage that is the claim's value, and no setting or quotation."""
        for figure in self.conclusion.figures:
            inside = start <= figure.start and figure.number_end <= end
            if (
                inside
                and said.value is not None
                and abs(figure.value - said.value) <= 1e-9 * abs(said.value)
            ):
                passage = self.conclusion.passage(figure.start)
                if (
                    passage
                    and no_claim(self.conclusion, figure, passage, self.prompt) not in _REFUSED
                ):
                    return figure
        return None

    def _relation(self, said: _Claim, start: int, end: int) -> ReportedClaim | None:
        same = (
            each
            for each in self.known
            if each.relation == said.relation and each.kind == "relation"
        )
        if any(each.start < end and start < each.end for each in same):
            return None
        return _reported(said, self.conclusion.text, start, end, None)


def _reported(
    said: _Claim, text: str, start: int, end: int, figure: Figure | None
) -> ReportedClaim:
    return ReportedClaim(
        text=text[start:end],
        kind=said.kind,
        start=start,
        end=end,
        value=figure.value if figure else None,
        error=figure.error if figure else None,
        unit=(figure.unit or said.unit) if figure else "",
        metric=said.metric,
        condition=said.condition,
        relation=said.relation if figure is None else "",
        sides=tuple(said.sides),
        essential=said.essential,
    )
