"""A long text in parts that are read one after the other.

A diff is cut between files where that is possible, else between hunks, else between lines; a line longer
than a part is cut where it must be. A part that begins inside a file says which one.
"""

from __future__ import annotations

from collections.abc import Iterator

_FILE = "diff --git "
_HUNK = "@@ "


def chunks(text: str, size: int) -> tuple[str, ...]:
    """The text in parts of at most about ``size`` characters, in their order; never none."""
    if len(text) <= size:
        return (text,)
    parts: list[str] = []
    current, file = "", ""
    for piece in _pieces(text, size):
        starts_file = piece.startswith(_FILE)
        if current and len(current) + len(piece) > size:
            parts.append(current)
            current = "" if starts_file or not file else f"[goes on in {file}]\n"
        if starts_file:
            file = piece.partition("\n")[0].removeprefix(_FILE)[:200]
        current += piece
    return (*parts, current)


def _pieces(text: str, size: int) -> Iterator[str]:
    """Files that fit, else their hunks that fit, else lines, else parts of a line."""
    for file in _split_before(text, _FILE):
        if len(file) <= size:
            yield file
            continue
        for hunk in _split_before(file, _HUNK):
            if len(hunk) <= size // 2:
                yield hunk
                continue
            for line in hunk.splitlines(keepends=True):
                yield from (line[at : at + size // 2] for at in range(0, len(line), size // 2))


def _split_before(text: str, mark: str) -> Iterator[str]:
    """The text cut before every line that begins with ``mark``."""
    start = 0
    while (found := text.find(f"\n{mark}", start)) >= 0:
        yield text[start : found + 1]
        start = found + 1
    if start < len(text):
        yield text[start:]
