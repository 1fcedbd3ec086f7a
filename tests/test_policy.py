"""What a run's sandboxes are held to: recorded, refused, and what happens when a limit ends one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalSample, read_eval_log
from test_main_job import QUICK, Command, _sandboxes
from typer.testing import CliRunner

from expbench import planning
from expbench.cli.main import app
from expbench.errors import PrerequisiteError
from expbench.runner import TRIES
from expbench.sandboxes import bubblewrap, cgroups
from expbench.schema import ALL_SCORES, Limits, Policy


def _works() -> bool:
    try:
        bubblewrap.check()
    except PrerequisiteError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _works(), reason="bubblewrap cannot make a sandbox here")

SCRIPT = "reproduce_exp_bench.sh"


class Runs(Command):
    """The command, also in this process, where a test can stand in for a part of this machine."""

    def here(self, *args: str, code: int = 0) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in ("EXPBENCH_DATA", "CUDA_VISIBLE_DEVICES"):
                patch.delenv(name, raising=False)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            done = CliRunner().invoke(app, list(args))
        assert done.exit_code == code, done.output
        return done.stdout

    def start(self, *args: str) -> subprocess.Popen[str]:
        """The command with hardly a pause before a further try."""
        soon = (
            "from expbench import __main__, patience; patience.PAUSES = (0.1, 0.2); __main__.main()"
        )
        return subprocess.Popen(
            [sys.executable, "-c", soon, *args],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def manifest(self, run: str = "runs/a") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / run / "manifest.json").read_text())
        return found

    def outcome(self, run: str = "runs/a", task: str = QUICK) -> dict[str, Any]:
        return self.outcomes(run)[task, 1]

    def attempts(self, run: str = "runs/a") -> list[dict[str, Any]]:
        return [entry["attempt"] for entry in self.journal(run) if "attempt" in entry]

    def agent(self, *lines: str) -> str:
        """The name of an agent with this body."""
        text = "".join(f"    {line}\n" for line in lines)
        (self.folder / "mine.py").write_text(f"async def mine(task, workspace):\n{text}")
        return "python:mine.py:mine"

    def steps(self, *steps: dict[str, str]) -> str:
        (self.folder / "steps.json").write_text(json.dumps({"steps": steps}))
        return "scripted:steps.json"

    def model(self, *turns: dict[str, Any]) -> str:
        (self.folder / "model.json").write_text(json.dumps({"turns": turns}))
        return "scripted/model.json"


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


# --- recorded ------------------------------------------------------------------------------------

OPTIONS = {
    "--limit-minutes": "1.5",
    "--cpus": "1.5",
    "--memory": "700",
    "--processes": "70",
    "--disk": "50",
    "--request-cpus": "0.25",
    "--request-memory": "300",
    "--network": "packages",
}


def test_every_option_about_limits_is_in_the_manifest_and_held(runs: Runs) -> None:
    """R32: what a task is promised and what kills it are separate, in the manifest and the results."""
    given = [text for pair in OPTIONS.items() for text in pair]
    hosts = ("--allow-host", "a.example", "--allow-host", "b.example:8443")
    agent = runs.steps({"write": SCRIPT, "text": "echo done"})
    common = ("--task", QUICK, "--agent", agent, "--out", "runs/a", "--max-starts", "1")
    runs("run", *common, *given, *hosts)
    limits = {"minutes": 1.5, "cpus": 1.5, "memory_mib": 700, "processes": 70, "disk_mib": 50}
    requests = {"cpus": 0.25, "memory_mib": 300}
    manifest = runs.manifest()
    assert manifest["policy"] == {
        "limits": {**Limits().model_dump(), **limits},
        "requests": requests,
        "network": "packages",
        "allow_hosts": ["a.example", "b.example:8443"],
        "gpus": 0,
    }
    assert not manifest["allow_unenforced"]
    outcome = runs.outcome()
    for enforced in (outcome["enforced"], outcome["execution"]["enforced"]):
        assert enforced["requests"] == requests
        assert enforced["missing"] == {}
        assert enforced["limits"].keys() >= {*limits, "files", "file_mib", "output_mib", "network"}
        for limit, number in (("memory_mib", "700"), ("processes", "70"), ("disk_mib", "50")):
            assert enforced["limits"][limit].startswith(number)
        assert "filtering proxy" in enforced["limits"]["network"]


def test_nought_is_no_limit(runs: Runs) -> None:
    off = ("--memory", "0", "--processes", "0", "--disk", "0", "--cpus", "0", "--network", "open")
    runs.here("run", "--agent", "null", "--task", QUICK, "--out", "runs/a", *off)
    limits = runs.manifest()["policy"]["limits"]
    assert [limits[name] for name in ("memory_mib", "processes", "disk_mib", "cpus")] == [None] * 4
    enforced = runs.outcome()["enforced"]
    assert enforced["missing"] == {}
    assert (
        not {"memory_mib", "processes", "disk_mib", "cpus", "network"} & enforced["limits"].keys()
    )


def test_gpus_are_planned_where_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(planning, "visible", lambda *_: ("0", "1", "2"))
    options = planning.Options(agent="null", policy=Policy(gpus=2), cache=tmp_path, out=tmp_path)
    assert planning.plan(options).policy.gpus == 2


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "mend"),
    [
        ("--limit-minutes 0.0", "--limit-minutes"),
        ("--limit-minutes -1", "--limit-minutes"),
        ("--limit-minutes nan", "--limit-minutes"),
        ("--limit-minutes inf", "--limit-minutes"),
        ("--cpus -0.5", "--cpus"),
        ("--cpus inf", "--cpus"),
        ("--memory -1", "--memory"),
        ("--processes -1", "--processes"),
        ("--disk -1", "--disk"),
        ("--request-cpus -1", "--request-cpus"),
        ("--request-cpus inf", "--request-cpus"),
        ("--request-memory -1", "--request-memory"),
        ("--network maybe", "none, packages or open"),
        ("--allow-host a.example", "--network packages"),
        ("--network open --allow-host a.example", "--network packages"),
        ("--network packages --allow-host http://a.example/", "http://a.example/"),
        ("--sandbox moon", "bwrap, docker, podman, k8s, local"),
        ("--sandbox local", "--unsafe"),
        ("--sandbox local --allow-unenforced", "--unsafe"),
        ("--sandbox k8s", "--image"),
        ("--gpus 3", "CUDA_VISIBLE_DEVICES"),
        ("--rootfs nowhere", "nowhere"),
        ("--rootfs empty --sandbox docker", "--image"),
        ("--image some", "--rootfs"),
        ("--rootfs empty", "usr"),
        ("--rootfs bare", "Python 3"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, options: str, mend: str
) -> None:
    (runs.folder / "empty").mkdir()
    (runs.folder / "bare/usr").mkdir(parents=True)
    monkeypatch.setattr(planning, "present", dict)
    assert mend in runs.fails("run", "--agent", "null", "--task", QUICK, *options.split())
    assert not (runs.folder / "runs").exists()


def test_a_negative_number_of_gpus_is_no_number(runs: Runs) -> None:
    runs.here("run", "--agent", "null", "--gpus", "-1", code=2)
    assert not (runs.folder / "runs").exists()


def test_a_limit_that_nothing_holds_stops_the_run_unless_that_is_allowed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Less than one processor needs a control group; a whole one is held by affinity."""
    monkeypatch.setattr(cgroups, "probe", lambda *_: None)
    agent = runs.steps({"write": SCRIPT, "text": "echo done"})
    args = ("run", "--agent", agent, "--task", QUICK, "--cpus", "0.5", "--out", "runs/a")
    sentence = runs.fails(*args)
    for part in ("cpus", "no control group", "--allow-unenforced"):
        assert part in sentence
    assert not (runs.folder / "runs").exists()
    runs.here(*args, "--allow-unenforced")
    assert runs.manifest()["allow_unenforced"]
    outcome = runs.outcome()
    for enforced in (outcome["enforced"], outcome["execution"]["enforced"]):
        assert list(enforced["missing"]) == ["cpus"]
        assert "no control group" in enforced["missing"]["cpus"]
        assert "cpus" not in enforced["limits"]
        assert "watch" in enforced["limits"]["memory_mib"]
        assert "rlimit" in enforced["limits"]["processes"]
    assert outcome["scores"]["execution"]["value"] == 1.0


