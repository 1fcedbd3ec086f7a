"""How often E, E+ and G are what they must be, and how well single claims are told apart.

Every share has its two counts and Wilson's 95 % interval (Wilson 1927), which stays inside [0, 1] and is
honest where all or none are right. Cases are independent of each other by how the set is made, claims of
one case are not: their intervals are somewhat too narrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from scipy.stats import binomtest

from expbench.execution_eval.cases import Case, CaseSet, Expected
from expbench.execution_eval.matching import Seen, state_of
from expbench.execution_eval.running import Observed
from expbench.schema import GroundedClaim, Record

ScoreLabel = Literal["E", "E_plus", "G"]
SCORES: tuple[ScoreLabel, ...] = get_args(ScoreLabel)
STATES: tuple[Seen, ...] = get_args(Seen)
CHECKABLE = frozenset({"grounded", "contradicted", "not_found"})
UNSCORED = "unscored"


class Share(Record):
    """A share with its two counts and a 95 % interval; no value where there is nothing to count."""

    hits: int
    of: int
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def count(cls, hits: Iterable[bool]) -> Share:
        """Of some answers to yes or no."""
        answers = list(hits)
        if not answers:
            return cls(hits=0, of=0)
        right, total = sum(answers), len(answers)
        interval = binomtest(right, total).proportion_ci(method="wilson")
        # At the ends the formula leaves rounding errors beyond them.
        return cls(
            hits=right,
            of=total,
            value=right / total,
            low=max(0.0, float(interval.low)),
            high=min(1.0, float(interval.high)),
        )


class ClaimResult(Record):
    """One labelled claim: what is right for it, and what was found."""

    case: str
    text: str
    expected: tuple[Seen, ...]
    seen: Seen
    where: str = ""
    reason: str = ""

    @property
    def right(self) -> bool:
        """What cannot be checked need not be extracted."""
        return self.seen in self.expected or (
            self.seen == "missed" and "not_checkable" in self.expected
        )


class CaseResult(Record):
    """One case against what was expected; scores are ``0``, ``1`` or ``unscored``.

    ``expected`` and ``seen`` have only what the case labels; ``wrong`` names what differs.
    """

    case: str
    kind: str
    expected: dict[str, str]
    seen: dict[str, str]
    wrong: tuple[str, ...] = ()
    claims: tuple[ClaimResult, ...] = ()
    unlabelled: dict[str, int]
    """Extracted claims that no label is about, by state."""
    cause: str = ""
    seconds: float = 0.0
    problem: str = ""


class Row(Record):
    """One kind of submission: how often each thing is right."""

    kind: str
    cases: int
    right: dict[str, Share]


class Evaluation(Record):
    """Everything that was counted.

    ``confusion`` has for each score how often (expected, seen) came together. ``precision`` is the share
    of claims called grounded that are; ``recall`` the share of grounded claims that are called so;
    ``exposed`` the share of ungrounded ones that are called contradicted or not found; ``extracted`` the
    share of checkable claims that were extracted and checked.
    """

    set: str
    digest: str
    sandbox: str
    cases: int
    undone: int
    """Cases that the harness failed; they are in no count."""
    accuracy: dict[str, Share]
    confusion: dict[ScoreLabel, dict[str, dict[str, int]]]
    failures: dict[str, dict[str, int]]
    """How often a failure of a kind was given each kind."""
    precision: Share
    recall: Share
    exposed: Share
    extracted: Share
    claim_states: dict[str, dict[str, int]]
    suspected: Share
    """Of the cases that must raise a suspicion, those that raised one of the right kinds."""
    falsely_suspected: Share
    """Of the cases that must raise none, those that raised one."""
    rows: tuple[Row, ...]
    results: tuple[CaseResult, ...]


def evaluate(chosen: CaseSet, found: Mapping[str, Observed], sandbox: str) -> Evaluation:
    """Count a set's results."""
    results = tuple(_result(case, found[case.id]) for case in chosen.cases)
    done = [each for each in results if not each.problem]
    claims = [claim for each in done for claim in each.claims]
    return Evaluation(
        set=chosen.name,
        digest=chosen.digest,
        sandbox=sandbox,
        cases=len(results),
        undone=len(results) - len(done),
        accuracy=_right(done),
        confusion={name: _confusion(done, name) for name in SCORES},
        failures=_confusion(done, "failure"),
        precision=Share.count("grounded" in c.expected for c in claims if c.seen == "grounded"),
        recall=Share.count(c.seen == "grounded" for c in claims if c.expected == ("grounded",)),
        exposed=Share.count(
            c.seen in ("contradicted", "not_found")
            for c in claims
            if set(c.expected) <= CHECKABLE - {"grounded"}
        ),
        extracted=Share.count(c.seen in CHECKABLE for c in claims if set(c.expected) <= CHECKABLE),
        claim_states=_claim_states(claims),
        suspected=Share.count("suspicions" not in r.wrong for r in done if _wants(r, True)),
        falsely_suspected=Share.count("suspicions" in r.wrong for r in done if _wants(r, False)),
        rows=tuple(
            Row(kind=kind, cases=len(group), right=_right(group))
            for kind, group in _by_kind(done).items()
        ),
        results=results,
    )


