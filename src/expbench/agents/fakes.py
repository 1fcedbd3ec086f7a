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
from expbench.dataset import Oracle, oracle
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


_COPY = """\
import json, pathlib, re
texts = [p.read_text(errors="replace") for p in sorted(pathlib.Path(".").rglob("*.md"))]
numbers = re.findall(r"\\d+\\.\\d{2,}", "\\n".join(texts))[:12]
conclusion = "The experiment gave " + ", ".join(numbers) + " for the compared settings."
answer = {"design": "The settings of the README were compared.", "conclusion": conclusion}
pathlib.Path("response.json").write_text(json.dumps(answer))
print(conclusion)
"""


def readme_steps(task: ResearchTask) -> tuple[Step, ...]:
    """Read the repository's documentation and report its numbers as one's own."""
    return (
        Step(run="find . -iname '*readme*' -not -path './.git/*' -exec cat {} +"),
        Step(run=f"python3 - <<'PY'\n{_COPY}PY"),
        Step(write=SCRIPT_NAME, text="#!/bin/bash\ncat response.json\n"),
        Step(run=f"bash {SCRIPT_NAME}"),
    )


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
    return [number for number in _NUMBER.findall(text) if len(number.strip("-").replace(".", "")) > 2]
