"""The result of an evaluation: every judge measured on one set, as one record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from expbench import __version__
from expbench.judge_eval.agreement import Agreement, agreement
from expbench.judge_eval.cases import Label
from expbench.judge_eval.marks import MarkMeasures, mark_measures
from expbench.judge_eval.measures import Decision, Measures, expected_of_random, measures
from expbench.judge_eval.references import RANDOM
from expbench.judge_eval.running import Judged, decisions
from expbench.judge_eval.sets import LabelledSet
from expbench.judges.base import PHASES
from expbench.schema import Phase, Protocol, Record, Usage

OVERALL = "overall"
"""All phases' items together, each item weighing the same."""


class KindRow(Record):
    """How items of one kind of variant were decided."""

    phase: Phase
    kind: str
    label: Label
    items: int
    met: int
    not_met: int
    unscored: int

    @property
    def right(self) -> int:
        """How many were decided as they are labelled."""
        return self.met if self.label == "met" else self.not_met


class Column(Record):
    """One judge on one set. ``measures`` is by phase, and by ``overall``; empty without verdicts.

    ``usage`` is of all ``cases``, ``cached`` the verdicts that it does not cover; a "case" is one
    submission judged on its items, as a run judges one task.
    """

    label: str
    protocol: Protocol = "itemised"
    prompt_digest: str = ""
    samples: int = 1
    cases: int
    measures: dict[str, Measures]
    marks: dict[Phase, MarkMeasures]
    kinds: tuple[KindRow, ...] = ()
    expected: dict[str, float | None] = Field(default_factory=dict)
    """For the random judge: what its macro F1 is on average."""
    agreement: Agreement | None = None
    """Of the judge with itself, where it was asked more than once."""
    usage: Usage = Usage()
    cached: int = 0
    warnings: tuple[str, ...] = ()


class PeopleReport(Record):
    """Judges against people's labels, the majority of each item; ``tied`` items have none."""

    source: str
    persons: tuple[str, ...]
    items: int
    tied: int
    agreement: Agreement | None
    """Of the people with each other."""
    with_labels: Agreement | None
    """Of the people's majority with the set's own labels."""
    columns: tuple[Column, ...]


class Evaluation(Record):
    """Everything that was measured, with what it was measured on."""

    format: Literal[1] = 1
    version: str = __version__
    created: str = ""
    """UTC, ISO 8601."""
    set: str
    set_digest: str
    cases: int
    tasks: int
    papers: int
    labels: dict[Phase, dict[Label, int]]
    seed: int
    columns: tuple[Column, ...]
    people: PeopleReport | None = None
    notes: tuple[str, ...] = ()


def evaluation(
    labelled: LabelledSet,
    results: Iterable[Sequence[Judged]],
    seed: int = 0,
    created: str = "",
    people: PeopleReport | None = None,
) -> Evaluation:
    """Measure judgements of several contestants, in their order, against the set's labels."""
    return Evaluation(
        created=created,
        set=labelled.name,
        set_digest=labelled.digest,
        cases=len(labelled.cases),
        tasks=len({case.task.id for case in labelled.cases}),
        papers=len({case.paper for case in labelled.cases}),
        labels=_labels(labelled),
        seed=seed,
        columns=tuple(column(labelled, judged, seed) for judged in results),
        people=people,
        notes=labelled.notes,
    )


def column(labelled: LabelledSet, judged: Sequence[Judged], seed: int = 0) -> Column:
    """One contestant's judgements, measured."""
    made = decisions(labelled, judged)
    groups = {phase: [d for d in made if d.phase == phase] for phase in PHASES}
    parts: dict[str, Sequence[Decision]] = {p: group for p, group in groups.items() if group}
    if len(parts) > 1:
        parts[OVERALL] = made
    first = judged[0].judgement if judged else None
    protocol = first.protocol if first else "itemised"
    label = judged[0].contestant if judged else ""
    itemised = protocol == "itemised"
    used = Usage()
    for each in judged:
        used += each.judgement.usage
    warned = dict.fromkeys(text for each in judged for text in each.judgement.warnings)
    return Column(
        label=label,
        protocol=protocol,
        prompt_digest=first.prompt_digest if first else "",
        samples=1 + max((each.sample for each in judged), default=0),
        cases=len({each.case for each in judged}),
        measures={name: measures(part, seed) for name, part in parts.items()} if itemised else {},
        marks=mark_measures(labelled, judged),
        kinds=_kinds(made) if itemised else (),
        expected=(
            {name: expected_of_random(part, seed) for name, part in parts.items()}
            if label == RANDOM
            else {}
        ),
        agreement=_self_agreement(judged),
        usage=used,
        cached=sum(each.judgement.cached for each in judged),
        warnings=tuple(warned),
    )


def _labels(labelled: LabelledSet) -> dict[Phase, dict[Label, int]]:
    found: dict[Phase, dict[Label, int]] = {}
    for phase in PHASES:
        counts = Counter(
            item.label
            for case in labelled.cases
            for item in case.case.items
            if item.phase == phase and item.label is not None
        )
        if counts:
            found[phase] = {"met": counts["met"], "not_met": counts["not_met"]}
    return found


def _kinds(made: Sequence[Decision]) -> tuple[KindRow, ...]:
    states: dict[tuple[Phase, Label, str], Counter[str]] = defaultdict(Counter)
    for each in made:
        states[each.phase, each.label, each.kind or "(none)"][each.state] += 1
    ordered = sorted(states, key=lambda key: (PHASES.index(key[0]), key[1], key[2]))
    return tuple(
        KindRow(
            phase=phase,
            kind=kind,
            label=label,
            items=states[phase, label, kind].total(),
            met=states[phase, label, kind]["met"],
            not_met=states[phase, label, kind]["not_met"],
            unscored=states[phase, label, kind]["unscored"],
        )
        for phase, label, kind in ordered
    )


def _self_agreement(judged: Sequence[Judged]) -> Agreement | None:
    """Of repeated judgements, or of the samples that are votes within each judgement."""
    repeated = any(each.sample for each in judged)
    answers: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for each in judged:
        for verdict in each.judgement.verdicts:
            if repeated:
                said = [(each.contestant, verdict.state)]
            else:
                said = [(vote.judge, vote.state) for vote in verdict.votes]
            for judge, state in said:
                if state != "unscored":
                    answers[each.case, verdict.item, judge].append(state)
    return agreement(answers.values())
