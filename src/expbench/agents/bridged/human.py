"""``human``: a person in the sandbox, with Inspect's commands ``task start|stop|status|submit`` and clock.

The person enters from another terminal by the command that the run prints. What they typed and what they saw
is the trajectory: the shell keeps its history, and ``script``, where the system has it, the terminal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.agent._human.commands import human_agent_commands
from inspect_ai.agent._human.install import HUMAN_AGENT_DIR, install_human_agent
from inspect_ai.agent._human.service import run_human_agent_service
from inspect_ai.agent._human.state import HumanAgentState
from inspect_ai.model import ChatMessage, ChatMessageAssistant
from inspect_ai.util import SandboxConnection, sandbox
from inspect_ai.util._sandbox.events import SandboxEnvironmentProxy

from expbench.agents.kinds import AgentKind, AgentRunner, no_argument
from expbench.agents.workspace import record_answer, record_call
from expbench.sandboxes.mounts import HOME
from expbench.schema import ResearchTask

_SESSIONS = "/var/tmp/user-sessions"
_HISTORY = f"{_SESSIONS}/history"
_BASHRC = f"""
mkdir -p {_SESSIONS}
HISTTIMEFORMAT='%s ' HISTFILE={_HISTORY} HISTSIZE=-1 HISTFILESIZE=-1 HISTCONTROL=
shopt -s histappend cmdhist lithist
PROMPT_COMMAND='history -a'
cd /workspace 2>/dev/null
"""
_PROFILE = "[ -f ~/.bashrc ] && . ~/.bashrc\n"
_READ_SECONDS = 20.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])|[\x00-\x08\x0b-\x1f]")


class _View:
    """Says where the door is, on standard error: standard output may be a JSON object's."""

    def __init__(self, task: str) -> None:
        self._task = task

    def connect(self, connection: SandboxConnection) -> None:
        sys.stderr.write(
            f"A person is waited for on {self._task}. In another terminal:\n\n  {connection.command}\n\n"
        )
        sys.stderr.flush()

    def update_state(self, state: HumanAgentState) -> None:
        return


def make_human(argument: str, base: Path) -> AgentRunner:
    """``human``. Raises UserError."""
    no_argument("human", argument)
    return AgentRunner("human", _run, version="a person", scratch=(HUMAN_AGENT_DIR,), enters=True)


async def _run(task: ResearchTask, state: AgentState) -> None:
    """Wait for the person to hand in; what they did until then, or a limit, is in the messages."""
    connection = await sandbox().connection()
    recorded = (await sandbox().exec(["/bin/sh", "-c", "command -v script"])).success
    await sandbox().write_file(f"{HOME}/.bash_profile", _PROFILE)
    own = AgentState(messages=list(state.messages))
    try:
        with cast(SandboxEnvironmentProxy, sandbox()).no_events():
            commands = human_agent_commands(own, False, False, recorded, None)
            await install_human_agent(None, commands, _BASHRC, recorded)
            view = _View(task.id)
            view.connect(connection)
            await run_human_agent_service(None, own, commands, view)
    finally:
        with anyio.move_on_after(_READ_SECONDS, shield=True):
            await _record(state.messages)


async def _record(messages: list[ChatMessage]) -> None:
    """What was typed, command by command, and then what the terminal showed."""
    for command in _commands(await _read(_HISTORY)):
        call = record_call(messages, "bash", {"command": command})
        record_answer(messages, call, "")
    listed = await sandbox().exec(["/bin/sh", "-c", f"ls -1 {_SESSIONS}/*.output"])
    for path in listed.stdout.split() if listed.success else []:
        shown = _ESCAPES.sub("", (await _read(path)).replace("\r", ""))
        messages.append(ChatMessageAssistant(content=f"[what the terminal showed]\n{_cut(shown)}"))


async def _read(path: str) -> str:
    try:
        return (await sandbox().read_file(path, text=False)).decode("utf-8", "replace")
    except (OSError, RuntimeError):
        return ""


def _commands(history: str) -> Sequence[str]:
    """Commands of a shell's history; those of several lines stay together where it has time stamps."""
    if not history.startswith("#"):
        return [line for line in history.splitlines() if line.strip()]
    parts = re.split(r"(?m)^#\d+\n", history)
    return [part.strip("\n") for part in parts if part.strip()]


def _cut(text: str, most: int = 200_000) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - most} characters left out …]\n{text[-half:]}"


KINDS = (
    AgentKind(
        "human",
        "a person in the sandbox, with a clock and the commands task start, stop, status and submit",
        make_human,
        needs="a person, a second terminal, and a sandbox that can be entered: bwrap, docker, podman",
        example="expbench run --agent human --task mini/stochopt/2 --limit-minutes 40",
        tried="run to scores in bwrap by a scripted person at a terminal",
    ),
)
