"""Two papers of ours from ``new`` to a suite on which the oracle has everything right and nothing fails.

All by the command line, with the PDFs, repositories in git, real sandboxes and a scripted model.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from construct_papers import PAPERS, Script, repository, tasks_of

from expbench.construct.project import Project
from expbench.dataset import load_suite
from expbench.dataset.taskfile import check_file
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost

pytest.importorskip("pypdfium2", reason="reading a PDF needs the extra construct")


class Commands:
    """The command line, with a cache of its own."""

    def __init__(self, cache: CachePaths, folder: Path) -> None:
        self.folder = folder
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(cache.root.parent / "xdg")}
        self._environment.pop("EXPBENCH_DATA", None)
        self.cache = CachePaths(cache.root.parent / "xdg" / "expbench")

    def run(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "expbench", *words],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=900,
        )
        assert done.returncode == code, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code))


def constructed(commands: Commands, paper: str) -> Project:
    """A paper's project with all stages behind it."""
    clone = repository(paper, commands.folder)
    place = f"made-{paper}"
    pdf = str(PAPERS / f"{paper}.pdf")
    commands.run("construct", "new", place, "--pdf", pdf, "--repo", str(clone), "--name", paper)
    commands.run("construct", "read", place)
    project = Project(commands.folder / place, commands.cache)
    script, tasks = Script(commands.folder / f"{paper}.json"), tasks_of(paper)
    model = ("--model", script.model)
    script.extraction(project.document(), tasks)
    guess = commands.json("construct", "extract", place, *model, "--estimate")
    assert guess[0]["calls"] >= len(tasks)
    made = commands.json("construct", "extract", place, *model)
    assert [each["refused"] for each in made["drafts"]] == ["", ""]
    script.location(paper, tasks)
    commands.run("construct", "locate", place, *model, "--limit-minutes", "5")
    commands.run("construct", "trace", place)
    script.writing(project)
    # From here on everything that is left, in one command.
    commands.run("construct", "run", place, *model)
    return project


SCORES = ("monitor", "design", "implementation", "conclusion", "execution")
RELEASED = {
    *("question", "method", "expected_outcome", "source", "usage_instructions", "requirements"),
    *("agent_instructions", "masked_source", "design_complexity", "experiment_constraints"),
    *("experiment_setup_complexity", "random_uncertainty", "systematic_uncertainty"),
}
"""What each of the release's 210 questions of type 1 has."""
ALSO = {"design_ambiguity", "experiment_setup_ambiguity", "subsection_source"}


def metrics(summary: Any) -> dict[str, float | None]:
    return {each["key"]: each["value"] for each in summary["summary"]["metrics"]}


@pytest.mark.parametrize("paper", ["calibration", "stochopt"])
def test_a_paper_becomes_a_suite_that_the_oracle_solves(
    paper: str, cache: CachePaths, host: SandboxHost, tmp_path: Path
) -> None:
    commands = Commands(cache, tmp_path)
    project = constructed(commands, paper)
    place = f"made-{paper}"
    status = commands.json("construct", "status", place)
    assert [each["verified"] for each in status["drafts"]] == [True, True]
    assert {each["stage"] for each in status["cost"]["costs"]} == {"extract", "locate", "write"}
    assert "verified" in commands.run("construct", "status", place)

    written = commands.json("construct", "export", place)
    data = tmp_path / written["written"]
    file = data / "own" / paper / f"{paper}_complete_final.json"
    assert [found for found in check_file(file) if found.severity == "error"] == []
    suite = ("--suite", "expbench", "--data", str(data))
    oracle = commands.json("run", *suite, "--agent", "oracle", "--out", "runs/oracle")
    empty = commands.json("run", *suite, "--agent", "null", "--out", "runs/empty")
    assert oracle["summary"]["counts"]["scored"] == empty["summary"]["counts"]["scored"] == 2
    solved, failed = metrics(oracle), metrics(empty)
    assert {name: solved[name] for name in SCORES} == dict.fromkeys(SCORES, 1.0)
    assert solved["grounding"] == 1.0
    assert {name: failed[name] for name in SCORES[1:]} == dict.fromkeys(SCORES[1:], 0.0)

    commands.run("construct", "export", place, "--format", "release")
    released_as(project, paper)
    assert "| extract |" in (project.out / "cost.md").read_text("utf-8")


def released_as(project: Project, paper: str) -> None:
    """The release's files are there, with its keys and types, and load as its own do."""
    folder = project.out / "release" / "own" / paper
    final = json.loads((folder / f"{paper}_complete_final.json").read_text("utf-8"))
    assert set(final) == {"questions", "main_takeaways"}
    for question in final["questions"]:
        assert RELEASED <= set(question) <= RELEASED | ALSO
        objects = {name for name in RELEASED if name.startswith(("experiment", "random", "system"))}
        assert all(isinstance(question[name], dict) for name in objects)
        assert all(each.startswith("/workspace/") for each in question["masked_source"])
    names = {path.name.replace(paper, "ID") for path in folder.iterdir()}
    assert names == {
        "temp_ID.json",
        "ID.json",
        "ID_generated_programs_type_1.json",
        "ID_program_analysis_type_1.json",
        "ID_complete_type_1.json",
        "ID_complete_final.json",
    }
    assert [task.type for task in load_suite("expbench", project.out / "release").tasks] == [1, 1]
