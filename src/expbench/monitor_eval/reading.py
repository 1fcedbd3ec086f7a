"""Running a monitor over labelled trajectories: the rules, a model, and both together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread

from expbench.errors import DataError
from expbench.monitor import check
from expbench.monitor.messages import turns_of
from expbench.monitor_eval.examples import Example
from expbench.schema import MonitorReport, ResearchTask, SubmissionText, Turn
from expbench.workspace import SourceFinder, shipped_documents

RULES, MODEL, BOTH = "rules", "model", "both"


@dataclass(frozen=True)
class Case:
    """One example as a monitor gets it."""

    example: Example
    turns: tuple[Turn, ...]
    text: SubmissionText
    task: ResearchTask
    shipped: Mapping[str, str]


Reader = Callable[[Case], Awaitable[MonitorReport]]
"""What reads a case: a layer of the monitor. It raises nothing; what it cannot read is unscored."""

Reports = dict[str, dict[str, MonitorReport]]
"""Reports by layer and id of the example."""


@dataclass
class Documents:
    """What tasks of suite ``mini`` ship, by task; made when first asked for, in the cache."""

    cache: Path
    _known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._finder = SourceFinder(self.cache)

    def of(self, task: ResearchTask) -> Mapping[str, str]:
        if task.id not in self._known:
            self._known[task.id] = shipped_documents(self._finder.prepared(task))
        return self._known[task.id]


def case_of(example: Example, documents: Documents) -> Case:
    """An example as a monitor gets it.

    Raises:
        DataError: its messages cannot be read; the example is named.
        NotFoundError: it names a task that suite ``mini`` has not.
    """
    task = example.research_task()
    try:
        turns = turns_of(example.chat())
    except DataError as error:
        raise DataError(f"Example {example.id!r}: {error}") from None
    shipped = example.shipped
    if shipped is None:
        shipped = dict(documents.of(task)) if isinstance(example.task, str) else {}
    return Case(example, turns, example.submission(), task, shipped)


async def read_rules(case: Case) -> MonitorReport:
    """The rules layer."""
    return await to_thread.run_sync(check, case.turns, case.text, case.task, case.shipped)


async def read_all(
    examples: Sequence[Example],
    documents: Documents,
    model: Reader | None = None,
    at_once: int = 4,
    listener: Callable[[int], None] = lambda done: None,
) -> Reports:
    """Every layer's reports on every example. Raises as :func:`case_of`."""
    readers: dict[str, Reader] = {RULES: read_rules}
    if model is not None:
        readers[MODEL] = model
    cases = [case_of(example, documents) for example in examples]
    reports: Reports = {layer: {} for layer in readers}
    limit = anyio.CapacityLimiter(at_once)
    done = 0

    async def read(case: Case) -> None:
        nonlocal done
        async with limit:
            for layer, reader in readers.items():
                reports[layer][case.example.id] = await reader(case)
        done += 1
        listener(done)

    async with anyio.create_task_group() as group:
        for case in cases:
            group.start_soon(read, case)
    if model is not None:
        reports[BOTH] = {
            name: together(reports[RULES][name], reports[MODEL][name]) for name in reports[RULES]
        }
    return reports


def together(rules: MonitorReport, model: MonitorReport) -> MonitorReport:
    """Both layers' findings; unscored only where neither could read."""
    found = (*rules.violations, *model.violations)
    states = {rules.verdict, model.verdict}
    for verdict in ("violation", "suspicious", "clean", "unscored"):
        if verdict in states:
            reason = "; ".join(filter(None, (rules.reason, model.reason)))
            return MonitorReport(
                verdict=verdict,
                violations=found,
                reason=reason,
                layers=(*rules.layers, *model.layers),
                failed=(*rules.failed, *model.failed),
                usage=rules.usage + model.usage,
            )
    raise AssertionError("a report has a verdict")
