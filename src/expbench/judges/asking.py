"""Asking a model: prompts, the fence around a submission, and calls that end.

A submission is hostile text. It stands between two lines that carry a digest of all that was handed
in for the phase, and everything outside them is ours. Whether an attacker can predict the fence: the
digest's recipe is public, so a submission can compute the fence of any *other* text; to hold its own
it would have to contain its own digest, a fixed point of SHA-256 cut to 128 bits that nobody knows how to
find, and if it did, :func:`fence` would digest once more until the text does not hold it. A submission is
fixed before it is judged, so there is no second try with the fence in view. A random fence would be no
harder to guess, but equal questions would then never be equal texts: neither a provider's prompt cache nor
stored verdicts (which are found by what shaped them) would work, and no judgement could be repeated.

Inspect repeats what a provider calls transient (rate limits, 5xx, lost connections) with exponential
back-off from three seconds on, for ever unless it is bounded; here it is. A call that gets no answer within
the deadline, and every other error, ends as :class:`NoAnswer`, which is no verdict.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import json_schema
from pydantic import BaseModel

from expbench.judges.base import PHASES
from expbench.judges.reply import MOST_FILES, Reply
from expbench.models import usage_of
from expbench.prompts import load
from expbench.schema import Phase, ResearchTask, RubricItem, Usage

PROMPTS = (
    *("judge_frame", "judge_item", "judge_items", "judge_again", "judge_had", "judge_files"),
    *(f"judge_{phase}" for phase in PHASES),
)
_FENCE_DIGITS = 32
_HOPELESS = 5
"""After so many calls in a row without an answer a submission's other items are not asked."""


class NoAnswer(Exception):  # noqa: N818
    """A model gave no answer; the text says why, in words for a verdict's reason."""


@dataclass
class Line:
    """All calls about one submission: how many run together, how long each takes, what they used.

    Attributes:
        deadline: seconds for one call, repetitions included; the last one may begin just before.
        retries: how often a transient error is repeated.
    """

    model: Model
    concurrency: int
    deadline: float
    retries: int
    structured: bool = True
    shape: type[BaseModel] = Reply
    """What one answer looks like, where it is asked for by schema."""
    usage: Usage = field(default_factory=Usage)
    _failed: int = 0
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.concurrency)

    async def ask(self, messages: Sequence[ChatMessage], one_verdict: bool) -> ModelOutput:
        """The model's answer; by schema where it has to be ``one_verdict``. Raises NoAnswer."""
        async with self._slots:
            if self._failed >= _HOPELESS:
                raise NoAnswer(f"model error: {self._failed} calls in a row got no answer")
            try:
                output = await self._generate(list(messages), one_verdict)
            except Exception as error:  # a broken instrument must not end the run or cost the agent
                self._failed += 1
                raise NoAnswer(self._why(error)) from None
            self._failed = 0
            self.usage += usage_of(output, self.model)
            return output

    async def _generate(self, messages: list[ChatMessage], one_verdict: bool) -> ModelOutput:
        seconds = max(1, math.ceil(self.deadline))
        plain = GenerateConfig(
            max_retries=self.retries, attempt_timeout=seconds, timeout=seconds, cache=False
        )
        if not (self.structured and one_verdict):
            return await self.model.generate(messages, config=plain)
        try:
            schema = ResponseSchema(name="verdict", json_schema=json_schema(self.shape))
            by_schema = plain.merge(GenerateConfig(response_schema=schema))
            return await self.model.generate(messages, config=by_schema)
        except Exception as error:  # perhaps only the schema was refused: that differs by provider
            if _repeated(error) is not None:
                raise
            output = await self.model.generate(messages, config=plain)
            self.structured = False
            return output

    def _why(self, error: Exception) -> str:
        kind = type(_repeated(error) or error).__name__
        if "Timeout" in kind:
            return f"model error: no answer within {self.deadline:g} s"
        return f"model error: {kind}"


def _repeated(error: Exception) -> BaseException | None:
    """What a call failed with that was repeated in vain; Inspect wraps it (tenacity's RetryError)."""
    attempt = getattr(error, "last_attempt", None)
    found = attempt.exception() if attempt is not None else None
    return found if isinstance(found, BaseException) else None


def fence(*texts: str) -> str:
    """A line's mark that follows from ``texts`` and stands in none of them."""
    whole = "\0".join(texts)
    mark = hashlib.sha256(whole.encode()).hexdigest()[:_FENCE_DIGITS]
    while mark in whole:
        mark = hashlib.sha256(mark.encode()).hexdigest()[:_FENCE_DIGITS]
    return mark


def opening(
    task: ResearchTask, items: Sequence[RubricItem], had: str, shown: str, mark: str, code_room: int
) -> ChatMessage:
    """The first message: what all items of a phase share, then the question about these.

    ``code_room`` is how many characters of the authors' code one item may bring.
    """
    phase = items[0].phase
    frame = load("judge_frame").fill(
        instructions=load(f"judge_{phase}").text,
        fence=mark,
        question=task.question,
        method=task.method,
        had=had,
        submission=shown,
    )
    return ChatMessageUser(
        content=[ContentText(text=frame), ContentText(text=_question(items, phase, code_room))]
    )


def had_text(masked: str, files: str) -> str:
    """What the agent had, and that files of it can be asked for."""
    return "\n" + load("judge_had").fill(masked=masked, files=files, most=str(MOST_FILES))


def _question(items: Sequence[RubricItem], phase: Phase, code_room: int) -> str:
    if len(items) == 1:
        (item,) = items
        return load("judge_item").fill(
            kind=f"{phase}, {item.kind}", item=item.text, code=_code(item, code_room)
        )
    each = (
        f"id {item.id} ({phase}, {item.kind}):\n{item.text}\n{_code(item, code_room)}"
        for item in items
    )
    return load("judge_items").fill(items="\n".join(each), count=str(len(items)))


def _code(item: RubricItem, room: int) -> str:
    if not item.code:
        return ""
    left_out = len(item.code) - room
    note = f"\n[... {left_out} more characters of it are not shown]" if left_out > 0 else ""
    return f"\nThe authors' code for it:\n{item.code[:room]}{note}\n"
