"""Cutting a long text down to what one item needs.

A diff can be far longer than what a model reads well, or at all. It is then cut at its hunks, the
hunks that share most words with the item are kept in their order, and the list of all files always
stays, so that the judge knows what else there is. Nothing is graded on the cut alone: that the text
was cut is said in the verdict.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import log

from expbench.judges.words import content_words

_CHUNK_CHARS = 4_000
_LIST_SHARE = 4
"""At most one part in this many of the budget goes to the list of files."""


@dataclass(frozen=True)
class Excerpt:
    """What is left of a text, and whether anything was left out."""

    text: str
    cut: bool


@dataclass(frozen=True)
class _Chunk:
    file: str
    text: str


def excerpt(text: str, wanted: str, budget: int) -> Excerpt:
    """At most about ``budget`` characters of a diff or of prose, those nearest to ``wanted``.

    Chunks are ranked by the words that they share with ``wanted``, a word counting less the more
    chunks have it (inverse document frequency), and by place where they tie.
    """
    if len(text) <= budget:
        return Excerpt(text, cut=False)
    chunks = list(_chunks(text))
    listing = _file_list(chunks, budget // _LIST_SHARE)
    room = budget - len(listing)
    kept: set[int] = set()
    for index in _ranked(chunks, content_words(wanted)):
        cost = len(chunks[index].text) + len(chunks[index].file) + 8
        if cost <= room:
            kept.add(index)
            room -= cost
    return Excerpt(listing + _joined(chunks, sorted(kept)), cut=True)


def _chunks(text: str) -> list[_Chunk]:
    chunks: list[_Chunk] = []
    file, lines, size = "", list[str](), 0
    for line in text.split("\n"):
        starts_file = line.startswith("diff --git ")
        if lines and (starts_file or line.startswith("@@ ") or size + len(line) > _CHUNK_CHARS):
            chunks.append(_Chunk(file, "\n".join(lines)))
            lines, size = [], 0
        if starts_file:
            file = line.removeprefix("diff --git ")
        pieces = [line[at : at + _CHUNK_CHARS] for at in range(0, len(line), _CHUNK_CHARS)]
        chunks.extend(_Chunk(file, piece) for piece in pieces[:-1])
        lines.append(pieces[-1] if pieces else "")
        size += len(lines[-1]) + 1
    chunks.append(_Chunk(file, "\n".join(lines)))
    return chunks


def _ranked(chunks: list[_Chunk], wanted: frozenset[str]) -> list[int]:
    shared = [content_words(f"{chunk.file}\n{chunk.text}") & wanted for chunk in chunks]
    frequency = Counter(word for words in shared for word in words)
    total = len(chunks)
    rank = [sum(log(1 + total / frequency[w]) for w in sorted(words)) for words in shared]
    return sorted(range(total), key=lambda index: (-rank[index], index))


def _file_list(chunks: list[_Chunk], budget: int) -> str:
    files = list(dict.fromkeys(chunk.file for chunk in chunks if chunk.file))
    if not files:
        return ""
    listing = "\n".join(files)
    if len(listing) > budget:
        listing = f"{listing[:budget]}\n[{len(files)} files in all]"
    return f"[All changed files]\n{listing}\n[A part of the changes]\n"


def _joined(chunks: list[_Chunk], kept: list[int]) -> str:
    if not kept:
        return ""
    parts = [_headed(chunks[kept[0]], last_file="")]
    for before, index in pairwise(kept):
        if index > before + 1:
            parts.append("[...]")
        parts.append(_headed(chunks[index], last_file=chunks[before].file))
    return "\n".join(parts)


def _headed(chunk: _Chunk, last_file: str) -> str:
    starts_itself = chunk.text.startswith("diff --git ")
    header = "" if starts_itself or chunk.file == last_file else f"[{chunk.file}]\n"
    return header + chunk.text
