"""Scripted agents: a list of steps that is played in the sandbox, with no model.

A step file is JSON, ``{"steps": [{"run": "ls"}, {"write": "response.json", "text": "{}"}]}``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError, model_validator

from expbench.agents.workspace import Workspace
from expbench.errors import DataError
from expbench.schema import Record


class Step(Record):
    """One shell command (``run``), one file to write (``write`` and ``text``), or a remark (``say``)."""

    run: str = ""
    write: str = ""
    text: str = ""
    say: str = ""

    @model_validator(mode="after")
    def _one_thing(self) -> Step:
        if sum(map(bool, (self.run, self.write, self.say))) != 1:
            raise ValueError("a step has exactly one of run, write, say")
        return self


class Script(Record):
    """The steps of a scripted agent, in order. A failing command does not stop the next one."""

    steps: tuple[Step, ...]


def load_script(path: Path) -> Script:
    """Read a step file.

    Raises:
        DataError: it cannot be read, or is not of the form above.
    """
    try:
        return Script.model_validate(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise DataError(f"The script {path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(
            f"The script {path} is wrong at {place or 'top'}: {first['msg']}."
        ) from None
    except ValueError as error:
        raise DataError(f"The script {path} is not valid JSON: {error}.") from None


async def play(steps: Sequence[Step], workspace: Workspace) -> None:
    """Do the steps one after the other."""
    for step in steps:
        if step.run:
            await workspace.run(step.run)
        elif step.write:
            await workspace.write(step.write, step.text)
        else:
            workspace.say(step.say)
