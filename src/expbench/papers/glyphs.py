"""The text layer of a page as words, in the process that runs the parser.

The parser's own lines are not used: they follow the order in which a page was written. Its characters
are, each with its box, base line, font and size.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from expbench.papers.raw import Word
from expbench.papers.turning import Turn

MOST_CHARACTERS = 120_000
"""Of one page; a page of a journal has under 10,000."""
_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmb\d|[-,]b(?:$|\W)|bx\d", re.IGNORECASE)
_MATH = re.compile(r"cmmi|cmsy|cmex|msam|msbm|math|symbol|lmmi|lmsy|lmex|rsfs|eufm", re.IGNORECASE)
_LARGE = re.compile(r"cmex|lmex|mathextension", re.IGNORECASE)
"""Fonts of signs that hang below their base line; what they cover is what is drawn."""
_OPERATORS = {"P": "∑", "X": "∑", "Q": "∏", "Y": "∏", "R": "∫", "Z": "∫"}
"""What TeX's font of large signs has at the places of letters."""
_HYPHENS = {0xFFFE: "-", 0x02: "-", 0xAD: "-", 0x2212: "-"}
_ACCENTS = {
    "`": "\u0300",
    "´": "\u0301",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "¯": "\u0304",
    "¨": "\u0308",
}
"""Signs over letters, and the characters that join them to these."""
_SPACE_SHARE = 0.2
"""A gap that is wider than this share of the size parts words."""
_UPRIGHT = math.radians(8)


@dataclass(frozen=True, slots=True)
class _Glyph:
    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    bold: bool
    math: bool
    angle: float


def text_angle(text_page: Any, count: int) -> int:
    """Degrees clockwise, in quarters, at which most characters run on the page as it is stored."""
    from pypdfium2 import raw

    turns: Counter[int] = Counter()
    for at in range(0, count, max(1, count // 500)):
        if raw.FPDFText_IsGenerated(text_page, at) != 1:
            turns[_quarter(raw.FPDFText_GetCharAngle(text_page, at))] += 1
    return turns.most_common(1)[0][0] if turns else 0


def words_of(text_page: Any, count: int, turn: Turn) -> list[Word]:
    """The words of a page, in the order in which it was written."""
    return list(_words(_accented(_glyphs(text_page, min(count, MOST_CHARACTERS), turn))))


def _quarter(angle: float) -> int:
    return round(math.degrees(angle) / 90) % 4 * 90


def _glyphs(text_page: Any, count: int, turn: Turn) -> Iterator[_Glyph | None]:
    """Characters; ``None`` stands for a space."""
    from pypdfium2 import raw

    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    x, y = ctypes.c_double(), ctypes.c_double()
    for at in range(count):
        code = raw.FPDFText_GetUnicode(text_page, at)
        text = _character(code)
        if not text.strip() or (raw.FPDFText_IsGenerated(text_page, at) == 1 and code != 0xFFFE):
            yield None
            continue
        raw.FPDFText_GetCharOrigin(text_page, at, x, y)
        length = raw.FPDFText_GetFontInfo(text_page, at, name, 128, flags)
        font = name.raw[: max(min(length, 128) - 1, 0)].decode("utf-8", "replace")
        large = text == "√" or bool(_LARGE.search(font))
        text = _OPERATORS.get(text, text) if large else text
        box = turn.box(*text_page.get_charbox(at, loose=not large))
        yield _Glyph(
            text,
            *box,
            base=turn.point(x.value, y.value)[1],
            size=_size(raw.FPDFText_GetFontSize(text_page, at), box),
            bold=bool(_BOLD.search(font)) or raw.FPDFText_GetFontWeight(text_page, at) >= 600,
            math=bool(_MATH.search(font)),
            angle=raw.FPDFText_GetCharAngle(text_page, at) - math.radians(turn.content),
        )


def _character(code: int) -> str:
    if not code:
        return "\ufffd"
    text = _HYPHENS.get(code) or chr(code)
    return text if text in _ACCENTS else unicodedata.normalize("NFKC", text)


def _size(said: float, box: tuple[float, float, float, float]) -> float:
    """The size of a font; where the page scales it, its character's height tells."""
    height = box[3] - box[1]
    return said if 0.5 * said <= height <= 2.5 * said else max(height, 1.0)


def _accented(glyphs: Iterator[_Glyph | None]) -> list[_Glyph | None]:
    """Accents that were drawn on their own, joined to the letters that they stand over."""
    found: list[_Glyph | None] = []
    accent: _Glyph | None = None
    for glyph in glyphs:
        if glyph is not None and glyph.text in _ACCENTS:
            if found and (letter := found[-1]) is not None and _stands_over(glyph, letter):
                found[-1] = _joined(glyph, letter)
            else:
                accent = glyph
        elif accent is None or glyph is None:
            found.append(glyph)
        else:
            over = _stands_over(accent, glyph)
            found += [_joined(accent, glyph)] if over else [accent, glyph]
            accent = None
    return found


def _stands_over(accent: _Glyph, letter: _Glyph) -> bool:
    return letter.text.isalpha() and letter.x0 <= (accent.x0 + accent.x1) / 2 <= letter.x1


def _joined(accent: _Glyph, letter: _Glyph) -> _Glyph:
    return replace(letter, text=unicodedata.normalize("NFC", letter.text + _ACCENTS[accent.text]))


def _words(glyphs: list[_Glyph | None]) -> Iterator[Word]:
    run: list[_Glyph] = []
    tight = spaced = False
    for glyph in glyphs:
        if glyph is None:
            spaced = True
            continue
        if run:
            parts, near = _parted(run[-1], glyph, spaced)
            if parts:
                yield _word(run, tight)
                run, tight = [], near
        run.append(glyph)
        spaced = False
    if run:
        yield _word(run, tight)


def _parted(before: _Glyph, glyph: _Glyph, spaced: bool) -> tuple[bool, bool]:
    """Whether two characters belong to two words, and whether these touch."""
    size = max(before.size, glyph.size)
    if (glyph.x0, glyph.y0) == (before.x0, before.y0):
        return False, True  # letters of one ligature
    if abs(before.angle) > _UPRIGHT or abs(glyph.angle) > _UPRIGHT:
        apart = max(glyph.y0 - before.y1, before.y0 - glyph.y1, glyph.x0 - before.x1)
        return spaced or apart > _SPACE_SHARE * size, False
    gap = glyph.x0 - before.x1
    shift = abs(glyph.base - before.base)
    near = -0.75 * size < gap <= _SPACE_SHARE * size * 0.6 and shift < 1.2 * size
    changed = shift > 0.12 * size or not 0.9 < glyph.size / before.size < 1.1
    return changed or gap > _SPACE_SHARE * size or gap < -0.6 * size or (spaced and gap > 0), near


def _word(run: list[_Glyph], tight: bool) -> Word:
    first = run[0]
    return Word(
        text="".join(each.text for each in run),
        x0=round(min(each.x0 for each in run), 2),
        y0=round(min(each.y0 for each in run), 2),
        x1=round(max(each.x1 for each in run), 2),
        y1=round(max(each.y1 for each in run), 2),
        base=round(first.base, 2),
        size=round(first.size, 2),
        bold=2 * sum(each.bold for each in run) > len(run),
        math=2 * sum(each.math for each in run) > len(run),
        tight=tight,
        turned=abs(math.remainder(first.angle, 2 * math.pi)) > _UPRIGHT,
    )
