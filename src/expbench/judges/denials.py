"""How much of an item a sentence denies or leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from expbench.judges import cues
from expbench.judges.index import Wanted

_ONE_WORD = 0.7
"""How much a single word counts that stands alone in what is denied."""


def denied(sentence: str, start: int, places: range, before: range, wanted: Wanted) -> float:
    """The largest share, 0 to 1, that the item's words have of what the sentence denies.

    ``start`` is where the sentence begins in the text, ``places`` are those of its words, ``before``
    those of the sentence before it.
    """
    if not cues.is_omitted(sentence):
        return 0.0
    words = wanted.index.tokens
    spoken_of = [
        [at for at in places if begin <= words[at].start - start < end]
        for begin, end in cues.scopes(sentence)
    ]
    if cues.refers_back(sentence):
        spoken_of.append(list(before))
    return max((_share(places, wanted) for places in spoken_of), default=0.0)


def _share(places: Sequence[int], wanted: Wanted) -> float:
    telling = [at for at in places if wanted.index.tokens[at].content]
    if not telling:
        return 0.0
    share = sum(at in wanted.found for at in telling) / len(telling)
    return share * (1.0 if len(telling) > 1 else _ONE_WORD)
