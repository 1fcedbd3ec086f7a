"""The numbers of an evaluation as rows of text, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from expbench.judge_eval.evaluation import OVERALL, Column, Evaluation
from expbench.judge_eval.measures import Measures
from expbench.judges.base import PHASES
from expbench.metrics import Interval

NONE = "–"


@dataclass(frozen=True)
class TextTable:
    """A titled table. The first ``left`` columns are words, all others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


def tables(evaluation: Evaluation) -> tuple[TextTable, ...]:
    """All tables of an evaluation: judges, marks, costs, kinds of variant, and people."""
    found = [
        agreement_table(evaluation.columns, "Items: agreement with the labels"),
        marks_table(evaluation.columns, "Phases: marks against the labels"),
        usage_table(evaluation.columns),
    ]
    found += [kinds_table(each) for each in evaluation.columns[:1] if each.kinds]
    if (people := evaluation.people) is not None:
        who = f"labels of {len(people.persons)} people" if len(people.persons) > 1 else "a person"
        found.append(agreement_table(people.columns, f"Items: agreement with {who}"))
        found.append(marks_table(people.columns, f"Phases: marks against {who}"))
    return tuple(table for table in found if table.rows)


def agreement_table(columns: Sequence[Column], title: str) -> TextTable:
    """A row for each judge and phase; protocols without verdicts have none."""
    header = (
        *("judge", "phase", "macro F1", "95 %", "recall met", "recall not met", "precision met"),
        *("precision not met", "kappa", "coverage", "decided"),
    )
    rows = tuple(
        (_name(column), phase, *_agreement(found, column.expected.get(phase)))
        for column in columns
        for phase in (*PHASES, OVERALL)
        if (found := column.measures.get(phase)) is not None
    )
    return TextTable(title, header, rows, left=2)


def marks_table(columns: Sequence[Column], title: str) -> TextTable:
    """A row for each judge and phase: how far its marks are from the right ones."""
    header = ("judge", "phase", "mean error", "bias", "right", "95 %", "marked")
    rows = []
    for column in columns:
        for phase, found in column.marks.items():
            bias = NONE if found.bias is None else f"{found.bias:+.2f}"
            right = _two(found.accuracy)
            marked = f"{found.marked} of {found.cases}"
            span = _span(found.interval)
            rows.append((_name(column), phase, _two(found.error), bias, right, span, marked))
    return TextTable(title, header, tuple(rows), left=2)


def usage_table(columns: Sequence[Column]) -> TextTable:
    """What each judge that asks models used for one task, and how steady it is."""
    header = (
        *("judge", "calls a task", "input tokens", "from cache", "output tokens", "dollars a task"),
        *("self-agreement", "asked twice"),
    )
    rows = []
    for column in columns:
        steady = column.agreement
        if not column.usage.calls and steady is None:
            continue
        used, count = column.usage, max(1, column.cases * column.samples)
        each = (used.calls, used.input_tokens, used.cache_read, used.output_tokens)
        dollars = NONE if used.dollars is None else f"{used.dollars / count:.4f}"
        agreed = (
            (NONE, NONE) if steady is None else (_two(steady.pairwise), f"{steady.items} items")
        )
        counts = (f"{number / count:,.1f}" for number in each)
        rows.append((_name(column), *counts, dollars, *agreed))
    return TextTable("Use: for one task (a submission with its items)", header, tuple(rows))


def kinds_table(column: Column) -> TextTable:
    """How a judge decided each kind of variant."""
    header = ("phase", "kind", "label", "items", "said met", "said not met", "unscored", "right")
    rows = tuple(
        (
            *(row.phase, row.kind.replace("_", " "), row.label.replace("_", " "), str(row.items)),
            *(str(row.met), str(row.not_met), str(row.unscored)),
            f"{row.right / row.items:.0%}",
        )
        for row in column.kinds
    )
    return TextTable(f"Kinds of variant: {_name(column)}", header, rows, left=3)


def facts(evaluation: Evaluation) -> Iterator[str]:
    """What the numbers are of, in sentences."""
    labels = sum(sum(each.values()) for each in evaluation.labels.values())
    met = sum(each["met"] for each in evaluation.labels.values())
    yield (
        f"Set {evaluation.set} ({evaluation.set_digest}): {labels} labelled items ({met} met) of "
        f"{evaluation.cases} submissions to {evaluation.tasks} tasks of {evaluation.papers} papers."
    )
    yield from evaluation.notes
    for column in evaluation.columns:
        yield from (f"{_name(column)}: {warning}" for warning in column.warnings)
        if column.cached:
            yield f"{_name(column)}: {column.cached} verdicts were cached; their cost is not counted."
    people = evaluation.people
    if people is not None:
        yield (
            f"{people.source}: {len(people.persons)} people labelled {people.items} items, "
            f"{people.tied} of them tied and left out."
        )
        if (own := people.agreement) is not None:
            yield (
                f"The people agree in {_two(own.pairwise)} of all pairs of labels "
                f"({own.items} items; Krippendorff's alpha {_two(own.alpha)})."
            )
        if (both := people.with_labels) is not None:
            yield (
                f"Their majority agrees with the set's labels on {_two(both.pairwise)} of "
                f"{both.items} items."
            )


def markdown(evaluation: Evaluation) -> str:
    """The evaluation as Markdown: facts, then tables."""
    parts = ["\n".join(facts(evaluation))]
    for table in tables(evaluation):
        rules = ["---"] * table.left + ["---:"] * (len(table.header) - table.left)
        lines = [table.header, tuple(rules), *table.rows]
        body = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
        parts.append(f"**{table.title}**\n\n{body}")
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _name(column: Column) -> str:
    protocol = column.protocol
    if protocol != "itemised" and f"protocol {protocol}" not in column.label:
        return f"{column.label}, protocol {protocol}"
    return column.label


def _agreement(found: Measures, expected: float | None) -> Iterable[str]:
    macro = _two(found.macro_f1)
    yield macro if expected is None else f"{macro} (mean {expected:.2f})"
    yield _span(found.intervals["macro_f1"])
    yield from map(
        _two,
        (
            *(found.recall_met, found.recall_not_met, found.precision_met),
            *(found.precision_not_met, found.kappa),
        ),
    )
    yield NONE if found.coverage is None else f"{found.coverage:.0%}"
    yield f"{found.decided} of {found.items}"


def _two(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _span(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return NONE
    return f"{interval.low:.2f} to {interval.high:.2f}"
