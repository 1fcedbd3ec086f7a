"""Interruptions: kills at any moment, Ctrl-C, and what is done again afterwards (R43, R49, R23)."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interrupting import kind_of

from expbench.errors import PrerequisiteError
from expbench.journal import Entry
from expbench.measured import without_measurements
from expbench.sandboxes import bubblewrap
from expbench.schema import Outcome
from expbench.workspace.owners import owner_of, runs_here

TASKS = ("mini/calibration/2", "mini/forecasting/2")
AGENT = """
import os
import time

import anyio

LOG = os.environ["COUNTED_LOG"]


def note(text):
    handle = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{text}\\n".encode())
    os.close(handle)


async def mine(task, workspace):
    note(f"begin {task.task_id}")
    await workspace.write("new.py", "print(6 * 7)")
    await workspace.write("reproduce_exp_bench.sh", "python new.py")
    answer = '{"design": "One number was varied.", "conclusion": "The result is 42."}'
    await workspace.write("response.json", answer)
    await workspace.run("bash reproduce_exp_bench.sh")
    note(f"end {task.task_id}")


async def hanging(task, workspace):
    if os.path.exists(f"{LOG}.go"):
        return await mine(task, workspace)
    await workspace.run("touch /workspace/begun")
    note("hangs")
    await workspace.run("sleep 3000")


async def deaf(task, workspace):
    if os.path.exists(f"{LOG}.go"):
        return await mine(task, workspace)
    await workspace.run("sleep 3000 >/dev/null 2>&1 &")
    note("hangs")
    while True:
        try:
            await anyio.sleep(0.1)
        except BaseException:
            pass


async def blocking(task, workspace):
    if os.path.exists(f"{LOG}.go"):
        return await mine(task, workspace)
    note("hangs")
    while True:
        time.sleep(0.1)


async def hanging_script(task, workspace):
    await workspace.write("reproduce_exp_bench.sh", "echo begun; sleep 3000")
    await workspace.write("response.json", '{"design": "none", "conclusion": "none"}')
