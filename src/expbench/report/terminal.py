"""What is shown at the end of a run in a terminal, and the same as a record for programs.

Cells are plain :class:`rich.text.Text`, so that brackets in an agent's words are no markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from expbench.metrics import Details, Summary, details
from expbench.report.cells import LETTERS, Tone, cells, notes
from expbench.report.correcting import Correction
from expbench.report.inputs import label_of
from expbench.report.page import equation
from expbench.report.text import bounds_text, interval_text, natural, of_text, percent, printable
from expbench.runs import Manifest
from expbench.schema import Doubt, Outcome, Record

_STYLES: dict[Tone, str] = {"full": "blue", "part": "", "zero": "red", "none": "dim"}
LONGEST = 200
"""Attempts that a terminal is shown: more would take seconds, and nobody scrolls so far."""
_COMPARED = ("M", "D", "I", "C", "E", "E+", "G", "All·E", "All·E·G")


class Doubted(Record):
    """A doubt about one attempt."""

    task_id: str
    epoch: int
    doubt: Doubt


class RunSummary(Record):
    """A run's summary with what it is of."""

    run: str
    suite: str
    suite_version: str
    agent: str
    model: str
    judge: str
    label: str
    judge_eval: str
    doubts: tuple[Doubted, ...] = ()
    summary: Summary
    details: Details
    """Other denominators, other thresholds, and what several attempts would do."""
    corrected: tuple[Correction, ...] = ()
    """D and I without the judge's known errors."""


class RunSummaries(Record):
    """The summaries of several runs that were begun at once."""

    runs: tuple[RunSummary, ...]


def summary_json(
    summary: Summary,
    manifest: Manifest,
    judge_eval: str = "",
    outcomes: Sequence[Outcome] = (),
    corrected: Sequence[Correction] = (),
) -> RunSummary:
    """The summary as a record; its ``model_dump_json()`` is what ``--json`` prints."""
    return RunSummary(
        run=manifest.name,
        suite=manifest.suite,
        suite_version=manifest.suite_version,
        agent=manifest.agent,
        model=manifest.model,
        judge=manifest.judge,
        label=label_of(manifest),
        judge_eval=judge_eval,
        doubts=tuple(
            Doubted(task_id=outcome.task_id, epoch=outcome.epoch, doubt=doubt)
            for outcome in outcomes
            for doubt in outcome.doubts
        ),
        summary=summary,
        details=details(outcomes, summary.threshold),
        corrected=tuple(corrected),
    )


def terminal_table(
    summary: Summary,
    manifest: Manifest,
    judge_eval: str = "",
    corrected: Sequence[Correction] = (),
) -> Table:
    """All metrics of a run; the caption accounts for every planned attempt."""
    model = f" with {manifest.model}" if manifest.model else ""
    title = f"{manifest.name}: {manifest.agent}{model} on {manifest.suite}"
    more = (each.sentence for each in corrected)
    fully = f"Fully right: {percent(summary.threshold)} or more." * (summary.threshold < 1.0)
    lines = filter(None, (label_of(manifest), judge_eval, *more, fully, equation(summary)))
    caption = "\n".join(lines)
    table = Table(title=_plain(title), caption=_plain(caption), caption_justify="left")
    table.add_column("Metric")
    for heading in ("Value", "95 % interval", "n", "Unscored", "Bounds"):
        table.add_column(heading, justify="right")
    for metric in summary.metrics:
        table.add_row(
            _plain(metric.label),
            percent(metric.value),
            interval_text(metric.interval),
            of_text(metric),
            str(metric.unscored),
            bounds_text(metric),
        )
    return table


def matrix_table(summaries: Mapping[str, Summary], manifest: Manifest) -> Table:
    """Several runs of one suite, metric by metric, each value with its interval and what it is of."""
    caption = "Each run by itself: intervals are of one run's scores, not of the differences."
    title = f"{len(summaries)} runs of {manifest.suite}"
    table = Table(title=_plain(title), caption=caption, caption_justify="left")
    table.add_column("Metric", no_wrap=True)
    table.add_column("Run", overflow="fold")
    for heading in ("Value", "95 % interval", "n", "Unscored"):
        table.add_column(heading, justify="right")
    for label in _COMPARED:
        for name, summary in summaries.items():
            metric = next(each for each in summary.metrics if each.label == label)
            first = name == next(iter(summaries))
            numbers = (percent(metric.value), interval_text(metric.interval), of_text(metric))
            table.add_row(label if first else "", _plain(name), *numbers, str(metric.unscored))
        table.add_section()
    return table


def task_table(outcomes: Sequence[Outcome], threshold: float = 1.0, most: int = LONGEST) -> Table:
    """One line per outcome: M D I C E after the monitor's gate, and the reasons in words.

    Of more than ``most`` the first stand there, and how many do not.
    """
    more = len(outcomes) - most
    left = f"{more} more of {len(outcomes)} attempts: the report's page and outcomes.csv have all."
    caption = left if more > 0 else None
    table = Table(title="Tasks", caption=caption, caption_justify="left")
    table.add_column("Task", overflow="fold")
    for letter, _ in LETTERS:
        table.add_column(letter, justify="right", no_wrap=True)
    table.add_column("Notes", overflow="fold")
    repeated = any(outcome.epoch > 1 for outcome in outcomes)
    for outcome in sorted(outcomes, key=lambda o: (natural(o.task_id), o.epoch))[:most]:
        shown = cells(outcome, threshold)
        name = f"{outcome.task_id} · epoch {outcome.epoch}" if repeated else outcome.task_id
        marks = [Text(cell.mark, style=_STYLES[cell.tone]) for cell in shown]
        table.add_row(_plain(name), *marks, _plain("\n".join(notes(outcome, shown))))
    return table


def _plain(text: str) -> Text:
    return Text(printable(text))
