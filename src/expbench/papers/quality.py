"""How far the reading of a paper can be relied on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from expbench.papers.captions import label_of
from expbench.papers.document import Element, Quality
from expbench.papers.raw import RawPage, Word

_DOUBTFUL = 0.75
"""A recognised word of which the recognition is less sure."""


def quality_of(
    pages: Sequence[RawPage], elements: Sequence[Element], notes: Sequence[str]
) -> Quality:
    """Count what was read and what was not.

    Args:
        pages: as they were parsed.
        elements: what was made of them.
        notes: sentences on the file.
    """
    words = [word for page in pages for word in page.words]
    tables = [each for each in elements if each.kind == "table"]
    figures = [each for each in elements if each.kind == "figure"]
    missed = _missed(elements, "Table", tables)
    return Quality(
        pages=len(pages),
        recognised=sum(each.source == "ocr" for each in pages),
        empty=sum(each.source == "none" for each in pages),
        doubtful_words=round(sum(map(_is_doubtful, words)) / len(words), 4) if words else 0.0,
        tables=len(tables) + len(missed),
        tables_without_cells=sum(not each.cells for each in tables) + len(missed),
        figures=len(figures),
        figures_without_caption=sum(not each.label for each in figures),
        notes=(*notes, *_notes(pages, elements, missed, figures)),
    )


def _is_doubtful(word: Word) -> bool:
    broken = any(each == "\ufffd" or "\ue000" <= each <= "\uf8ff" for each in word.text)
    return broken or word.sure < _DOUBTFUL


def _missed(elements: Sequence[Element], kind: str, found: Sequence[Element]) -> list[Element]:
    """Captions of which the thing itself was not found."""
    known = {each.label for each in found}
    return [
        each
        for each in elements
        if each.kind == "caption"
        and label_of(each.text).startswith(kind)
        and each.label not in known
    ]


def _notes(
    pages: Sequence[RawPage],
    elements: Sequence[Element],
    missed: Sequence[Element],
    figures: Sequence[Element],
) -> Iterator[str]:
    for page in pages:
        yield from page.notes
        if page.source == "none" and not page.notes:
            yield f"Page {page.number} has no text."
    for each in missed:
        yield f"{each.label} on page {each.page} was not found below or above its caption."
    for each in _missed(elements, "Figure", figures):
        yield f"{each.label} on page {each.page} was not found above or below its caption."
    if pages and not any(each.kind == "heading" for each in elements):
        yield "No headings were found, so that no element has a section."
