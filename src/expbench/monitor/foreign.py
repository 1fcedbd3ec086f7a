"""Trajectories that other programs have written: which kind a file is, and what it holds.

The kind is told by the content, not by the name:

- Inspect logs (``.eval``, or JSON), one trajectory for each sample;
- OpenHands: a list of events, or lines with a ``history``;
- mini-swe-agent and SWE-agent: JSON with messages or steps;
- Claude Code: JSON lines of ``user`` and ``assistant`` messages;
- chat messages as JSON or JSON lines, also with a task and deliverables beside them
  (``{"task": …, "messages": […], "design": …, "conclusion": …, "script": …, "patch": …}``);
- this package's own stored trajectories.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai.log import read_eval_log

from expbench.errors import DataError
from expbench.monitor.handed_in import handed_in
from expbench.monitor.messages import turns_of
from expbench.monitor.openhands import is_event, turns_of_events
from expbench.monitor.swe_agents import bash_block_turns, turns_of_steps
from expbench.schema import SubmissionText, Turn
from expbench.trajectory import from_json_lines, to_turns

_KNOWN = (
    "give an Inspect log, a transcript of OpenHands, mini-swe-agent or Claude Code, or chat messages "
    "with role and content as JSON or JSON lines"
)
_LARGEST = 500_000_000
_PATCHES = ("patch", "diff", "git_patch", "model_patch")


@dataclass(frozen=True)
class ForeignTrajectory:
    """One trajectory of another program.

    ``name`` tells it apart in its file, ``kind`` is the program, ``task`` what the file says about the
    task, if anything. ``submission`` is what was handed in, as far as the file or the calls show it.
    """

    name: str
    kind: str
    turns: tuple[Turn, ...]
    task: str = ""
    submission: SubmissionText = field(default_factory=SubmissionText)


def read(path: Path) -> list[ForeignTrajectory]:
    """All trajectories of a file.

    Raises:
        DataError: the file cannot be read, or is of no known kind.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path} is larger than {_LARGEST // 10**6} MB: split it.")
        if zipfile.is_zipfile(path):
            return _inspect(path)
        content = path.read_text("utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): check the path.") from None
    except UnicodeDecodeError:
        raise _unknown(path) from None
    try:
        found = _read(path, content)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise DataError(
            f"{path} is damaged ({type(error).__name__}: {str(error)[:100]}): {_KNOWN}."
        ) from None
    if not found:
        raise _unknown(path)
    return found


def _unknown(path: Path) -> DataError:
    return DataError(f"{path} holds no trajectory of a known kind: {_KNOWN}.")


def _read(path: Path, content: str) -> list[ForeignTrajectory]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return _lines(path, content)
    if isinstance(value, dict) and "eval" in value and "version" in value:
        return _inspect(path)
    if isinstance(value, dict):
        return _record(path.stem, value)
    return _list(path.stem, value) if isinstance(value, list) else []


def _lines(path: Path, content: str) -> list[ForeignTrajectory]:
    """JSON lines: messages, or a trajectory on each line. A torn last line is left out."""
    values: list[Any] = []
    lines = content.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            if number < len(lines):
                raise _unknown(path) from None
    records = [value for value in values if isinstance(value, dict)]
    if not records or len(records) < len(values):
        return []
    if any(r.get("type") in {"user", "assistant"} and "message" in r for r in records):
        return [_claude_code(path.stem, records)]
    if all("role" in r and "tool" in r and "command" in r for r in records):
        turns = from_json_lines(content.encode())
        return [_made(path.stem, "expbench", turns, {})]
    if any("messages" in r or "history" in r for r in records):
        names = (f"{path.stem}:{number}" for number in range(1, len(records) + 1))
        return [each for name, r in zip(names, records, strict=True) for each in _record(name, r)]
    return _list(path.stem, records)


def _list(name: str, values: Sequence[Any]) -> list[ForeignTrajectory]:
    records = [value for value in values if isinstance(value, dict)]
    if not records or len(records) < len(values):
        return []
    if any(is_event(record) for record in records):
        return [_made(name, "OpenHands", turns_of_events(records), {})]
    if any("messages" in record for record in records):
        return [each for n, r in enumerate(records, 1) for each in _record(f"{name}:{n}", r)]
    if "role" in records[0] or records[0].get("type") in {"function_call", "reasoning"}:
        return [_made(name, "messages", turns_of(records), {})]
    return []


def _record(name: str, record: Mapping[str, Any]) -> list[ForeignTrajectory]:
    """One object that holds a trajectory beside other things."""
    name = str(record.get("instance_id") or record.get("id") or name)
    history = record.get("history")
    if isinstance(history, list):
        events = [e for item in history for e in (item if isinstance(item, list) else [item])]
        patch = record.get("test_result") or {}
        return [_made(name, "OpenHands", turns_of_events(events), {**record, **patch})]
    steps = record.get("trajectory")
    if isinstance(steps, list) and steps and isinstance(steps[0], dict) and "action" in steps[0]:
        info = record.get("info") or {}
        return [
            _made(name, "SWE-agent", turns_of_steps(steps), {"patch": info.get("submission") or ""})
        ]
    messages = record.get("messages")
    if not isinstance(messages, list):
        return []
    info = record.get("info")
    if str(record.get("trajectory_format", "")).startswith("mini-swe") or isinstance(info, dict):
        patch = (info or {}).get("submission") or ""
        given = {"patch": patch if "diff --git" in str(patch) else ""}
        return [_made(name, "mini-swe-agent", bash_block_turns(messages), {**record, **given})]
    return [_made(name, "messages", turns_of(messages), record)]


def _claude_code(name: str, records: Sequence[Mapping[str, Any]]) -> ForeignTrajectory:
    """A transcript of Claude Code; messages of helpers that it started stand where they were said."""
    messages = [r["message"] for r in records if isinstance(r.get("message"), dict)]
    return _made(name, "Claude Code", turns_of([m for m in messages if "role" in m]), {})


def _made(
    name: str, kind: str, turns: tuple[Turn, ...], record: Mapping[str, Any]
) -> ForeignTrajectory:
    given = record.get("deliverables") or record.get("submission")
    texts = {**record, **given} if isinstance(given, dict) else dict(record)
    own = handed_in(turns)
    patch = next((texts[key] for key in _PATCHES if isinstance(texts.get(key), str)), "")
    changed = texts.get("changed")
    submission = SubmissionText(
        design=_text(texts.get("design")) or own.design,
        conclusion=_text(texts.get("conclusion")) or own.conclusion,
        diff=patch or own.diff,
        script=_text(texts.get("script")) or own.script,
        changed=tuple(map(str, changed)) if isinstance(changed, list) else own.changed,
    )
    task = record.get("task") or record.get("task_id") or record.get("instance_id") or ""
    return ForeignTrajectory(name, kind, turns, task if isinstance(task, str) else "", submission)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _inspect(path: Path) -> list[ForeignTrajectory]:
    try:
        log = read_eval_log(str(path))
    except Exception as error:  # whatever a damaged log does to its own reader
        raise DataError(
            f"{path} cannot be read as an Inspect log ({type(error).__name__}): {_KNOWN}."
        ) from None
    found = []
    for sample in log.samples or ():
        name = (
            f"{sample.id}"
            if log.eval.config.epochs in (None, 1)
            else f"{sample.id} ({sample.epoch})"
        )
        made = _made(name, "Inspect", to_turns(sample.messages), {"task": str(sample.id)})
        found.append(made)
    if not found:
        raise DataError(f"{path} is an Inspect log without samples: give one of a run that began.")
    return found
