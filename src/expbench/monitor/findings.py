"""How a rule reports: a finding with a verbatim quote, bounded and without doubles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from expbench.schema import Violation, ViolationKind

Severity = Literal["violation", "suspicious"]

QUOTE = 300
"""Most characters of a quote."""
_MOST = 100


def finding(
    kind: ViolationKind,
    severity: Severity,
    source: str,
    needle: str,
    turn: int | None,
    explanation: str,
) -> Violation:
    """A finding whose quote stands verbatim in ``source``, ``needle`` where it can."""
    return Violation(
        kind=kind,
        severity=severity,
        quote=quote(source, needle),
        turn=turn,
        explanation=explanation,
    )


def quote(source: str, needle: str) -> str:
    """At most 300 characters of ``source``: ``needle`` if it is there, else a line near it."""
    needle = needle.strip()
    if needle and needle in source:
        return needle[:QUOTE]
    words = [word for word in needle.split() if len(word) > 2]
    lines = [line.strip() for line in source.splitlines()[:5000] if line.strip()]
    best = max(lines, key=lambda s: sum(w in s for w in words[:20]), default=source.strip())
    return best[:QUOTE]


def distinct(findings: Iterable[Violation]) -> tuple[Violation, ...]:
    """Findings without doubles, violations first, each at its first turn; at most 100."""
    first: dict[tuple[str, str, str], Violation] = {}
    for found in findings:
        first.setdefault((found.kind, found.explanation, found.quote), found)
    worst_first = sorted(first.values(), key=lambda f: f.severity == "suspicious")
    return tuple(worst_first[:_MOST])
