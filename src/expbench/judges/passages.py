"""Passages of prose: sentences, runs of sentences, and windows of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from expbench.judges.words import Token, forms, tokens

_ABBREVIATED = (
    r"(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!cf\.)(?<!Fig\.)(?<!resp\.)(?<!approx\.)(?<!i\.i\.d\.)"
)
_SENTENCE_END = re.compile(rf"(?<=[.!?]){_ABBREVIATED}\s+|;\s+|\n+")
_HEADING = re.compile(r"[^:.\n]{3,80}:(?=\s)")


@dataclass(frozen=True)
class Passage:
    """A part of a text, and the heading of the paragraph that it stands in."""

    text: str
    start: int
    end: int
    heading: str = ""
    paragraph: int = 0

    @property
    def quote(self) -> str:
        """The passage, verbatim."""
        return self.text[self.start : self.end]

    @cached_property
    def tokens(self) -> list[Token]:
        """The passage's own tokens; their places count from its start."""
        return tokens(self.quote)

    @cached_property
    def words(self) -> list[str]:
        """The tokens as written, in lower case."""
        return [self.quote[token.start : token.end].lower() for token in self.tokens]

    @cached_property
    def known(self) -> frozenset[str]:
        """All forms of its words and of its heading's."""
        return forms(self.tokens) | forms(tokens(self.heading))


def sentences(text: str) -> list[Passage]:
    """The sentences of ``text``, split at semicolons too, each with its paragraph's heading."""
    found: list[Passage] = []
    offset = 0
    for number, paragraph in enumerate(text.split("\n")):
        heading = _HEADING.match(paragraph)
        lead = heading[0] if heading else ""
        start = 0
        for end, after in _ends(paragraph):
            if paragraph[start:end].strip():
                found.append(Passage(text, offset + start, offset + end, lead, number))
            start = after
        offset += len(paragraph) + 1
    return found


def runs(parts: list[Passage], longest: int) -> Iterator[tuple[int, int, Passage]]:
    """Runs of up to ``longest`` neighbouring passages: first, last (exclusive) and the run."""
    for first in range(len(parts)):
        for last in range(first + 1, min(first + longest, len(parts)) + 1):
            head = parts[first]
            yield first, last, Passage(head.text, head.start, parts[last - 1].end, head.heading)


def _ends(paragraph: str) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE_END.finditer(paragraph):
        yield match.start(), match.end()
    yield len(paragraph), len(paragraph)
