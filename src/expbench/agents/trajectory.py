"""An agent's messages as turns, the neutral form that the monitor reads and the store keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from expbench.schema import Turn

_CODE = ("command", "cmd", "code", "script", "input")


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
            turns.append(_tool_turn(call, message.text, failed, message.function or ""))
            continue
        if message.text:
            turns.append(Turn(role=message.role, text=message.text))
        if isinstance(message, ChatMessageAssistant):
            calls |= {call.id: call for call in message.tool_calls or ()}
    unanswered = [call for identifier, call in calls.items() if identifier not in answered]
    turns += [_tool_turn(call, "", True, call.function) for call in unanswered]
    return tuple(turns)


def to_json_lines(turns: Sequence[Turn]) -> bytes:
    return b"".join(turn.model_dump_json().encode() + b"\n" for turn in turns)


def from_json_lines(content: bytes) -> tuple[Turn, ...]:
    return tuple(Turn.model_validate_json(line) for line in content.splitlines() if line)


def _tool_turn(call: ToolCall | None, text: str, failed: bool, function: str) -> Turn:
    """``command`` is a shell's or an interpreter's one argument, or else all arguments as JSON."""
    arguments = dict(call.arguments) if call else {}
    texts = [value for value in arguments.values() if isinstance(value, str)]
    code = next((arguments[n] for n in _CODE if isinstance(arguments.get(n), str)), None)
    command = code if code is not None and len(texts) == 1 else json.dumps(arguments)
    return Turn(role="tool", tool=function, command=command, text=text, failed=failed)
