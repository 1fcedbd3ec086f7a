"""An agent's messages as turns, the neutral form that the monitor reads and the store keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from expbench.schema import Turn

_CODE = ("command", "cmd", "code", "script", "input")
_FILES = ("path", "file_path", "filename", "notebook_path")


def to_turns(messages: Iterable[ChatMessage]) -> tuple[Turn, ...]:
    """Messages in order; a tool's call and its result become one turn."""
    turns: list[Turn] = []
    calls: dict[str, ToolCall] = {}
    answered: set[str] = set()
    for message in messages:
        if isinstance(message, ChatMessageTool):
            call = calls.get(message.tool_call_id or "")
            answered.add(message.tool_call_id or "")
            failed = message.error is not None or message.text.endswith("\n[failed]")
            text = message.text or (message.error.message if message.error is not None else "")
            turns.append(_of_call(call, text, failed, message.function or ""))
            continue
        if message.text:
            turns.append(Turn(role=message.role, text=message.text))
        if isinstance(message, ChatMessageAssistant):
            calls |= {call.id: call for call in message.tool_calls or ()}
    unanswered = [call for identifier, call in calls.items() if identifier not in answered]
    turns += [_of_call(call, "", True, call.function) for call in unanswered]
    return tuple(turns)


def to_json_lines(turns: Sequence[Turn]) -> bytes:
    return b"".join(turn.model_dump_json().encode() + b"\n" for turn in turns)


def from_json_lines(content: bytes) -> tuple[Turn, ...]:
    return tuple(Turn.model_validate_json(line) for line in content.splitlines() if line)


def tool_turn(function: str, arguments: Mapping[str, Any], text: str, failed: bool) -> Turn:
    """A call with its result.

    ``command`` is a shell's or an interpreter's code where the call has one and names no file, else
    all arguments as JSON.
    """
    code = next((arguments[n] for n in _CODE if isinstance(arguments.get(n), str)), None)
    named = any(isinstance(arguments.get(name), str) for name in _FILES)
    command = code if code is not None and not named else json.dumps(arguments, default=str)
    return Turn(role="tool", tool=function, command=command, text=text, failed=failed)


def _of_call(call: ToolCall | None, text: str, failed: bool, function: str) -> Turn:
    return tool_turn(function, call.arguments if call else {}, text, failed)
