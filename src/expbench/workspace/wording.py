"""What a repository's texts have in common with others: words and runs of words, as numbers.

A near copy has most of the five-word runs of a text. To compare every file of a tree with every masked
file would take longer than all else that masking does, so the words of all files are kept as numbers,
among which samples of the masked files' words are looked up in one pass; only files that have two thirds
of a sample are compared by their runs.

Words are what stands between other ASCII characters, without case; each becomes a number made of its
first, middle and last four bytes and its length, so that the words of many files are hashed in one go.
Two words that share all of these count as one, which can only make files more alike by chance. Samples
are of words without digits: a third of the bytes of papers' repositories are tables of numbers, which
would be most of all words and tell no code from other code.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]
"""Hashes of words or of runs of words."""

RUN = 5
"""Words in a run."""
LEAST_LETTERS = 4
"""Bytes from which a word tells texts apart."""

_READERS = os.cpu_count() or 1
"""Threads that read texts: numpy leaves Python's lock to others."""
_TOGETHER = 1 << 19
"""Bytes of texts that are hashed in one go: many small ones, or one large one."""
_TEXTS = 64
"""Texts that one thread takes at a time."""

_FOLDED = bytes(
    ord(chr(byte).lower()) if byte >= 128 or chr(byte).isalnum() or chr(byte) == "_" else 0
    for byte in range(256)
)
_WITHOUT_DIGITS = bytes(0 if 48 <= byte < 58 else _FOLDED[byte] for byte in range(256))
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

_HEAD = 16
"""First bits of a hash by which most words are told from those of a sample without a search."""
_TAIL = np.uint64(64 - _HEAD)


@dataclass(frozen=True)
class Words:
    """The words of one text in their order."""

    hashes: Numbers

    @classmethod
    def of(cls, text: bytes) -> Words:
        return cls(_Places.of(text, _FOLDED).hashes())

    @cached_property
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
class _Places:
    """Where words begin in a folded text, and how many bytes each has."""

    fours: NDArray[np.uint32]
    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, text: bytes, fold: bytes) -> _Places:
        folded = np.frombuffer(b"\0%s\0\0\0\0\0\0\0" % text.translate(fold), dtype=np.uint8)
        word = folded != 0
        edges = np.flatnonzero(word[1:] != word[:-1]).astype(np.int32)
        edges += 1
        starts, ends = edges[::2], edges[1::2]
        fours = np.ndarray((len(folded) - 3,), dtype="<u4", buffer=folded.data, strides=(1,))
        return cls(fours, starts, ends - starts)

    def telling(self) -> _Places:
        """The words that are long enough."""
        kept = np.flatnonzero(self.lengths >= LEAST_LETTERS)
        return _Places(self.fours, self.starts[kept], self.lengths[kept])

    def hashes(self) -> Numbers:
        last = self.starts + np.maximum(self.lengths - 4, 0)
        kept = _KEPT[np.minimum(self.lengths, 4)]
        hashes = self.lengths.astype(np.uint64) * _LENGTH
        for places, odd in (
            (self.starts, _FIRST),
            ((self.starts + last) // 2, _MIDDLE),
            (last, _LAST),
        ):
            hashes ^= (self.fours[places].astype(np.uint64) & kept) * odd
        return hashes ^ (hashes >> np.uint64(29))


def telling_words(texts: Sequence[bytes]) -> Iterator[Numbers]:
    """The words of each text that are long enough to tell it apart, sorted, each once."""
    places = _Places.of(b"\0".join(texts), _WITHOUT_DIGITS).telling()
    hashes = places.hashes()
    ends = list(accumulate(len(text) + 1 for text in texts))
    cuts = [0, *np.searchsorted(places.starts, ends[:-1], "right").tolist(), len(hashes)]
    return (_distinct(hashes[a:b]) for a, b in pairwise(cuts))


@dataclass(frozen=True)
class _Shelf:
    """The telling words of several texts, one text after the other, and where each text begins."""

    names: Sequence[str]
    words: Numbers
    heads: NDArray[np.uint16]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str], words: Sequence[Numbers]) -> _Shelf:
        starts = np.cumsum([0, *map(len, words[:-1])])
        together = np.concatenate(words)
        return cls(names, together, (together >> _TAIL).astype(np.uint16), starts)

    def hits(self, marked: NDArray[np.bool_]) -> tuple[Numbers, NDArray[np.int64]]:
        """The words whose first bits are marked, and the number of the text that has each."""
        places = np.flatnonzero(marked[self.heads])
        return self.words[places], np.searchsorted(self.starts, places, "right") - 1


