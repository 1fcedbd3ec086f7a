"""Questions to a model, each answered once: replies are kept by the digest of what was asked.

Whoever asks has a :class:`Memory`: it finds the replies of earlier and killed processes again, keeps the new
ones, and says when no more may be asked. So work that was killed goes on, and work that is finished is made
again byte by byte without a call.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
    Model,
)
from pydantic import BaseModel, ValidationError

from expbench.durable import append_line, cut_torn_line
from expbench.errors import DataError
from expbench.judges.asking import Line, NoAnswer
from expbench.judges.reply import parse_as
from expbench.prompts import load
from expbench.schema import Record, Usage

_Shape = TypeVar("_Shape", bound=BaseModel)

_ATTEMPTS = 2


class KeptReply(Record):
    """What a model said, by the digest of its name and of all that it was told."""

    key: str
    model: str
    text: str
    usage: Usage


class Memory(Protocol):
    """Where replies are kept."""

    def find(self, key: str) -> KeptReply | None:
        """The reply to what was asked before."""

    def keep(self, reply: KeptReply) -> None:
        """Put a reply on disk."""

    def stop(self, used: Usage) -> str:
        """Why no more may be asked after so much; empty when more may."""


@dataclass
class ReplyFile:
    """A memory that is a file of JSON lines of its own.

    Raises DataError for a file that is none.
    """

    path: Path
    dollars: float | None = None
    """The most that all calls may cost; a call that begins is finished."""
    _known: dict[str, KeptReply] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cut_torn_line(self.path)
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                reply = KeptReply.model_validate_json(line)
            except ValidationError:
                raise DataError(f"{self.path}, line {number}: no answer of a model.") from None
            self._known[reply.key] = reply

    def find(self, key: str) -> KeptReply | None:
        """The reply to what was asked before."""
        return self._known.get(key)

    def keep(self, reply: KeptReply) -> None:
        """Append a reply. Raises OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.path, reply.model_dump_json().encode() + b"\n")
        self._known[reply.key] = reply

    def stop(self, used: Usage) -> str:
        """Whether the money is spent."""
        if self.dollars is None or used.dollars is None or used.dollars < self.dollars:
            return ""
        return f"the limit of {self.dollars:g} dollars is reached"


@dataclass
class Interview:
    """All questions to one model for one purpose.

    Attributes:
        usage: of all calls that the work needed, also those that are taken from the memory.
        asked: calls that were made now.
        stopped: why no more are made, when that is so.
        problem: why the last reply could not be used.
    """

    model: Model
    memory: Memory
    deadline: float = 600.0
    retries: int = 5
    attempts: int = _ATTEMPTS
    usage: Usage = field(default_factory=Usage)
    asked: int = 0
    stopped: str = ""
    problem: str = ""
    _line: Line = field(init=False)

    def __post_init__(self) -> None:
        self._line = Line(self.model, 1, self.deadline, self.retries, structured=False)

    async def ask(
        self,
        shape: type[_Shape],
        prompt: str,
        wrong: Callable[[_Shape], str],
        pictures: Sequence[bytes] = (),
    ) -> _Shape | None:
        """The model's reply, or ``None`` where it gave none that can be used, asked for again each time.

        Args:
            wrong: why a well-formed reply cannot be used; empty when it can.
            pictures: PNG files that are sent with the prompt.
        """
        messages: list[ChatMessage] = [_question(prompt, pictures)]
        for _ in range(self.attempts):
            text = await self._text(messages)
            if text is None:
                return None
            reply = parse_as(shape, text)
            self.problem = "it is not of the required form" if reply is None else wrong(reply)
            if reply is not None and not self.problem:
                return reply
            again = load("failures_again").fill(problem=self.problem)
            messages += [
                ChatMessageAssistant(content=text or "(empty)"),
                ChatMessageUser(content=again),
            ]
        return None

    async def _text(self, messages: list[ChatMessage]) -> str | None:
        key = question_key(self.model, messages)
        known = self.memory.find(key)
        if known is None:
            self.stopped = self.memory.stop(self.usage) or self.stopped
            if self.stopped:
                return None
            before = self._line.usage
            try:
                output = await self._line.ask(messages, one_verdict=False)
            except NoAnswer as error:
                self.stopped = self.stopped or str(error)
                return None
            known = KeptReply(
                key=key,
                model=str(self.model),
                text=output.completion,
                usage=_more(before, self._line.usage),
            )
            self.memory.keep(known)
            self.asked += 1
        self.usage += known.usage
        return known.text


def question_key(model: Model, messages: Sequence[ChatMessage]) -> str:
    """The digest of a model's name and of what it is told and shown."""
    said = json.dumps(
        [[each.role, each.text, *_pictures_of(each)] for each in messages], ensure_ascii=False
    )
    return hashlib.sha256(f"{model}\0{said}".encode("utf-8", "surrogatepass")).hexdigest()


def _question(prompt: str, pictures: Sequence[bytes]) -> ChatMessageUser:
    if not pictures:
        return ChatMessageUser(content=prompt)
    addresses = (f"data:image/png;base64,{base64.b64encode(each).decode()}" for each in pictures)
    images = [ContentImage(image=address) for address in addresses]
    return ChatMessageUser(content=[ContentText(text=prompt), *images])


def _pictures_of(message: ChatMessage) -> list[str]:
    content = message.content if isinstance(message.content, list) else []
    return [
        hashlib.sha256(each.image.encode()).hexdigest()
        for each in content
        if isinstance(each, ContentImage)
    ]


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
