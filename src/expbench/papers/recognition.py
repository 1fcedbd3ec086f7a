"""The words of a page's picture, by optical character recognition; in the process that runs the parser.

RapidOCR's models come in its wheel, so that nothing is fetched or installed beside Python packages.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from expbench.papers.raw import Area, Placed, Word

DPI = 150
"""At which pages are shown to the recognition: it makes larger pictures smaller by itself."""
_DARK = 0.55
"""Of the paper's brightness; what is darker is ink."""
_SIZE_SHARE = 0.78
"""Of a recognised line's box, what is its font's size."""
_BASE_SHARE = 0.78
_MOST_SKEW = 4.0
_UPRIGHT = 0.85
"""Of pages that lie upside down the recognition is less sure."""
_BOLD_SHARE = 1.22
"""Strokes that are wider by this factor than the page's are bold."""

Grey = NDArray[np.uint8]
Ink = NDArray[np.bool_]


@dataclass(frozen=True)
class Recognised:
    """What a picture of a page shows, the picture upright, and the quarters clockwise that it took."""

    picture: Image.Image
    turned: int
    words: list[Word]
    across: list[Area]
    down: list[Area]
    drawings: list[Area]


def recognise(picture: Image.Image) -> Recognised:
    """Read a grey picture at :data:`DPI`, whichever way up it lies and a few degrees askew."""
    lies = _lies(picture)
    found = _read(picture.rotate(-90, expand=True) if lies else picture, 90 if lies else 0)
    if _sureness(found.words) >= _UPRIGHT:
        return found
    other = _read(found.picture.rotate(180), (found.turned + 180) % 360)
    return max(found, other, key=lambda each: _sureness(each.words))


def _read(picture: Image.Image, turned: int) -> Recognised:
    straight = _straightened(picture)
    ink = _ink(np.asarray(straight))
    scale = 72 / DPI
    words = list(_words(straight, ink, scale))
    across, down = _rules(ink, scale)
    drawings = _drawings(ink, words, [*across, *down], scale)
    return Recognised(straight, turned, words, across, down, drawings)


def _sureness(words: Sequence[Word]) -> float:
    """How sure the recognition is of a page's letters."""
    letters = sum(len(each.text) for each in words)
    return sum(each.sure * len(each.text) for each in words) / letters if letters else 0.0


def _lies(picture: Image.Image) -> bool:
    """Whether lines run from above to below: then columns of ink and paper alternate, and not rows."""
    small = _small(picture)
    return _evenness(small.rotate(90, expand=True), 0) > 1.3 * _evenness(small, 0)


def _small(picture: Image.Image) -> Image.Image:
    return picture.reduce(3) if min(picture.size) > 600 else picture


def _straightened(picture: Image.Image) -> Image.Image:
    """The picture turned by the few degrees by which its lines are askew."""
    small = _small(picture)
    coarse = max(np.arange(-_MOST_SKEW, _MOST_SKEW + 0.1, 0.5), key=lambda a: _evenness(small, a))
    fine = np.arange(coarse - 0.4, coarse + 0.41, 0.1)
    angle = float(max(fine, key=lambda a: _evenness(small, a)))
    if abs(angle) < 0.15:
        return picture
    return picture.rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor=255)


