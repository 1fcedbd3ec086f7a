"""One line per outcome of all runs: the columns are those of a single run's table."""

from __future__ import annotations

from collections.abc import Sequence

from expbench.board.contenders import TaskFacts
from expbench.board.measures import Standing
from expbench.report.inputs import ReportInput
from expbench.report.table import outcomes_csv as table_of
from expbench.schema import Repository, ResearchTask


def outcomes_csv(standings: Sequence[Standing]) -> str:
    """The tables of all runs below each other; ``run`` is a run's name on the board."""
    head, bodies = "", []
    for each in standings:
        run = each.contender.run
        text = table_of(
            ReportInput(
                manifest=run.manifest.model_copy(update={"name": each.label}),
                tasks={task_id: _known(facts) for task_id, facts in each.contender.facts.items()},
                outcomes=each.outcomes,
                planned=run.planned,
                threshold=each.summary.threshold,
            )
        )
        head, _, body = text.partition("\n")
        bodies.append(body)
    return f"{head}\n{''.join(bodies)}" if standings else "run\n"


def _known(facts: TaskFacts) -> ResearchTask:
    """A task with nothing but its facts."""
    return ResearchTask(
        id=facts.task_id,
        paper=facts.paper,
        venue="",
        category=facts.category,
        type=facts.type,
        repository=Repository(url=""),
        question="",
        method="",
    )
