"""Names that are told apart only as a whole: *pass@10*, *hybrid+rerank*, *MOT-04*, *test-other*."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMPOUND = re.compile(
    r"(?<![\w@+/-])[A-Za-z0-9][\w-]*(?:[@+][A-Za-z0-9][\w-]*(?:\.\d+)?)+(?![\w@])"
)
"""Names that are told apart only as a whole: *pass@10*, *hybrid+rerank*."""
_NUMBERED = re.compile(
    r"(?<![\w.+@-])([A-Za-z]{2,})[-_](\d{1,4}[a-zA-Z]?|(?<=_)[A-Z])(?![\w.@+]\w|\w)"
)
"""Names that end in a number: *MOT-04*, *bpe-16k*."""
_SMALL_WORD = re.compile(
    r"(?<![A-Za-z])([A-Za-z]{2,})[-_](other|same|both|all|one|up|down|on|off|in|out|over|under)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Names that are told apart by a word that else names nothing: *test-clean*, *test-other*."""
_SIZED = re.compile(r"(?<![A-Za-z])[A-Za-z]{3,}[-_](s|m|l)(?![A-Za-z\d])")
_SIZES = {"s": "small", "m": "medium", "l": "large"}


def sizes(label: str) -> set[str]:
    """The sizes that a label has as letters: *student-s* is the small student."""
    return {_SIZES[match[1]] for match in _SIZED.finditer(label)}


def compounds(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The compound names of a text, in one spelling, with their places."""
    for match in _COMPOUND.finditer(text):
        yield match[0].lower(), match.span()
    for pattern in (_NUMBERED, _SMALL_WORD):
        for match in pattern.finditer(text):
            yield f"{match[1]}-{match[2]}".lower(), match.span()


def is_compound(token: str) -> bool:
    """Whether a label's token is such a name."""
    if "@" in token or "+" in token:
        return True
    return any(pattern.fullmatch(token) for pattern in (_NUMBERED, _SMALL_WORD))
