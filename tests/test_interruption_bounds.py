"""What is tried again and how often, and what is ended because it hangs (R50, R43)."""

from __future__ import annotations

import sys
import threading
import time
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from expbench import __main__, assess, collecting
from expbench.activity import Activity
from expbench.errors import InfrastructureError, PrerequisiteError, RepositoryError, SandboxError
from expbench.evaluation import Evaluation
from expbench.journal import Attempt, Finding, append, entries, entry_of
from expbench.paths import CachePaths
from expbench.patience import Bounds, Tries, bounded, bounded_thread, wait_for_abandoned
from expbench.planning import Options, open_evaluation, plan
from expbench.runner import execute
from expbench.runs import Run, create, load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import (
    Blob,
    Execution,
    Judgement,
    Judging,
    Limits,
    MonitorReport,
    Outcome,
    Policy,
    Score,
    Submission,
    Verdict,
)

QUICK = "mini/calibration/2"
AGENT = """
import anyio


async def mine(task, workspace):
    await workspace.write("new.py", "print(6 * 7)")
    await workspace.write("reproduce_exp_bench.sh", "SCRIPT")
    await workspace.write("response.json", '{"design": "One.", "conclusion": "It is 42."}')


async def hanging(task, workspace):
    await anyio.sleep_forever()
"""


class Bench:
    """Runs one quick task in this process, without pauses between tries."""

    def __init__(self, folder: Path, cache: CachePaths) -> None:
        self.folder, self.cache = folder, cache
        self.script("python new.py")

    def script(self, text: str) -> None:
        (self.folder / "mine.py").write_text(AGENT.replace("SCRIPT", text))

    def open(self, agent: str = "mine", bounds: Bounds | None = None) -> Evaluation:
        options = Options(
            tasks=(QUICK,),
            agent=f"python:{self.folder / 'mine.py'}:{agent}",
            cache=self.cache.root,
            out=self.folder / "run",
        )
        root = options.out
        run = load(root) if (root / "manifest.json").exists() else create(root, plan(options))
        evaluation = open_evaluation(run, options)
        return replace(evaluation, bounds=bounds, tries=Tries(pauses=(0.0,)))

    @property
    def outcome(self) -> Outcome:
        return load(self.folder / "run").outcomes[QUICK, 1]


@pytest.fixture
def bench(tmp_path: Path, cache: CachePaths, host: SandboxHost) -> Bench:
    return Bench(tmp_path, cache)


def ticking(answers: list[Any]) -> Callable[..., Any]:
    """A function that gives or raises one after the other, and the last one for ever."""

    def call(*args: Any, **more: Any) -> Any:
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(found, Exception):
            raise found
        return found(*args, **more) if callable(found) else found

    return call


# --- hanging phases -------------------------------------------------------------------------------


def test_an_agent_that_hangs_beyond_its_bound_is_infrastructure_with_the_reason(
    bench: Bench,
) -> None:
    end = execute(bench.open("hanging", Bounds(agent=0.2)), 1)
    assert (end.open, end.interrupted) == (1, False)
    assert bench.outcome.status == "infrastructure"
    assert "phase agent hangs" in bench.outcome.reason
    file = bench.folder / "mine.py"
    file.write_text(file.read_text() + "\n\nhanging = mine\n")
    assert execute(bench.open(), 1).open == 0, "and it is begun anew"
    assert bench.outcome.status == "finished"


def test_a_judge_that_hangs_loses_nothing_of_the_attempt(bench: Bench) -> None:
    evaluation = bench.open("mine", Bounds(judge=0.2))

    class Hanging:
        name = "hanging"

        async def judge(self, *args: Any) -> Judgement:
            await anyio.sleep_forever()
            raise AssertionError

    assert execute(replace(evaluation, judge=Hanging()), 1).open == 1
    assert "phase judge hangs" in bench.outcome.reason
    found = load(bench.folder / "run")
    assert found.found((QUICK, 1)).monitor is not None
    attempt = found.attempts[QUICK, 1]
    assert execute(bench.open(), 1).open == 0
    assert load(bench.folder / "run").attempts[QUICK, 1] == attempt, "no agent was asked again"


def test_a_re_run_that_hangs_is_ended_and_left_for_a_resumption(bench: Bench) -> None:
    bench.script("sleep 3000")
    assert execute(bench.open(bounds=Bounds(execute=0.5)), 1).open == 1
    assert "phase execute hangs" in bench.outcome.reason
    assert load(bench.folder / "run").found((QUICK, 1)).judgement is not None
    assert list(bench.cache.work.iterdir()) == [], "its sandbox and workspace are gone"


def test_a_collection_that_hangs_is_done_again_from_the_kept_workspace(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: Any) -> Any:
        time.sleep(5)
        raise InfrastructureError("too late")

    with monkeypatch.context() as patch:
        patch.setattr(collecting, "collect", hang)
        assert execute(bench.open(bounds=Bounds(collect=0.2)), 1).open == 1
    assert "phase collect hangs" in bench.outcome.reason
    run = load(bench.folder / "run")
    assert run.generated and not run.attempts
    bench.script("the agent must not be asked again")
    assert execute(bench.open(), 1).open == 0
    assert bench.outcome.execution is not None and bench.outcome.execution.state == "ran"
    assert list(bench.cache.work.iterdir()) == []