"""


def _works() -> bool:
    try:
        bubblewrap.check()
    except PrerequisiteError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _works(), reason="bubblewrap cannot make a sandbox here")


class Harness:
    """Runs ``expbench`` in forks of one process, in a folder and with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "mine.py").write_text(AGENT)
        place = Path(__file__).with_name("interrupting.py")
        variables = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.process = subprocess.Popen(
            [sys.executable, str(place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=variables,
            cwd=folder,
        )
        self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def __call__(self, name: str, *args: str, **how: Any) -> int:
        """Run a command for the run ``name``; its exit code."""
        environment = {
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "COUNTED_LOG": str(self.calls(name)),
            "COLUMNS": "200",
        }
        job = {
            "folder": str(self.folder),
            "environment": environment,
            "output": str(self.folder / f"{name}.out"),
            "log": str(self.folder / f"{name}.events"),
            "args": args,
            **how,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return int(self._answer())

    def run(
        self,
        name: str,
        agent: str = "mine",
        judge: str = "counted/judge",
        of: tuple[str, ...] = TASKS,
        **how: Any,
    ) -> int:
        tasks = itertools.chain.from_iterable(("--task", task) for task in of)
        args = ("--agent", f"python:mine.py:{agent}", "--judge", judge, "--max-samples", "2")
        return self(name, "run", *args, *tasks, "--out", f"runs/{name}", **how)

    def resume(self, name: str, **how: Any) -> int:
        return self(name, "resume", f"runs/{name}", "--max-samples", "2", **how)

    def go_on(self, name: str, **how: Any) -> int:
        """Begin a run, or resume it where it was begun."""
        if (self.folder / "runs" / name / "manifest.json").exists():
            return self.resume(name, **how)
        return self.run(name, **how)

    def finished(self, name: str) -> set[str]:
        """Let a run end whose agent or judge hung; the tasks whose agent was asked again."""
        Path(f"{self.calls(name)}.go").touch()
        before = self.called(name)
        assert self.resume(name) == 0, self.output(name)
        again = self.called(name) - before
        return {text.removeprefix("begin ") for text in again if text.startswith("begin ")}

    def calls(self, name: str) -> Path:
        return self.folder / f"{name}.calls"

    def called(self, name: str) -> Counter[str]:
        """How often the agent began and ended each task, and the judge was asked each question."""
        path = self.calls(name)
        return Counter(path.read_text().splitlines() if path.exists() else ())

    def output(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text()

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The whole lines of a run's journal."""
        path = self.folder / "runs" / name / "journal.jsonl"
        content = path.read_bytes() if path.exists() else b""
        return [
            json.loads(line) for line in content.splitlines(keepends=True) if line[-1:] == b"\n"
        ]

    def phases(self, name: str) -> Counter[tuple[str, str]]:
        """What the journal has of each task: task and kind."""
        return Counter(
            (line[next(iter(line))]["task_id"], kind_of(line)) for line in self.lines(name)
        )

    def outcomes(self, name: str) -> list[str]:
        """The outcomes as bytes, without what is measured."""
        lines = (self.folder / "runs" / name / "outcomes.jsonl").read_text().splitlines()
        found = map(Outcome.model_validate_json, lines)
        return [without_measurements(outcome).model_dump_json() for outcome in found]

    def leftovers(self, name: str) -> list[str]:
        """What is left of killed harnesses: processes, mounts, workspaces, locks, temporary files."""
        run, cache = self.folder / "runs" / name, self.folder / "cache/expbench"
        places = (path for part in ("work", "owners", "gpus") for path in (cache / part).glob("*"))
        found = [str(path) for path in places if path.name.partition(".")[0] not in self.kept()]
        found += [str(path) for path in run.rglob(".*")]
        found += [
            line
            for line in Path("/proc/self/mounts").read_text().splitlines()
            if str(cache) in line
        ]
        temporary = Path(tempfile.gettempdir()).glob("expbench-*")
        names = ((path, owner_of(path.name.removeprefix("expbench-"))) for path in temporary)
        found += [str(path) for path, owner in names if owner and not runs_here(owner)]
        return found + self.sandboxes()

    def kept(self) -> set[str]:
        """The workspaces of ended agents that a resumption of their runs will collect."""
        found = set()
        for run in (self.folder / "runs").iterdir():
            lines = self.lines(run.name)
            done = {line["attempt"]["task_id"] for line in lines if "attempt" in line}
            begun = [line["generated"] for line in lines if "generated" in line]
            found |= {each["workspace"] for each in begun if each["task_id"] not in done}
        return found

    def sandboxes(self) -> list[str]:
        """Processes that see a Python of this cache as a mount of their own."""
        envs = f"{self.folder}/cache/expbench/envs/"
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                mounts = (process / "mountinfo").read_text()
            except OSError:
                continue
            if any(
                envs in line and " /opt/expbench/python " in line for line in mounts.splitlines()
            ):
                found.append(process.name)
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    found = Harness(tmp_path_factory.mktemp("interrupted"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def whole(harness: Harness) -> list[str]:
    """The outcomes of a run that nothing interrupted."""
    assert harness.run("whole") == 0, harness.output("whole")
    assert all(count == 1 for count in harness.phases("whole").values())
    assert harness.leftovers("whole") == []
    return harness.outcomes("whole")


KINDS = ("generated", "attempt", "monitor", "judgement", "execution", "grounding", "outcome")
POINTS: tuple[tuple[str, int], ...] = (
    ("start", 60),
    ("start", 150),
    ("generated", 12),
    ("attempt", 12),
    ("monitor", 40),
    ("judgement", 120),
    ("execution", 3),
    ("outcome", 20),
)
"""After which line of the journal a run is killed, within how many events. Before the first line the
agent is prepared and works; then it is collected, monitored, judged, run again, grounded, reported."""


class Kills:
    """Kills of one run, each held against what was there before it."""

    def __init__(self, harness: Harness, name: str) -> None:
        self.harness, self.name = harness, name
        self.count = 0
        self.kinds: Counter[str] = Counter()

    def kill(self, **how: Any) -> None:
        """Go on with the run until it is killed; nothing that was finished may have been done again."""
        phases, called = self.harness.phases(self.name), self.harness.called(self.name)
        code = self.harness.go_on(self.name, **how)
        assert code in (-9, 0), self.harness.output(self.name)
        self.count += code == -9
        self.kinds[str(how.get("after", "time"))] += code == -9
        self.check(phases, called)

    def check(self, phases: Counter[tuple[str, str]], called: Counter[str]) -> None:
        now, calls = self.harness.phases(self.name), self.harness.called(self.name)
        assert phases <= now, "the journal has lost something"
        for task, kind in phases:
            assert now[task, kind] == phases[task, kind], f"{kind} of {task} was done again"
            if kind == "generated":
                assert calls[f"begin {task}"] == called[f"begin {task}"], "an agent was asked again"

    def finish(self, whole: list[str]) -> None:
        """Let the run end: everything is there once, and equal to what was never interrupted."""
        phases, called = self.harness.phases(self.name), self.harness.called(self.name)
        assert self.harness.go_on(self.name) == 0, self.harness.output(self.name)
        self.check(phases, called)
        expected = Counter(dict.fromkeys(itertools.product(TASKS, KINDS), 1))
        assert self.harness.phases(self.name) == expected
        assert self.harness.outcomes(self.name) == whole
        assert self.harness.leftovers(self.name) == []
        lines = [json.dumps(line) for line in self.harness.lines(self.name)]
        assert all(Entry.model_validate_json(line) for line in lines)
        shutil.rmtree(self.harness.folder / "runs" / self.name)


def test_a_run_killed_at_any_event_of_any_phase_goes_on_and_repeats_nothing(
    harness: Harness, whole: list[str]
) -> None:
    """R43, R23: kill -9 at files' writing and processes' start in every phase, torn lines too."""
    chance, kinds = random.Random(43), Counter[str]()
    for chain in range(3):
        kills = Kills(harness, f"points-{chain}")
        torn = KINDS[chain::3]
        for after, most in POINTS:
            if after in torn:
                kills.kill(after=after, torn=True)
            kills.kill(after=after, count=chance.randint(1, most))
        kinds += kills.kinds
        kills.finish(whole)
    assert kinds.total() >= 20, kinds  # and ten at random times below
    assert set(kinds) >= {after for after, _ in POINTS}, kinds


def test_what_a_harness_left_that_was_killed_when_all_was_done_is_removed(
    harness: Harness, whole: list[str]
) -> None:
    """R23: between the last outcome and the end there is nothing to resume, but something to remove."""
    lock = harness.folder / "cache/expbench/owners/999999999-1.lock"
    lock.touch()
    (harness.folder / "runs/whole/.pulse.json").write_text("{}")
    assert len(harness.leftovers("whole")) == 2
    assert harness.go_on("whole") == 0, harness.output("whole")
    assert harness.leftovers("whole") == []
    assert harness.outcomes("whole") == whole


def test_a_run_killed_at_random_times_goes_on_and_repeats_nothing(
    harness: Harness, whole: list[str]
) -> None:
    """R43, R23: the same wherever the kill falls; the first ones are so early that the run may not exist."""
    chance, count = random.Random(23), 0
    for number in itertools.count():
        kills = Kills(harness, f"times-{number}")
        seconds = [chance.uniform(0.05, 2.5) for _ in range(6)]
        for each in seconds:
            kills.kill(seconds=each)
        kills.finish(whole)
        count += kills.count
        if count >= 10:
            break


def test_work_that_was_ended_and_not_collected_is_collected_and_not_done_again(
    harness: Harness, whole: list[str]
) -> None:
    """The workspace outlives its harness, also when another run or gc sweeps the cache meanwhile."""
    kills = Kills(harness, "collected")
    kills.kill(after="generated", count=1)
    folders = [
        line["generated"]["workspace"] for line in harness.lines("collected") if "generated" in line
    ]
    work = harness.folder / "cache/expbench/work"
    assert folders and all((work / folder).is_dir() for folder in folders)
    assert harness("collected", "gc") == 0
    assert (
        harness("other", "run", "--agent", "null", "--task", TASKS[0], "--out", "runs/other") == 0
    )
    assert all((work / folder).is_dir() for folder in folders), "a kept workspace was swept"
    kills.finish(whole)


def test_a_workspace_is_not_kept_for_a_run_that_is_gone(harness: Harness) -> None:
    kills = Kills(harness, "gone")
    kills.kill(after="generated", count=1)
    shutil.rmtree(harness.folder / "runs/gone")
    assert harness("gone", "gc") == 0
    assert list((harness.folder / "cache/expbench/work").iterdir()) == []


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("agent", "judge", "at"),
    [("hanging", "baseline", "hangs"), ("mine", "counted/hang", "judge ")],
    ids=["agent", "judge"],
)
def test_ctrl_c_ends_a_run_soon_with_one_sentence(
    harness: Harness, agent: str, judge: str, at: str, times: int
) -> None:
    """R49, R23: whatever it waits for; nothing is left, and the run can be resumed."""
    name = f"stopped-{agent}-{times}"
    if judge != "baseline":
        judge = f"{judge}-{times}"  # or the answers that one got would be in the cache
    how = {"interrupts": times, "watch": str(harness.calls(name)), "at": at}
    code = harness.run(name, agent, judge, TASKS[:1], **how)
    said = harness.output(name)
    assert code == 130, said
    assert said.count("expbench resume runs/") == 1 and "Traceback" not in said, said
    kept = [line for line in harness.lines(name) if "attempt" in line]
    assert bool(kept) == (agent == "mine"), "what was finished is kept"
    assert harness.leftovers(name) == []
    done_again = harness.finished(name)
    assert {line["attempt"]["task_id"] for line in kept}.isdisjoint(done_again)


@pytest.mark.parametrize("agent", ["deaf", "blocking"])
def test_what_does_not_hear_ctrl_c_is_left_all_the_same(harness: Harness, agent: str) -> None:
    """R49, R23: an agent that swallows its cancellation costs the patience, and leaves nothing."""
    hurried = {"expbench.cli.stopping._PATIENCE": 0.5}
    how = {"interrupts": 1, "watch": str(harness.calls(agent)), "at": "hangs", "patch": hurried}
    code = harness.run(agent, agent, "baseline", TASKS[:1], **how)
    said = harness.output(agent)
    assert code == 130, said
    assert said.count(f"expbench resume runs/{agent}") == 1 and "Traceback" not in said, said
    assert harness.leftovers(agent) == []
    harness.finished(agent)


@pytest.mark.parametrize("agent", ["deaf", "blocking"])
def test_what_does_not_end_at_its_bound_ends_the_process_and_not_the_run(
    harness: Harness, agent: str
) -> None:
    """R50: the last resort of the watchdog; it says which task it was."""
    name = f"stuck-{agent}"
    names = ("patience._GRACE", "heartbeat.DEAF", "heartbeat.EVERY")
    patch = {f"expbench.{each}": 0.2 for each in names}
    args = ("--agent", f"python:mine.py:{agent}", "--task", TASKS[0], "--limit-minutes", "0.01")
    code = harness(name, "run", *args, "--out", f"runs/{name}", patch=patch)
    said = harness.output(name)
    assert code == 1, said
    assert f"{TASKS[0]}, epoch 1, does not end phase agent" in said
    assert said.count(f"expbench resume runs/{name}") == 1 and "Traceback" not in said, said
    assert harness.leftovers(name) == []
    harness.finished(name)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_re_run(harness: Harness, times: int) -> None:
    """R49: a script that would run for its 40 minutes is stopped, and counts as never run."""
    name = f"stopped-script-{times}"
    journal = harness.folder / "runs" / name / "journal.jsonl"
    how = {"interrupts": times, "watch": str(journal), "at": '"judgement"'}
    code = harness.run(name, "hanging_script", "baseline", TASKS[:1], **how)
    said = harness.output(name)
    assert code == 130, said
    assert said.count("expbench resume runs/") == 1 and "Traceback" not in said, said
    found = harness.phases(name)
    assert {kind for _, kind in found} <= {"generated", "attempt", "monitor", "judgement"}
    assert harness.leftovers(name) == []
