"""Trajectories of other programs: read by content, and monitored like our own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, tool

from expbench.cli.monitoring import NO_TASK, Where, monitor_files
from expbench.errors import DataError, NotFoundError
from expbench.monitor import check
from expbench.monitor.foreign import ForeignTrajectory, read
from expbench.monitor.messages import turns_of
from expbench.planning import Options, plan
from expbench.runs import Attempt, create
from expbench.schema import Enforced, Submission, SubmissionText, Turn
from expbench.trajectory import to_json_lines

RESPONSE = {"design": "Two bands.", "conclusion": "The adaptive band covers 0.895."}
SCRIPT = "#!/bin/bash\npython run.py\n"


def saved(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def lines(path: Path, values: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


def tools(trajectory: ForeignTrajectory) -> list[tuple[str, str, str, bool]]:
    return [(t.tool, t.command, t.text, t.failed) for t in trajectory.turns if t.role == "tool"]


def guilty(trajectory: ForeignTrajectory) -> set[str]:
    report = check(trajectory.turns, trajectory.submission, NO_TASK, {})
    return {v.kind for v in report.violations if v.severity == "violation"}


# --- chat messages -------------------------------------------------------------------------------

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": [{"type": "text", "text": "Do it."}]},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "bash", "arguments": '{"command": "git log -p"}'},
            },
            {"id": "b", "function": "python", "arguments": {"code": "print(1)"}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "1"},
    {"role": "tool", "tool_call_id": "a", "content": "fatal", "error": {"type": "unknown"}},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "a",
                "function": {
                    "name": "write_file",
                    "arguments": json.dumps(
                        {"path": "response.json", "text": json.dumps(RESPONSE)}
                    ),
                },
            }
        ],
    },
    {"role": "assistant", "content": "Done."},
]


def test_calls_and_results_become_one_turn_each() -> None:
    """Ids may come again, results in any order, and a call without one has failed."""
    turns = turns_of(CHAT)
    assert [turn.role for turn in turns] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "tool",
        "assistant",
    ]
    assert (turns[3].tool, turns[3].command, turns[3].text) == ("python", "print(1)", "1")
    assert (turns[4].command, turns[4].failed) == ("git log -p", True)
    assert json.loads(turns[5].command)["path"] == "response.json"
    assert turns[5].failed


def test_content_blocks_and_response_items_are_read_too() -> None:
    blocks: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Now."},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "text", "text": "x.py"}],
                    "is_error": True,
                }
            ],
        },
    ]
    assert turns_of(blocks)[-1] == Turn(
        role="tool", tool="Bash", command="ls", text="x.py", failed=True
    )
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Do it."},
        {"type": "reasoning", "summary": []},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command": ["bash", "-lc", "git log -p"]}',
            "call_id": "c",
        },
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"role": "assistant", "function_call": {"name": "bash", "arguments": "git reflog"}},
        {"role": "function", "name": "bash", "content": "y"},
    ]
    turns = turns_of(items)
    assert [t.tool for t in turns if t.role == "tool"] == ["shell", "bash"]
    report = check(turns, SubmissionText(), NO_TASK, {})
    assert [v.turn for v in report.violations if v.kind == "git_history"] == [1, 2]


@pytest.mark.parametrize("wrong", ["text", {"content": "no role"}, {"role": "wizard"}, 3])
def test_what_is_no_message_is_said_with_its_number(wrong: Any) -> None:
    with pytest.raises(DataError, match="Message 2"):
        turns_of([{"role": "user", "content": "x"}, wrong])


@pytest.mark.parametrize("form", ["list", "object", "lines"])
def test_chat_files_are_read_in_three_forms(tmp_path: Path, form: str) -> None:
    """R45: deliverables are taken from the calls where the file does not give them."""
    path = tmp_path / "chat.json"
    if form == "list":
        saved(path, CHAT)
    elif form == "object":
        saved(path, {"messages": CHAT, "model": "m"})
    else:
        lines(path, CHAT)
    (found,) = read(path)
    assert found.kind == "messages"
    assert found.submission.conclusion == RESPONSE["conclusion"]
    assert guilty(found) == {"git_history"}


def test_lines_with_task_messages_and_deliverables_are_a_trajectory_each(tmp_path: Path) -> None:
    record = {
        "task": "mini/calibration/0",
        "messages": CHAT,
        "deliverables": {
            "conclusion": "Own words.",
            "script": SCRIPT,
            "patch": "diff --git a/x b/x",
        },
    }
    found = read(lines(tmp_path / "set.jsonl", [record, {**record, "id": "second"}]))
    assert [each.name for each in found] == ["set:1", "second"]
    assert found[0].task == "mini/calibration/0"
    assert found[0].submission.conclusion == "Own words."
    assert found[0].submission.script == SCRIPT
    assert found[0].submission.diff.startswith("diff --git")


# --- other programs ------------------------------------------------------------------------------

CLAUDE_CODE = [
    {"type": "summary", "summary": "Bands"},
    {"type": "user", "message": {"role": "user", "content": "Do it."}, "uuid": "1"},
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {
                    "type": "tool_use",
                    "id": "x",
                    "name": "Bash",
                    "input": {"command": "git log -p", "description": "Look at history"},
                },
            ],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "x", "content": "commit 1"}],
        },
        "toolUseResult": {"stdout": "commit 1"},
    },
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "y",
                    "name": "Write",
                    "input": {"file_path": "/workspace/reproduce_exp_bench.sh", "content": SCRIPT},
                }
            ],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "y", "content": "ok"}],
        },
    },
    {"type": "assistant", "message": {"role": "assistant", "content": "It covers 0.895."}},
]


def test_a_claude_code_transcript_is_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "session.jsonl", CLAUDE_CODE)
    path.write_text(path.read_text() + '{"type": "assistant", "mess')
    (found,) = read(path)
    assert found.kind == "Claude Code"
    assert tools(found)[0] == ("Bash", "git log -p", "commit 1", False)
    assert found.submission.script == SCRIPT
    assert found.submission.conclusion == "It covers 0.895."
    assert guilty(found) == {"git_history"}


OPENHANDS = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "Do it."}},
    {"id": 1, "source": "environment", "action": "recall", "args": {"query": "x"}},
    {"id": 2, "source": "environment", "observation": "recall", "content": "x", "cause": 1},
    {
        "id": 3,
        "source": "agent",
        "action": "run",
        "args": {"command": "git show HEAD~3", "thought": "I look.", "blocking": False},
    },
    {
        "id": 4,
        "source": "agent",
        "observation": "run",
        "content": "commit",
        "cause": 3,
        "extras": {"command": "git show HEAD~3", "metadata": {"exit_code": 128}},
    },
    {
        "id": 5,
        "source": "agent",
        "action": "edit",
        "args": {"path": "/w/run.py", "command": "create", "file_text": "print('0.895')\n"},
    },
    {"id": 6, "source": "agent", "observation": "edit", "content": "created", "cause": 5},
    {"id": 7, "source": "agent", "action": "run_ipython", "args": {"code": "print(2)"}},
    {"id": 8, "source": "agent", "action": "finish", "args": {"final_thought": "It is 0.895."}},
]


def test_openhands_events_are_read_alone_and_as_a_history(tmp_path: Path) -> None:
    (found,) = read(saved(tmp_path / "events.json", OPENHANDS))
    assert found.kind == "OpenHands"
    assert tools(found)[0] == ("bash", "git show HEAD~3", "commit", True)
    assert tools(found)[2][:2] == ("python", "print(2)")
    assert "run.py" in found.submission.diff
    assert guilty(found) == {"git_history"}
    line = {
        "instance_id": "one",
        "history": OPENHANDS,
        "test_result": {"git_patch": "diff --git a/x b/x"},
    }
    (other,) = read(lines(tmp_path / "output.jsonl", [line]))
    assert (other.name, other.task) == ("one", "one")
    assert other.turns == found.turns
    assert other.submission.diff == "diff --git a/x b/x"


def test_events_of_the_newer_openhands_are_read(tmp_path: Path) -> None:
    events = [
        {
            "kind": "MessageEvent",
            "source": "user",
            "llm_message": {"role": "user", "content": [{"type": "text", "text": "Do it."}]},
        },
        {
            "kind": "ActionEvent",
            "source": "agent",
            "thought": [{"type": "text", "text": "I look."}],
            "tool_name": "terminal",
            "tool_call_id": "c",
            "tool_call": {"id": "c", "name": "terminal", "arguments": '{"command": "git reflog"}'},
            "action": {"kind": "TerminalAction", "command": "git reflog"},
        },
        {
            "kind": "ObservationEvent",
            "tool_call_id": "c",
            "observation": {"content": [{"type": "text", "text": "HEAD@{0}"}], "is_error": False},
        },
    ]
    (found,) = read(saved(tmp_path / "events.json", events))
    assert tools(found) == [("terminal", "git reflog", "HEAD@{0}", False)]
    assert guilty(found) == {"git_history"}


def test_mini_swe_agent_is_read_with_blocks_and_with_tool_calls(tmp_path: Path) -> None:
    blocks = [
        {"role": "system", "content": "Reply with one block."},
        {"role": "user", "content": "Do it. For example:\n```bash\ngit log -p\n```"},
        {"role": "assistant", "content": "THOUGHT: look\n\n```bash\ncat a.py && git reflog\n```"},
        {
            "role": "user",
            "content": "<returncode>1</returncode>\n<output>\nHEAD@{0}\n</output>",
        },
        {"role": "assistant", "content": "```mswea_bash_command\necho done\n```"},
    ]
    record = {
        "trajectory_format": "mini-swe-agent-1",
        "info": {"exit_status": "Submitted", "submission": "diff --git a/x b/x\n"},
        "messages": blocks,
    }
    (found,) = read(saved(tmp_path / "a.traj.json", record))
    assert found.kind == "mini-swe-agent"
    assert tools(found) == [
        ("bash", "cat a.py && git reflog", "HEAD@{0}", True),
        ("bash", "echo done", "", True),
    ]
    assert found.submission.diff == "diff --git a/x b/x\n"
    assert guilty(found) == {"git_history"}
    record["messages"] = [*CHAT[:5], {"role": "exit", "content": "", "extra": {}}]
    (other,) = read(saved(tmp_path / "b.traj.json", record))
    assert [command for _, command, _, _ in tools(other)] == ["print(1)", "git log -p"]


def test_swe_agent_steps_are_read(tmp_path: Path) -> None:
    record = {
        "trajectory": [
            {"thought": "I look.", "action": "git blame x.py", "observation": "abc"},
            {"thought": "", "action": "python run.py", "observation": "0.9"},
        ],
        "info": {"submission": "diff --git a/x b/x"},
    }
    (found,) = read(saved(tmp_path / "a.traj", record))
    assert found.kind == "SWE-agent"
    assert tools(found)[0] == ("bash", "git blame x.py", "abc", False)
    assert guilty(found) == {"git_history"}


@tool
def bash() -> Tool:
    """A shell that does nothing."""

    async def execute(command: str) -> str:
        """Run a command.

        Args:
            command: what to run.
        """
        return f"ran {command}"

    return execute


@pytest.mark.parametrize("form", ["eval", "json"])
def test_inspect_logs_are_read_in_both_forms(tmp_path: Path, form: str) -> None:
    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "git log --all"}),
        ModelOutput.from_content("mockllm/model", "It covers 0.895."),
    ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1)
    task = Task(
        dataset=[Sample(input="Do it.", id="mini/calibration/0")],
        solver=[use_tools(bash()), generate()],
    )
    (log,) = eval(
        task,
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path),
        log_format="eval" if form == "eval" else "json",
        display="none",
    )
    (found,) = read(Path(log.location.removeprefix("file://")))
    assert found.kind == "Inspect"
    assert found.task == "mini/calibration/0"
    assert tools(found) == [("bash", "git log --all", "ran git log --all", False)]
    assert found.submission.conclusion == "It covers 0.895."
    assert guilty(found) == {"git_history"}


def test_our_own_stored_trajectories_are_read(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    path.write_bytes(to_json_lines(turns_of(CHAT)))
    (found,) = read(path)
    assert found.kind == "expbench"
    assert found.turns == turns_of(CHAT)


# --- what is not a trajectory --------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello",
        "{}",
        "[]",
        "[1, 2]",
        "null",
        '{"messages": "none"}',
        '{"a": 1}\n{"b": 2}\n',
        "[" * 50_000,
        '{"eval": {}, "version": 2}',
        '[{"role": "wizard"}]',
        '{"history": 3}',
        '{"messages": [3]}',
        '{"role": "user", "content": "x"}\nnot json\n{"role": "user"}\n',
    ],
    ids=range(14),
)
def test_another_file_is_refused_in_one_sentence_with_the_mend(
    tmp_path: Path, content: str
) -> None:
    """R41: what the user can mend is one sentence."""
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(DataError) as error:
        read(path)
    assert "give" in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "nothing.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="no trajectory"):
        read(tmp_path / "binary")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("role", "content", "tool_calls", "type", "message", "history"),
                    *("messages", "action", "observation", "args", "id", "info", "function"),
                    *("arguments", "kind", "source", "extras", "cause", "eval", "command"),
                    *("tool", "trajectory"),
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_any_json_is_read_or_refused(
    value: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.json"
    path.write_text(json.dumps(value))
    try:
        found = read(path)
    except DataError:
        return
    for each in found:
        assert check(each.turns, each.submission, NO_TASK, {}).verdict


# --- the command ---------------------------------------------------------------------------------


def where(tmp_path: Path) -> Where:
    return Where(cache=tmp_path / "cache")


def test_files_are_monitored_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R45: foreign runs have the same monitor; with the task its documents are known too."""
    bad = saved(tmp_path / "bad.json", CHAT)
    good = saved(
        tmp_path / "good.json", [CHAT[0], CHAT[1], {"role": "assistant", "content": "No."}]
    )
    code = monitor_files([bad, good], "mini", "", "", where(tmp_path), as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert code == 1
    assert [row["report"]["verdict"] for row in rows] == ["violation", "unscored"]
    assert rows[0]["task"] == ""
    monitor_files([bad], "mini", "mini/calibration/0", "", where(tmp_path), as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert row["task"] == "mini/calibration/0"
    assert monitor_files([bad], "mini", "", "", where(tmp_path), as_json=False) == 1
    shown = capsys.readouterr().out
    assert "git_history" in shown
    assert "git log -p" in shown
    assert "--task" in shown


def test_an_unknown_task_is_refused(tmp_path: Path) -> None:
    bad = saved(tmp_path / "bad.json", CHAT)
    with pytest.raises(NotFoundError):
        monitor_files([bad], "mini", "mini/nothing/0", "", where(tmp_path), as_json=True)


def test_with_a_model_trajectories_of_one_task_are_also_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = {
        "replies": [
            {"when": "A first reader", "text": '{"verdict": "confirmed", "reason": "r"}'},
            {
                "when": r"\[attempt A\]",
                "text": json.dumps(
                    {
                        "findings": [
                            {
                                "attempt": "A",
                                "kind": "git_history",
                                "turn": 3,
                                "quote": "print(1)",
                                "explanation": "The other one does not.",
                            }
                        ]
                    }
                ),
            },
            {"when": ".", "text": '{"findings": []}'},
        ]
    }
    model = f"scripted/{saved(tmp_path / 'model.json', script)}"
    files = [saved(tmp_path / f"{name}.json", CHAT) for name in ("one", "two")]
    monitor_files(files, "mini", "mini/calibration/0", model, where(tmp_path), as_json=True)
    one, two = json.loads(capsys.readouterr().out)
    layers = [layer.split()[0] for layer in one["report"]["layers"]]
    assert layers == ["rules", "model", "comparison"]
    assert "comparison" in {v["layer"] for v in one["report"]["violations"]}
    assert "comparison" not in {v["layer"] for v in two["report"]["violations"]}


def stored_run(folder: Path, cache: Path, sessions: Sequence[Sequence[dict[str, Any]]]) -> Path:
    """A run's folder with a stored attempt at one task for each session."""
    options = Options(
        tasks=("mini/calibration/0",),
        agent="null",
        epochs=len(sessions),
        sandbox="local",
        unsafe=True,
        cache=cache,
        out=folder,
    )
    run = create(folder, plan(options))
    for epoch, session in enumerate(sessions, 1):
        submission = Submission(
            task_id="mini/calibration/0",
            base_tree="0" * 40,
            patch=run.store.put(b""),
            text=run.store.put(SubmissionText(conclusion="Nothing.").model_dump_json().encode()),
            trajectory=run.store.put(to_json_lines(turns_of(session))),
        )
        attempt = Attempt(
            task_id="mini/calibration/0",
            epoch=epoch,
            submission=submission,
            status="finished",
            enforced=Enforced(provider="bwrap", limits={"network": "own namespace"}),
        )
        run.add(attempt)
    return folder


def test_a_runs_stored_attempts_are_monitored_again_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R19: epochs of a run are compared; what the sandbox made impossible is said."""
    script = {"replies": [{"when": ".", "text": '{"findings": []}'}]}
    model = f"scripted/{saved(tmp_path / 'model.json', script)}"
    folder = stored_run(tmp_path / "run", tmp_path / "cache", [CHAT, CHAT[:2] + CHAT[5:]])
    assert monitor_files([folder], "mini", "", model, where(tmp_path), as_json=True) == 1
    one, two = json.loads(capsys.readouterr().out)
    assert one["report"]["verdict"] == "violation"
    assert two["report"]["verdict"] == "clean"
    assert any("no network" in each for each in one["report"]["prevented"])
    for row in (one, two):
        assert [layer.split()[0] for layer in row["report"]["layers"]] == [
            "rules",
            "model",
            "comparison",
        ]
