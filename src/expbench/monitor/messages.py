"""Chat messages, as most programs keep them, as turns.

:func:`turns_of` reads messages with ``role`` and ``content`` in the three usual ways of calling a
tool: ``tool_calls`` with an answer by ``tool_call_id`` (arguments as an object or as JSON text),
content blocks ``tool_use`` and ``tool_result``, and items ``function_call`` and
``function_call_output``. A call and its result become one turn, where the result stands; a call that
nobody answered stands before the next message of the assistant and counts as failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from expbench.errors import DataError
from expbench.schema import Turn
from expbench.trajectory import tool_turn

Role = Literal["system", "user", "assistant", "tool"]

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MEND = "give each message a role (system, user, assistant or tool) and its content"


def turns_of(messages: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The turns of chat messages, in order.

    Raises:
        DataError: an entry is no message.
    """
    reader = _Reader()
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            raise DataError(f"Message {number} is no object: {_MEND}.")
        reader.read(message, number)
    reader.flush()
    return tuple(reader.turns)


@dataclass(frozen=True)
class Call:
    """One tool call, not yet answered."""

    name: str
    arguments: Mapping[str, Any]


@dataclass
class _Reader:
    turns: list[Turn] = field(default_factory=list)
    open: dict[str, Call] = field(default_factory=dict)

    def read(self, message: Mapping[str, Any], number: int) -> None:
        kind = message.get("type")
        if kind == "function_call":
            self._call(message, message.get("call_id") or message.get("id"))
        elif kind == "function_call_output":
            self._result(message.get("call_id"), message.get("output"), False)
        elif kind != "reasoning":
            role = _ROLES.get(str(message.get("role")))
            if role is None:
                raise DataError(f"Message {number} has no known role: {_MEND}.")
            self._message(role, message)

    def flush(self) -> None:
        """Give the calls that nobody answered a turn without a result."""
        for call in self.open.values():
            self.turns.append(tool_turn(call.name, call.arguments, "", True))
        self.open.clear()

    def _message(self, role: Role, message: Mapping[str, Any]) -> None:
        content = message.get("content")
        if role == "tool":
            identifier = message.get("tool_call_id") or message.get("name")
            failed = bool(message.get("error") or message.get("is_error"))
            self._result(identifier, content, failed, str(message.get("name") or ""))
            return
        if role == "assistant":
            self.flush()
        if text := text_of(content):
            self.turns.append(Turn(role=role, text=text))
        for block in _blocks(content):
            if block.get("type") in {"tool_use", "tool_call"}:
                self._call(block, block.get("id"))
            elif block.get("type") == "tool_result":
                failed = bool(block.get("is_error"))
                self._result(block.get("tool_use_id"), block.get("content"), failed)
        for call in _listed(message.get("tool_calls")):
            self._call(call, call.get("id"))
        if isinstance(message.get("function_call"), Mapping):
            self._call(message["function_call"], None)

    def _call(self, call: Mapping[str, Any], identifier: object) -> None:
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else call
        name = inner.get("name") or (function if isinstance(function, str) else "")
        arguments: object = next(
            (inner[k] for k in ("arguments", "input", "args") if k in inner), {}
        )
        key = str(identifier) if identifier else f"unnamed {len(self.turns)} {len(self.open)}"
        self.open[key] = Call(str(name or ""), as_arguments(arguments))

    def _result(self, identifier: object, content: object, failed: bool, name: str = "") -> None:
        key = str(identifier) if identifier else ""
        if key not in self.open:
            unnamed = [k for k in self.open if not key or k.startswith("unnamed ")]
            key = unnamed[0] if unnamed else ""
        call = self.open.pop(key, Call(name, {}))
        text = text_of(content)
        failed = failed or text.endswith("\n[failed]")
        self.turns.append(tool_turn(call.name or name, call.arguments, text, failed))


def text_of(content: object) -> str:
    """The text of a message's content: a string, text blocks, or anything else as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [each if isinstance(each, str) else _block_text(each) for each in content]
        return "\n".join(part for part in parts if part)
    return json.dumps(content, ensure_ascii=False, default=str)


def as_arguments(value: object) -> dict[str, Any]:
    """A call's arguments as an object; text that is no JSON object is the one argument ``input``."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value}
    if isinstance(value, Mapping):
        return {str(k): v for k, v in value.items()}
    return {} if value is None else {"input": value if isinstance(value, str) else str(value)}


def _block_text(block: object) -> str:
    if not isinstance(block, Mapping):
        return ""
    value = block.get("text")
    return value if isinstance(value, str) else ""


def _blocks(content: object) -> Iterator[Mapping[str, Any]]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping):
            yield block


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