def test_a_resumption_is_held_to_what_was_demanded(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that does not hold a limit does not go on with another one's run unasked."""
    args = ("--agent", "null", "--task", QUICK, "--cpus", "0.5", "--out", "runs/a")
    with monkeypatch.context() as patch:
        patch.setattr(planning, "demand", lambda *_: None)
        runs.here("run", *args)
    (runs.folder / "runs/a/journal.jsonl").unlink()
    monkeypatch.setattr(cgroups, "probe", lambda *_: None)
    assert "no control group" in runs.fails("resume", "runs/a")
    assert not (runs.folder / "runs/a/journal.jsonl").exists()


# --- no sandbox ----------------------------------------------------------------------------------


def test_without_a_sandbox_nothing_is_scored_nor_after_a_resumption(runs: Runs) -> None:
    local = ("--sandbox", "local", "--unsafe")
    runs("run", "--agent", "oracle", "--task", QUICK, *local, "--out", "runs/a")
    before = runs.outcome()
    journal = runs.folder / "runs/a/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    (attempt,) = [line for line in lines if line.startswith(b'{"attempt"')]
    journal.write_bytes(attempt)
    runs("resume", "runs/a")
    assert runs.attempts() == [json.loads(attempt)["attempt"]], "the agent was run again"
    for each in (before, runs.outcome()):
        assert each["status"] == "finished"
        assert each["execution"]["state"] == "ran", "it works, and is not believed all the same"
        assert set(each["scores"]) == set(ALL_SCORES)
        for score in each["scores"].values():
            assert score["value"] is None
            assert "sandbox local" in score["reason"]
        assert {"network", "filesystem"} <= each["enforced"]["missing"].keys()
    assert not list((runs.folder / "cache/expbench/work").iterdir())


def test_without_a_sandbox_nothing_survives_the_run(runs: Runs) -> None:
    marker = f"marker{uuid.uuid4().hex}"
    daemon = f"exec -a {marker} sleep 300"
    agent = runs.agent(
        f"await workspace.run(\"setsid -f bash -c '{daemon}'; nohup bash -c '{daemon}' &\")",
        "await workspace.run('sleep 1')",
        f'await workspace.write("{SCRIPT}", "setsid -f bash -c \'{daemon}\'")',
    )
    process = runs.start(
        *("run", "--agent", agent, "--task", QUICK, "--out", "runs/a"),
        *("--sandbox", "local", "--unsafe"),
    )
    seen = 0
    while process.poll() is None:
        seen = max(seen, _carriers(marker))
        time.sleep(0.02)
    out, err = process.communicate()
    assert process.returncode == 0, (out, err)
    assert seen >= 2, "the positive control: daemons were running"
    assert _carriers(marker) == 0


def _carriers(marker: str) -> int:
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += (folder / "cmdline").read_bytes().split(b"\0")[0] == marker.encode()
    return count


def test_a_table_of_what_ran_without_a_sandbox_has_no_score_at_all(runs: Runs) -> None:
    local = ("--sandbox", "local", "--unsafe", "--json")
    done = runs.here("run", "--agent", "null", "--task", QUICK, *local, "--out", "runs/a")
    metrics = json.loads(done)["summary"]["metrics"]
    assert [metric["key"] for metric in metrics if metric["value"] is not None] == []


# --- what the watch ends -------------------------------------------------------------------------

FILL = "for n in $(seq 200); do head -c 2M /dev/zero > fill$n.bin; sleep 0.05; done"
SWALLOWING = ("try:", f"    await workspace.run({FILL!r})", "except Exception: pass")


@pytest.mark.parametrize("swallows", [False, True], ids=["plain", "swallowing"])
def test_an_agent_that_fills_the_disk_is_ended_and_judged(runs: Runs, swallows: bool) -> None:
    """R13: what it left until then counts; the limit that ended it is named."""
    response = json.dumps({"design": "Disks were filled.", "conclusion": "They are full."})
    agent = runs.agent(
        f"await workspace.write('response.json', {response!r})",
        f"await workspace.write('{SCRIPT}', 'echo hello')",
        *(SWALLOWING if swallows else (f"await workspace.run({FILL!r})", "raise ValueError")),
    )
    runs("run", "--agent", agent, "--task", QUICK, "--disk", "16", "--out", "runs/a")
    outcome = runs.outcome()
    assert (outcome["status"], outcome["reason"]) == ("finished", "")
    assert outcome["limit"].startswith("disk_mib: ") and "16 MiB" in outcome["limit"]
    (attempt,) = runs.attempts()
    assert attempt["submission"]["conclusion"] == "They are full."
    assert SCRIPT in attempt["submission"]["changed"]
    assert outcome["scores"]["conclusion"]["value"] == 0.0
    assert outcome["execution"]["state"] == "ran"
    assert outcome["scores"]["execution"]["value"] == 1.0


def test_a_script_that_fills_the_disk_is_a_nought_with_its_cause(runs: Runs) -> None:
    """R13, R25: the sandbox died of the script's own doing, so nothing is tried again."""
    agent = runs.steps({"write": SCRIPT, "text": FILL})
    args = ("--agent", agent, "--task", QUICK, "--disk", "16", "--out", "runs/a")
    runs("run", *args)
    outcome = runs.outcome()
    assert (outcome["status"], outcome["limit"]) == ("finished", "")
    assert outcome["execution"]["state"] == "failed"
    assert "16 MiB" in outcome["execution"]["cause"]
    score = outcome["scores"]["execution"]
    assert score["value"] == 0.0 and "16 MiB" in score["reason"]


# --- sandboxes that are killed from outside -------------------------------------------------------

WAITING = {"tool": "bash", "arguments": {"command": "touch /workspace/here; sleep 300"}}
KILLED_AGENTS: dict[str, Callable[[Runs], tuple[str, ...]]] = {
    "model": lambda runs: (
        *("react", "--model"),
        runs.model({"text": "first", "calls": [WAITING]}, {"text": "second"}),
    ),
    "function": lambda runs: (runs.agent("await workspace.run('touch here; sleep 300')"),),
    "swallowing function": lambda runs: (
        runs.agent(
            "for _ in range(3):",
            "    try:",
            "        await workspace.run('touch here; sleep 300')",
            "    except Exception: pass",
        ),
    ),
    "wrapping function": lambda runs: (
        runs.agent(
            "try:",
            "    await workspace.run('touch here; sleep 300')",
            "except Exception as error:",
            "    raise RuntimeError('my own words') from error",
        ),
    ),
}


@pytest.mark.parametrize("kind", KILLED_AGENTS)
def test_a_killed_sandbox_is_tried_again_and_never_a_nought(runs: Runs, kind: str) -> None:
    """R25: whatever the agent makes of it. A run tries some times, and a resumption again."""
    agent = KILLED_AGENTS[kind](runs)
    process = runs.start(
        "run", "--agent", *agent, "--task", QUICK, "--out", "runs/a", "--max-samples", "1"
    )
    killed = 0
    deadline = time.monotonic() + 100
    try:
        while process.poll() is None and time.monotonic() < deadline:
            for mark in runs.folder.glob("cache/expbench/work/*/upper/here"):
                if inside := _sandboxes(runs):
                    mark.unlink(missing_ok=True)
                    killed += 1
                    for pid in inside:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)
        out, err = process.communicate(timeout=10)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1, (out, err)
    assert "expbench resume" in out and "Traceback" not in out + err
    assert killed == TRIES
    outcome = runs.outcome()
    assert (outcome["status"], outcome["scores"]) == ("infrastructure", {})
    assert "dead" in outcome["reason"]
    assert runs.attempts() == []
    if kind == "model":
        assert _model_calls(runs) == TRIES, (
            "one call for each try, and none after its sandbox's death"
        )
    assert _sandboxes(runs) == []
    if kind == "function":
        assert runs.agent("await workspace.write('new.py', 'x = 1')") == agent[0]
        runs("resume", "runs/a")
        assert runs.outcome()["status"] == "finished"


def _model_calls(runs: Runs) -> int:
    """Of all tries of the one sample of a run."""
    log = read_eval_log(str(next((runs.folder / "runs/a/logs").glob("*.eval"))))
    assert log.samples
    sample: EvalSample = log.samples[0]
    events = list(sample.events)
    for retry in sample.error_retries or []:
        events += retry.events or []
    return sum(event.event == "model" for event in events)
