"""``expbench execute``: stored submissions executed again, anywhere, with everything kept."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from test_main_job import Command, pytestmark  # noqa: F401
from typer.testing import CliRunner, Result

from expbench.cli.main import app
from expbench.errors import UserError
from expbench.execution import examining
from expbench.planning import options_of
from expbench.reexecute import open_reexecution, reexecute, summary
from expbench.runs import Executed, load
from expbench.schema import Execution

QUICK, OTHER = "mini/stochopt/2", "mini/calibration/2"
SCRIPT = "echo run >> count.txt; cat /workspace/count.txt; python -c 'import random; print(random.random())'"


def call(command: Command, *args: str, code: int = 0) -> Result:
    """The command in this process, which is quicker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(command.folder)
        for name, value in command.environment.items():
            patch.setenv(name, value)
        done = CliRunner().invoke(app, list(args))
    assert done.exit_code == code, done.output
    return done


def again(command: Command, run: str, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(command, "execute", run, *args, "--json").stdout)
    return found


def executed(folder: Path) -> list[Executed]:
    run = load(folder)
    return [each for key in run.planned for _, each in sorted(run.executions.get(key, {}).items())]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A run in which an agent handed in a script for two tasks."""
    command = Command(tmp_path_factory.mktemp("execute"))
    steps = {"steps": [{"write": "reproduce_exp_bench.sh", "text": SCRIPT}]}
    (command.folder / "steps.json").write_text(json.dumps(steps))
    tasks = ("--task", QUICK, "--task", OTHER)
    command("run", "--agent", "scripted:steps.json", *tasks, "--out", "runs/a")
    return command


@pytest.fixture
def copy(done: Command, tmp_path: Path) -> Command:
    """The same run in another place, with the same cache."""
    ignore = shutil.ignore_patterns("executed")
    shutil.copytree(done.folder / "runs/a", tmp_path / "runs/a", ignore=ignore)
    command = Command(tmp_path)
    command.environment["XDG_CACHE_HOME"] = done.environment["XDG_CACHE_HOME"]
    return command


def test_submissions_are_executed_again_and_the_run_stays(done: Command) -> None:
    run = done.folder / "runs/a"
    before = {path: path.read_bytes() for path in run.glob("*.json*")}
    found = again(done, "runs/a", "--task", QUICK, "--name", "first")
    assert {path: path.read_bytes() for path in run.glob("*.json*")} == before
    assert found["folder"] == "runs/a/executed/first" and found["sandbox"] == "bwrap"
    (row,) = found["submissions"]
    assert (row["task_id"], row["before"], row["states"]) == (QUICK, "ran", {"ran": 1})
    assert (row["produced"], row["outputs"], row["reused"]) == (1, 1, 0)
    (only,) = executed(run / "executed/first")
    assert load(run).store.text(only.execution.stdout).startswith("run\n")
    assert [made.path for made in only.execution.made] == ["count.txt"]
    outcome = load(run / "executed/first").outcomes[QUICK, 1]
    assert outcome.execution == only.execution
    assert outcome.scores["design"] == load(run).outcomes[QUICK, 1].scores["design"]
    assert "E" in call(done, "report", "runs/a/executed/first").stdout


def test_what_is_known_is_taken_and_more_is_executed(done: Command) -> None:
    """Each of several executions is one of its own; the same command goes on where it was."""
    first = again(done, "runs/a", "--task", OTHER)
    assert first["folder"] == "runs/a/executed/bwrap"
    same = call(done, "execute", "runs/a", "--task", OTHER)
    assert "executed:" not in same.stderr and "taken from" not in same.stderr
    more = call(done, "execute", "runs/a", "--task", OTHER, "--repeat", "3")
    assert more.stderr.count("taken from executed/bwrap") == 1
    assert more.stderr.count("executed: ") == 2
    run = done.folder / "runs/a"
    one, three = executed(run / "executed/bwrap"), executed(run / "executed/bwrap-2")
    assert [each.number for each in three] == [1, 2, 3]
    assert three[0].execution == one[0].execution and three[0].reused == "bwrap"
    assert len({each.key for each in (*one, *three)}) == 1 and one[0].key
    assert len({each.execution.stdout.digest for each in three if each.execution.stdout}) == 3
    fresh = again(done, "runs/a", "--task", OTHER, "--fresh")
    assert fresh["folder"] == "runs/a/executed/bwrap-3"
    assert fresh["submissions"][0]["reused"] == 0
    assert executed(run / "executed/bwrap-3")[0].execution.stdout != one[0].execution.stdout


def test_other_limits_are_other_conditions(done: Command) -> None:
    """What shapes an execution is in its key: here the script that is looked for."""
    again(done, "runs/a", "--task", QUICK, "--name", "plain")
    other = again(done, "runs/a", "--task", QUICK, "--name", "named", "--script", "go.sh")
    (row,) = other["submissions"]
    assert row["states"] == {"no_script": 1} and "go.sh" in row["said"] and row["reused"] == 0
    run = done.folder / "runs/a/executed"
    assert executed(run / "plain")[0].key != executed(run / "named")[0].key
    outcome = load(run / "named").outcomes[QUICK, 1]
    assert outcome.scores["execution"].value == 0.0


def test_a_packed_run_is_executed_anywhere(done: Command, tmp_path: Path) -> None:
    """From an archive alone, with another cache, after the run is gone; executions travel too."""
    again(done, "runs/a", "--task", QUICK, "--name", "before")
    shutil.copytree(done.folder / "runs/a", tmp_path / "runs/a")
    there = Command(tmp_path)
    call(there, "runs", "pack", "runs/a", "--out", "a.tar.gz")
    shutil.rmtree(tmp_path / "runs")
    call(there, "runs", "unpack", "a.tar.gz")
    assert executed(tmp_path / "runs/a/executed/before") == executed(
        done.folder / "runs/a/executed/before"
    )
    (kept,) = executed(tmp_path / "runs/a/executed/before")
    assert load(tmp_path / "runs/a/executed/before").store.text(kept.execution.stdout)
    found = again(there, "runs/a", "--fresh", "--task", QUICK)
    assert found["submissions"][0]["states"] == {"ran": 1}


def test_another_folder_is_a_run_of_its_own(done: Command) -> None:
    found = again(done, "runs/a", "--task", QUICK, "--out", "elsewhere/x")
    assert found["folder"] == "elsewhere/x"
    shutil.copytree(done.folder / "elsewhere/x", done.folder / "moved")
    run = load(done.folder / "moved")
    (only,) = executed(done.folder / "moved")
    assert run.store.text(only.execution.stdout).startswith("run\n")
    assert run.store.get(run.attempts[QUICK, 1].submission.patch)
    call(done, "report", "moved")


def test_a_killed_executing_goes_on_where_it_was(copy: Command) -> None:
    """R43: what was finished before the kill is not done again."""
    run = copy.folder / "runs/a"
    args = ("execute", "runs/a", "--repeat", "4", "--max-samples", "1", "--task", QUICK)
    process = copy.start(*args)
    journal = run / "executed/bwrap/journal.jsonl"
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    before = executed(run / "executed/bwrap")
    assert 2 <= len(before) < 4
    with journal.open("ab") as file:
        file.write(b'{"executed": {"task_id"')
    call(copy, *args)
    after = executed(run / "executed/bwrap")
    assert [each.number for each in after] == [1, 2, 3, 4]
    assert after[: len(before)] == before
    assert len({each.execution.stdout for each in after}) == 4


def test_an_interruption_says_how_to_go_on(copy: Command) -> None:
    run = copy.folder / "runs/a"
    process = copy.start("execute", "runs/a", "--repeat", "200", "--max-samples", "2")
    deadline = time.monotonic() + 60
    while not (run / "executed/bwrap/journal.jsonl").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "the same command with --name bwrap goes on" in err and "Traceback" not in err
    assert (run / "executed/bwrap/outcomes.jsonl").exists()


def test_no_sandbox_is_never_scored_and_its_paths_are_adapted(done: Command) -> None:
    if Path("/workspace").exists():
        pytest.skip("this machine has a folder /workspace")
    found = again(done, "runs/a", "--sandbox", "local", "--unsafe", "--task", QUICK)
    (row,) = found["submissions"]
    assert row["states"] == {"ran": 1} and "/workspace was taken for" in row["said"]
    outcome = load(done.folder / "runs/a/executed/local").outcomes[QUICK, 1]
    assert outcome.scores["execution"].value is None


def test_mistakes_are_one_sentence(done: Command) -> None:
    again(done, "runs/a", "--task", QUICK, "--name", "taken")
    command = done.fails
    assert "holds no run" in command("execute", "runs/none")
    assert "mini/none/0" in command("execute", "runs/a", "--task", "mini/none/0")
    assert "--name" in command("execute", "runs/a", "--name", "../b")
    assert "one of them" in command("execute", "runs/a", "--name", "b", "--out", "c")
    assert "another name" in command("execute", "runs/a", "--name", "taken", "--repeat", "2")
    assert "--unsafe" in command("execute", "runs/a", "--sandbox", "local")
    assert "no sandbox 'x'" in command("execute", "runs/a", "--sandbox", "x")
    assert "--rootfs" in command(
        "execute", "runs/a", "--sandbox", "local", "--unsafe", "--rootfs", "/"
    )
    assert "is a part of" in command("execute", "runs/a/executed/taken")
    assert "another run's folder" in command("execute", "runs/a", "--out", "runs/b/executed/x")
    assert "not empty" in command("execute", "runs/a", "--out", "runs")
    assert "expbench execute" in command("resume", "runs/a/executed/taken")
    assert not (done.folder / "runs/a/executed/b").exists()


def test_a_failing_harness_is_tried_again_and_unscored(
    done: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22, R43: nothing of it is known to the next one."""
    run = load(done.folder / "runs/a")
    options = options_of(run, done.folder / "cache" / "expbench")
    found: list[Executed] = []
    calls: list[str] = []

    def fails(*args: object, **kwargs: object) -> Execution:
        calls.append("")
        return Execution(state="infrastructure", cause="no power")

    with monkeypatch.context() as patch:
        patch.setattr(examining, "rerun", fails)
        work = open_reexecution(run, options, 1, name="broken", fresh=True)
        reexecute(work, 1, found.append)
    assert len(calls) == 4, found
    assert len(work.todo) == 2, "each twice, and both are left"
    assert {each.execution.cause for each in found} == {"no power"}
    outcomes = load(done.folder / "runs/a/executed/broken").outcomes
    assert outcomes[QUICK, 1].scores["execution"].value is None
    assert summary(work).submissions[0].states == {"infrastructure": 1}
    work = open_reexecution(run, options, 1, name="broken", fresh=True)
    reexecute(work, 2, found.append)
    assert not work.todo
    outcomes = load(done.folder / "runs/a/executed/broken").outcomes
    assert outcomes[QUICK, 1].scores["execution"].value == 1.0


def test_a_run_without_a_submission_has_nothing_to_execute(done: Command, tmp_path: Path) -> None:
    shutil.copytree(done.folder / "runs/a", tmp_path / "empty")
    (tmp_path / "empty/journal.jsonl").write_text("")
    run = load(tmp_path / "empty")
    with pytest.raises(UserError, match="no submission yet"):
        open_reexecution(run, options_of(run, done.folder / "cache" / "expbench"), 1)
