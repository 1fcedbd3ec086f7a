"""The map: how often each cause comes, of what, beside the publication's shares, and what goes with what.

Insights of one paper are no independent draws, so every share's interval is clustered by paper; the wider
of that and the exact binomial one is given. Two shares answer two questions: of the insights of its phase
(the publication's, which a chatty judge moves), and of the attempts (how many have it at least once).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from expbench.failures.codebook import OTHER, Codebook, FailurePhase
from expbench.failures.coding import Coded
from expbench.failures.contrasting import Contrast, contrast
from expbench.failures.fixing import FixList, fix_first
from expbench.published import published
from expbench.schema import Outcome, Record
from expbench.statistics.intervals import Interval, share_interval

_BATCH = 10
"""Tasks of one step of the saturation curve, as in the publication's batches."""
_PAIRS = 20
_JUDGED = frozenset({"design", "implementation", "conclusion"})

Attempt = tuple[str, str, int]
"""Run, task and epoch."""


class Share(Record):
    """So many of so many, with the interval of the share."""

    count: int
    of: int
    interval: Interval

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None


class CodeShare(Record):
    """One code: its share of the phase's insights, and of all attempts; the insights by number in the map."""

    code: str
    phase: FailurePhase
    family: str
    title: str
    insights: Share
    attempts: Share
    published: float | None = None
    """The publication's share of the insights of the phase, in [0, 1]: of the categories that the code
    covers."""
    members: tuple[int, ...]


class Pair(Record):
    """Two codes that come in the same attempts, and how often they would if they had nothing to do with one
    another."""

    first: str
    second: str
    together: int
    expected: float


class Step(Record):
    """A batch of tasks in the order of their ids: the codes that it is the first to have."""

    tasks: int
    insights: int
    new_codes: int


class FailureMap(Record):
    """The failures of one or several runs, coded."""

    codebook: str
    coder: str
    runs: tuple[str, ...]
    attempts: int
    """Attempts that were looked at; the harness failed ``unseen`` others, which say nothing."""
    unseen: int
    unscored: int
    """Attempts with an item, a re-run or a monitor that nobody could decide: they may hide errors."""
    unanswered: int
    """Errors that a model was asked about and gave no usable answer; they are in no share."""
    coded: tuple[Coded, ...]
    codes: tuple[CodeShare, ...]
    fixes: tuple[FixList, ...]
    pairs: tuple[Pair, ...]
    saturation: tuple[Step, ...]
    contrasts: tuple[Contrast, ...] = ()
    """The first run against each of the others."""

    def of_phase(self, phase: str) -> tuple[CodeShare, ...]:
        """The codes of a phase, the most frequent first."""
        return tuple(each for each in self.codes if each.phase == phase)

    @property
    def by(self) -> dict[str, int]:
        """How many insights were coded in which way."""
        return dict(Counter(each.by for each in self.coded))


def map_failures(
    runs: Mapping[str, Sequence[Outcome]],
    coded: Sequence[Coded],
    book: Codebook,
    coder: str = "rules",
    metrics: Sequence[str] = ("all_execution", "all_execution_grounding"),
) -> FailureMap:
    """Count coded insights of runs, by name the outcomes that they are of.

    ``metrics`` are keys of conjunctive metrics, of which it is said what each cause costs.
    """
    seen = [
        (name, outcome)
        for name, outcomes in runs.items()
        for outcome in outcomes
        if outcome.status not in ("infrastructure", "missing")
    ]
    everything = sum(len(outcomes) for outcomes in runs.values())
    papers = {(name, o.task_id, o.epoch): o.paper for name, o in seen}
    answered = [each for each in coded if each.by != "unanswered"]
    by_attempt = _by_attempt(answered)
    return FailureMap(
        codebook=f"{book.name} {book.version}",
        coder=coder,
        runs=tuple(runs),
        attempts=len(seen),
        unseen=everything - len(seen),
        unscored=sum(_open(outcome) for _, outcome in seen),
        unanswered=len(coded) - len(answered),
        coded=tuple(answered),
        codes=_codes(answered, book, papers, by_attempt),
        fixes=tuple(fix_first(seen, _by_attempt(coded), metric) for metric in metrics),
        pairs=_pairs(by_attempt, len(seen)),
        saturation=_saturation(answered),
        contrasts=contrast(runs, answered),
    )


