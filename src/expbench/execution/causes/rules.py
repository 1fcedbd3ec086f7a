"""What a line of output says about a failure: the form of a rule, and how one is applied."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from expbench.execution.causes.missing import hub_kind, path_kind, program_kind
from expbench.schema import FailureKind

RuleKind = FailureKind | Literal["path", "program", "hub"]
"""``path``, ``program`` and ``hub`` are decided by what is missing."""

Family = Literal["python", "shell", "installer", "compiler", "language", "download", "signal"]
"""What prints such lines. Of a compiler's or an installer's several errors the first is the cause."""

FAILED, PRINTED, HINT = 3, 2, 1
"""How sure a line shows a failure: a program's own last word; an error that something printed; an
error only by its look, or one that something else explains better."""


@dataclass(frozen=True)
class Rule:
    """A pattern. Its group ``what`` is what is missing; ``near`` finds it in the lines before."""

    kind: RuleKind
    pattern: re.Pattern[str]
    detail: str = ""
    near: re.Pattern[str] | None = None
    sure: int = FAILED


@dataclass(frozen=True)
class Event:
    """A line that shows a failure, and where it stands in its stream."""

    place: int
    line: str
    kind: FailureKind
    detail: str
    family: Family
    sure: int
    installing: bool = False


def rule(
    kind: RuleKind,
    *patterns: str,
    detail: str = "",
    near: re.Pattern[str] | None = None,
    sure: int = FAILED,
) -> Rule:
    """A rule of several patterns, each from the line's beginning unless it says otherwise."""
    joined = "|".join(_grouped(pattern) for pattern in patterns)
    return Rule(kind, re.compile(_numbered(joined)), detail, near, sure)


def found(
    rules: tuple[Rule, ...], text: str, before: list[str]
) -> tuple[Rule, FailureKind, str] | None:
    """The first rule that the text follows, with the kind and what is missing.

    ``before`` are the lines above it.
    """
    for each in rules:
        match = each.pattern.search(text)
        if match is None:
            continue
        detail = _detail(match) or _near(each.near, before) or each.detail
        return each, _kind(each.kind, detail, text, before), detail
    return None


def _kind(kind: RuleKind, detail: str, text: str, before: list[str]) -> FailureKind:
    if kind == "path":
        return path_kind(detail)
    if kind == "program":
        return program_kind(detail)
    if kind == "hub":
        return hub_kind(" ".join((*before[-6:], text)))
    return kind


def _detail(match: re.Match[str]) -> str:
    several = [text for name, text in match.groupdict().items() if name.startswith("what") and text]
    return several[0].strip(" \t'\"`‘’“”«»").rstrip(".,;:")[:200] if several else ""


def _near(pattern: re.Pattern[str] | None, before: list[str]) -> str:
    if pattern is None:
        return ""
    for line in reversed(before):
        if match := list(pattern.finditer(line)):
            return match[-1].group(1)[:200]
    return ""


def _grouped(pattern: str) -> str:
    """The pattern in a group, which keeps its ``(?i)`` to itself."""
    caseless = pattern.startswith("(?i)")
    return f"(?i:{pattern[4:]})" if caseless else f"(?:{pattern})"


def _numbered(pattern: str) -> str:
    """The pattern with its groups ``what`` made different from each other."""
    parts = pattern.split("(?P<what>")
    return parts[0] + "".join(f"(?P<what{n}>{part}" for n, part in enumerate(parts[1:]))
