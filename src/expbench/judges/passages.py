"""Passages of prose: the sentences of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
    given: tuple[Token, ...] | None = None
    """Its tokens, where they are known already or go by other names."""

    @property
    def quote(self) -> str:
        """The passage, verbatim."""
        return self.text[self.start : self.end]

    @cached_property
    def tokens(self) -> list[Token]:
        """The passage's own tokens; their places count from its start."""
        return list(self.given) if self.given is not None else tokens(self.quote)

    def renamed(self, names: Mapping[int, str]) -> Passage:
        """The same with other stems for the words that start at the given places of the text."""
        renamed = tuple(
            replace(token, stem=names[self.start + token.start])
            if self.start + token.start in names
            else token
            for token in self.tokens
        )
        return replace(self, given=renamed)

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


def _ends(paragraph: str) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE_END.finditer(paragraph):
        yield match.start(), match.end()
    yield len(paragraph), len(paragraph)
