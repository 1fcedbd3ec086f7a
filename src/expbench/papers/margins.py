"""What stands in the margins of pages: their numbers and running heads, which belong to no text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from expbench.papers.lines import rows_of, text_of
from expbench.papers.raw import RawPage, Word

_ZONE = 0.1
"""Of a page's height, above and below."""
_PAGE_NUMBER = re.compile(
    r"\W*(?:page\s*)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.I
)
_LEAST_PAGES = 3
_SHARE = 0.3


def without_margins(pages: Sequence[RawPage]) -> list[tuple[Word, ...]]:
    """The words of each page without page numbers and running heads."""
    rows = [list(_rows(page)) for page in pages]
    seen = Counter(key for each in rows for key in {_key(row) for row in each})
    often = max(_LEAST_PAGES, _SHARE * len(pages))
    kept = []
    for page, in_zone in zip(pages, rows, strict=True):
        dropped = {
            id(word)
            for row in in_zone
            for word in row
            if seen[_key(row)] >= often or _is_number(row, page)
        }
        kept.append(tuple(each for each in page.words if id(each) not in dropped))
    return kept


def _rows(page: RawPage) -> Iterator[list[Word]]:
    zone = _ZONE * page.height
    words = [
        each
        for each in page.words
        if not each.turned and (each.y1 < zone or each.y0 > page.height - zone)
    ]
    yield from rows_of(words)


def _key(row: Sequence[Word]) -> str:
    text = re.sub(r"\d+", "#", text_of(row))
    return f"{text} {round(row[0].base / 8)}" if len(text) > 1 else ""


def _is_number(row: Sequence[Word], page: RawPage) -> bool:
    """A number that stands alone and away from the text."""
    if len(row) > 3 or not _PAGE_NUMBER.fullmatch(text_of(row)):
        return False
    ids = {id(each) for each in row}
    size = max(row[0].size, 8.0)
    return not any(
        id(each) not in ids
        and row[0].y0 - 1.2 * size < each.y1
        and each.y0 < row[0].y1 + 1.2 * size
        for each in page.words
        if not each.turned
    )
