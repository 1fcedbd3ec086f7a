"""Where a number may be another's than the one that the reader took it for.

In a sentence of many numbers the nearest name is a guess. When the number that is claimed stands in the
outputs under names that the text says as well, calling it contradicted would blame its author for the guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expbench.grounding.agreeing import YES, said
from expbench.grounding.binding import SURE
from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.names import Token
from expbench.grounding.pairs import one_apart
from expbench.grounding.parallel import Parallel
from expbench.grounding.scene import Scene

_UNNAMED = re.compile(
    r"\b(?:than|over|against|behind|to|with|beats?)\s((?:[a-z-]+\s){1,4})\([A-Za-z ]{0,20}$"
)
"""Before a number in brackets: what something is compared with."""
_MANY = 3
_PAIR = 2


@dataclass(frozen=True)
class Caution:
    """Judges which numbers of one conclusion the reader may have bound wrongly."""

    scene: Scene
    parallel: Parallel
    pairs: Mapping[int, Cell]
    """By the end of a figure the number of the outputs that it was found to be."""

    def meant(
        self, figure: Figure, honest: Sequence[Cell], bound: dict[Token, float]
    ) -> Cell | None:
        """The number of the outputs that a figure may be, though its nearest names are another's."""
        return next((cell for cell in honest if self._may_be(cell, figure, bound)), None)

    def _may_be(self, cell: Cell, figure: Figure, bound: dict[Token, float]) -> bool:
        sure = {token for token, strength in bound.items() if strength >= SURE}
        if not sure <= cell.tokens:
            return False
        if self._beside_its_row(cell, figure) or self._behind_unnamed(figure):
            return True
        row = next(iter(self.parallel.rows(figure)), ())
        if len(row) == _PAIR or not self._dense(figure):
            return False  # of two numbers the order tells which is whose
        if sure:
            return True
        return self.parallel.agreeing.degree(cell, figure.start) == YES

    def _beside_its_row(self, cell: Cell, figure: Figure) -> bool:
        """Whether the name that is said belongs to another number of the row, and this one's is left out."""
        own = (figure.start, figure.end)
        row = next(iter(self.parallel.rows(figure)), ())
        mates = [self.pairs[end] for start, end in row if (start, end) != own and end in self.pairs]
        passage = self.scene.conclusion.passage(figure.start)
        here = self.scene.within(*passage.sentence) if passage else []
        return any(
            one_apart(mate, cell) is not None
            and said(mate.tokens - cell.tokens, here)
            and not said(cell.tokens - mate.tokens, here)
            for mate in mates
        )

    def _behind_unnamed(self, figure: Figure) -> bool:
        """Whether a number stands in brackets behind what the outputs do not name."""
        before = _UNNAMED.search(self.scene.conclusion.text[: figure.start][-80:])
        if before is None:
            return False
        offset = max(0, figure.start - 80)
        start, end = offset + before.start(1), offset + before.end(1)
        return not self.scene.within(start, end)

    def _dense(self, figure: Figure) -> bool:
        """Whether a number is one of many: in brackets, in a sentence with several others."""
        passage = self.scene.conclusion.passage(figure.start)
        if passage is None:
            return False
        text = self.scene.conclusion.text[passage.sentence[0] : figure.start]
        bracketed = text.count("(") > text.count(")")
        many = sum(passage.sentence[0] <= p[0] < passage.sentence[1] for p in self.scene.places)
        return bracketed and many >= _MANY
