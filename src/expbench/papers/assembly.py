"""Pages as one document: elements in the order of reading, each below its headings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from expbench.papers.arrangement import Arranged, arrange
from expbench.papers.blocks import Block, Column, blocks_of
from expbench.papers.captions import label_of
from expbench.papers.columns import Item, Region, Run
from expbench.papers.document import Box, Element, ElementKind
from expbench.papers.headings import Path, heading_of
from expbench.papers.lines import Line, text_of, usual_size
from expbench.papers.margins import without_margins
from expbench.papers.raw import Area, Placed, RawPage, around
from expbench.papers.wording import Vocabulary, running_text, vocabulary_of

_TITLE = 1.2
"""Of the body's size, what a title has at least."""
_ENDED = (".", ":", "!", "?", ".)", ".”", '."')


def elements_of(pages: Sequence[RawPage]) -> list[Element]:
    """All elements of a document, in the order of reading."""
    words = without_margins(pages)
    body = usual_size(word for page in words for word in page)
    arranged = [arrange(page, kept, body) for page, kept in zip(pages, words, strict=True)]
    filled = [each for each in arranged if each.flow]
    two = 2 * sum(each.gutter is not None for each in filled) > len(filled)
    runs = [each.runs(two) for each in arranged]
    lines = (
        line.text
        for page in runs
        for run in page
        for item in run.items
        for line in ([item] if isinstance(item, Line) else item.lines)
    )
    assembler = _Assembler(vocabulary_of(lines), body)
    for place, page_runs in zip(arranged, runs, strict=True):
        assembler.add_page(place, page_runs)
    return [_placed(each, assembler.elements) for each in assembler.elements]


def _placed(element: Element, elements: Sequence[Element]) -> Element:
    """A table or figure in the section that speaks of it first: pages are no reason to be elsewhere."""
    if element.kind not in ("table", "figure", "caption") or not element.label:
        return element
    name = re.compile(
        rf"{element.label.replace(' ', r'[ ~]?')}(?![\d.]*\d)".replace("Figure", "Fig(?:ure|\\.)")
    )
    kinds = ("paragraph", "list", "footnote")
    first = next((each for each in elements if each.kind in kinds and name.search(each.text)), None)
    if first is None:
        return element
    return element.model_copy(update={"section": first.section, "appendix": first.appendix})


def title_of(elements: Sequence[Element]) -> str:
    """The title that a document has on its first page; empty where none was found."""
    return next((each.text for each in elements if each.kind == "title"), "")


