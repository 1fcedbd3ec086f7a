"""The benchmark of sandboxes runs: real sandboxes in tiny numbers, from its command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from expbench.errors import PrerequisiteError
from expbench.sandboxes import bubblewrap

PROGRAM = Path(__file__).resolve().parent.parent / "benchmarks" / "sandbox.py"
TINY = ("--runs", "2", "--at-once", "3", "--output-mib", "32")


def run(store: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), "--store", str(store), *TINY, *args]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=280, check=False, env=environment
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What every part gives as JSON, by name; the folder must be empty afterwards."""
    try:
        bubblewrap.check()
    except PrerequisiteError as error:
        pytest.skip(f"no bubblewrap sandbox on this machine: {error}")
    store = tmp_path_factory.mktemp("store")
    store.chmod(0o755)
    done = run(store, "--json")
    assert done.returncode == 0, done.stderr
    assert list(store.iterdir()) == []
    return {part["name"]: part for part in json.loads(done.stdout)}


def ratios(part: dict[str, Any]) -> dict[str, float]:
    return {each["name"]: each["value"] for each in part["ratios"]}


def rows(part: dict[str, Any]) -> dict[str, list[str]]:
    return {row[0]: row[1:] for table in part["tables"] for row in table["rows"]}


def test_a_whole_life_is_compared_with_bare_bubblewrap(result: dict[str, dict[str, Any]]) -> None:
    part = result["Start, one command, stop"]
    found = ratios(part)
    for kind in ("folder", "overlay"):
        assert found[f"ours, {kind} / bare bwrap, {kind}"] > 0.5
        assert rows(part)[f"ours, {kind}"][0] == "2"
    wanted = {each["name"]: each["wanted"] for each in part["ratios"]}
    assert wanted["ours, overlay / bare bwrap, overlay"] == 1.5


def test_a_command_is_compared_with_a_plain_process(result: dict[str, dict[str, Any]]) -> None:
    part = result["A command in a running sandbox"]
    assert ratios(part)["ours, /bin/true / plain process, /bin/true"] > 0.3
    assert ratios(part)["ours, /bin/true / bare bwrap for each command"] < 3
    assert float(rows(part)["plain process, /bin/true"][2]) > 0


def test_each_part_of_a_sandbox_has_its_cost(result: dict[str, dict[str, Any]]) -> None:
    found = set(ratios(result["What each part costs"]))
    assert {"no control groups", "no limits at all", "bare bwrap, no system call filter"} <= found
    assert any(name.startswith("workspace: ") for name in found)


def test_many_at_once_all_run_and_end(result: dict[str, dict[str, Any]]) -> None:
    """None of those that were started at once fails or is left over (R23, R30)."""
    part = result["3 sandboxes at once"]
    assert ratios(part)["sandboxes or commands failed"] == 0
    found = rows(part)
    assert found["sandboxes alive together"] == ["3"]
    assert float(found["processes of a sandbox"][0]) >= 2
    assert found["close"][0] == found["start"][0] == "3"


def test_everything_is_gone_soon_after_its_end(result: dict[str, dict[str, Any]]) -> None:
    """The tree's daemons ignore signals and are killed all the same (R20)."""
    part = result["From the end to the last process gone"]
    times = ratios(part)
    assert len(times) == 4
    assert all(0 <= milliseconds < 5000 for milliseconds in times.values())
    (note,) = part["notes"]
    tree = "a tree with daemons that ignore signals: "
    assert int(note.partition(tree)[2].rstrip(".")) >= 9


def test_output_without_end_is_read_in_bounded_memory(result: dict[str, dict[str, Any]]) -> None:
    """Much less grows than was written (R29)."""
    found = ratios(result["Output without end"])
    assert found["ours / plain process"] > 0
    assert found["memory growth"] < 100


def test_an_engine_that_nobody_named_is_said(result: dict[str, dict[str, Any]]) -> None:
    assert "No engine was measured" in result["Container engine: none"]["notes"][0]


def test_an_engine_that_does_not_run_is_one_sentence(tmp_path: Path) -> None:
    """Whether its client is installed or not, nothing of it is started."""
    absent = f"unix://{tmp_path}/none.sock"
    parts = ["--parts", "engine", "--engine", "docker"]
    done = run(tmp_path, *parts, DOCKER_HOST=absent)
    assert done.returncode == 0, done.stderr
    assert "docker was not measured: " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_ratios_come_first(tmp_path: Path, result: object) -> None:
    tmp_path.chmod(0o755)
    done = run(tmp_path, "--parts", "output")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "## Output without end"
    assert lines[2].endswith("of bare           ours / plain process")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--parts", "speed"], "There is no part 'speed': give some of starts, "),
        (["--runs", "0"], "give a number of at least 1"),
        (["--engine", "lxc"], "invalid choice"),
    ],
)
def test_what_the_user_can_mend_is_said(tmp_path: Path, args: list[str], said: str) -> None:
    done = run(tmp_path, *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
