"""``expbench status``: what a run's files say of it, while it goes on and afterwards (R50)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.activity import Activity, Phase, Pulse, Working
from expbench.cli.main import app
from expbench.errors import NotFoundError
from expbench.heartbeat import Heartbeat
from expbench.journal import Attempt, Finding, Generated
from expbench.packing import pack
from expbench.runs import Key, Manifest, Run, create, load, locked
from expbench.schema import (
    Blob,
    Execution,
    Judgement,
    Judging,
    Mark,
    MonitorReport,
    Outcome,
    Policy,
    Score,
    Submission,
    Usage,
)
from expbench.status import RunStatus, TaskStatus, status

TASKS = ("mini/a/0", "mini/a/1", "mini/b/0")
BLOB = Blob(digest="0" * 64, size=0)


def manifest(tasks: tuple[str, ...] = TASKS, epochs: int = 1) -> Manifest:
    return Manifest(
        name="one",
        created="2026-01-01T00:00:00Z",
        suite="mini",
        suite_version="1",
        tasks=tasks,
        epochs=epochs,
        agent="react",
        model="maker/model",
        judging=Judging(),
        sandbox="bwrap",
        policy=Policy(),
    )


def submission(task: str) -> Submission:
    return Submission(task_id=task, base_tree="0" * 40, patch=BLOB, text=BLOB)


def generated(key: Key) -> Generated:
    return Generated(
        task_id=key[0],
        epoch=key[1],
        status="finished",
        trajectory=BLOB,
        workspace="1-2-abc",
        view="overlay",
    )


def attempt(key: Key) -> Attempt:
    return Attempt(task_id=key[0], epoch=key[1], status="finished", submission=submission(key[0]))


def finding(key: Key, **found: Any) -> Finding:
    digest = submission(key[0]).digest
    return Finding(task_id=key[0], epoch=key[1], submission=digest, **found)


def outcome(key: Key, **facts: Any) -> Outcome:
    values: dict[str, Any] = {
        "task_id": key[0],
        "paper": key[0].rpartition("/")[0],
        "epoch": key[1],
        "agent": "react",
        "model": "maker/model",
        "status": "finished",
        "submission": submission(key[0]).digest,
        "scores": {"design": Score(value=1.0)},
        "agent_usage": Usage(input_tokens=10, calls=1, dollars=0.25),
    }
    return Outcome(**{**values, **facts})


def pulse(*tasks: Working, **facts: Any) -> Pulse:
    values: dict[str, Any] = {
        "pid": 4711,
        "host": "here",
        "started": 1000.0,
        "written": 1100.0,
        "answered": 1100.0,
        "every": 2.0,
        "at_once": 2,
        "finished": 1,
        "tasks": tasks,
    }
    return Pulse(**{**values, **facts})


def working(task: str, phase: Phase, **facts: Any) -> Working:
    return Working(task_id=task, epoch=1, phase=phase, since=1040.0, **facts)


def by_task(found: RunStatus) -> dict[str, TaskStatus]:
    return {task.task_id: task for task in found.tasks}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return create(tmp_path / "runs/one", manifest())


def write(run: Run, beat: Pulse) -> None:
    run.paths.pulse.write_text(beat.model_dump_json())


def test_a_run_that_was_never_begun_waits_for_a_resumption(run: Run) -> None:
    found = status(run.paths.root)
    assert (found.state, found.alive, found.done, found.planned) == ("stopped", False, 0, 3)
    assert {task.state for task in found.tasks} == {"stopped"}
    assert found.dollars is None and found.all_stuck == ()


def test_each_task_has_its_phase_and_what_it_waits_for(run: Run) -> None:
    run.add(attempt((TASKS[0], 1)))
    run.add(outcome((TASKS[0], 1)))
    asks = {"waiting": "answer of maker/model", "waiting_since": 1090.0, "bound": 2400.0}
    write(run, pulse(working(TASKS[1], "agent", **asks)))
    with locked(run):
        found = status(run.paths.root, now=1101.0)
    assert (found.state, found.alive, found.pid) == ("running", True, 4711)
    assert (found.done, found.at_work, found.waiting) == (1, 1, 1)
    assert found.left == 202.0, "one task took 101 seconds, and two are left"
    assert found.dollars == 0.25
    rows = by_task(found)
    assert rows[TASKS[0]].state == "done"
    assert rows[TASKS[1]].model_dump(exclude={"task_id", "epoch", "stuck"}) == {
        "state": "at work",
        "phase": "agent",
        "seconds": 61.0,
        "waiting": "answer of maker/model",
        "waiting_seconds": 11.0,
        "left": 2339.0,
    }
    assert (rows[TASKS[2]].state, rows[TASKS[2]].waiting) == ("queue", "queue")
    assert found.all_stuck == ()


@pytest.mark.parametrize(
    ("phase", "waits"), [("prepare", "sandbox start"), ("execute", "re-run of its script")]
)
def test_some_phases_say_by_themselves_what_is_waited_for(
    run: Run, phase: Phase, waits: str
) -> None:
    write(run, pulse(working(TASKS[0], phase)))
    with locked(run):
        assert by_task(status(run.paths.root, now=1100.0))[TASKS[0]].waiting == waits


def test_a_phase_beyond_its_bound_and_grace_is_stuck(run: Run) -> None:
    """R50: the task and its phase are named."""
    write(
        run, pulse(working(TASKS[0], "judge", bound=10.0), working(TASKS[1], "agent", bound=30.0))
    )
    with locked(run):
        found = status(run.paths.root, now=1115.0)
    (sentence,) = found.all_stuck
    assert TASKS[0] in sentence and "phase judge" in sentence
    assert by_task(found)[TASKS[1]].left == 0.0, "its time is over, and it may still end by itself"


def test_a_harness_that_is_silent_or_does_not_answer_is_stuck(run: Run) -> None:
    with locked(run):
        write(run, pulse(working(TASKS[0], "agent"), written=1000.0, answered=1000.0))
        assert "has not written" in status(run.paths.root, now=1100.0).stuck
        write(run, pulse(working(TASKS[0], "agent"), written=1100.0, answered=1000.0))
        assert "does not answer for 100 s" in status(run.paths.root, now=1100.0).stuck
        write(run, pulse(stopping=True))
        assert status(run.paths.root, now=1100.0).state == "stopping"


def test_a_killed_run_says_what_it_was_at(run: Run) -> None:
    """No harness holds the run any more, and its last pulse is still there."""
    run.add(generated((TASKS[0], 1)))
    run.add(attempt((TASKS[1], 1)))
    run.add(finding((TASKS[1], 1), monitor=MonitorReport(verdict="clean")))
    write(run, pulse(working(TASKS[2], "agent", bound=10.0)))
    found = status(run.paths.root, now=9000.0)
    assert (found.state, found.alive, found.stuck, found.left) == ("killed", False, "", None)
    assert [task.phase for task in found.tasks] == ["collect", "judge", "agent"]
    assert {task.state for task in found.tasks} == {"stopped"}, "nothing is at work"


def test_what_failed_for_infrastructure_is_not_done(run: Run) -> None:
    broken = Execution(state="infrastructure", cause="no sandbox")
    unanswered = Judgement(
        judge="m", marks=(Mark(phase="design", reason="model error: TimeoutError"),)
    )
    run.add(outcome((TASKS[0], 1), execution=broken))
    run.add(outcome((TASKS[1], 1), judgement=unanswered))
    run.add(run.unfinished((TASKS[2], 1), "infrastructure", "the disk is full"))
    assert status(run.paths.root).infrastructure == 3
    said = MonitorReport(verdict="clean", reason='"state":"infrastructure"')
    for task in TASKS:
        run.add(outcome((task, 1), monitor=said))
    found = status(run.paths.root)
    assert (found.state, found.done, found.infrastructure) == ("finished", 3, 0)


def test_ids_that_json_escapes_are_read_too(tmp_path: Path) -> None:
    names = ('mini/"quoted"/0', "mini/é\n/1")
    run = create(tmp_path / "odd", manifest(names))
    run.add(attempt((names[0], 1)))
    run.add(outcome((names[0], 1)))
    run.add(attempt((names[1], 1)))
    found = by_task(status(run.paths.root))
    assert found[names[0]].state == "done"
    assert (found[names[1]].state, found[names[1]].phase) == ("stopped", "monitor")


def test_the_ledger_says_what_is_spent(run: Run) -> None:
    """Also of calls that no outcome has yet; a line that is being written does not count."""
    lines = [
        {"stage": "agent", "task": TASKS[0], "epoch": 1, "model": "m", "dollars": 0.5, "time": "t"},
        {"stage": "judge", "task": TASKS[0], "epoch": 1, "model": "m", "time": "t"},
        {"stage": "judge", "task": TASKS[0], "epoch": 1, "model": "m", "time": "t", "error": "429"},
        {
            "stage": "agent",
            "task": TASKS[0],
            "epoch": 1,
            "model": "m",
            "at_most": 0.25,
            "error": "e",
        },
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    run.paths.ledger.write_text(text + '{"stage":"agent","dollars":7')
    found = status(run.paths.root)
    assert (found.dollars, found.unpriced) == (0.75, 1)


def test_a_judging_of_a_run_has_a_status_of_its_own(run: Run) -> None:
    for task in TASKS:
        run.add(attempt((task, 1)))
        run.add(outcome((task, 1)))
    judged = create(run.paths.judged / "again", manifest())
    judged.add(outcome((TASKS[0], 1)))
    found = status(judged.paths.root)
    assert (found.state, found.done) == ("stopped", 1)
    assert status(run.paths.root).state == "finished"


def test_a_packed_run_is_read_without_unpacking_it(run: Run, tmp_path: Path) -> None:
    for task in TASKS[:2]:
        run.add(outcome((task, 1)))
    run.paths.ledger.write_text("")
    pack(run.paths.root, tmp_path / "one.tar.gz")
    done = CliRunner().invoke(app, ["status", str(tmp_path / "one.tar.gz"), "--json"])
    assert done.exit_code == 0, done.output
    found = RunStatus.model_validate_json(done.stdout)
    assert (found.run, found.state, found.done) == ("one", "stopped", 2)
    (tmp_path / "no.tar.gz").write_bytes(b"nothing")
    refused = CliRunner().invoke(app, ["status", str(tmp_path / "no.tar.gz")])
    assert refused.exit_code == 2 and "no packed run" in refused.stderr


def test_the_command_names_what_is_stuck_and_exits_non_zero(run: Run) -> None:
    write(run, pulse(working(TASKS[0], "judge", bound=10.0)))
    with locked(run):
        done = CliRunner().invoke(app, ["status", str(run.paths.root)])
    assert done.exit_code == 1
    assert "stuck:" in done.stdout and TASKS[0] in done.stdout
    finished = CliRunner().invoke(app, ["status", str(run.paths.root)])
    assert finished.exit_code == 0 and "expbench resume" in finished.stdout


def test_no_run_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="expbench run"):
        status(tmp_path)


def test_watching_ends_with_the_harness(run: Run) -> None:
    """From another process, while the lock is held; then the run is free, and the watch is over."""
    command = [sys.executable, "-m", "expbench", "status", str(run.paths.root), "--watch", "--json"]
    with locked(run):
        write(run, pulse(working(TASKS[0], "agent")))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first = RunStatus.model_validate_json(process.stdout.readline())
    rest = process.communicate(timeout=60)[0].splitlines()
    assert first.alive and first.at_work == 1
    assert not RunStatus.model_validate_json(rest[-1]).alive
    assert process.returncode == 0


def test_asking_neither_changes_nor_blocks_a_run(run: Run) -> None:
    before = sorted(path.name for path in run.paths.root.iterdir())
    end = threading.Event()

    def ask() -> None:
        while not end.is_set():
            status(run.paths.root)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            with locked(run):
                pass
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert sorted(path.name for path in run.paths.root.iterdir()) in (
        before,
        [*before, "journal.jsonl"],
    )


def test_a_large_run_is_read_without_parsing_it(tmp_path: Path) -> None:
    """461 tasks in three epochs; the engine is not even imported."""
    tasks = tuple(f"venue/{number}/0" for number in range(461))
    run = create(tmp_path / "large", manifest(tasks, epochs=3))
    line = outcome(("venue/0/0", 1), reason="x" * 20_000).model_dump_json(exclude_none=True)
    with run.paths.journal.open("w") as file:
        for task, epoch in run.planned:
            text = line.replace('"venue/0/0"', f'"{task}"').replace('"epoch":1', f'"epoch":{epoch}')
            file.write(f'{{"outcome":{text}}}\n')
    script = (
        "import json, sys; from expbench.status import status; from pathlib import Path; "
        "found = status(Path(sys.argv[1])); print(found.done, 'inspect_ai' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(run.paths.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1383", "False"]
    assert len(load(run.paths.root).outcomes) == 1383


# --- the pulse ------------------------------------------------------------------------------------


def eventually(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_pulse_follows_what_tasks_do_and_goes_with_the_harness(run: Run) -> None:
    activity = Activity()
    heart = Heartbeat(run.paths, activity, 2, spent=lambda: (1.5, 2), every=0.01)
    key = (TASKS[0], 1)

    def now() -> TaskStatus:
        return by_task(status(run.paths.root))[TASKS[0]]

    with locked(run), heart.beating():
        with activity.doing(key, "agent", 60.0, lambda: ("answer of m", time.time())):
            eventually(lambda: (now().phase, now().waiting) == ("agent", "answer of m"))
            with activity.waiting(key, "try 2 of 3"):
                eventually(lambda: now().waiting == "try 2 of 3")
            eventually(lambda: now().waiting == "answer of m")
        eventually(lambda: now().state == "queue")
        found = status(run.paths.root)
        assert (found.dollars, found.unpriced, found.pid) == (1.5, 2, os.getpid())
    assert not run.paths.pulse.exists() and not run.paths.lock.exists()
    assert status(run.paths.root).state == "stopped"


def test_the_harness_is_told_of_who_does_not_end_when_told_to(run: Run) -> None:
    """R50: the last resort, where a task's own code swallows its cancellation."""
    told: list[str] = []
    activity = Activity()
    heart = Heartbeat(run.paths, activity, 1, deaf=told.append, every=0.01)
    with heart.beating(), activity.doing((TASKS[1], 1), "agent", bound=-1000.0):
        eventually(lambda: bool(told))
    assert TASKS[1] in told[0] and "phase agent" in told[0]
