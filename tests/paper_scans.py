"""Scans of the test papers: their pages as pictures, clean or as a bad copier leaves them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter

PAPERS = Path(__file__).parent / "papers"


def scan(
    name: str,
    out: Path,
    pages: list[int],
    *,
    dpi: int = 200,
    degraded: bool = False,
    turned: int = 0,
) -> Path:
    """A PDF that holds pictures of some pages and no text.

    Args:
        name: of the paper.
        out: the PDF to write.
        pages: counted from 1.
        dpi: of the pictures.
        degraded: blurred, noisy, grey, askew by one to two degrees.
        turned: degrees clockwise by which a page lies in the scanner, in quarters.
    """
    with pypdfium2.PdfDocument(PAPERS / f"{name}.pdf") as document:
        pictures = [
            document[number - 1].render(scale=dpi / 72, grayscale=True).to_pil() for number in pages
        ]
    if degraded:
        rng = np.random.default_rng(7)
        pictures = [_degraded(each, at, rng) for at, each in enumerate(pictures)]
    if turned:
        pictures = [each.rotate(-turned, expand=True) for each in pictures]
    first, *rest = [each.convert("RGB") for each in pictures]
    first.save(out, format="PDF", resolution=dpi, save_all=True, append_images=rest, quality=85)
    return out


def _degraded(picture: Image.Image, at: int, rng: np.random.Generator) -> Image.Image:
    angle = (1.4, -1.9, 1.0)[at % 3]
    askew = picture.rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor=255)
    blurred = np.asarray(askew.filter(ImageFilter.GaussianBlur(0.7)), dtype=np.float32)
    noisy = 235 * blurred / 255 + rng.normal(0, 12, blurred.shape)
    specks = rng.random(blurred.shape) < 0.0008
    noisy[specks] = 40
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def error_rate(truth: str, read: str) -> float:
    """Wrong, missing and added characters as a share of the truth's, spaces left out."""
    wanted, found = "".join(truth.split()), "".join(read.split())
    codes = np.array([ord(each) for each in found])
    before = np.arange(len(found) + 1)
    steps = np.arange(len(found) + 1)
    for at, character in enumerate(wanted, 1):
        changed = np.concatenate(
            ([at], np.minimum(before[:-1] + (codes != ord(character)), before[1:] + 1))
        )
        before = np.minimum.accumulate(changed - steps) + steps
    return float(before[-1]) / max(len(wanted), 1)
