"""Questions to a coder, each answered once: a journal of replies by the digest of what was asked.

The journal holds what the model said and what it cost. A reply that is in it is taken from there, so that a
coding that was killed goes on, and one that is finished is made again byte by byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model
from pydantic import BaseModel, ValidationError

from expbench.durable import append_line, cut_torn_line
from expbench.errors import DataError, UserError
from expbench.judges.asking import Line, NoAnswer
from expbench.judges.reply import parse_as
from expbench.models import load_model
from expbench.prices import prices
from expbench.prompts import load
from expbench.schema import Record, Usage

_Shape = TypeVar("_Shape", bound=BaseModel)

_ATTEMPTS = 2


class Plan(Record):
    """How a model is asked. ``dollars`` is the most that all its calls may cost; a call that begins is
    finished."""

    model: str
    batch: int = 10
    """Tasks of one step of open coding."""
    rounds: int = 2
    """Most rounds of merging and splitting; the publication's preset."""
    deadline: float = 600.0
    retries: int = 5
    dollars: float | None = None


class _Reply(Record):
    key: str
    model: str
    text: str
    usage: Usage


@dataclass
class Asker:
    """One coder with its journal.

    Attributes:
        usage: of all calls that the coding needed, also those that are taken from the journal.
        asked: calls that were made now.
        stopped: why no more are made, when that is so.
    """

    plan: Plan
    journal: Path
    given: Model | None = None
    """The model itself, where it has no name that loads it."""
    model: Model = field(init=False)
    usage: Usage = field(default_factory=Usage)
    asked: int = 0
    stopped: str = ""
    _known: dict[str, _Reply] = field(default_factory=dict)
    _line: Line = field(init=False)

    def __post_init__(self) -> None:
        """Raises NotFoundError and PrerequisiteError for a model that cannot be had, UserError for a price
        that is not known under a cap, DataError for a journal that is none."""
        self.model = self.given or load_model(self.plan.model)
        if self.plan.dollars is not None and prices().of(str(self.model)) is None:
            raise UserError(
                f"--max-dollars cannot be kept, since the price of {self.model} is not known: give it with "
                "--prices FILE."
            )
        self._line = Line(self.model, 1, self.plan.deadline, self.plan.retries, structured=False)
        self._read()

    def _read(self) -> None:
        cut_torn_line(self.journal)
        lines = self.journal.read_bytes().splitlines() if self.journal.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                reply = _Reply.model_validate_json(line)
            except ValidationError:
                raise DataError(f"{self.journal}, line {number}: no answer of a coder.") from None
            self._known[reply.key] = reply

    async def ask(
        self, shape: type[_Shape], prompt: str, wrong: Callable[[_Shape], str]
    ) -> _Shape | None:
        """The model's reply, or ``None`` where it gave none that can be used; asked for twice.

        Args:
            wrong: why a well-formed reply cannot be used; empty when it can.
        """
        messages: list[ChatMessage] = [ChatMessageUser(content=prompt)]
        for _ in range(_ATTEMPTS):
            text = await self._text(messages)
            if text is None:
                return None
            reply = parse_as(shape, text)
            problem = "it is not of the required form" if reply is None else wrong(reply)
            if reply is not None and not problem:
                return reply
            again = load("failures_again").fill(problem=problem)
            messages += [
                ChatMessageAssistant(content=text or "(empty)"),
                ChatMessageUser(content=again),
            ]
        return None

    async def _text(self, messages: list[ChatMessage]) -> str | None:
        said = json.dumps([[each.role, each.text] for each in messages], ensure_ascii=False)
        key = hashlib.sha256(f"{self.model}\0{said}".encode()).hexdigest()
        known = self._known.get(key)
        if known is None:
            if self._spent():
                return None
            before = self._line.usage
            try:
                output = await self._line.ask(messages, one_verdict=False)
            except NoAnswer as error:
                self.stopped = self.stopped or str(error)
                return None
            known = _Reply(
                key=key,
                model=str(self.model),
                text=output.completion,
                usage=_more(before, self._line.usage),
            )
            self.journal.parent.mkdir(parents=True, exist_ok=True)
            append_line(self.journal, known.model_dump_json().encode() + b"\n")
            self._known[key] = known
            self.asked += 1
        self.usage += known.usage
        return known.text

    def _spent(self) -> bool:
        most, dollars = self.plan.dollars, self.usage.dollars
        if most is None or dollars is None or dollars < most:
            return False
        self.stopped = f"the limit of {most:g} dollars is reached"
        return True


def _more(before: Usage, after: Usage) -> Usage:
    """What one call used."""
    known = after.dollars is not None
    return Usage(
        input_tokens=after.input_tokens - before.input_tokens,
        output_tokens=after.output_tokens - before.output_tokens,
        calls=after.calls - before.calls,
        cache_read=after.cache_read - before.cache_read,
        cache_write=after.cache_write - before.cache_write,
        reasoning_tokens=after.reasoning_tokens - before.reasoning_tokens,
        dollars=(after.dollars or 0.0) - (before.dollars or 0.0) if known else None,
    )
