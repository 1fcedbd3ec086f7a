"""Running an agent's own program inside the sandbox, with its output in the trajectory.

A program that a limit stops is killed first and recorded with what it had printed by then.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping, Sequence

import anyio
from anyio import CancelScope, get_cancelled_exc_class
from inspect_ai.model import ChatMessage
from inspect_ai.util import ExecResult, sandbox

from expbench.agents.workspace import Result, record_answer, record_call

_START = 'echo $$ > "$0"; exec "$@"'
_KILL = 'p=$(cat "$1") && kill -KILL -- "-$p" "$p" 2>/dev/null; rm -f "$1"'
_END_SECONDS = 10.0
"""Seconds in which a killed program's output is had."""


async def run_program(
    argv: Sequence[str],
    messages: list[ChatMessage],
    *,
    shown: str,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
) -> Result:
    """Run a program in the repository's root to its end; a tool call in ``messages`` says what it gave.

    Args:
        shown: the command as the trajectory has it.

    Raises:
        SandboxUnavailableError: the sandbox died.
    """
    mark = f"/tmp/.program-{secrets.token_hex(6)}"
    command = ["bash", "-c", _START, mark, *argv]
    variables = {"PYTHONUNBUFFERED": "1", **(environment or {})}
    call = record_call(messages, "bash", {"command": shown})
    found: list[ExecResult[str] | Exception] = []
    ended, scope = anyio.Event(), CancelScope(shield=True)

    async def program() -> None:
        try:
            with scope:
                found.append(await sandbox().exec(command, input=stdin or None, env=variables))
        except Exception as error:  # of a sandbox; raised again outside of the group
            found.append(error)
        finally:
            ended.set()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(program)
            try:
                await ended.wait()
            except get_cancelled_exc_class():
                scope.deadline = anyio.current_time() + _END_SECONDS
                await _kill(mark)
                raise
    except get_cancelled_exc_class():
        said = "".join(_said(each) for each in found)
        record_answer(messages, call, f"{said}\n[stopped: its time was up]")
        raise
    done = found[0]
    if isinstance(done, Exception):
        record_answer(messages, call, str(done), failed=True)
        raise done
    result = Result(done.returncode, _said(done))
    record_answer(messages, call, result.output, failed=result.exit_code != 0)
    return result


def _said(done: ExecResult[str] | Exception) -> str:
    return str(done) if isinstance(done, Exception) else done.stdout + done.stderr


async def _kill(mark: str) -> None:
    with CancelScope(shield=True), contextlib.suppress(Exception):
        await sandbox().exec(["bash", "-c", _KILL, "bash", mark], timeout=5)


def exit_sentence(name: str, result: Result) -> str:
    """That a program failed, with the last that it said."""
    said = [line.strip() for line in result.output.splitlines() if line.strip()]
    last = f": {said[-1][:300]}" if said else " and said nothing"
    return f"{name} ended with exit code {result.exit_code}{last}"
