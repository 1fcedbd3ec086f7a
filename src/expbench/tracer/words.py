"""Words of code and prose, and how much of a question's words a text has."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Sequence

_NAMES = re.compile(r"[A-Za-z0-9_]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are as at be by can do does for from how if in into is it its like more
        of on or our self than that the their then there these this to under use used
        using was we what when where whether which will with would def return import none
        true false else not run python bash sh py script file path arg args
        """,
    )
)
_ENDINGS = ("ations", "ation", "ing", "ies", "ers", "er", "ed", "es", "s", "e")


def words(text: str) -> set[str]:
    """The words of a text in lower case; names are taken apart at case and underscore, endings are cut."""
    return {part for name in set(_NAMES.findall(text)) for part in _taken_apart(name)}


@functools.lru_cache(maxsize=100_000)
def _taken_apart(name: str) -> tuple[str, ...]:
    found = (part.lower() for part in _PARTS.findall(name[:200]))
    return tuple(_stem(word) for word in found if len(word) > 1 and word not in _STOP)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


class Query:
    """A question's words, each weighed by how few of the texts have it."""

    def __init__(self, question: str, texts: Sequence[set[str]]) -> None:
        counts = Counter(word for text in texts for word in text)
        wanted = Counter(part for name in _NAMES.findall(question) for part in _taken_apart(name))
        self._weights = {
            word: math.log(1 + len(texts) / (1 + counts[word])) * (1 + math.log(count))
            for word, count in wanted.items()
        }
        self._all = sum(sorted(self._weights.values(), reverse=True)[:12]) or 1.0

    def match(self, text: set[str]) -> float:
        """The share in [0, 1] of the question's weight that a text has."""
        return min(
            1.0, sum(self._weights[word] for word in text if word in self._weights) / self._all
        )
