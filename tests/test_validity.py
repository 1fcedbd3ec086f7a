"""The validity gate: a green status proves nothing, and whatever is doubtful says so everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from small_runs import do, options_for, scripted

from expbench.cli.progress import short
from expbench.cli.run_reports import write_run_report
from expbench.errors import AgentExit
from expbench.metrics import summarise
from expbench.paths import CachePaths
from expbench.report import summary_json, task_table
from expbench.runs import Run
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Blob, Doubt, Outcome, Submission, Turn
from expbench.validity import doubts_of_submission, doubts_of_work


def calls(*failed: bool) -> list[Turn]:
    return [Turn(role="tool", tool="bash", command="ls", failed=each) for each in failed]


@pytest.mark.parametrize(
    ("turns", "doubtful"),
    [
        (calls(True, True, True), False),
        (calls(True, True, True, False), True),
        (calls(True, True, False, False), False),
        (calls(True, True, True, False, False), True),
        ([Turn(role="assistant", text="failed", failed=True)] * 8, False),
        ([], False),
    ],
)
def test_more_than_half_of_four_calls_and_more(turns: list[Turn], doubtful: bool) -> None:
    found = doubts_of_work(turns)
    assert [doubt.kind for doubt in found] == ["tool_calls"] * doubtful
    if doubtful:
        assert found[0].sentence == f"3 of {len(turns)} tool calls failed"


def test_an_exit_code_and_a_model_that_was_never_asked() -> None:
    found = doubts_of_work([], AgentExit(3, "run.py ended with exit code 3"), True, 0)
    assert found == (
        Doubt(kind="agent_exit", sentence="run.py ended with exit code 3"),
        Doubt(kind="model_unreachable", sentence="the agent ended without an answer of its model"),
    )
    assert doubts_of_work([], ValueError("its own"), True, 1) == ()
    assert doubts_of_work([], None, False, 0) == ()


@pytest.mark.parametrize(
    ("changed", "response", "kinds"),
    [
        ((), False, ["empty_patch", "no_response"]),
        (("response.json",), True, ["empty_patch"]),
        (("run.py",), False, ["no_response"]),
        (("reproduce_exp_bench.sh", "response.json"), True, []),
    ],
)
def test_what_was_handed_in(changed: tuple[str, ...], response: bool, kinds: list[str]) -> None:
    blob = Blob(digest="0" * 64, size=1)
    submission = Submission(
        task_id="a/b/1",
        base_tree="t",
        patch=blob,
        text=blob,
        response=blob if response else None,
        changed=changed,
    )
    assert [doubt.kind for doubt in doubts_of_submission(submission)] == kinds


# --- whole runs ------------------------------------------------------------------------------------


def kinds_of(run: Run) -> list[str]:
    (attempt,) = run.attempts.values()
    (outcome,) = run.ordered()
    assert attempt.doubts == outcome.doubts
    return [doubt.kind for doubt in outcome.doubts]


def table_of(outcome: Outcome) -> str:
    console = Console(width=300)
    with console.capture() as captured:
        console.print(task_table([outcome]))
    return " ".join(captured.get().split())


def test_every_tool_call_failing_is_not_a_finished_attempt(
    host: SandboxHost, cache: CachePaths, tmp_path: Path
) -> None:
    """What Inspect calls a success: react's tools are called by arguments that they do not take."""
    wrong = {"calls": [{"tool": "bash", "arguments": {"cmd": "ls"}}]}
    submit = {"calls": [{"tool": "submit", "arguments": {"answer": "done"}}]}
    model = scripted(tmp_path, turns=[wrong] * 5 + [submit])
    options = options_for(tmp_path, cache, "react", model=model)
    run, end = do(options)
    assert end.open == 0
    (outcome,) = run.ordered()
    assert kinds_of(run) == ["tool_calls", "empty_patch", "no_response"]
    sentences = [doubt.sentence for doubt in outcome.doubts]
    assert sentences[0] == "5 of 5 tool calls failed"
    # The progress line, the table, the report and the record for programs say it.
    assert f"doubtful: {'; '.join(sentences)}" in short(outcome)
    files = write_run_report(run, options)
    summary = summarise(run.planned, run.ordered())
    record = json.loads(summary_json(summary, run.manifest, "", run.ordered()).model_dump_json())
    assert [each["doubt"]["kind"] for each in record["doubts"]] == kinds_of(run)
    for sentence in sentences:
        assert f"doubtful: {sentence}" in table_of(outcome)
        for file in (files.html, files.markdown):
            assert sentence in file.read_text().replace("\\_", "_").replace("\\.", ".")
    assert "tool_calls empty_patch no_response" in files.csv.read_text()


def test_the_null_agent_is_marked(host: SandboxHost, cache: CachePaths, tmp_path: Path) -> None:
    run, _ = do(options_for(tmp_path, cache, "null"))
    assert kinds_of(run) == ["empty_patch", "no_response"]


def test_the_oracle_is_not(host: SandboxHost, cache: CachePaths, tmp_path: Path) -> None:
    run, _ = do(options_for(tmp_path, cache, "oracle"))
    assert kinds_of(run) == []
    assert "doubtful" not in short(run.ordered()[0]) + table_of(run.ordered()[0])


def test_an_agents_own_failing_commands_count(
    host: SandboxHost, cache: CachePaths, tmp_path: Path
) -> None:
    run, _ = do(options_for(tmp_path, cache, "fails_all_calls"))
    (outcome,) = run.ordered()
    assert kinds_of(run) == ["tool_calls"]
    assert outcome.doubts[0].sentence == "5 of 7 tool calls failed"


def test_an_agent_that_never_asked_its_model(
    host: SandboxHost, cache: CachePaths, tmp_path: Path
) -> None:
    options = options_for(tmp_path, cache, "inspect_agent", model="mockllm/model")
    run, _ = do(options)
    assert kinds_of(run) == ["model_unreachable", "empty_patch", "no_response"]


def test_a_program_that_fails_is_a_result_that_says_so(
    host: SandboxHost, cache: CachePaths, tmp_path: Path
) -> None:
    (tmp_path / "agent.toml").write_text('run = ["bash", "-c", "echo no data >&2; exit 3"]\n')
    run, end = do(options_for(tmp_path, cache, f"command:{tmp_path}/agent.toml"))
    (outcome,) = run.ordered()
    assert (end.open, outcome.status) == (0, "agent_error")
    assert kinds_of(run) == ["agent_exit", "empty_patch", "no_response"]
    assert "exit code 3" in outcome.reason and "exit code 3" in outcome.doubts[0].sentence
