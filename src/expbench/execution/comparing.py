"""Which numbers of two runs' outputs are the same to the last digit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from expbench.schema import Blob, Execution
from expbench.workspace import BlobStore

Pair = tuple[Blob | None, Blob | None]
Found = tuple[str, str]
"""A number, and the line it stands in."""

DIGITS = 4
"""Significant digits that a number must have to be compared, zeros at its end not counted."""

MOST = 20_000
"""Numbers of one output that are compared."""

_READ = 4 * 1024**2
_NO_TEXTS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".webp", ".bmp", ".py", ".sh")
_NUMBER = re.compile(r"(?<![\w.:/])[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w:/]|\.\d)")
_NO_RESULT = re.compile(
    r"(?i)(?:time|elapsed|took|duration|runtime|seconds|secs?|date|memory|speed|throughput|latency|pid|eta|"
    r"seed|lr|learning[ _-]?rate|weight[ _-]?decay|momentum|dropout|tol|eps(?:ilon)?|version|batch[ _-]?size)"
    r"[\s\"'=:({\[]{0,4}(?:(?:of|is|in|to|was)\s)?$"
)
_UNIT = re.compile(r"(?i)^\s?(?:s|ms|us|sec|secs|seconds?|minutes?|min|h|it/s|s/it|[kmg]i?b)\b")


@dataclass(frozen=True)
class Comparison:
    """``identical`` of ``compared`` numbers; ``distinct`` are the different ones among the identical.

    ``digits`` are the significant ones of the longest of these, ``quote`` is the first line with one.
    """

    identical: int = 0
    compared: int = 0
    distinct: int = 0
    digits: int = 0
    quote: str = ""

    @property
    def all_same(self) -> bool:
        """Whether there is something to compare, and all of it is the same."""
        return 0 < self.compared == self.identical


def compare(first: Execution, second: Execution, store: BlobStore) -> Comparison:
    """Compare what two runs printed and wrote: numbers of four significant digits that are no settings,
    times or sizes, by their place where an output has equally many of them, else by their values.

    Standard error counts where nothing else has such numbers.
    """
    found = [
        _compared(texts, store)
        for texts in (
            [(first.stdout, second.stdout), *_files(first, second)],
            [(first.stderr, second.stderr)],
        )
    ]
    return found[0] if found[0].compared else found[1]


def results(text: str) -> Iterator[tuple[str, str]]:
    """The numbers of a text that can be compared, each with its line."""
    for line in text.splitlines():
        for match in _NUMBER.finditer(line):
            before = line[max(0, match.start() - 40) : match.start()]
            if (
                _digits(match.group()) >= DIGITS
                and not _NO_RESULT.search(before)
                and not _UNIT.match(line[match.end() : match.end() + 10])
            ):
                yield match.group().lstrip("+"), line.strip()[:300]


def _digits(number: str) -> int:
    """Significant digits of a number, without the zeros at its end."""
    return len(re.split("[eE]", number)[0].lstrip("+-").replace(".", "").strip("0"))


def _compared(pairs: Iterable[Pair], store: BlobStore) -> Comparison:
    identical = compared = 0
    same: dict[str, str] = {}
    for one, other in pairs:
        first, second = _numbers(one, store), _numbers(other, store)
        kept = _kept(first, second)
        compared += max(len(first), len(second))
        identical += len(kept)
        for number, line in kept:
            same.setdefault(number, line)
    longest = max(map(_digits, same), default=0)
    return Comparison(identical, compared, len(same), longest, next(iter(same.values()), ""))


def _kept(first: Sequence[Found], second: Sequence[Found]) -> list[Found]:
    """Those of the first that the second has too."""
    if len(first) == len(second):
        return [one for one, other in zip(first, second, strict=True) if one[0] == other[0]]
    left = Counter(number for number, _ in second)
    kept = []
    for each in first:
        if left[each[0]] > 0:
            left[each[0]] -= 1
            kept.append(each)
    return kept


def _numbers(blob: Blob | None, store: BlobStore) -> list[Found]:
    if blob is None or not blob.size:
        return []
    text = store.get(blob)[:_READ].decode("utf-8", "replace")
    return list(islice(results(text), MOST))


def _files(first: Execution, second: Execution) -> Iterator[Pair]:
    """The texts that the first run made, each with what the second made of that name."""
    made = {each.path: each.content for each in second.made}
    for each in first.made:
        if each.content is not None and not each.path.endswith(_NO_TEXTS):
            yield each.content, made.get(each.path)
