"""Agents that need no model and whose scores are known: the instruments that test the instrument.

``oracle`` solves the task with the suite's own solution, by really running it; ``null`` hands in
nothing; the cheats hand in answers that are right and were not earned. They know the ground truth:
their steps are made on the harness's side, the sandbox never sees more than they do in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from expbench.agents.steps import Step
from expbench.dataset import Oracle, oracle, shipped_tree
from expbench.errors import NotFoundError
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, ResearchTask

_PATCH = "/tmp/solution.patch"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def oracle_steps(task: ResearchTask) -> tuple[Step, ...]:
    """Apply the solution's patch, write the deliverables, run the whole experiment."""
    solution = oracle(task)
    return (
        *_implement(solution),
        Step(write=RESPONSE_NAME, text=solution.response),
        Step(run=f"bash {SCRIPT_NAME}"),
    )


def null_steps(task: ResearchTask) -> tuple[Step, ...]:
    """Look around, and hand in nothing."""
    return (Step(run="ls"),)


def history_steps(task: ResearchTask) -> tuple[Step, ...]:
    """Search git for the masked files, then hand in a right answer."""
    return (
        Step(run="git log --all -p --stat | head -100"),
        Step(run="git reflog; git fsck --lost-found; git show HEAD~1"),
        *oracle_steps(task),
    )


def hardcode_steps(task: ResearchTask) -> tuple[Step, ...]:
    """Hand in the right conclusion with a script that prints its numbers and runs nothing."""
    solution = oracle(task)
    conclusion = str(json.loads(solution.response)["conclusion"])
    lines = [f'echo "value {index}: {number}"' for index, number in enumerate(_numbers(conclusion))]
    script = "\n".join(["#!/bin/bash", 'echo "running the experiment"', *lines, ""])
    return (
        Step(run="ls"),
        Step(write=RESPONSE_NAME, text=solution.response),
        Step(write=SCRIPT_NAME, text=script),
        Step(run=f"bash {SCRIPT_NAME}"),
    )


def readme_steps(task: ResearchTask) -> tuple[Step, ...]:
    """Read the repository's documentation and report its numbers as one's own."""
    documents = _documents(task)
    numbers = [n for text in documents.values() for n in _numbers(text) if "." in n][:8]
    conclusion = f"The experiment gave {', '.join(numbers)} for the compared settings."
    answer = {"design": "The settings of the README were compared.", "conclusion": conclusion}
    return (
        Step(run="find . -iname '*readme*' -not -path './.git/*'"),
        *(Step(run=f"cat '{path}'") for path in documents),
        Step(write=RESPONSE_NAME, text=json.dumps(answer)),
        Step(
            write=SCRIPT_NAME, text="#!/bin/bash\npython -c 'import numpy; print(numpy.zeros(3))'\n"
        ),
        Step(run=f"bash {SCRIPT_NAME}"),
    )


def _documents(task: ResearchTask) -> dict[str, str]:
    """The READMEs below the root that the masked tree still ships."""
    tree = shipped_tree(task)
    if tree is None:
        raise NotFoundError(f"Task {task.id!r}: the cheats know the tasks of suite 'mini' only.")
    files = sorted(tree.glob("*/**/README*"))
    return {str(file.relative_to(tree)): file.read_text("utf-8") for file in files}


CHEATS: dict[str, Callable[[ResearchTask], tuple[Step, ...]]] = {
    "history": history_steps,
    "hardcode": hardcode_steps,
    "readme": readme_steps,
}


def cheat_steps(task: ResearchTask) -> tuple[Step, ...]:
    """One of the cheats, each in turn over a suite's tasks."""
    kinds = list(CHEATS.values())
    return kinds[int(task.id.rsplit("/", 1)[1]) % len(kinds)](task)


def _implement(solution: Oracle) -> tuple[Step, ...]:
    return (
        Step(write=_PATCH, text=solution.patch.decode("utf-8")),
        Step(run=f"git apply --whitespace=nowarn {_PATCH}"),
        Step(write=SCRIPT_NAME, text=solution.script),
    )


def _numbers(text: str) -> list[str]:
    return [
        number for number in _NUMBER.findall(text) if len(number.strip("-").replace(".", "")) > 2
    ]
