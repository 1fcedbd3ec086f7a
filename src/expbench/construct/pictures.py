"""Pictures of a paper's tables and figures, for models that see (publication, section 2.1: multimodal)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from expbench.papers.document import Element

MOST = 6
"""Pictures of one question."""
BYTES = 4 * 1024 * 1024
"""The largest picture that is sent; providers refuse larger ones."""
TOKENS = 1_200
"""What a picture counts, about: between a small and a large one of the usual providers."""


def shown(elements: Sequence[Element], folder: Path) -> tuple[tuple[Element, bytes], ...]:
    """The elements that have a picture, with it, at most :data:`MOST`; ``folder`` is the document's."""
    found: list[tuple[Element, bytes]] = []
    for element in elements:
        if len(found) == MOST:
            break
        if element.kind in ("table", "figure") and (content := _content(element, folder)):
            found.append((element, content))
    return tuple(found)


def caption_of(pictures: Sequence[tuple[Element, bytes]]) -> str:
    """The line that says which pictures follow, in their order; only names that are ours."""
    if not pictures:
        return ""
    names = ", ".join(element.id for element, _ in pictures)
    return f"\n\nThe pictures that follow are of these elements, in this order: {names}.\n"


def _content(element: Element, folder: Path) -> bytes:
    """The element's crop; nothing where there is none, it is too large, or it lies elsewhere."""
    if not element.crop:
        return b""
    file = (folder / element.crop).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        return b""
    return file.read_bytes() if file.stat().st_size <= BYTES else b""
