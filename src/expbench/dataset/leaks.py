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

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

from expbench.dataset.lint.document import readable_text, word_shingles
from expbench.dataset.lint.numbers import (
    MIN_DIGITS,
    ResultNumbers,
    numbers_in,
    results_of,
    settings_of,
    significant_digits,
    stated,
)
from expbench.schema import Record, ResearchTask

__all__ = ["MIN_DIGITS", "Leak", "find_leaks", "numbers_in", "readable_text", "significant_digits"]

COPY_SHARE = 0.8
"""The share of a masked file's shingles from which another file counts as its copy."""


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
    results = results_of(task)
    found = [*_in_prompt(task, results), *_copies(files, masked)]
    hidden = {*task.mask, *masked}
    found += [
        Leak(kind="masked_present", place=path, detail="is masked, yet it is in the workspace")
        for path in files
        if path in hidden
    ]
    numbers = ResultNumbers(results - stated(_prompt(task).values(), results))
    for path, content in files.items():
        for result, text in numbers.stated_in(readable_text(path, content)):
            detail = f"states {text}, and {result} is a result"
            found.append(Leak(kind="result_number", place=path, detail=detail))
    return tuple(sorted(found, key=lambda leak: (leak.kind, leak.place, leak.detail)))


def _prompt(task: ResearchTask) -> dict[str, str]:
    view = task.prompt_view()
    return {"question": view.question, "method": view.method, "instructions": view.instructions}


def _in_prompt(task: ResearchTask, results: set[Decimal]) -> Iterator[Leak]:
    """Results in the prompt, but for those that the design names as settings."""
    numbers = ResultNumbers(results - stated(settings_of(task), results))
    for place, text in _prompt(task).items():
        for result, written in numbers.stated_in(text):
            detail = f"states {written}, and {result} is a result"
            yield Leak(kind="result_in_prompt", place=place, detail=detail)


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
    return word_shingles(readable_text(path, content))
