"""The benchmarks run: small repositories, real git, the whole program from its command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "benchmarks" / "workspaces.py"
URL = "https://example.org/lab/tool"
ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *args: str) -> str:
    command = ["git", *args]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def make_mirror(mirror: Path, files: Mapping[str, str], lost: str) -> str:
    """A clone in ``mirror`` of which the file ``lost`` has no content any more; the commit."""
    folder = mirror / "lab+tool"
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "all")
    blob = git(folder, "rev-parse", f"HEAD:{lost}")
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return git(folder, "rev-parse", "HEAD")


def question(*masked: str) -> dict[str, Any]:
    return {
        "question": "Does the second step help?",
        "method": "Run both.",
        "expected_outcome": "The second step helps by 3 points.",
        "masked_source": list(masked),
        "requirements": ["Run it"],
        "design_complexity": {},
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A mirror and a data set: four tasks of one pin, one of which masks a file that is not there."""
    mirror, data = tmp_path_factory.mktemp("mirror"), tmp_path_factory.mktemp("data")
    # Text that compresses badly, so that disk is the tree's and not that of folders.
    noise = {f"src/n{n}.py": os.urandom(6000).hex() for n in range(40)}
    steps = {f"step{n}.py": f"print({n})\n" for n in range(3)}
    files = {"README.md": "results\n", "large.txt": "lost\n", **steps, **noise}
    commit = make_mirror(mirror, files, "large.txt")
    masks = ["step0.py", "step1.py", "step2.py", "nowhere.py"]
    content = {
        "repository": {"url": URL, "commit": commit},
        "questions": [question(mask) for mask in masks],
    }
    (data / "here" / "paper").mkdir(parents=True)
    file = data / "here" / "paper" / "paper_complete_final.json"
    file.write_text(json.dumps(content), "utf-8")
    return mirror, data


def run(mirror: Path, data: Path, store: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), "--mirror", str(mirror), "--data", str(data)]
    command += ["--store", str(store), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)


@pytest.fixture(scope="module")
def result(
    release: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the whole benchmark gives as JSON, by part; its folder must be empty afterwards."""
    store = tmp_path_factory.mktemp("store")
    done = run(*release, store, "--files", "200", "--runs", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert list(store.iterdir()) == []
    return {part["name"]: part for part in json.loads(done.stdout)}


def ratios(part: dict[str, Any]) -> dict[str, float]:
    return {f"{each['name']} [{each['unit']}]": each["value"] for each in part["ratios"]}


def test_preparation_is_measured_against_the_reference(result: dict[str, dict[str, Any]]) -> None:
    """Three tasks of one pin share its tree, so they take less disk than three clones (R13)."""
    found = ratios(result["Preparation"])
    assert found["disk, all tasks, trees and layers [of the reference]"] < 0.8
    assert found["disk, trees and layers [x the limit]"] >= 1.0
    assert found["time, repositories stored, paper [x the limit]"] > 1.0
    times = {row[0]: row for row in result["Preparation"]["tables"][0]["rows"]}
    assert times["reference: all tasks"][1] == "3"
    assert times["paper: tree frozen, layer new"][1] == times["strict: all there"][1] == "3"
    hot = float(times["paper: all there"][2])
    cold = float(times["paper: all tasks, store empty at first"][2])
    assert hot < cold


def test_what_was_not_measured_is_said(result: dict[str, dict[str, Any]]) -> None:
    """A lost file makes a stand-in, and a mask without its file is no preparation (R41)."""
    notes = result["Preparation"]["notes"]
    assert "3 tasks from 1 pinned commits." in notes
    assert any(note.startswith("1 pins are stand-ins without the 1 files") for note in notes)
    assert any(note.startswith("1 tasks more mask a file that is not there") for note in notes)


def test_collection_finds_the_same_changes_from_every_view(
    result: dict[str, dict[str, Any]],
) -> None:
    """The program fails when a method collects another number of paths than were changed (R33)."""
    real, made, memory = result["Collection"]["tables"]
    for table in (real, made):
        methods = {row[0] for row in table["rows"]}
        assert {"reference", "ours, from a copy"} <= methods
    assert [row[1] for row in made["rows"] if row[0] == "reference"] == ["2"]
    peaks = {row[0]: float(row[2]) for row in memory["rows"]}
    assert all(10 < peak < 500 for peak in peaks.values())


def test_the_table_is_printed_with_ratios_first(release: tuple[Path, Path], tmp_path: Path) -> None:
    done = run(*release, tmp_path, "--parts", "preparation", "--tasks", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "## Preparation"
    assert (
        "of the reference  time, all tasks, repositories stored, paper  (wanted: at most 0.125"
        in lines[2]
    )
    assert "1 tasks from 1 pinned commits." in done.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--parts", "fetching"], "There is no part 'fetching'"),
        (["--mirror", "/nonexistent/mirror"], "is no folder"),
        (["--data", "/nonexistent/data"], "No task files"),
    ],
)
def test_what_the_user_can_mend_is_one_sentence(
    release: tuple[Path, Path], tmp_path: Path, args: list[str], said: str
) -> None:
    done = run(*release, tmp_path, *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
