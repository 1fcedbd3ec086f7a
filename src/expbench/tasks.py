"""The benchmark as an Inspect task: the file to read first.

One task's way through::

    dataset   one sample for each research task; its input is the prompt, nothing else is in it
    solver    prepare the masked workspace, run the agent in the sandbox, collect the submission
    scorers   monitor, judge, clean re-run: M D I C E, then the conjunctions All and All·E

Every step is a plain function on the run's folder (``attempt``, ``assess``, ``metrics``); here they are
only put in order. What is in the run's journal already is not done again, which is all of resuming.

Both ``expbench run`` and ``inspect eval expbench/expbench -T suite=mini --model …`` build it by
:func:`build_task`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec

from expbench.assess import assess
from expbench.attempt import run_agent
from expbench.collecting import gather, uncollected
from expbench.evaluation import Evaluation
from expbench.metrics import gated
from expbench.sandboxes.bwrap import known
from expbench.schema import SCORE_NAMES, Outcome, ScoreName

CONJUNCTIONS: dict[str, tuple[ScoreName, ...]] = {
    "all": ("monitor", "design", "implementation", "conclusion"),
    "all_executed": SCORE_NAMES,
}
"""The publication's All and All·E: every part fully right, and no violation."""


def build_task(evaluation: Evaluation, only: Sequence[str] | None = None) -> Task:
    """The Inspect task of a run, or of those of its tasks that are named by ``only``."""
    ids = [name for name in evaluation.run.manifest.tasks if only is None or name in set(only)]
    return Task(
        name="expbench",
        dataset=MemoryDataset([_sample(evaluation, name) for name in ids], name="expbench"),
        solver=work(evaluation),
        scorer=[_scorer(evaluation, name) for name in (*SCORE_NAMES, *CONJUNCTIONS)],
        sandbox=SandboxEnvironmentSpec(
            "bwrap",
            known(evaluation.host),
        ),
    )


@solver
def work(evaluation: Evaluation) -> Solver:
    """Have the agent do one task, unless the journal has its submission already."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        key, task = (str(state.sample_id), state.epoch), evaluation.tasks[str(state.sample_id)]
        await evaluation.tries.pause(key, evaluation.activity)
        with evaluation.tries.counted(key):
            if key not in evaluation.run.attempts:
                left = uncollected(evaluation, key) or await run_agent(evaluation, task, state)
                await gather(evaluation, task, left)
        return state

    return solve


async def outcome_of(evaluation: Evaluation, state: TaskState) -> Outcome:
    """A sample's outcome: from the journal, or assessed now."""
    key = (str(state.sample_id), state.epoch)
    if not evaluation.run.final(key):
        done = evaluation.run.attempts[key]
        with evaluation.tries.counted(key):
            outcome = await assess(evaluation, evaluation.tasks[key[0]], done)
        evaluation.activity.finished += 1
        evaluation.listener(*key, "done", outcome)
    return evaluation.run.outcomes[key]


def _scorer(evaluation: Evaluation, name: str) -> Scorer:
    """One of an outcome's scores as an Inspect scorer; the first one asked does the assessment."""

    @scorer(metrics=[mean()], name=name)
    def factory() -> Scorer:
        async def score(state: TaskState, target: Target) -> InspectScore:
            key = (str(state.sample_id), state.epoch)
            if name == SCORE_NAMES[0]:
                await outcome_of(evaluation, state)
            return _inspect_score(evaluation.run.outcomes[key], name)

        return score

    return factory()


def _inspect_score(outcome: Outcome, name: str) -> InspectScore:
    if name in CONJUNCTIONS:
        value = gated(outcome).all_full(CONJUNCTIONS[name])
        if value is None:
            return InspectScore.unscored(reason="unscored", explanation="a part of it is unscored")
        return InspectScore(value=float(value))
    score = outcome.scores[name]
    if score.value is None:
        return InspectScore.unscored(reason="unscored", explanation=score.reason)
    return InspectScore(
        value=score.value,
        explanation=_explanation(outcome, name) or score.reason,
        metadata={"met": score.met, "not_met": score.not_met, "submission": outcome.submission},
    )


def _explanation(outcome: Outcome, name: str) -> str:
    verdicts = outcome.judgement.verdicts if outcome.judgement else ()
    lines = [f"{v.item}: {v.state}. {v.reason}"[:300] for v in verdicts if v.phase == name]
    return "\n".join(lines)


def _sample(evaluation: Evaluation, task_id: str) -> Sample:
    research_task = evaluation.tasks[task_id]
    metadata: dict[str, Any] = {
        "paper": research_task.paper,
        "type": research_task.type,
        "category": research_task.category,
    }
    return Sample(id=task_id, input=evaluation.prompt(research_task), metadata=metadata)
