"""How alike two texts are, without words lists of any language: cosine of weighted character n-grams.

Weights are term frequency times inverse document frequency (Salton and Buckley, 1988), n-grams of three to
five characters inside words, so that inflected forms and other languages come near one another too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt

_MOST = 4_000
_SIZES = (3, 4, 5)


def ngrams(text: str) -> Counter[str]:
    """The n-grams of a text, padded at the ends of words; of a long text its begin and end."""
    if len(text) > _MOST:
        text = text[: _MOST // 2] + " " + text[-_MOST // 2 :]
    found: Counter[str] = Counter()
    for word in re.findall(r"[^\W_]+", text.lower()):
        padded = f" {word} "
        for size in _SIZES:
            found.update(padded[at : at + size] for at in range(len(padded) - size + 1))
    return found


class Prototypes:
    """Texts that others are compared with."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [ngrams(text) for text in texts]
        seen = Counter(gram for each in counted for gram in each)
        self._idf = {gram: log((1 + len(texts)) / (1 + n)) + 1 for gram, n in seen.items()}
        self._vectors = [self._vector(each) for each in counted]

    def nearness(self, text: str) -> list[float]:
        """Cosines in [0, 1], one for each prototype."""
        own = self._vector(ngrams(text))
        return [
            sum(weight * other.get(gram, 0.0) for gram, weight in own.items())
            for other in self._vectors
        ]

    def _vector(self, counts: Counter[str]) -> dict[str, float]:
        rare = max(self._idf.values(), default=1.0)
        raw = {g: (1 + log(n)) * self._idf.get(g, rare) for g, n in counts.items()}
        norm = sqrt(sum(w * w for w in raw.values())) or 1.0
        return {gram: weight / norm for gram, weight in raw.items()}
