"""How right is the coding: a sample for a person, and the codes that a person gave.

The sample is drawn by a fixed hash, the same for the same insights, as many of each phase as its share. The
table has no code in it, so that nobody is led; what was coded is looked up again by the insight's id.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from expbench.errors import UserError
from expbench.failures.codebook import OTHER, Codebook
from expbench.failures.coding import Coded
from expbench.failures.insights import Insight
from expbench.schema import Record
from expbench.statistics.intervals import Interval, share_interval

COLUMNS = ("id", "task", "phase", "error", "evidence", "place", "code")
_RISKY = ("=", "+", "-", "@", "\t", "\r")


class Agreement(Record):
    """Of the insights that a person coded, those that were coded alike, with the interval over papers."""

    phase: str
    right: int
    of: int
    interval: Interval
    kappa: float | None
    """Cohen's, agreement beyond chance; ``None`` where only one code was used."""


class PersonsCoding(Record):
    """How a coder agrees with a person; ``confused`` are (person's, coder's) codes with their counts."""

    agreement: tuple[Agreement, ...]
    confused: tuple[tuple[str, str, int], ...]
    unknown: int
    """Rows whose insight is not in this map, or was left uncoded."""
    empty: int
    """Rows without a code."""


def draw(insights: Sequence[Insight], size: int) -> tuple[Insight, ...]:
    """A sample of ``size`` insights, in their order."""
    by_phase: dict[str, list[Insight]] = defaultdict(list)
    for each in sorted(insights, key=lambda one: hashlib.sha256(one.id.encode()).digest()):
        by_phase[each.phase].append(each)
    size = min(size, len(insights))
    shares = {phase: size * len(own) / len(insights) for phase, own in by_phase.items()}
    counts = {phase: int(share) for phase, share in shares.items()}
    for phase in sorted(shares, key=lambda one: (counts[one] - shares[one], one)):
        if sum(counts.values()) < size:
            counts[phase] += 1
    chosen = {each.id for phase, own in by_phase.items() for each in own[: counts[phase]]}
    return tuple(each for each in insights if each.id in chosen)


def sample_csv(sample: Sequence[Insight]) -> str:
    """The table for a person; cells that a spreadsheet would compute begin with an apostrophe."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for own in sample:
        cells = (own.id, own.task_id, own.phase, own.text, own.quote, own.place, "")
        table.writerow([f"'{cell}" if cell.startswith(_RISKY) else cell for cell in cells])
    return out.getvalue()


def read_labels(file: Path, book: Codebook) -> dict[str, str]:
    """The codes that a person gave, by insight; an empty one where none was given.

    Raises:
        UserError: the file cannot be read, lacks the columns, or has a code that is not in the book.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"The labels {file} cannot be read: {error}.") from None
    if not rows or not {"id", "code"} <= set(rows[0]):
        raise UserError(f"{file} needs the columns id and code, as `--sample` writes them.")
    known = {code_id for code_id, *_ in book.codes()} | {f"{p.phase}/{OTHER}" for p in book.phases}
    found = {}
    for number, row in enumerate(rows, 2):
        code = (row["code"] or "").strip()
        if code and code not in known:
            raise UserError(
                f"{file}, line {number}: the codebook has no code {code!r}; a code is phase/family/key."
            )
        found[(row["id"] or "").removeprefix("'")] = code
    return found


def compare_with_person(coded: Sequence[Coded], labels: dict[str, str]) -> PersonsCoding:
    """Agreement over everything that both a person and the coder coded, in all and phase by phase."""
    by_id = {each.insight.id: each for each in coded if each.by != "unanswered"}
    pairs = [(by_id[key], code) for key, code in labels.items() if code and key in by_id]
    phases = sorted({each.insight.phase for each, _ in pairs})
    rows = [_agreement("all", pairs)] + [
        _agreement(phase, [pair for pair in pairs if pair[0].insight.phase == phase])
        for phase in phases
    ]
    wrong = Counter((code, each.code) for each, code in pairs if each.code != code)
    return PersonsCoding(
        agreement=tuple(rows),
        confused=tuple((one, other, n) for (one, other), n in wrong.most_common()),
        unknown=sum(key not in by_id for key in labels),
        empty=sum(not code for code in labels.values()),
    )


def _agreement(phase: str, pairs: Sequence[tuple[Coded, str]]) -> Agreement:
    right = [float(each.code == code) for each, code in pairs]
    papers = [each.insight.paper for each, _ in pairs]
    return Agreement(
        phase=phase,
        right=int(sum(right)),
        of=len(right),
        interval=share_interval(right, papers),
        kappa=kappa([code for _, code in pairs], [each.code for each, _ in pairs]),
    )


def kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Cohen's kappa (1960) of two codings of the same things; ``None`` where chance explains all of it."""
    if not first:
        return None
    total = len(first)
    ones, others = Counter(first), Counter(second)
    chance = sum(ones[code] * others[code] for code in ones) / total**2
    seen = sum(a == b for a, b in zip(first, second, strict=True)) / total
    return None if chance >= 1.0 else (seen - chance) / (1 - chance)
