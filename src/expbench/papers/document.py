"""What is read from a paper: pages, elements with their boxes, and passages that point into them."""

from __future__ import annotations

from typing import Literal

from expbench.schema import Record

ElementKind = Literal[
    "title",
    "heading",
    "paragraph",
    "list",
    "table",
    "figure",
    "caption",
    "formula",
    "footnote",
    "reference",
]


class Box(Record):
    """A rectangle of a page in points (1/72 inch), from the page's top left corner as it is shown."""

    x0: float
    y0: float
    x1: float
    y1: float


class Element(Record):
    """One element of a page, in the order of reading.

    ``section`` is the path of headings above it (``4 Experiments / 4.2 Ablations``), and of a table or
    figure with a label that of the text which speaks of it first; ``cells`` are a table's rows;
    ``label`` is what the text calls it (``Table 2``, ``[17]``); ``crop`` is the picture of a table or
    figure, below the document's folder; ``continues`` is the element that it goes on with, on
    an earlier page or column.
    """

    id: str
    kind: ElementKind
    page: int
    box: Box
    text: str
    section: str = ""
    label: str = ""
    appendix: bool = False
    cells: tuple[tuple[str, ...], ...] = ()
    crop: str = ""
    continues: str = ""


class Page(Record):
    """One page; ``number`` counts from 1, ``width`` and ``height`` are points, ``image`` is below the folder.

    ``source`` says where its text comes from: the text layer, a recognition of the picture, or nowhere.
    """

    number: int
    width: float
    height: float
    source: Literal["text", "ocr", "none"]
    image: str = ""
    rotation: int = 0
    columns: int = 1


class Quality(Record):
    """How far the reading can be relied on; ``notes`` are sentences for a person."""

    pages: int
    recognised: int = 0
    empty: int = 0
    doubtful_words: float = 0.0
    tables: int = 0
    tables_without_cells: int = 0
    figures: int = 0
    figures_without_caption: int = 0
    notes: tuple[str, ...] = ()


class Document(Record):
    """A paper as it was read; ``digest`` is the PDF's sha256."""

    title: str
    digest: str
    pages: tuple[Page, ...]
    elements: tuple[Element, ...]
    quality: Quality


class Passage(Record):
    """Where a statement rests in a paper: an element, its page and box, and the words themselves."""

    element: str
    page: int
    box: Box
    quote: str