def test_bounds_follow_from_limits() -> None:
    limits = Limits(minutes=10, wall_minutes=20)
    bounds = Bounds.of(limits, Judging(deadline=100, concurrency=4, samples=2), items=10)
    assert bounds.agent > 20 * 60
    assert bounds.judge > 3 * 2 * 100, "three rounds of calls, twice"
    assert bounds.execute > 4 * 10 * 60, "with and without its results, and all once more"


def test_work_in_a_thread_that_hangs_is_told_and_left() -> None:
    told = threading.Event()

    def work(cancelled: threading.Event) -> None:
        cancelled.wait(30)
        told.set()

    async def hang() -> None:
        with pytest.raises(InfrastructureError, match="phase collect hangs"):
            await bounded_thread(0.05, "collect", work)

    anyio.run(hang)
    assert wait_for_abandoned(10) and told.is_set()


def test_what_ends_in_time_is_not_touched() -> None:
    async def answer() -> int:
        return 42

    async def both() -> tuple[int, int]:
        found = await bounded(5, "judge", answer())
        return found, await bounded_thread(5, "collect", lambda _: 43)

    assert anyio.run(both) == (42, 43)


# --- tries ----------------------------------------------------------------------------------------


def test_a_failing_sandbox_is_tried_again_with_growing_pauses(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = bench.open()
    paused: list[str] = []
    waiting = Activity.waiting

    def noted(self: Activity, key: Any, what: str) -> Any:
        paused.append(what)
        return waiting(self, key, what)

    monkeypatch.setattr(Activity, "waiting", noted)
    start = ticking([SandboxError("no room"), SandboxError("no room"), SandboxHost.start])
    monkeypatch.setattr(SandboxHost, "start", lambda self, *a, **k: start(self, *a, **k))
    evaluation.tries.pauses = (0.01, 0.02)
    assert execute(evaluation, 1).open == 0
    assert bench.outcome.status == "finished"
    assert paused == ["try 2 of 3 after 0.01 s: no room", "try 3 of 3 after 0.02 s: no room"]


def test_after_three_tries_it_is_left_for_a_resumption(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def broken(*_: Any, **__: Any) -> Any:
        tried.append(1)
        raise SandboxError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(SandboxHost, "start", broken)
        assert execute(bench.open(), 1).open == 1
    assert len(tried) == 3
    assert (bench.outcome.status, bench.outcome.reason) == ("infrastructure", "no room")
    assert execute(bench.open(), 1).open == 0


def test_what_only_the_user_mends_is_not_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def missing(*_: Any) -> Any:
        tried.append(1)
        raise RepositoryError("the repository is gone: give its clone with --repos.")

    monkeypatch.setattr(Evaluation, "prepared", missing)
    assert execute(bench.open(), 1).open == 1
    assert len(tried) == 1
    assert "the repository is gone" in bench.outcome.reason


def test_an_error_of_the_agent_is_a_result(bench: Bench) -> None:
    (bench.folder / "mine.py").write_text(
        "async def mine(task, workspace):\n"
        "    await workspace.write('once.py', 'x = 1')\n"
        "    raise RuntimeError('my own bug')\n"
    )
    assert execute(bench.open(), 1).open == 0
    assert bench.outcome.status == "agent_error" and "my own bug" in bench.outcome.reason


def test_a_failing_re_run_does_not_ask_the_judge_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = bench.open()
    asked: list[int] = []

    class Counting:
        name = evaluation.judge.name

        async def judge(self, *args: Any) -> Judgement:
            asked.append(1)
            return await evaluation.judge.judge(*args)

    failed = Execution(state="infrastructure", cause="no sandbox")
    monkeypatch.setattr(assess, "examine", ticking([failed]))
    assert execute(replace(evaluation, judge=Counting()), 1).open == 1
    assert bench.outcome.execution == failed
    assert bench.outcome.scores["design"].value is not None, "what could be scored is"
    monkeypatch.undo()
    assert execute(replace(bench.open(), judge=Counting()), 1).open == 0
    assert bench.outcome.scores["execution"].value == 1.0
    assert len(asked) == 1


def test_a_judge_without_an_answer_is_asked_again_for_the_rest(bench: Bench) -> None:
    """R43: an item that the model gave no answer to is retried, in the run and by a resumption."""
    asked: list[int] = []

    def judged(reason: str, state: Any) -> Judgement:
        verdict = Verdict(item="design-1", phase="design", state=state, reason=reason)
        return Judgement(judge="m", verdicts=(verdict,))

    class Failing:
        name = "m"

        def __init__(self, *answers: Judgement) -> None:
            self.answers = list(answers)

        async def judge(self, *_: Any) -> Judgement:
            asked.append(1)
            return self.answers.pop(0)

    no = judged("model error: TimeoutError", "unscored")
    assert execute(replace(bench.open(), judge=Failing(no, no, no)), 1).open == 1
    assert len(asked) == 3
    assert bench.outcome.status == "finished" and bench.outcome.judgement == no
    assert bench.outcome.scores["execution"].value == 1.0
    yes = judged("", "met")
    assert execute(replace(bench.open(), judge=Failing(yes)), 1).open == 0
    assert bench.outcome.judgement == yes


def test_a_verdict_that_cannot_be_had_is_not_asked_for_for_ever(bench: Bench) -> None:
    verdict = Verdict(item="a", phase="design", state="unscored", reason="unparsable reply")
    assert not Judgement(judge="m", verdicts=(verdict,)).unanswered


# --- the journal ----------------------------------------------------------------------------------

BLOB = Blob(digest="0" * 64, size=0)


def new_run(root: Path) -> Run:
    options = Options(tasks=(QUICK,), agent="null", policy=Policy(), sandbox="local", unsafe=True)
    return create(root, plan(replace(options, cache=root.parent / "cache", out=root)))


def attempt() -> Attempt:
    submission = Submission(task_id=QUICK, base_tree="0" * 40, patch=BLOB, text=BLOB)
    return Attempt(task_id=QUICK, epoch=1, submission=submission, status="finished")


def test_a_line_that_cannot_be_written_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills leaves no half line for the next one to be glued to."""
    run = new_run(tmp_path / "run")
    run.add(attempt())
    before = run.paths.journal.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="space"):
            run.add(run.unfinished((QUICK, 1), "infrastructure", "x"))
    assert run.paths.journal.read_bytes() == before
    assert not run.outcomes
    run.add(run.unfinished((QUICK, 1), "infrastructure", "y"))
    assert load(run.paths.root).outcomes[QUICK, 1].reason == "y"


def test_a_journal_of_before_there_were_phases_is_read(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    old = (
        f'{{"attempt":{{"task_id":"{QUICK}","epoch":1,"submission":'
        f"{attempt().submission.model_dump_json(exclude_none=True)},"
        '"status":"finished","reason":"","limit":"","seconds":1.5}}\n'
        f'{{"outcome":{{"task_id":"{QUICK}","paper":"mini/calibration","epoch":1,"agent":"null",'
        '"model":"","status":"finished"}}\n'
    )
    run.paths.journal.write_text(old)
    again = load(run.paths.root)
    assert again.attempts[QUICK, 1].seconds == 1.5
    assert again.final((QUICK, 1)) and not again.generated and not again.findings


def test_findings_are_kept_until_the_outcome_and_of_their_submission_only(tmp_path: Path) -> None:
    """Memory: what an outcome has is not held twice."""
    run = new_run(tmp_path / "run")
    run.add(attempt())
    digest = attempt().submission.digest
    clean = MonitorReport(verdict="clean")
    for submission in (digest, "another"):
        run.add(Finding(task_id=QUICK, epoch=1, submission=submission, monitor=clean))
        run.add(Finding(task_id=QUICK, epoch=1, submission=digest, judgement=Judgement(judge="j")))
    found = load(run.paths.root).found((QUICK, 1))
    assert found.judgement == Judgement(judge="j")
    assert found.monitor is None, "a finding about another submission says nothing"
    run.add(
        Outcome(
            task_id=QUICK,
            paper="mini/calibration",
            epoch=1,
            agent="null",
            model="",
            status="finished",
            submission=digest,
            scores={"design": Score(value=0.0)},
        )
    )
    assert run.findings == {} and load(run.paths.root).findings == {}


def test_a_torn_line_is_no_line(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    append(journal, entry_of(attempt()))
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:-30])
    assert [entry.attempt for entry in entries(journal)] == [attempt()]


def test_pauses_grow_and_the_last_one_is_for_all_further_tries() -> None:
    tries, key = Tries(most=4, pauses=(0.0, 0.01)), (QUICK, 1)
    for number in range(3):
        assert not tries.last(key), number
        with pytest.raises(SandboxError), tries.counted(key):
            raise SandboxError(str(number))
    assert tries.last(key)
    begun = time.monotonic()
    anyio.run(tries.pause, key, Activity())
    assert time.monotonic() - begun >= 0.01
    with pytest.raises(PrerequisiteError), tries.counted(key):
        raise PrerequisiteError("mend it")
    with pytest.raises(PrerequisiteError, match="mend it"):
        anyio.run(tries.pause, key, Activity())


def test_ctrl_c_while_modules_load_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    loading = types.ModuleType("expbench.cli.main")
    monkeypatch.setattr(loading, "main", interrupted, raising=False)
    monkeypatch.setitem(sys.modules, "expbench.cli.main", loading)
    with pytest.raises(SystemExit) as end:
        __main__.main()
    assert end.value.code == 130
    assert capsys.readouterr().err == "expbench: interrupted before anything began.\n"
