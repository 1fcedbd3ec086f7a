"""The examples: each is named with its command, runs by it, and does what its page says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from expbench.runs import load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import SCORE_NAMES, Turn
from expbench.trajectory import from_json_lines

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PAGE = (EXAMPLES / "README.md").read_text("utf-8")


def command_of(name: str) -> list[str]:
    """The command below an example's heading."""
    section = PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```bash\n(.*?)```", section, re.S)
    return shlex.split(block)


def run(name: str, folder: Path) -> tuple[dict[str, float | None], tuple[Turn, ...]]:
    """Run an example by its documented command; its scores and its trajectory."""
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", *command_of(name), "--out", "runs/example", "--json"],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["summary"]["counts"]["scored"] == 1
    opened = load(folder / "runs/example")
    (outcome,) = opened.ordered()
    (attempt,) = opened.attempts.values()
    assert attempt.submission.trajectory is not None
    turns = from_json_lines(opened.store.get(attempt.submission.trajectory))
    return {each: outcome.scores[each].value for each in SCORE_NAMES}, turns


def test_every_example_has_its_command_on_the_page() -> None:
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()} - {"README.md"}
    assert files == set(re.findall(r"^## (\S+)$", PAGE, re.M))
    for name in files:
        assert f"examples/{name}" in " ".join(command_of(name))


def test_an_agent_of_ones_own_is_one_function(host: SandboxHost, tmp_path: Path) -> None:
    scores, turns = run("my_agent.py", tmp_path)
    assert scores == {
        "monitor": 1,
        "design": 0,
        "implementation": 0,
        "conclusion": 0,
        "execution": 1,
    }
    ran = next(turn for turn in turns if turn.command == "bash reproduce_exp_bench.sh")
    assert re.search(r"Ran \d+ tests", ran.text)
    assert not any(turn.failed for turn in turns)


def test_a_program_is_an_agent_by_five_lines(host: SandboxHost, tmp_path: Path) -> None:
    assert len((EXAMPLES / "command.toml").read_text("utf-8").splitlines()) == 5
    scores, turns = run("command.toml", tmp_path)
    assert (scores["monitor"], scores["execution"], scores["conclusion"]) == (1, 1, 0)
    (ran,) = (turn for turn in turns if turn.role == "tool")
    assert ran.text.startswith("the question:") and "No problem of form" in ran.text
    assert not ran.failed


def test_a_scripted_agent_plays_its_steps(host: SandboxHost, tmp_path: Path) -> None:
    scores, turns = run("steps.json", tmp_path)
    assert scores["monitor"] == scores["execution"] == 1
    assert 0 < (scores["design"] or 0) < 1
    assert 0 < (scores["implementation"] or 0) < 1
    assert scores["conclusion"] == 0
    assert not any(turn.failed for turn in turns)


def test_react_works_through_its_tools(host: SandboxHost, tmp_path: Path) -> None:
    """A scripted model does the whole method; its tool calls succeed, and not only its log."""
    scores, turns = run("react_scripted.json", tmp_path)
    assert scores == {
        "monitor": 1,
        "design": 1,
        "implementation": 1,
        "conclusion": 0,
        "execution": 1,
    }
    tools = [turn for turn in turns if turn.role == "tool"]
    assert {turn.tool for turn in tools} >= {"bash", "python"}
    assert any("best cell:" in turn.text for turn in tools)
    assert not any(turn.failed for turn in tools)
