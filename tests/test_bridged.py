"""Agents with programs of their own, run to scores: Curie's stand-in always, the others where they install.

The real ones are installed once for all workers of a test session, into a cache of its own, by the command
that users type. Where that fails or takes too long, what needs them is skipped with the reason.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import curie_stand_in
import pytest
from agent_running import RESPONSE, SCRIPT, Folder, Ran, calls, hand_in
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall

from expbench.agents import get_agent
from expbench.agents.bridged.running import settle
from expbench.errors import PrerequisiteError, UserError
from expbench.sandboxes.host import SandboxHost

INSTALL_SECONDS = 240
CANARY = "canary-5d8e1f7a3c"
"""What :class:`Folder` has as keys of providers."""


@pytest.fixture(scope="session")
def programs(
    tmp_path_factory: pytest.TempPathFactory, worker_count: int
) -> Iterator[Callable[[str], Path]]:
    """A cache in which a program is installed, the same for all workers; the last one removes it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if worker_count > 1 else base) / "programs"
    shared.mkdir(exist_ok=True)

    def installed(name: str) -> Path:
        refusal = shared / f"{name}.refused"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not refusal.exists() and (why := _install(name, shared)):
                refusal.write_text(why)
        if refusal.exists():
            pytest.skip(f"{name} cannot be installed here: {refusal.read_text()}")
        return shared

    yield installed
    with (shared / "done").open("a+") as done:
        fcntl.flock(done, fcntl.LOCK_EX)
        done.write("x")
        done.flush()
        done.seek(0)
        last = len(done.read()) >= worker_count
    if last:
        shutil.rmtree(shared, ignore_errors=True)


@pytest.fixture(scope="session")
def worker_count() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def _install(name: str, cache: Path) -> str:
    """Why a program cannot be installed; empty where it is."""
    command = [sys.executable, "-m", "expbench", "agents", "install", name, "--json"]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it takes longer than {INSTALL_SECONDS} s"
    if done.returncode == 0:
        assert json.loads(done.stdout)["tried"]
        return ""
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1][:300]


def _run(tmp_path: Path, cache: Path, agent: str, *turns: dict[str, object]) -> Ran:
    folder = Folder(tmp_path, cache)
    return folder.run(agent, "--model", folder.model(*turns))


def _handed_in(ran: Ran) -> None:
    """A run to its end, with what was handed in judged and executed, and no key anywhere."""
    assert (ran.outcome.status, ran.outcome.reason, ran.outcome.limit) == ("finished", "", "")
    assert not [d for d in ran.outcome.doubts if d.kind in ("agent_exit", "model_unreachable")]
    text = ran.run.store.get(ran.attempt.submission.text).decode()
    assert RESPONSE["conclusion"] in text and SCRIPT.splitlines()[1] in text
    assert ran.values()["execution"] == 1.0 and ran.values()["conclusion"] == 0.0
    assert ran.attempt.usage.calls >= 2
    said = [turn for turn in ran.turns if turn.role == "assistant"]
    commands = [turn.command for turn in ran.tools]
    assert any("reproduce_exp_bench.sh" in command for command in commands), commands
    assert not any(turn.failed for turn in ran.tools), ran.tools
    trajectory = ran.attempt.submission.trajectory
    assert trajectory is not None and said is not None
    assert CANARY not in ran.run.store.get(trajectory).decode()
    assert ran.manifest.versions["agent program digest"]


DONE = {"text": "All done."}