def _open(outcome: Outcome) -> bool:
    return any(
        score.value is None or (name in _JUDGED and score.unscored > 0)
        for name, score in outcome.scores.items()
    )


def _by_attempt(coded: Iterable[Coded]) -> dict[Attempt, list[Coded]]:
    found: dict[Attempt, list[Coded]] = defaultdict(list)
    for each in coded:
        found[each.insight.run, each.insight.task_id, each.insight.epoch].append(each)
    return found


def _codes(
    coded: Sequence[Coded],
    book: Codebook,
    papers: Mapping[Attempt, str],
    by_attempt: Mapping[Attempt, Sequence[Coded]],
) -> tuple[CodeShare, ...]:
    known = {code_id: (phase, family.title, code) for code_id, phase, family, code in book.codes()}
    members: dict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(coded):
        members[each.code].append(number)
    found = []
    for code_id, numbers in members.items():
        phase = coded[numbers[0]].insight.phase
        _, family, code = known.get(code_id, (phase, "Other", None))
        theirs = [each for each in coded if each.insight.phase == phase]
        has = [
            float(any(each.code == code_id for each in by_attempt.get(attempt, ())))
            for attempt in papers
        ]
        found.append(
            CodeShare(
                code=code_id,
                phase=phase,
                family=family,
                title=code.title if code else book.title(code_id),
                insights=_share(
                    [float(each.code == code_id) for each in theirs],
                    [each.insight.paper for each in theirs],
                ),
                attempts=_share(has, list(papers.values())),
                published=_published(phase, code.published) if code else None,
                members=tuple(numbers),
            )
        )
    order = {part.phase: at for at, part in enumerate(book.phases)}
    return tuple(
        sorted(
            found,
            key=lambda each: (
                order.get(each.phase, 99),
                -each.insights.count,
                each.code.endswith(OTHER),
                each.code,
            ),
        )
    )


def _share(values: list[float], papers: list[str]) -> Share:
    count = int(sum(values))
    return Share(count=count, of=len(values), interval=share_interval(values, papers))


def _published(phase: str, names: Sequence[str]) -> float | None:
    shares = dict(published().failure_taxonomy_share_within_phase.get(phase, ()))
    found = [shares[name] for name in names if name in shares]
    return sum(found) / 100 if found else None


def _pairs(by_attempt: Mapping[Attempt, Sequence[Coded]], attempts: int) -> tuple[Pair, ...]:
    alone: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for found in by_attempt.values():
        codes = sorted({each.code for each in found})
        alone.update(codes)
        both.update(combinations(codes, 2))
    pairs = [
        Pair(
            first=one,
            second=other,
            together=count,
            expected=alone[one] * alone[other] / attempts if attempts else 0.0,
        )
        for (one, other), count in both.items()
    ]
    pairs.sort(key=lambda each: (each.expected - each.together, each.first, each.second))
    return tuple(each for each in pairs[:_PAIRS] if each.together > each.expected)


def _saturation(coded: Sequence[Coded]) -> tuple[Step, ...]:
    by_task: dict[str, list[Coded]] = defaultdict(list)
    for each in coded:
        by_task[each.insight.task_id].append(each)
    tasks = sorted(by_task)
    known: set[str] = set()
    steps = []
    for start in range(0, len(tasks), _BATCH):
        batch = tasks[start : start + _BATCH]
        codes = {each.code for task in batch for each in by_task[task]}
        count = sum(len(by_task[task]) for task in batch)
        steps.append(Step(tasks=len(batch), insights=count, new_codes=len(codes - known)))
        known |= codes
    return tuple(steps)
