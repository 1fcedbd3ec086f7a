"""What a repository's texts have in common with others: words and runs of words, as numbers.

A near copy has most of the five-word runs of a text. To compare every file of a tree with every masked
file would take longer than all else that masking does, so the words of all files are kept as one sorted
list of numbers, in which a sample of a masked file's words is looked up at once; only files that have
half of the sample are compared by their runs.

Words are what stands between other ASCII characters, without case; each becomes a number made of its
first, middle and last four bytes and its length, so that all words of a file are hashed in one go. Two
words that share all of these count as one, which can only make files more alike by chance.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]
"""Hashes of words or of runs of words."""

RUN = 5
"""Words in a run."""
LEAST_LETTERS = 4
"""Bytes from which a word tells texts apart."""

_FOLDED = np.array(
    [
        ord(chr(byte).lower()) if byte >= 128 or chr(byte).isalnum() or chr(byte) == "_" else 0
        for byte in range(256)
    ],
    dtype=np.uint16,
)
_BYTES = (_FOLDED & 0xFF).astype(np.uint8)
_KEPT = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF], dtype=np.uint64)
_FIRST, _MIDDLE, _LAST, _LENGTH, _STEP = (
    np.uint64(odd)
    for odd in (
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xFF51AFD7ED558CCD,
    )
)


@dataclass(frozen=True)
class Words:
    """The words of one text in their order, and which of them are long enough to tell it apart."""

    hashes: Numbers
    telling: NDArray[np.bool_]

    @classmethod
    def of(cls, text: bytes) -> Words:
        folded = np.zeros(len(text) + 8, dtype=np.uint8)
        folded[1 : len(text) + 1] = _BYTES[np.frombuffer(text, dtype=np.uint8)]
        word = folded != 0
        edges = np.flatnonzero(word[1:] != word[:-1]) + 1
        starts, ends = edges[::2], edges[1::2]
        lengths = ends - starts
        fours = np.ndarray((len(folded) - 3,), dtype="<u4", buffer=folded.data, strides=(1,))
        kept = _KEPT[np.minimum(lengths, 4)]
        last = np.maximum(ends - 4, starts)
        hashes = (fours[starts].astype(np.uint64) & kept) * _FIRST
        hashes ^= (fours[(starts + last) // 2].astype(np.uint64) & kept) * _MIDDLE
        hashes ^= (fours[last].astype(np.uint64) & kept) * _LAST
        hashes ^= lengths.astype(np.uint64) * _LENGTH
        return cls(hashes ^ (hashes >> np.uint64(29)), lengths >= LEAST_LETTERS)

    @property
    def distinct(self) -> Numbers:
        """The telling words, sorted."""
        return _distinct(self.hashes[self.telling])

    @property
    def runs(self) -> Numbers:
        """The runs of five words, sorted; a shorter text is one run."""
        length = min(RUN, len(self.hashes))
        if not length:
            return self.hashes
        ends = len(self.hashes) - length + 1
        total = np.zeros(ends, dtype=np.uint64)
        for place in range(length):
            total = total * _STEP + self.hashes[place : place + ends]
        return _distinct(total)


@dataclass(frozen=True)
class _Segment:
    """The words of several texts: sorted, and the number of the text that has each."""

    hashes: Numbers
    texts: NDArray[np.int32]

    def places(self, sample: Numbers) -> NDArray[np.int32]:
        """The texts that have words of a sample, one entry for each word that one has."""
        first = np.searchsorted(self.hashes, sample, "left")
        end = np.searchsorted(self.hashes, sample, "right")
        found = [self.texts[a:b] for a, b in zip(first, end, strict=True) if a < b]
        return np.concatenate(found) if found else np.empty(0, dtype=np.int32)


@dataclass
class Wording:
    """The texts of a repository by their blobs' ids, each read once for all its tasks."""

    _numbers: dict[str, int] = field(default_factory=dict)
    _names: list[str] = field(default_factory=list)
    _segments: list[_Segment] = field(default_factory=list)
    _runs: dict[str, Numbers] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def unknown(self, oids: Iterable[str]) -> list[str]:
        """Those that were not learnt yet, each once."""
        return [oid for oid in dict.fromkeys(oids) if oid not in self._numbers]

    def learn(self, texts: Iterable[tuple[str, bytes]]) -> None:
        """Take in the texts of blobs."""
        with self._lock:
            hashes: list[Numbers] = []
            numbers: list[NDArray[np.int32]] = []
            for oid, text in texts:
                words = Words.of(text).distinct
                number = self._numbers.setdefault(oid, len(self._names))
                self._names.append(oid)
                hashes.append(words)
                numbers.append(np.full(len(words), number, dtype=np.int32))
            if hashes:
                together = np.concatenate(hashes)
                order = np.argsort(together, kind="stable")
                self._segments.append(_Segment(together[order], np.concatenate(numbers)[order]))

    def holding(self, sample: Numbers) -> set[str]:
        """The blobs that have at least half of a sample of words."""
        found: set[str] = set()
        for segment in self._segments:
            places = segment.places(sample)
            if len(places):
                counts = np.bincount(places)
                found.update(
                    self._names[number] for number in np.flatnonzero(2 * counts >= len(sample))
                )
        return found

    def runs(self, oid: str, text: bytes | None = None) -> Numbers | None:
        """The runs of a blob; ``None`` when they are not known and no text is given."""
        if oid not in self._runs and text is not None:
            self._runs[oid] = Words.of(text).runs
        return self._runs.get(oid)


def _distinct(numbers: Numbers) -> Numbers:
    """Sorted, each once: faster than numpy's own for texts, whose words are few."""
    ordered = np.sort(numbers)
    return (
        ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    )


def share(wanted: Numbers, held: Numbers) -> float:
    """The share of one text's runs that another one has."""
    if not len(wanted) or not len(held):
        return 0.0
    places = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
    return float(np.count_nonzero(held[places] == wanted) / len(wanted))
