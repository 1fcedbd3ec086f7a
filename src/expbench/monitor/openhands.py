"""OpenHands' events as turns: actions with the observations that they caused.

Two generations are read: events with ``action`` or ``observation`` (and ``cause``), and those of its
software development kit with ``kind`` (``ActionEvent``, ``ObservationEvent``, ``MessageEvent``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from expbench.monitor.messages import as_arguments, text_of
from expbench.schema import Turn
from expbench.trajectory import tool_turn

_SAID = frozenset({"message", "think", "finish", "system", "agent_finish"})
_SILENT = frozenset(
    {"null", "change_agent_state", "recall", "condensation", "condensation_request", "initialize"}
)
_TOOLS = {"run": "bash", "run_ipython": "python", "browse": "web", "browse_interactive": "web"}
_MADE_UP = ("thought", "hidden", "blocking", "confirmation_state", "security_risk", "is_static")
_KINDS = ("ActionEvent", "ObservationEvent", "MessageEvent", "AgentErrorEvent", "SystemPromptEvent")


def is_event(record: Mapping[str, Any]) -> bool:
    """Whether a record is an event of OpenHands."""
    old = "source" in record and ("action" in record or "observation" in record)
    return old or record.get("kind") in _KINDS


def turns_of_events(events: Sequence[Any]) -> tuple[Turn, ...]:
    """The turns of a history, in the order of what was observed; actions without a result failed."""
    turns: list[Turn] = []
    waiting: dict[str, tuple[str, dict[str, Any]]] = {}
    for event in events:
        if not isinstance(event, Mapping):
            continue
        if "kind" in event:
            _new(event, turns, waiting)
        elif "observation" in event:
            _observed(event, turns, waiting)
        elif "action" in event:
            _acted(event, turns, waiting)
    turns += [tool_turn(name, arguments, "", True) for name, arguments in waiting.values()]
    return tuple(turns)


def _acted(
    event: Mapping[str, Any], turns: list[Turn], waiting: dict[str, tuple[str, dict[str, Any]]]
) -> None:
    action, arguments = str(event["action"]), as_arguments(event.get("args"))
    thought = arguments.get("thought") or arguments.get("final_thought") or ""
    if action in _SAID:
        said = arguments.get("content") or thought or event.get("message") or ""
        role = {"user": "user", "system": "system"}.get(str(event.get("source")), "assistant")
        if said:
            turns.append(Turn.model_validate({"role": role, "text": str(said)}))
    elif action not in _SILENT:
        if thought:
            turns.append(Turn(role="assistant", text=str(thought)))
        plain = {k: v for k, v in arguments.items() if k not in _MADE_UP}
        inner = plain.get("arguments")
        name = str(plain.get("name") or _TOOLS.get(action, action))
        waiting[str(event.get("id"))] = (name, as_arguments(inner) if inner else plain)


def _observed(
    event: Mapping[str, Any], turns: list[Turn], waiting: dict[str, tuple[str, dict[str, Any]]]
) -> None:
    name = str(event["observation"])
    if name in _SILENT or name == "agent_state_changed":
        return
    given = event.get("extras")
    extras: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    called = waiting.pop(str(event.get("cause")), None)
    if called is None and isinstance(extras.get("command"), str):
        called = ("bash", {"command": extras["command"]})
    if called is None:
        return
    code = extras.get("metadata") or {}
    exit_code = code.get("exit_code", 0) if isinstance(code, Mapping) else 0
    failed = name == "error" or bool(exit_code)
    turns.append(tool_turn(*called, text_of(event.get("content")), failed))


def _new(
    event: Mapping[str, Any], turns: list[Turn], waiting: dict[str, tuple[str, dict[str, Any]]]
) -> None:
    kind = event["kind"]
    if kind == "MessageEvent":
        message = event.get("llm_message") or {}
        role = "user" if message.get("role") == "user" else "assistant"
        if text := text_of(message.get("content")):
            turns.append(Turn.model_validate({"role": role, "text": text}))
    elif kind == "ActionEvent":
        if thought := text_of(event.get("thought")):
            turns.append(Turn(role="assistant", text=thought))
        call = as_arguments(event.get("tool_call"))
        function = as_arguments(call.get("function")) if "function" in call else call
        given = function.get("arguments") if function.get("arguments") else event.get("action")
        arguments = {k: v for k, v in as_arguments(given).items() if k not in _MADE_UP}
        name = str(event.get("tool_name") or function.get("name") or "")
        key = str(event.get("tool_call_id") or call.get("id") or event.get("id"))
        waiting[key] = (name, {k: v for k, v in arguments.items() if k != "kind"})
    elif kind in {"ObservationEvent", "AgentErrorEvent"}:
        called = waiting.pop(str(event.get("tool_call_id")), None)
        observation = event.get("observation") or {}
        text = text_of(
            observation.get("content") or observation.get("output") or event.get("error")
        )
        failed = kind == "AgentErrorEvent" or bool(observation.get("is_error"))
        if called is not None:
            turns.append(tool_turn(*called, text, failed))
