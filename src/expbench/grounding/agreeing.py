"""Whether a number of the outputs stands under nothing but what a conclusion says there.

Against every number that differs from it in one label only: its own name has to be said, in the sentence or
before it, and not only the other's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from expbench.grounding.cells import Cell
from expbench.grounding.compounds import is_compound
from expbench.grounding.names import Mention, Token, label_tokens
from expbench.grounding.pairs import one_apart
from expbench.grounding.scene import Place, Scene, is_number, is_weak

NO, OPEN, YES = 0, 1, 2
"""Another's name is said and not its own; some name is left open; all names are said."""
_MOST_SIBLINGS = 800


@dataclass
class Agreeing:
    """Compares numbers of the outputs with what is said around a place of a conclusion."""

    scene: Scene
    _apart: dict[int, frozenset[tuple[frozenset[Token], frozenset[Token]]]] = field(
        default_factory=dict
    )

    def degree(
        self,
        cell: Cell,
        at: int,
        firm: frozenset[Token] | None = None,
        than: frozenset[Token] | None = None,
    ) -> int:
        """How far a number's names agree with what is said around a place.

        Args:
            firm: the names that count; all without.
            than: names of what the number is compared with, in the same sentence.
        """
        passage = self.scene.conclusion.passage(at)
        if passage is None:
            return NO
        parts = [passage.sentence]
        if than is None:
            parts += self._earlier(passage.sentence, passage.block)
        degree = YES
        for own, foreign in self._rivals(cell):
            if firm is not None and own and not own & firm:
                continue
            degree = min(degree, self._between(own, foreign - (than or frozenset()), parts))
            if degree == NO:
                return NO
        return degree

    def _earlier(self, sentence: Place, block: int) -> list[Place]:
        """The sentences before one in its paragraph, from the nearest on."""
        parts = {
            p.sentence
            for p in self.scene.conclusion.passages
            if p.block == block and p.sentence[1] <= sentence[0]
        }
        return sorted(parts, reverse=True)

    def _between(
        self, own: frozenset[Token], foreign: frozenset[Token], parts: Iterable[Place]
    ) -> int:
        for part in parts:
            mentions = self.scene.within(*part)
            if not own:
                if said(foreign, mentions):
                    return OPEN
            elif said(own, mentions):
                return YES
            elif said(foreign, mentions):
                return NO
        return OPEN if own else YES

    def _rivals(self, cell: Cell) -> frozenset[tuple[frozenset[Token], frozenset[Token]]]:
        """What is only a number's own, and only another's, for those that differ in one label."""
        if id(cell) not in self._apart:
            found: set[tuple[frozenset[Token], frozenset[Token]]] = set()
            for other in self.scene.outputs.alike(cell)[:_MOST_SIBLINGS]:
                if other is not cell and other.labels == cell.labels:
                    found.add((frozenset(), frozenset(cell.tokens)))
                place = one_apart(cell, other)
                if place is None:
                    continue
                mine, its = (label_tokens(each.labels[place][1]) for each in (cell, other))
                found.add((frozenset(mine - its), frozenset(its - mine)))
            self._apart[id(cell)] = frozenset(found)
        return self._apart[id(cell)]


def said(tokens: frozenset[Token], mentions: Iterable[Mention]) -> bool:
    """Whether a name is said: one of its words, or its number where it has no word."""
    words = {t for t in tokens if isinstance(t, str) and "=" not in t and not is_weak(t)}
    words = {word for word in words if not is_compound(word)} if len(words) < len(tokens) else words
    if words:
        return any(mention.token in words for mention in mentions)
    values = {_value(t) for t in tokens if isinstance(t, float) or "=" in t}
    return any(is_number(m) and _value(m.token) in values for m in mentions)


def _value(token: Token) -> float:
    return token if isinstance(token, float) else float(token.rpartition("=")[2])
