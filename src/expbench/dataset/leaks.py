"""Looking for the answer in what an agent would see: its workspace's files and its prompt.

Two signs give an answer away. A *result number* is a number of the reference's claims (of its
conclusion where it has none) with at least three significant digits. A text states it when the two
are equal once the longer is rounded to the digits of the shorter, whatever the notation:
``0.000166``, ``1.66e-4`` and ``0.00016597`` are one number, and so are ``83.2 %`` and ``0.832``.
Agreement of only three digits after rounding is often chance (1.6449 is a quantile, not the result
1.64), so it counts where the same text states a second result. Numbers that the prompt gives on
purpose, as settings of the experiment, are no results. A *copy* is a file that holds at least 80 %
of a masked file's five-word shingles, wherever it lies and whatever else it holds.

What is found is for a person to look at: it is masked, reworded or accepted, never silently fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal
from typing import Literal

from expbench.schema import Record, ResearchTask

SHINGLE_WORDS = 5
COPY_SHARE = 0.8
"""The share of a masked file's shingles from which another file counts as its copy."""
MIN_DIGITS = 3
"""Significant digits from which a number says enough to be a result."""

_NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:[eE]([-+]?\d{1,3})|\s*(?:×|\\times|\*)\s*10\s*(?:\^|\*\*)\s*\{?([-+−]?\d{1,3}))?"
    r"(?!\d|\.\d)\s*(%?)"
)
_WORD = re.compile(r"\w+")


class Leak(Record):
    """One place that may give the answer away. ``place`` is a file, or a field of the prompt."""

    kind: Literal["result_number", "near_copy", "byte_copy", "masked_present", "result_in_prompt"]
    place: str
    detail: str


def find_leaks(
    task: ResearchTask, files: Mapping[str, bytes], masked: Mapping[str, bytes]
) -> tuple[Leak, ...]:
    """Everything suspicious in a workspace and in the task's prompt, sorted by kind and place.

    Args:
        files: what an agent would find, by path relative to the workspace.
        masked: the contents of the files that were taken out, by the same kind of path.
    """
    results = _results(task)
    found = [*_in_prompt(task, results), *_copies(files, masked)]
    hidden = {*task.mask, *masked}
    found += [
        Leak(kind="masked_present", place=path, detail="is masked, yet it is in the workspace")
        for path in files
        if path in hidden
    ]
    numbers = _Numbers(results - _stated(_prompt(task).values(), results))
    for path, content in files.items():
        for result, text in numbers.stated_in(readable_text(path, content)):
            detail = f"states {text}, and {result} is a result"
            found.append(Leak(kind="result_number", place=path, detail=detail))
    return tuple(sorted(found, key=lambda leak: (leak.kind, leak.place, leak.detail)))


def readable_text(path: str, content: bytes) -> str:
    """A file's text for the scan: none of a binary file, a notebook's leaves without its images."""
    if b"\0" in content[:8192]:
        return ""
    text = content.decode("utf-8", errors="replace")
    if path.lower().endswith(".ipynb"):
        try:
            return "\n".join(_leaves(json.loads(text)))
        except (ValueError, RecursionError):
            return text
    return text


def numbers_in(text: str) -> Iterator[tuple[Decimal, str]]:
    """Every number of a text as a positive value that keeps its significant digits, and as written.

    A percentage comes twice, also as a fraction.
    """
    for match in _NUMBER.finditer(text):
        digits, exponent, power, percent = match.groups()
        value = Decimal(digits.replace(",", ""))
        if "." not in digits:
            value = value.normalize()
        value = value.scaleb(int((exponent or power or "0").replace("−", "-")))
        yield value, match.group().strip()
        if percent:
            yield value.scaleb(-2), match.group().strip()


def significant_digits(value: Decimal) -> int:
    """How many digits a number was given with; zeros before the first other digit do not count."""
    return len(str(int("".join(map(str, value.as_tuple().digits))))) if value else 0


