"""What a page holds, taken apart: its tables, figures, captions and lines, in the order of reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.papers.captions import captions_of
from expbench.papers.columns import Region, Run, column_lines, gutter_of, in_order
from expbench.papers.figures import Figure, figures_of, holds_prose
from expbench.papers.lines import Line
from expbench.papers.raw import Area, RawPage, Word
from expbench.papers.tables import Table, tables_of


@dataclass(frozen=True)
class Arranged:
    """A page's parts; regions of the runs point into the lists by their kind and number."""

    page: RawPage
    captions: tuple[Region, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    flow: tuple[Word, ...]
    gutter: float | None
    titles: dict[int, int]
    """Tables by their place in the list, with their captions'."""

    def runs(self, two_columns: bool) -> list[Run]:
        """Its lines and regions in the order of reading."""
        lines: list[Line | Region] = list(column_lines(self.flow, self.gutter))
        regions = [
            *(Region("table", each.area, number=at) for at, each in enumerate(self.tables)),
            *(Region("figure", each.area, number=at) for at, each in enumerate(self.figures)),
            *(
                Region("caption", each.area, each.lines, number=at)
                for at, each in enumerate(self.captions)
            ),
        ]
        return in_order([*lines, *regions], self.gutter, two_columns)


def arrange(page: RawPage, words: Sequence[Word], body: float) -> Arranged:
    """Take a page apart.

    Args:
        page: as it was parsed.
        words: its words without those of its margins.
        body: the size in which most of the document is set.
    """
    upright = [each for each in words if not each.turned]
    captions = captions_of(upright, page.across)
    tables = tables_of(upright, page.across, page.down, page.drawings, captions)
    places = [each.area for each in tables]
    lines = [
        each
        for each in (*page.across, *page.down)
        if not any(place.grown(2).meets(each) for place in places)
    ]
    figures = figures_of(words, [*page.drawings, *lines], captions, places, body)
    figures = [
        each
        for each in figures
        if each.caption >= 0 or (_pictured(each.area, page) and not holds_prose(each, body))
    ]
    taken = {
        id(word)
        for group in (
            *(each.words for each in tables),
            *(each.words for each in figures),
            *(line.words for each in captions for line in each.lines),
        )
        for word in group
    }
    flow = tuple(each for each in upright if id(each) not in taken)
    return Arranged(
        page=page,
        captions=tuple(captions),
        tables=tuple(tables),
        figures=tuple(figures),
        flow=flow,
        gutter=gutter_of(flow, page.width),
        titles=_titles(tables, captions),
    )


def _pictured(area: Area, page: RawPage) -> bool:
    """What has no caption counts as a figure where it is as large as one."""
    return area.width * area.height > 0.02 * page.width * page.height


def _titles(tables: Sequence[Table], captions: Sequence[Region]) -> dict[int, int]:
    """Each table's caption: the nearest pairs first."""
    pairs = sorted(
        (max(table.area.y0 - caption.y1, caption.y0 - table.area.y1), at, number)
        for at, table in enumerate(tables)
        for number, caption in enumerate(captions)
        if caption.kind == "table" and caption.x0 < table.area.x1 and table.area.x0 < caption.x1
    )
    found: dict[int, int] = {}
    for gap, at, number in pairs:
        if gap < 60 and at not in found and number not in found.values():
            found[at] = number
    return found