REAL = {
    "mini-swe-agent": (
        calls("bash", command=hand_in()),
        calls("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    ),
    "openhands": (calls("terminal", command=hand_in()), calls("finish", message="All done.")),
    "codex_cli": (calls("exec_command", cmd=hand_in()), DONE),
    "opencode": (calls("bash", command=hand_in(), description="hand in"), DONE),
    "claude_code": (calls("Bash", command=hand_in(), description="hand in"), DONE),
    "gemini_cli": (calls("run_shell_command", command=hand_in()), DONE),
}
"""Agents, and what a scripted model says to each."""

CLIENTS = {"claude_code": "anthropic", "gemini_cli": "google.genai"}
OFTEN = ("mini-swe-agent", "openhands", "codex_cli")
"""Those that every test session runs; the others where EXPBENCH_TEST_PROGRAMS is set."""


@pytest.mark.parametrize("agent", REAL)
def test_a_published_program_is_run_to_a_score(
    agent: str, programs: Callable[[str], Path], host: SandboxHost, tmp_path: Path
) -> None:
    """Its messages and tool calls are the trajectory; it has a proxy's word for a key (R46)."""
    if agent not in OFTEN and not os.environ.get("EXPBENCH_TEST_PROGRAMS"):
        pytest.skip("set EXPBENCH_TEST_PROGRAMS to run it: its program is some 100 MB more")
    client = CLIENTS.get(agent, "openai")
    pytest.importorskip(client, reason=f"the bridge needs the package {client} for {agent}")
    _handed_in(_run(tmp_path, programs(agent), agent, *REAL[agent]))


def test_openhands_ends_well_when_its_steps_are_taken(
    programs: Callable[[str], Path], host: SandboxHost, tmp_path: Path
) -> None:
    ran = _run(
        tmp_path,
        programs("openhands"),
        "openhands:2",
        calls("terminal", command="ls"),
        calls("terminal", command=hand_in()),
        calls("terminal", command="echo never > beyond.txt"),
    )
    _handed_in(ran)
    assert "beyond.txt" not in ran.attempt.submission.changed
    assert "at most 2 steps" in ran.manifest.versions["agent"]
    assert any("all 2 steps are taken" in turn.text for turn in ran.tools)


# --- Curie, by a package of the tests' own with its function and files -------------------------------

PLAN = {
    "hypothesis": "More members calibrate better.",
    "constant_vars": ["the data"],
    "independent_vars": ["members"],
    "dependent_vars": ["calibration error"],
    "controlled_experiment_setup_description": "Run the unit tests.",
}
CONTROL = (
    "cat > measured.py <<'EOF'\nprint('measured 3')\nEOF\n"
    "python -m unittest discover tests && python measured.py > {results}\n"
)
CONCLUSION = "With 10 members it isn't 'better': the \"error\" is 3."


@pytest.fixture(scope="module")
def stands_in(tmp_path_factory: pytest.TempPathFactory, host: SandboxHost) -> Callable[[str], Path]:
    """A cache with a version of the stand-in installed."""
    wheels = curie_stand_in.wheels(tmp_path_factory.mktemp("wheels"))

    def installed(version: str) -> Path:
        cache = tmp_path_factory.mktemp("cache")
        folder = Folder(cache, cache)
        folder("agents", "install", "curie", "--version", version, "--wheels", str(wheels))
        return cache

    return installed


def test_curie_is_run_to_a_score_with_its_plans_scripts_and_conclusion(
    stands_in: Callable[[str], Path], tmp_path: Path
) -> None:
    """Plan variables become the design, the concluder's record the conclusion, control scripts the script."""
    turns = [{"text": json.dumps(PLAN)}, {"text": CONTROL}, {"text": CONCLUSION}]
    ran = _run(tmp_path, stands_in(curie_stand_in.GOOD), "curie:12", *turns)
    assert (ran.outcome.status, ran.outcome.reason) == ("finished", "")
    submission = ran.attempt.submission
    assert submission.conclusion == CONCLUSION
    assert submission.design is not None
    for text in (
        "Constant: the data",
        "Independent: members",
        '"members": 10',
        "Run the unit tests",
    ):
        assert text in submission.design
    script = ran.run.store.get(submission.script).decode() if submission.script else ""
    assert "control_experiment_p1_control_group_partition_1.sh" in script
    assert "measured.py" in submission.changed
    control = next(name for name in submission.changed if name.startswith("control_experiment"))
    patch = ran.run.store.get(submission.patch).decode()
    assert "/tmp/curie" not in patch, "the copy's own paths are not there in the re-run"
    assert control and ran.values()["execution"] == 1.0
    execution = ran.outcome.execution
    assert execution is not None and execution.stdout is not None
    assert b"measured 3" in ran.run.store.get(execution.stdout)
    assert ran.attempt.usage.calls == 3
    assert [turn.text for turn in ran.turns if turn.role == "assistant"][-1] == CONCLUSION
    assert "at most 12 global steps" in ran.manifest.versions["agent"]
    assert any("At most 12 steps" in turn.text for turn in ran.turns)


def test_a_program_that_fails_is_the_agents_result_and_says_so(
    stands_in: Callable[[str], Path], tmp_path: Path
) -> None:
    cache = stands_in(curie_stand_in.FAILING)
    ran = _run(tmp_path, cache, "curie", {"text": json.dumps(PLAN)})
    assert ran.outcome.status == "agent_error"
    assert "exit code 1" in ran.outcome.reason and "the plan is no good" in ran.outcome.reason
    assert "agent_exit" in {doubt.kind for doubt in ran.outcome.doubts}
    shutil.rmtree(cache / "expbench" / "agents")
    said = Folder(tmp_path, cache)("resume", str(ran.run.paths.root))
    assert "1 done before" in said, "where no agent is to work, its program is not needed"


def test_a_program_that_never_heard_its_model_is_tried_again_and_never_scored(
    stands_in: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R43: such an end is the infrastructure's, however well the program says that it ended."""
    monkeypatch.setattr("expbench.runner.TRIES", 2)
    cache = stands_in(curie_stand_in.SILENT)
    folder = Folder(tmp_path, cache)
    ran = folder.run("curie", "--model", folder.model({"text": "{}"}), code=1)
    assert ran.outcome.status == "infrastructure"
    assert "without one answer of its model" in ran.outcome.reason
    assert not ran.outcome.scores
    digest = ran.manifest.versions["agent program digest"]
    shutil.rmtree(cache / "expbench" / "agents" / digest)
    said = folder("resume", str(ran.run.paths.root), code=2)
    assert digest in said and "is not installed any more" in said


# --- what needs no sandbox ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("openhands:0", "number of steps"),
        ("openhands:many", "number of steps"),
        ("curie:0", "global steps"),
        ("mini-swe-agent:x", "takes nothing"),
        ("codex_cli:x", "takes nothing"),
        ("human:x", "takes nothing"),
    ],
)
def test_a_wrong_argument_is_refused(agent: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        get_agent(agent)


def test_presets_of_openhands_are_the_papers_and_no_limit() -> None:
    assert "at most 30 steps" in get_agent("openhands").version
    assert "any number of steps" in get_agent("openhands:unlimited").version


def test_a_missing_client_of_a_language_is_said_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'expbench\[anthropic\]'"):
        get_agent("claude_code")


def _call(number: int, command: str = "ls") -> ToolCall:
    return ToolCall(id=str(number), function="bash", arguments={"command": command})


def _answered(messages: list[ChatMessage]) -> list[str | None]:
    return [each.tool_call_id for each in messages if isinstance(each, ChatMessageTool)]


def test_the_call_that_a_program_ends_with_counts_as_no_failure() -> None:
    def conversation() -> list[ChatMessage]:
        return [
            ChatMessageUser(content="x"),
            ChatMessageAssistant(content="", tool_calls=[_call(1)]),
            ChatMessageTool(content="a", tool_call_id="1", function="bash"),
            ChatMessageAssistant(content="", tool_calls=[_call(2, "exit")]),
        ]

    settle(messages := conversation(), ended_well=True)
    assert _answered(messages) == ["1", "2"]
    settle(messages := conversation(), ended_well=False)
    assert _answered(messages) == ["1"], "a program that died may have died of it"


def test_a_call_that_a_program_gave_another_name_is_there_once() -> None:
    """The model's own name of it goes; a call made twice, and one made in vain, stay."""
    messages: list[ChatMessage] = [
        ChatMessageAssistant(content="I look.", tool_calls=[_call(1)]),
        ChatMessageAssistant(content="", tool_calls=[_call(2)]),
        ChatMessageAssistant(content="", tool_calls=[_call(11)]),
        ChatMessageTool(content="a", tool_call_id="11", function="bash"),
        ChatMessageAssistant(content="", tool_calls=[_call(12)]),
        ChatMessageTool(content="a", tool_call_id="12", function="bash"),
        ChatMessageAssistant(content="", tool_calls=[_call(3)]),
    ]
    settle(messages, ended_well=False)
    calls = [
        c.id for m in messages if isinstance(m, ChatMessageAssistant) for c in m.tool_calls or ()
    ]
    assert calls == ["11", "12", "3"]
    assert messages[0].text == "I look."
