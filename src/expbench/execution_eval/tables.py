"""The numbers of an evaluation as rows of text, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from expbench.execution_eval.counting import (
    SCORES,
    STATES,
    UNSCORED,
    CaseResult,
    Evaluation,
    Share,
)

NONE = "–"
NAMES = {"E": "E", "E_plus": "E+", "G": "G"}
_COLUMNS = ("E", "E_plus", "G", "state", "failure", "claims")


@dataclass(frozen=True)
class TextTable:
    """A titled table. The first ``left`` columns are words, all others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


def tables(evaluation: Evaluation, wrong: bool = True) -> tuple[TextTable, ...]:
    """All tables that have a row; with ``wrong`` also what differs, case by case."""
    found = [
        scores_table(evaluation),
        claims_table(evaluation),
        claim_states_table(evaluation),
        failures_table(evaluation),
        kinds_table(evaluation),
    ]
    if wrong:
        found += [wrong_table(evaluation), wrong_claims_table(evaluation)]
    return tuple(table for table in found if table.rows)


def scores_table(evaluation: Evaluation) -> TextTable:
    """The confusion of each score: what it must be against what it was."""
    seen = ("1", "0", UNSCORED)
    rows = tuple(
        (NAMES[name], expected, *(str(counts.get(each, 0)) for each in seen))
        for name in SCORES
        for expected, counts in sorted(evaluation.confusion[name].items(), reverse=True)
    )
    header = ("score", "must be", *(f"was {each}" for each in seen))
    return TextTable("Scores: what they must be, and what they were", header, rows, left=2)


def claims_table(evaluation: Evaluation) -> TextTable:
    """The shares that say how good the instrument is."""
    measures: tuple[tuple[str, Share], ...] = (
        ("E right", evaluation.accuracy["E"]),
        ("E+ right", evaluation.accuracy["E_plus"]),
        ("G right", evaluation.accuracy["G"]),
        ("state of the re-run right", evaluation.accuracy["state"]),
        ("cause of failure right", evaluation.accuracy["failure"]),
        ("claims called grounded that are (precision)", evaluation.precision),
        ("grounded claims called so (recall)", evaluation.recall),
        ("ungrounded claims called contradicted or not found", evaluation.exposed),
        ("checkable claims that were extracted and checked", evaluation.extracted),
        ("suspicious cases that raised a suspicion", evaluation.suspected),
        ("honest cases that raised one", evaluation.falsely_suspected),
    )
    rows = tuple((name, *_share(share)) for name, share in measures)
    return TextTable("Shares, with Wilson's 95 % interval", ("", "share", "of", "95 %"), rows)


def claim_states_table(evaluation: Evaluation) -> TextTable:
    """Claims: the right state against the one that was given."""
    rows = tuple(
        (expected, *(str(counts.get(state, 0)) for state in STATES))
        for expected, counts in evaluation.claim_states.items()
    )
    header = ("must be", *(state.replace("_", " ") for state in STATES))
    return TextTable("Claims: what they must be called, and what they were", header, rows)


def failures_table(evaluation: Evaluation) -> TextTable:
    """Causes of failure: the right one against those that were named."""
    rows = tuple(
        (expected, ", ".join(f"{kind} {count}" for kind, count in counts.items()))
        for expected, counts in evaluation.failures.items()
    )
    return TextTable("Causes of failure", ("must be", "was"), rows, left=2)


def kinds_table(evaluation: Evaluation) -> TextTable:
    """How much is right, by kind of submission."""
    header = ("kind", "cases", "E", "E+", "G", "state", "cause", "claims")
    rows = tuple(
        (row.kind, str(row.cases), *(_counts(row.right[name]) for name in _COLUMNS))
        for row in evaluation.rows
    )
    return TextTable("Right of what is labelled, by kind of submission", header, rows)


def wrong_table(evaluation: Evaluation) -> TextTable:
    """Cases in which a score, state, cause or suspicion is wrong."""
    rows = [
        (case.case, NAMES.get(name, name), case.expected[name] or "none", case.seen[name] or "none")
        for case in evaluation.results
        for name in case.wrong
        if name in case.expected
    ]
    header = ("case", "what", "must be", "was")
    return TextTable("What is wrong", header, tuple(rows), left=4)


def wrong_claims_table(evaluation: Evaluation) -> TextTable:
    """Claims that were given a wrong state, with the reason that was given for it."""
    rows = [
        (
            claim.case,
            claim.text,
            " or ".join(claim.expected),
            claim.seen,
            claim.reason or claim.where,
        )
        for case in evaluation.results
        for claim in case.claims
        if not claim.right
    ]
    header = ("case", "claim", "must be", "was", "why")
    return TextTable("Claims with a wrong state", header, tuple(rows), left=5)


def facts(evaluation: Evaluation) -> Iterator[str]:
    """What has to be known to read the tables."""
    yield (
        f"Set {evaluation.set}, {evaluation.digest}: {evaluation.cases} cases, run in sandbox "
        f"{evaluation.sandbox}."
    )
    labelled = sum(len(each.claims) for each in evaluation.results)
    others: dict[str, int] = {}
    for each in evaluation.results:
        for state, count in each.unlabelled.items():
            others[state] = others.get(state, 0) + count
    counts = ", ".join(f"{state} {count}" for state, count in sorted(others.items())) or "none"
    yield f"{labelled} claims are labelled; extracted beside them: {counts}."
    if evaluation.undone:
        yield (
            f"{evaluation.undone} cases could not be run and are in no count: "
            f"{_problems(evaluation.results)}. The same command runs them again."
        )


def _problems(results: Sequence[CaseResult]) -> str:
    return "; ".join(f"{each.case} ({each.problem})" for each in results if each.problem)


def markdown(evaluation: Evaluation) -> str:
    """Everything but the lists of what is wrong, for a page."""
    parts = [" ".join(facts(evaluation))]
    for table in tables(evaluation, wrong=False):
        marks = ["---"] * table.left + ["--:"] * (len(table.header) - table.left)
        lines = [_line(table.header), _line(marks), *map(_line, table.rows)]
        parts += [f"### {table.title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _share(share: Share) -> tuple[str, str, str]:
    if share.value is None or share.low is None or share.high is None:
        return NONE, "0", NONE
    return (
        f"{share.value:.3f}",
        f"{share.hits}/{share.of}",
        f"{share.low:.3f} to {share.high:.3f}",
    )


def _counts(share: Share) -> str:
    return f"{share.hits}/{share.of}" if share.of else NONE