@dataclass
class Wording:
    """The texts of a repository by their blobs' ids, each read once for all its tasks."""

    _known: set[str] = field(default_factory=set)
    _shelves: list[_Shelf] = field(default_factory=list)
    _words: dict[str, Words] = field(default_factory=dict)
    _samples: dict[str, Numbers] = field(default_factory=dict)
    _shares: dict[tuple[str, str], float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def unknown(self, oids: Iterable[str]) -> list[str]:
        """Those that were not learnt yet, each once."""
        return [oid for oid in dict.fromkeys(oids) if oid not in self._known]

    def learn(self, oids: Sequence[str], read: Callable[[str], bytes]) -> None:
        """Take in the texts of blobs, which ``read`` gives by their ids, to several threads."""
        if not oids:
            return
        parts = [oids[start : start + _TEXTS] for start in range(0, len(oids), _TEXTS)]
        with self._lock, ThreadPoolExecutor(min(_READERS, len(parts))) as pool:
            found = pool.map(lambda part: list(_words_of(part, read)), parts)
            self._shelves.append(_Shelf.of(oids, list(chain.from_iterable(found))))
            self._known.update(oids)

    def holding(self, samples: Sequence[Numbers]) -> list[set[str]]:
        """For each sample of words, the blobs that have at least two thirds of it; all, if it is empty."""
        marked = np.zeros(1 << _HEAD, dtype=np.bool_)
        for sample in samples:
            marked[sample >> _TAIL] = True
        found: list[set[str]] = [set() for _ in samples]
        for shelf in self._shelves:
            words, texts = shelf.hits(marked)
            for sample, names in zip(samples, found, strict=True):
                counts = np.bincount(texts[_among(words, sample)], minlength=len(shelf.names))
                enough = np.flatnonzero(3 * counts >= 2 * len(sample))
                names.update(shelf.names[number] for number in enough.tolist())
        return found

    def sample(self, oid: str, size: int, read: Callable[[str], bytes]) -> Numbers:
        """So many telling words of a blob; always the same ones."""
        if oid not in self._samples:
            self._samples[oid] = next(telling_words([read(oid)]))
        return self._samples[oid][:size]

    def words(self, oid: str, read: Callable[[str], bytes]) -> Words:
        """The words of a blob, kept for later: for those of which there are few."""
        if oid not in self._words:
            self._words[oid] = Words.of(read(oid))
        return self._words[oid]

    def share(self, wanted: str, held: str, read: Callable[[str], bytes]) -> float:
        """The share of one blob's runs that another one has; the first one's words are known."""
        if (wanted, held) not in self._shares:
            runs = self._words[wanted].runs, self.words(held, read).runs
            self._shares[wanted, held] = share(*runs)
        return self._shares[wanted, held]


def _words_of(oids: Sequence[str], read: Callable[[str], bytes]) -> Iterator[Numbers]:
    """The telling words of each blob."""
    texts: list[bytes] = []
    size = 0
    for oid in oids:
        texts.append(read(oid))
        size += len(texts[-1])
        if size > _TOGETHER:
            yield from telling_words(texts)
            texts, size = [], 0
    if texts:
        yield from telling_words(texts)


def _distinct(numbers: Numbers) -> Numbers:
    """Sorted, each once: faster than numpy's own for texts, whose words are few."""
    ordered = np.sort(numbers)
    return (
        ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    )


def _among(numbers: Numbers, known: Numbers) -> NDArray[np.bool_]:
    """Which of the numbers are among others that are sorted."""
    if not len(known):
        return np.zeros(len(numbers), dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    found: NDArray[np.bool_] = known[places] == numbers
    return found


def share(wanted: Numbers, held: Numbers) -> float:
    """The share of one text's runs that another one has."""
    if not len(wanted) or not len(held):
        return 0.0
    return float(np.count_nonzero(_among(wanted, held)) / len(wanted))