@lru_cache(maxsize=1)
def _engine() -> Any:
    from rapidocr import RapidOCR

    logging.disable(logging.WARNING)
    return RapidOCR(
        params={
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 2,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _evenness(picture: Image.Image, angle: float) -> float:
    """How sharply rows of ink and of paper alternate when the picture is turned by an angle."""
    turned = np.asarray(picture.rotate(angle, fillcolor=255), dtype=np.float32)
    return float(np.square(np.diff(turned.mean(axis=1))).sum())


def _ink(grey: Grey) -> Ink:
    paper = float(np.percentile(grey, 90))
    smooth = ndimage.gaussian_filter(grey.astype(np.float32), 0.6)
    return np.asarray(smooth < _DARK * paper + 20, dtype=np.bool_)


def _words(picture: Image.Image, ink: Ink, scale: float) -> Iterator[Word]:
    found = _engine()(np.asarray(picture.convert("RGB")), return_word_box=True, use_cls=False)
    if found.boxes is None:
        return
    lines = [
        (parts, _bounds(box))
        for parts, box in zip(found.word_results, found.boxes, strict=True)
        if parts
    ]
    strokes = [_stroke(ink, box) for _, box in lines]
    usual = float(np.median([each for each in strokes if each] or [1.0]))
    body = _usual_height(lines)
    for (parts, (x0, y0, x1, y1)), stroke in zip(lines, strokes, strict=True):
        height = (y1 - y0) * scale
        size = _SIZE_SHARE * scale * body * _step((y1 - y0) / body)
        for text, sure, corners in parts:
            left, _, right, _ = _bounds(np.asarray(corners))
            if not text.strip():
                continue
            yield Word(
                text=text.strip(),
                x0=round(max(left, x0) * scale, 2),
                y0=round(y0 * scale, 2),
                x1=round(min(right, x1) * scale, 2),
                y1=round(y1 * scale, 2),
                base=round(y0 * scale + _BASE_SHARE * height, 2),
                size=round(size, 2),
                bold=stroke > _BOLD_SHARE * usual,
                turned=height > 2.5 * (x1 - x0) * scale and len(text) > 2,
                sure=round(float(sure), 3),
            )


def _usual_height(lines: Sequence[tuple[Any, tuple[float, float, float, float]]]) -> float:
    """The height of the lines that hold most letters."""
    heights = [
        y1 - y0 for parts, (_, y0, _, y1) in lines for each in parts for _ in range(len(each[0]))
    ]
    return float(np.median(heights)) if heights else 1.0


def _step(ratio: float) -> float:
    """A line's height against the usual one in steps: letters with tails make lines differ by a tenth."""
    return 1.0 if 0.84 < ratio < 1.16 else round(ratio * 10) / 10


def _bounds(corners: NDArray[Any]) -> tuple[float, float, float, float]:
    x, y = corners[:, 0], corners[:, 1]
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


def _stroke(ink: Ink, box: tuple[float, float, float, float]) -> float:
    """The mean width of the strokes in a box, in pixels: twice their area over their outline."""
    x0, y0, x1, y1 = (max(round(each), 0) for each in box)
    part = ink[y0:y1, x0:x1]
    outline = int((part[1:] != part[:-1]).sum() + (part[:, 1:] != part[:, :-1]).sum())
    return 2 * float(part.sum()) / outline if outline else 0.0


def _rules(ink: Ink, scale: float) -> tuple[list[Area], list[Area]]:
    least = round(24 / scale)
    return (
        _runs(ink, (1, least), scale, lambda area: area.height <= 3),
        _runs(ink, (least // 3, 1), scale, lambda area: area.width <= 3 and area.height >= 14),
    )


def _runs(ink: Ink, shape: tuple[int, int], scale: float, fits: Any) -> list[Area]:
    """Straight runs of ink. They are widened first, since scans break them."""
    wide = ndimage.binary_dilation(ink, np.ones((3, 3)))
    kept = ndimage.binary_opening(wide, np.ones(shape))
    labels, _ = ndimage.label(kept)
    areas = []
    for rows, columns in ndimage.find_objects(labels):
        area = Area(
            (columns.start + 1) * scale,
            (rows.start + 1) * scale,
            (columns.stop - 1) * scale,
            (rows.stop - 1) * scale,
        )
        if fits(area):
            areas.append(area)
    return areas


def _drawings(ink: Ink, words: list[Word], rules: list[Area], scale: float) -> list[Area]:
    """What is inked and neither word nor rule."""
    rest = ink.copy()
    known: list[Placed] = [*words, *rules]
    for each in known:
        x0, y0, x1, y1 = (round(v / scale) for v in (each.x0, each.y0, each.x1, each.y1))
        rest[max(y0 - 2, 0) : y1 + 3, max(x0 - 2, 0) : x1 + 3] = False
    joined = ndimage.binary_dilation(rest, np.ones((5, 5)))
    labels, _ = ndimage.label(joined)
    found = []
    for rows, columns in ndimage.find_objects(labels):
        area = Area(
            columns.start * scale, rows.start * scale, columns.stop * scale, rows.stop * scale
        )
        if max(area.width, area.height) >= 12:
            found.append(area)
    return found
