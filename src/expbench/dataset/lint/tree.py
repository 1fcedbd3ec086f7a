"""Rules over a masked tree: what an agent would find next to the hole.

A tree is given as documents by path, in the way that the published harness leaves it or after strict
masking; the rules only look. A number is a result in the tree when chance does not explain it: a
table of thousands of numbers holds any three digits somewhere, so a match counts where a document with
so many distinct numbers of that length would state one of the results in fewer than one of twenty
cases, or where two results stand within a few lines of each other. Whole numbers of up to four digits
(years, sizes, counts) and settings do not count at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from expbench.dataset.lint.commands import command_findings
from expbench.dataset.lint.document import RESULTS, Document
from expbench.dataset.lint.finding import Finding, Severity, finding, shorten
from expbench.dataset.lint.numbers import (
    MIN_DIGITS,
    ResultNumbers,
    results_of,
    settings_of,
    significant_digits,
    stated,
)
from expbench.dataset.lint.prompt import visible
from expbench.dataset.lint.symbols import symbol_findings
from expbench.schema import ResearchTask

COPY_SHARE = 0.8
COPY_SHINGLES = 20
"""A masked file with fewer is too small for a likeness to say anything."""
CHANCE = 0.05
NEAR_LINES = 3

_README = re.compile(r"readme([._-].*)?", re.IGNORECASE)

Tree = Mapping[str, Document]


def tree_findings(task: ResearchTask, files: Tree, masked: Tree) -> Iterator[Finding]:
    """All findings in a tree.

    Args:
        files: what an agent would find, by path.
        masked: the files that were taken out, by path.
    """
    hidden = {*task.mask, *masked}
    for path in sorted(files.keys() & hidden):
        yield finding(task.id, "masked_present", path, "is masked, yet it is in the tree")
    for path in files:
        if "/" not in path and _README.fullmatch(path):
            yield finding(task.id, "readme_variant", path, path)
    kept = {path: document for path, document in files.items() if path not in hidden}
    yield from _copies(task, kept, masked)
    yield from command_findings(task, kept)
    yield from _results(task, kept)
    yield from symbol_findings(task, kept, masked)


def _copies(task: ResearchTask, files: Tree, masked: Tree) -> Iterator[Finding]:
    for name, original in masked.items():
        if not original.content.strip():
            continue
        wanted = original.shingles
        for path, document in files.items():
            if document.content == original.content:
                evidence = f"byte for byte the masked {name}"
                tiny = len(wanted) < COPY_SHINGLES
                severity: Severity = "note" if tiny else "error"
                yield finding(task.id, "byte_copy_left", path, evidence, severity)
            elif len(wanted) >= COPY_SHINGLES and len(document.shingles) >= COPY_SHARE * len(
                wanted
            ):
                share = len(wanted & document.shingles) / len(wanted)
                if share >= COPY_SHARE:
                    evidence = f"holds {share:.0%} of the masked {name}"
                    yield finding(task.id, "near_copy_left", path, evidence)


def _results(task: ResearchTask, files: Tree) -> Iterator[Finding]:
    results = {value for value in results_of(task) if _telling(value)}
    told = stated([*visible(task).values(), *settings_of(task)], results)
    numbers = ResultNumbers(results - told)
    for path, document in files.items() if numbers else ():
        if document.suffix in RESULTS or _README.fullmatch(document.name):
            yield from _stated_in(task, path, document, numbers)


def _telling(value: Decimal) -> bool:
    """A whole number of up to four digits is a year, a size or a count as often as a result."""
    return value != value.to_integral_value() or significant_digits(value) > 4


@dataclass(frozen=True, order=True)
class _Hit:
    """A number of a document that states a result, agreeing in so many digits."""

    line: int
    written: str
    result: Decimal
    digits: int


def _hits(document: Document, numbers: ResultNumbers) -> Iterator[_Hit]:
    for value, (line, written) in document.numbers.items():
        result = numbers.match(value)
        if result is not None:
            digits = min(significant_digits(value), significant_digits(result))
            yield _Hit(line, written, result, digits)


def _stated_in(
    task: ResearchTask, path: str, document: Document, numbers: ResultNumbers
) -> Iterator[Finding]:
    hits = sorted(_hits(document, numbers))
    rare = [
        hit
        for hit in hits
        if hit.digits > MIN_DIGITS and _chance(document, hit, len(numbers)) < CHANCE
    ]
    close = [
        hit
        for hit in hits
        if any(_beside(hit, other) for other in hits) and _chance(document, hit, len(numbers)) < 1
    ]
    if sure := close or rare:
        forms = list(dict.fromkeys(hit.written for hit in sure))
        lines = document.text.splitlines()
        # A number's first place need not be where all of them stand together.
        best = max(range(len(lines)), key=lambda i: sum(form in lines[i] for form in forms))
        evidence = f"{', '.join(forms[:6])} in: {shorten(lines[best], 60)}"
        severity: Severity = "error" if close else "warning"
        yield finding(task.id, "result_in_tree", f"{path}:{best + 1}", evidence, severity)


def _beside(hit: _Hit, other: _Hit) -> bool:
    """Whether two different results stand within a few lines."""
    apart = hit.result.as_tuple().digits != other.result.as_tuple().digits
    return apart and abs(hit.line - other.line) <= NEAR_LINES


def _chance(document: Document, hit: _Hit, results: int) -> float:
    """How many of ``results`` random numbers of that length the document would state by chance."""
    lengths = document.number_lengths
    longer = sum(count for length, count in lengths.items() if length >= hit.digits)
    return results * longer / (9 * 10.0 ** (hit.digits - 1))
