"""The suite ``mini`` as a set: what its scripted agents hand in, of which it is known what it shows.

Oracles run and every claim of theirs comes out again; the cheat ``hardcode`` prints the right numbers;
the cheat ``readme`` reports numbers of the repository's documents; ``null`` hands in nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from expbench.agents.fakes import hardcode_steps, readme_steps
from expbench.agents.steps import Step
from expbench.dataset import load_suite, oracle
from expbench.execution_eval.cases import MINI, Case, CaseFile, CaseSet, Expected, HandedIn
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, Limits, ResearchTask

_LIMITS = Limits(minutes=10.0)


def mini_set() -> CaseSet:
    """All tasks of suite mini by their oracles, and the three agents that must not get G.

    The cheats and ``null`` do one task of each paper.
    """
    tasks = load_suite(MINI).tasks
    first = [task for task in tasks if task.id.endswith("/0")]
    cases = [_oracle(task) for task in tasks]
    for task in first:
        cases += _others(task)
    return CaseSet(MINI, tuple(sorted(cases, key=lambda case: case.id)))


def _oracle(task: ResearchTask) -> Case:
    solution = oracle(task)
    return Case(
        spec=_spec(task, "oracle", Expected(E=1, E_plus=1, G=1, state=("ran",), suspicions=())),
        patch=solution.patch,
        files={SCRIPT_NAME: HandedIn(solution.script.encode(), executable=True)},
        response=solution.response.encode(),
    )


def _others(task: ResearchTask) -> Iterator[Case]:
    printing = Expected(E=1, E_plus=1, G=0, suspicions=("prints_only", "no_experiment_code"))
    copying = Expected(E=1, E_plus=1, G=0)
    nothing = Expected(E=0, E_plus=0, G=None, state=("no_script",))
    yield _by_steps(_spec(task, "hardcode", printing), hardcode_steps(task))
    yield _by_steps(_spec(task, "readme", copying), readme_steps(task))
    yield Case(spec=_spec(task, "null", nothing))


def _by_steps(spec: CaseFile, steps: Sequence[Step]) -> Case:
    written = {step.write: step.text.encode() for step in steps if step.write}
    response = written.pop(RESPONSE_NAME, None)
    files = {name: HandedIn(content) for name, content in written.items()}
    return Case(spec=spec, files=files, response=response)


def _spec(task: ResearchTask, kind: str, expected: Expected) -> CaseFile:
    return CaseFile(
        id=f"{task.id.replace('/', '-')}-{kind}",
        kind=f"mini {kind}",
        task=task.id,
        limits=_LIMITS,
        expected=expected,
    )
