"""Transcripts of mini-swe-agent and SWE-agent as turns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from expbench.monitor.messages import text_of, turns_of
from expbench.schema import Turn

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh|shell)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
_OUTPUT = re.compile(r"<(output|output_head|output_tail)>\n?(.*?)\n?</\1>", re.DOTALL)


def bash_block_turns(messages: Sequence[Any]) -> tuple[Turn, ...]:
    """Turns of mini-swe-agent: a command stands in a block of the answer, its output in the next message.

    Messages with tool calls, as newer versions have them, are read as such.
    """
    plain = [m for m in messages if isinstance(m, Mapping) and m.get("role") != "exit"]
    if any(message.get("tool_calls") or message.get("type") for message in plain):
        return turns_of([_without_type(m) for m in plain])
    turns: list[Turn] = []
    command = ""
    for message in plain:
        text = text_of(message.get("content"))
        if message.get("role") == "assistant":
            turns += _unanswered(command)
            found = _BLOCK.search(text)
            command = _action(message) or (found[1] if found else "")
            said = text[: found.start()].strip() if found else text
            turns += [Turn(role="assistant", text=said)] if said else []
        elif command:
            turns.append(_answered(command, text))
            command = ""
        elif text:
            role = "system" if message.get("role") == "system" else "user"
            turns.append(Turn.model_validate({"role": role, "text": text}))
    return (*turns, *_unanswered(command))


def turns_of_steps(steps: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Turns of SWE-agent: each step has a thought, an action and what was observed."""
    turns: list[Turn] = []
    for step in steps:
        if thought := text_of(step.get("thought")):
            turns.append(Turn(role="assistant", text=thought))
        if action := text_of(step.get("action")):
            observed = text_of(step.get("observation"))
            turns.append(Turn(role="tool", tool="bash", command=action, text=observed))
    return tuple(turns)


def _action(message: Mapping[str, Any]) -> str:
    """The command that newer versions keep beside an answer."""
    extra = message.get("extra")
    actions = extra.get("actions") if isinstance(extra, Mapping) else None
    if not isinstance(actions, list):
        return ""
    commands = [a.get("command") for a in actions if isinstance(a, Mapping)]
    return "\n".join(c for c in commands if isinstance(c, str))


def _answered(command: str, text: str) -> Turn:
    code = _CODE.search(text)
    outputs = [match[2] for match in _OUTPUT.finditer(text)]
    failed = code is not None and code[1] != "0"
    shown = "\n".join(outputs) if outputs else text
    return Turn(role="tool", tool="bash", command=command, text=shown, failed=failed)


def _unanswered(command: str) -> list[Turn]:
    return [Turn(role="tool", tool="bash", command=command, failed=True)] if command else []


def _without_type(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message without a ``type`` that is only this program's own."""
    if message.get("type") in {"function_call", "function_call_output", "reasoning", None}:
        return message
    return {key: value for key, value in message.items() if key != "type"}