@dataclass
class _Assembler:
    vocabulary: Vocabulary
    body: float
    elements: list[Element] = field(default_factory=list)
    path: Path = field(default_factory=Path)
    number: int = 0
    """Elements of the present page."""

    def add_page(self, arranged: Arranged, runs: Sequence[Run]) -> None:
        self.number = 0
        page = arranged.page
        title = self._title(page, runs) if not self.elements else ()
        if title:
            self._add("title", page, around(title), running_text(title, self.vocabulary))
        for run in runs:
            for part in _parts(run.items):
                if isinstance(part, Region):
                    self._region(part, arranged)
                else:
                    self._lines([each for each in part if each not in title], run, page)

    def _title(self, page: RawPage, runs: Sequence[Run]) -> tuple[Line, ...]:
        """The largest lines in the upper half of the first page."""
        upper = [
            item
            for run in runs
            for item in run.items
            if isinstance(item, Line) and item.y1 < 0.5 * page.height and len(item.text) > 3
        ]
        if not upper:
            return ()
        size = max(each.size for each in upper)
        if size < _TITLE * self._body(page):
            return ()
        least = 0.78 if page.source == "ocr" else 0.88
        large = [each for each in upper if each.size > least * size]
        first = large[0]
        return tuple(
            each
            for at, each in enumerate(large)
            if each.y0 - first.y0 < (at + 0.5) * 2.2 * size and _may_be_title(each)
        )

    def _body(self, page: RawPage) -> float:
        return usual_size(page.words) if page.source == "ocr" else self.body

    def _lines(self, lines: Sequence[Line], run: Run, page: RawPage) -> None:
        """Add the blocks of lines; a heading changes what the lines below it are taken for."""
        body = self._body(page)
        rest = list(lines)
        while rest:
            column = Column(
                min(run.x0, min(each.x0 for each in rest)),
                max(run.x1, max(each.x1 for each in rest)),
                body,
                page.height,
                page.source == "ocr",
                self.path.references,
                _footnote_rule(page, run),
            )
            blocks = blocks_of(rest, column)
            used: set[int] = set()
            for block in blocks:
                used |= {id(each) for each in block.lines}
                self._block(block, page)
                if block.kind == "heading" and self.path.references != column.references:
                    break
            rest = [each for each in rest if id(each) not in used]

    def _block(self, block: Block, page: RawPage) -> None:
        text = _text(block, self.vocabulary)
        if block.kind == "heading":
            heading = heading_of(block.lines[0], self._body(page), page.source == "ocr")
            if heading is not None:
                whole = text.removeprefix(heading.number).strip() if heading.number else text
                self.path.enter(type(heading)(heading.number, whole))
        before = self._open() if block.kind in ("paragraph", "reference") else None
        continues = ""
        first = self.number == 0 or (before is not None and before.page != page.number)
        apart = before is not None and (first or before.box.y0 > block.lines[0].y0)
        if before is not None and before.kind == block.kind and apart and _goes_on(before, block):
            continues = before.id
        label = block.label
        if block.kind == "footnote" and label:
            text = re.sub(rf"^\^?{re.escape(label)}\s*", "", text)
            label = unicodedata.normalize("NFKC", label)
        self._add(
            block.kind, page, around(block.lines), text, label=label.rstrip(), continues=continues
        )

    def _open(self) -> Element | None:
        """The text that a column may go on with."""
        kinds = ("paragraph", "reference", "heading", "list", "formula")
        last = next((each for each in reversed(self.elements) if each.kind in kinds), None)
        return last if last is not None and last.kind in ("paragraph", "reference") else None

    def _region(self, region: Region, arranged: Arranged) -> None:
        page = arranged.page
        if region.kind == "caption":
            text = running_text(region.lines, self.vocabulary)
            self._add("caption", page, region.area, text, label=label_of(text))
        elif region.kind == "figure":
            figure = arranged.figures[region.number]
            label = _label(arranged.captions, figure.caption)
            text = " ".join(each.text for each in figure.words)
            self._add("figure", page, region.area, text, label=label)
        else:
            self._table(region, arranged)

    def _table(self, region: Region, arranged: Arranged) -> None:
        cells = arranged.tables[region.number].cells
        label = _label(arranged.captions, arranged.titles.get(region.number, -1))
        before = self._table_above(cells, region, arranged) if not label else None
        self._add(
            "table",
            arranged.page,
            region.area,
            "\n".join("\t".join(row) for row in cells),
            label=before.label if before is not None else label,
            cells=cells,
            continues=before.id if before is not None else "",
        )

    def _table_above(
        self, cells: tuple[tuple[str, ...], ...], region: Region, arranged: Arranged
    ) -> Element | None:
        """The table of the page before that goes on at the top of this one."""
        tables = [each for each in self.elements if each.kind == "table"]
        last = tables[-1] if tables else None
        if last is None or last.page != arranged.page.number - 1:
            return None
        lower = last.box.y1 > 0.6 * arranged.page.height
        upper = region.y0 < 0.3 * arranged.page.height
        alike = len(last.cells[0]) == len(cells[0])
        return last if lower and upper and alike else None

    def _add(
        self,
        kind: ElementKind,
        page: RawPage,
        place: Placed,
        text: str,
        *,
        label: str = "",
        cells: tuple[tuple[str, ...], ...] = (),
        continues: str = "",
    ) -> None:
        self.number += 1
        self.elements.append(
            Element(
                id=f"p{page.number}-{self.number}",
                kind=kind,
                page=page.number,
                box=_box(place, page),
                text=text,
                section=str(self.path),
                label=label,
                appendix=self.path.appendix,
                cells=cells,
                continues=continues,
            )
        )


def _text(block: Block, vocabulary: Vocabulary) -> str:
    """A block's text; a formula's from left to right, whatever its rows."""
    if block.kind != "formula":
        return running_text(block.lines, vocabulary)
    words = [word for line in block.lines for word in line.words]
    return text_of(sorted(words, key=lambda each: (each.x0, each.base)))


def _footnote_rule(page: RawPage, run: Run) -> float | None:
    """Where a short rule stands at a column's left edge, below the page's middle."""
    width = run.x1 - run.x0
    found = [
        each.y0
        for each in page.across
        if abs(each.x0 - run.x0) < 6
        and 0.12 * width < each.width < 0.6 * width
        and each.y0 > 0.5 * page.height
    ]
    return max(found, default=None)


def _may_be_title(line: Line) -> bool:
    heading = heading_of(line, 0.0, False)
    return heading is None or not heading.number


def _parts(items: Sequence[Item]) -> Iterator[list[Line] | Region]:
    """Regions, and the lines between them."""
    lines: list[Line] = []
    for item in items:
        if isinstance(item, Line):
            lines.append(item)
            continue
        if lines:
            yield lines
            lines = []
        yield item
    if lines:
        yield lines


def _goes_on(before: Element, block: Block) -> bool:
    if block.kind == "reference":
        return not block.label and before.label != ""
    first = block.lines[0].text[:1]
    return block.opened and (not before.text.endswith(_ENDED) or first.islower())


def _label(captions: Sequence[Region], number: int) -> str:
    return label_of(captions[number].lines[0].text) if number >= 0 else ""


def _box(place: Placed, page: RawPage) -> Box:
    area = Area(
        max(place.x0, 0.0),
        max(place.y0, 0.0),
        min(place.x1, page.width),
        min(place.y1, page.height),
    )
    return Box(
        x0=round(area.x0, 2), y0=round(area.y0, 2), x1=round(area.x1, 2), y1=round(area.y1, 2)
    )
