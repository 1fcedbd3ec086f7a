"""A board as records for programs: what ``--json`` prints, and a site's ``leaderboard.json``."""

from __future__ import annotations

from expbench.board.board import Board, Division
from expbench.board.contenders import Spend
from expbench.board.measures import Amount, Standing
from expbench.contrast import Condition, MetricChange
from expbench.metrics import Summary
from expbench.published import COUNTED, KEYS, NOTE, Counted, Published
from expbench.report.inputs import label_of
from expbench.schema import Record


class RunRecord(Record):
    """One run: what it was, and its numbers. ``label`` is its name on the board."""

    label: str
    run: str
    created: str
    suite: str
    suite_version: str
    data_version: str
    errata: str
    agent: str
    model: str
    judge: str
    judge_eval: str
    warning: str
    """What must stand beside each of its scores, or nothing."""
    epochs: int
    summary: Summary
    minutes: Amount
    dollars: Amount
    spend: Spend


class PairRecord(Record):
    """A run against its set's reference."""

    run: str
    against: str
    tasks: int
    metrics: tuple[MetricChange, ...]
    notes: tuple[str, ...]


class SetRecord(Record):
    """Runs that may be ranked together, the best first, and by what they are apart from the first set."""

    runs: tuple[str, ...]
    unlike: tuple[Condition, ...]
    pairs: tuple[PairRecord, ...]


class PublishedRow(Record):
    """A row of the publication's Table 1. ``implied`` has the columns that are shares of ``n_execution``."""

    agent: str
    model: str
    note: str
    n_execution: int
    percent: dict[str, float]
    implied: dict[str, Counted]
    minutes: float | None
    dollars: float | None


class Source(Record):
    """The file that a run comes from, and what was verified in it; ``label`` is the run's on the board."""

    label: str
    file: str
    sha256: str
    size: int
    submissions: int
    sealed: bool
    """Whether it has an encrypted part, which is not read."""
    checks: tuple[str, ...]


class Refused(Record):
    """A file that is not on the board, and what in it does not verify."""

    file: str
    reason: str


class BoardRecord(Record):
    """A whole board; ``bundles`` and ``refused`` are of boards that are made from bundles."""

    runs: tuple[RunRecord, ...] = ()
    sets: tuple[SetRecord, ...] = ()
    published: tuple[PublishedRow, ...] = ()
    bundles: tuple[Source, ...] = ()
    refused: tuple[Refused, ...] = ()


def record(
    board: Board | None, bundles: tuple[Source, ...] = (), refused: tuple[Refused, ...] = ()
) -> BoardRecord:
    """The board as a record; without one it only says what was refused."""
    facts = board.published if board else None
    return BoardRecord(
        runs=tuple(map(_run, board.standings if board else ())),
        sets=tuple(map(_set, board.divisions if board else ())),
        published=published_rows(facts) if facts else (),
        bundles=bundles,
        refused=refused,
    )


def published_rows(facts: Published) -> tuple[PublishedRow, ...]:
    """The publication's Table 1 with what its counts imply, and its mean time and cost of a task."""
    found = []
    for row in facts.overall:
        took = facts.time_and_cost.get(f"{row.agent}|{row.model}")
        found.append(
            PublishedRow(
                agent=row.agent,
                model=row.model,
                note=NOTE,
                n_execution=row.n_e,
                percent={column: row.percent(column) for column in KEYS},
                implied={column: row.counted(column) for column in COUNTED},
                minutes=took.minutes_mean if took else None,
                dollars=took.usd_mean if took else None,
            )
        )
    return tuple(found)


def _run(each: Standing) -> RunRecord:
    manifest = each.contender.run.manifest
    return RunRecord(
        label=each.label,
        run=manifest.name,
        created=manifest.created,
        suite=manifest.suite,
        suite_version=manifest.suite_version,
        data_version=manifest.data_version,
        errata=manifest.errata,
        agent=manifest.agent,
        model=manifest.model,
        judge=manifest.judge,
        judge_eval=each.contender.judge_eval,
        warning=label_of(manifest),
        epochs=manifest.epochs,
        summary=each.summary,
        minutes=each.minutes,
        dollars=each.dollars,
        spend=each.contender.spend,
    )


def _set(own: Division) -> SetRecord:
    return SetRecord(
        runs=tuple(each.label for each in own.standings),
        unlike=own.unlike,
        pairs=tuple(
            PairRecord(
                run=pair.label,
                against=own.reference,
                tasks=pair.tasks,
                metrics=pair.changes,
                notes=pair.notes,
            )
            for pair in own.pairs
        ),
    )
