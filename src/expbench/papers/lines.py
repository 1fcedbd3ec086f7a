"""Words of one column as lines, and lines as text."""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from expbench.papers.raw import Word, around

_SMALL = 0.86
"""An exponent's size against that of what it stands at, at most."""
_SAME_BASE = 0.22
_SHIFT = 0.62
"""Of a word's size, how far above or below its line an exponent or index stands at most."""
_RAISED, _LOWERED = 0.12, 0.08
_SIGNS = {".", ",", ";", ":", ")", "?", "!"}


@dataclass(frozen=True)
class Line:
    """Words that stand side by side, from left to right."""

    words: tuple[Word, ...]

    @cached_property
    def _box(self) -> tuple[float, float, float, float]:
        area = around(self.words)
        return area.x0, area.y0, area.x1, area.y1

    @property
    def x0(self) -> float:
        return self._box[0]

    @property
    def y0(self) -> float:
        return self._box[1]

    @property
    def x1(self) -> float:
        return self._box[2]

    @property
    def y1(self) -> float:
        return self._box[3]

    @cached_property
    def size(self) -> float:
        """The size in which most of its letters are set."""
        return usual_size(self.words)

    @cached_property
    def base(self) -> float:
        return max(
            (each for each in self.words if each.size >= _SMALL * self.size),
            key=lambda each: len(each.text),
        ).base

    @cached_property
    def bold(self) -> bool:
        letters = sum(len(each.text) for each in self.words)
        return 2 * sum(len(each.text) for each in self.words if each.bold) > letters

    @cached_property
    def math(self) -> float:
        """The share of its letters that are set in a font for formulas."""
        letters = sum(len(each.text) for each in self.words)
        return sum(len(each.text) for each in self.words if each.math) / letters

    @cached_property
    def text(self) -> str:
        return text_of(self.words)


def usual_size(words: Iterable[Word]) -> float:
    """The size in which most letters are set, to a fifth of a point; 10 where there are none."""
    sizes: Counter[float] = Counter()
    for each in words:
        sizes[round(each.size * 5) / 5] += len(each.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def text_of(words: Sequence[Word]) -> str:
    """Words in a row as text; what stands above or below the line has ``^`` or ``_`` before it."""
    text = ""
    main: Word | None = None
    for word in words:
        script = _script(main, word) if main is not None else ""
        space = "" if not text or script or (word.tight and _touches(main, word)) else " "
        braces = script and len(word.text) > 1 and not word.text.isdigit()
        text += space + script + (f"{{{word.text}}}" if braces else word.text)
        if not script:
            main = word
    return text


def _touches(main: Word | None, word: Word) -> bool:
    if main is None or word.x0 - main.x1 > 3 * word.size:
        return False
    return abs(word.base - main.base) < 0.5 * max(word.size, main.size)


def _script(main: Word, word: Word) -> str:
    """``^`` or ``_`` where a word stands small above or below the line at the one before."""
    if not word.tight or word.size > _SMALL * main.size or word.text in _SIGNS:
        return ""
    shift = word.base - main.base
    if shift < -_RAISED * main.size:
        return "^"
    return "_" if shift > _LOWERED * main.size else ""


def lines_of(words: Iterable[Word]) -> list[Line]:
    """The lines of one column, from above."""
    rows = rows_of(words)
    return [Line(tuple(row)) for row in rows]


def rows_of(words: Iterable[Word]) -> list[list[Word]]:
    """Words by base line, from above, each row from left to right; exponents go with what they stand at."""
    known = sorted(words, key=lambda each: (each.base, each.x0))
    rows: list[list[Word]] = []
    small: list[Word] = []
    usual = usual_size(known)
    bases = [each.base for each in known]
    reach = _SHIFT * max((each.size for each in known), default=0.0)
    for word in known:
        window = slice(bisect_left(bases, word.base - reach), bisect(bases, word.base + reach))
        if word.size < _SMALL * usual and _neighbour(word, known[window]):
            small.append(word)
            continue
        row = rows[-1] if rows else None
        tolerance = _SAME_BASE * word.size
        if row is not None and abs(_row_base(row) - word.base) <= tolerance:
            row.append(word)
        else:
            rows.append([word])
    for word in sorted(small, key=lambda each: each.x0):
        _row_for(word, rows).append(word)
    return [sorted(row, key=lambda each: (each.x0, each.base)) for row in _with_signs(rows)]


def _with_signs(rows: list[list[Word]]) -> list[list[Word]]:
    """Rows with the large signs (roots, sums) that have a base line of their own."""
    kept = [row for row in rows if not _is_sign(row)]
    for row in rows:
        if not _is_sign(row):
            continue
        over = max(kept, key=lambda other: _shared(row, other), default=None)
        if over is not None and _shared(row, over) > 0:
            over += row
        else:
            kept.append(row)
    return sorted(kept, key=lambda row: row[0].base)


def _shared(sign: Sequence[Word], row: Sequence[Word]) -> float:
    """The height that a sign shares with a row that it stands in."""
    own, area = around(sign), around(row)
    shared = min(area.y1, own.y1) - max(area.y0, own.y0)
    inside = len(row) > 2 and area.grown(area.height).meets(own)
    return shared if inside and shared > 0.5 * min(own.height, area.height) else 0.0


def _is_sign(row: Sequence[Word]) -> bool:
    return sum(len(each.text) for each in row) <= 2 and all(each.math for each in row)


def _row_base(row: Sequence[Word]) -> float:
    return row[-1].base


def _neighbour(word: Word, others: Sequence[Word]) -> bool:
    """Whether there is a larger word that a small one stands at, before or behind it."""
    return any(
        word.size <= _SMALL * other.size
        and abs(word.base - other.base) < _SHIFT * other.size
        and (
            -0.6 * other.size < word.x0 - other.x1 < 0.7 * other.size
            or -0.3 * other.size < other.x0 - word.x1 < 0.5 * other.size
        )
        for other in others
    )


def _row_for(word: Word, rows: list[list[Word]]) -> list[Word]:
    def distance(row: Sequence[Word]) -> float:
        larger = [each for each in row if word.size <= _SMALL * each.size]
        return min(
            (
                abs(word.base - each.base)
                + max(word.x0 - each.x1, each.x0 - word.x1, 0.0)
                + (0.0 if each.x0 <= word.x0 else 1.0)
                for each in larger
            ),
            default=1e9,
        )

    return min(rows, key=distance)
