"""How much of an item a sentence denies or leaves out."""

from __future__ import annotations

from bisect import bisect_left

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
    starts = wanted.index.starts

    def at(offset: int) -> int:
        return bisect_left(starts, start + offset, places.start, places.stop)

    spoken_of = [range(at(begin), at(end)) for begin, end in cues.scopes(sentence)]
    if cues.refers_back(sentence):
        spoken_of.append(before)
    return max((_share(each, wanted) for each in spoken_of), default=0.0)


def _share(places: range, wanted: Wanted) -> float:
    said, telling = wanted.telling(places.start, places.stop)
    if not telling:
        return 0.0
    return said / telling * (1.0 if telling > 1 else _ONE_WORD)
