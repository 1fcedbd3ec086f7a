"""Runs of agents through the command line, in this process and with one cache: starts cost seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.runs import Attempt, Manifest, load
from expbench.schema import Outcome, Turn
from expbench.trajectory import from_json_lines

QUICK = "mini/calibration/2"

SCRIPT = "#!/bin/bash\npython -m unittest discover tests 2>&1\n"
RESPONSE = {"design": "Measured: the unit tests.", "conclusion": "The question is not answered."}


class Ran:
    """What became of a run's one attempt, or of its first task's."""

    def __init__(self, root: Path, output: str) -> None:
        self.output = output
        self.run = load(root)

    @property
    def manifest(self) -> Manifest:
        return self.run.manifest

    @property
    def outcome(self) -> Outcome:
        return self.run.ordered()[0]

    @property
    def attempt(self) -> Attempt:
        return self.run.attempts[self.outcome.task_id, 1]

    @property
    def turns(self) -> tuple[Turn, ...]:
        trajectory = self.attempt.submission.trajectory
        assert trajectory is not None
        return from_json_lines(self.run.store.get(trajectory))

    @property
    def tools(self) -> list[Turn]:
        return [turn for turn in self.turns if turn.role == "tool"]

    def values(self) -> dict[str, float | None]:
        return {name: score.value for name, score in self.outcome.scores.items()}


class Folder:
    """A folder in which the command line is used."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.variables = {
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(cache),
            "COLUMNS": "200",
            "OPENAI_API_KEY": "canary-5d8e1f7a3c",
            "ANTHROPIC_API_KEY": "canary-5d8e1f7a3c",
        }

    def write(self, name: str, content: str | dict[str, Any]) -> str:
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text)
        return name

    def model(self, *turns: dict[str, Any]) -> str:
        """The name of a model that says this; one of its own, for Inspect keeps models by their names."""
        name = self.write(f"model-{len(list(self.folder.glob('model-*')))}.json", {"turns": turns})
        return f"scripted/{self.folder / name}"

    def __call__(self, *args: str, code: int = 0) -> str:
        """Standard output of a command, with standard error behind it."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.delenv("EXPBENCH_DATA", raising=False)
            for name, value in self.variables.items():
                patch.setenv(name, value)
            done = CliRunner().invoke(app, list(args))
        assert done.exit_code == code, f"{done.output}\n{done.exception!r}"
        return done.stdout + done.stderr

    def run(self, agent: str, *args: str, task: str = QUICK, code: int = 0) -> Ran:
        """A run of an agent on one task."""
        out = f"runs/{len(list(self.folder.glob('runs/*')))}"
        said = self("run", "--agent", agent, "--task", task, "--out", out, *args, code=code)
        return Ran(self.folder / out, said)

    def refused(self, *args: str) -> str:
        """The one sentence with which a command is refused; nothing is written."""
        sentence = self(*args, code=2).strip()
        assert sentence.startswith("expbench: ") and "\n" not in sentence, sentence
        assert not (self.folder / "runs").exists()
        return sentence


def calls(tool: str, **arguments: Any) -> dict[str, Any]:
    """A scripted model's turn that calls one tool."""
    return {"text": "", "calls": [{"tool": tool, "arguments": arguments}]}


def hand_in(conclusion: str = RESPONSE["conclusion"]) -> str:
    """A shell command that writes both deliverables."""
    response = json.dumps({**RESPONSE, "conclusion": conclusion})
    return (
        f"cat > reproduce_exp_bench.sh <<'EOF'\n{SCRIPT}EOF\n"
        f"cat > response.json <<'EOF'\n{response}\nEOF\n"
    )