class _Numbers:
    """Result numbers, ready to be looked for in many texts."""

    def __init__(self, results: Iterable[Decimal]) -> None:
        self._full: dict[tuple[int, Decimal], Decimal] = {}
        self._short: dict[tuple[int, Decimal], Decimal] = {}
        for result in results:
            digits = significant_digits(result)
            self._full[digits, result] = result
            for fewer in range(MIN_DIGITS, digits):
                self._short[fewer, _round(result, fewer)] = result
        self._lengths = sorted({digits for digits, _ in self._full})

    def stated_in(self, text: str) -> Iterator[tuple[Decimal, str]]:
        """The results that a text states, each once, and as what."""
        sure: dict[Decimal, str] = {}
        weak: dict[Decimal, str] = {}
        for value, written in numbers_in(text) if self._full else ():
            result = self._match(value)
            if result is not None:
                chance = value != result and MIN_DIGITS in map(significant_digits, (value, result))
                (weak if chance else sure).setdefault(result, written)
        yield from sure.items()
        if len({result.as_tuple().digits for result in (*sure, *weak)}) > 1:
            yield from ((result, weak[result]) for result in weak if result not in sure)

    def _match(self, value: Decimal) -> Decimal | None:
        digits = significant_digits(value)
        if digits < MIN_DIGITS:
            return None
        for length in self._lengths:
            key = (length, _round(value, length))
            if length <= digits and key in self._full:
                return self._full[key]
        return self._short.get((digits, value))


def _results(task: ResearchTask) -> set[Decimal]:
    reference = task.reference
    texts = [claim.text for claim in reference.claims] or [reference.conclusion]
    return {
        value
        for text in texts
        for value, _ in numbers_in(text)
        if significant_digits(value) >= MIN_DIGITS
    }


def _prompt(task: ResearchTask) -> dict[str, str]:
    view = task.prompt_view()
    return {"question": view.question, "method": view.method, "instructions": view.instructions}


def _in_prompt(task: ResearchTask, results: set[Decimal]) -> Iterator[Leak]:
    """Results in the prompt, but for those that the design names as settings."""
    settings = [item.text for item in task.reference.design if item.kind != "dependent"]
    numbers = _Numbers(results - _stated(settings, results))
    for place, text in _prompt(task).items():
        for result, written in numbers.stated_in(text):
            detail = f"states {written}, and {result} is a result"
            yield Leak(kind="result_in_prompt", place=place, detail=detail)


def _stated(texts: Iterable[str], results: set[Decimal]) -> set[Decimal]:
    numbers = _Numbers(results)
    return {result for text in texts for result, _ in numbers.stated_in(text)}


def _copies(files: Mapping[str, bytes], masked: Mapping[str, bytes]) -> Iterator[Leak]:
    wanted = {name: _shingles(name, content) for name, content in masked.items()}
    for path, content in files.items():
        own: set[tuple[str, ...]] | None = None
        for name, shingles in wanted.items():
            if content == masked[name] and content.strip():
                detail = f"is byte for byte the masked {name}"
                yield Leak(kind="byte_copy", place=path, detail=detail)
                continue
            own = _shingles(path, content) if own is None else own
            share = len(shingles & own) / len(shingles) if shingles else 0.0
            if share >= COPY_SHARE:
                detail = f"holds {share:.0%} of the masked {name}"
                yield Leak(kind="near_copy", place=path, detail=detail)


def _shingles(path: str, content: bytes) -> set[tuple[str, ...]]:
    words = _WORD.findall(readable_text(path, content).lower())
    last = max(1, len(words) - SHINGLE_WORDS + 1)
    return {tuple(words[i : i + SHINGLE_WORDS]) for i in range(last)} if words else set()


def _leaves(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name, part in node.items():
            if not str(name).startswith("image/"):
                yield from _leaves(part)
    elif isinstance(node, list):
        for part in node:
            yield from _leaves(part)
    elif node is not None:
        yield str(node)


def _round(value: Decimal, digits: int) -> Decimal:
    return Context(prec=digits).create_decimal(value)