def _result(case: Case, observed: Observed) -> CaseResult:
    expected, seen = _expected(case.spec.expected), _seen(observed)
    claims, unlabelled = _claims(case, observed)
    wrong = [name for name, value in expected.items() if not _agrees(name, value, seen[name])]
    wrong += ["claims"] if any(not each.right for each in claims) else []
    return CaseResult(
        case=case.id,
        kind=case.spec.kind,
        expected=expected,
        seen={name: seen[name] for name in expected},
        wrong=() if observed.problem else tuple(wrong),
        claims=claims,
        unlabelled=unlabelled,
        cause=observed.executions[0].cause if observed.executions else "",
        seconds=observed.seconds,
        problem=observed.problem,
    )


def _expected(expected: Expected) -> dict[str, str]:
    """What is labelled, each as text; several right values are separated by a bar."""
    found = {"E": str(expected.E)}
    if expected.E_plus is not None:
        found["E_plus"] = str(expected.E_plus)
    if expected.has_g:
        found["G"] = UNSCORED if expected.G is None else str(expected.G)
    if expected.state:
        found["state"] = "|".join(expected.state)
    if expected.failure is not None:
        found["failure"] = "|".join(expected.failure)
    if expected.suspicions is not None:
        found["suspicions"] = "|".join(expected.suspicions)
    return found


def _seen(observed: Observed) -> dict[str, str]:
    scores = {
        name: UNSCORED if score.value is None else f"{score.value:g}"
        for name, score in observed.scores.items()
    }
    runs = observed.executions
    kinds = {each.failure.kind for each in runs if each.failure is not None}
    suspicions = {each.kind for run in runs for each in run.suspicions}
    return scores | {
        "state": "|".join(sorted({each.state for each in runs})),
        "failure": "|".join(sorted(kinds)),
        "suspicions": "|".join(sorted(suspicions)),
    }


def _agrees(name: str, expected: str, seen: str) -> bool:
    """One of several right values; of suspicions at least one of the right ones, or none at all."""
    right, given = set(expected.split("|")), set(seen.split("|"))
    return bool(right & given) if name == "suspicions" else given <= right


def _claims(case: Case, observed: Observed) -> tuple[tuple[ClaimResult, ...], dict[str, int]]:
    grounding = observed.grounding
    if grounding is None or observed.problem:
        return (), {}
    results: list[ClaimResult] = []
    used: list[GroundedClaim] = []
    for label in case.spec.expected.claims:
        seen, by = state_of(label, case.conclusion, grounding)
        used += by
        shown = next((each for each in by if each.state == seen), None)
        results.append(
            ClaimResult(
                case=case.id,
                text=label.text,
                expected=label.state,
                seen=seen,
                where=shown.where if shown else "",
                reason=shown.reason if shown else "",
            )
        )
    others: Counter[str] = Counter(e.state for e in grounding.claims if e not in used)
    return tuple(results), dict(others)


def _right(results: Sequence[CaseResult]) -> dict[str, Share]:
    """The share of right results for everything that can be labelled."""
    names = (*SCORES, "state", "failure")
    found = {
        name: Share.count(name not in each.wrong for each in results if name in each.expected)
        for name in names
    }
    return found | {"claims": Share.count(c.right for each in results for c in each.claims)}


def _confusion(results: Sequence[CaseResult], name: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for each in results:
        if name in each.expected:
            row = found.setdefault(each.expected[name], {})
            seen = each.seen[name] or "none"
            row[seen] = row.get(seen, 0) + 1
    return {expected: dict(sorted(row.items())) for expected, row in sorted(found.items())}


def _claim_states(claims: Sequence[ClaimResult]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for each in claims:
        counts.setdefault(" or ".join(each.expected), Counter())[each.seen] += 1
    return {
        expected: {state: counts[expected][state] for state in STATES if counts[expected][state]}
        for expected in sorted(counts)
    }


def _wants(result: CaseResult, some: bool) -> bool:
    """Whether a case is labelled to raise some suspicion, or none."""
    return "suspicions" in result.expected and bool(result.expected["suspicions"]) is some


def _by_kind(results: Sequence[CaseResult]) -> dict[str, list[CaseResult]]:
    groups: dict[str, list[CaseResult]] = {}
    for each in results:
        groups.setdefault(each.kind, []).append(each)
    return dict(sorted(groups.items()))
