"""What is on a page before anything is known of what it means: words, rules and drawings.

Places are points from the top left corner of the page as it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol


class Placed(Protocol):
    """What has a box."""

    @property
    def x0(self) -> float: ...
    @property
    def y0(self) -> float: ...
    @property
    def x1(self) -> float: ...
    @property
    def y1(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle: a rule where it is thin, a drawing or a picture otherwise."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    def grown(self, by: float) -> Area:
        return Area(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)

    def meets(self, other: Placed) -> bool:
        """Whether the two share a place."""
        return (
            self.x0 <= other.x1
            and other.x0 <= self.x1
            and self.y0 <= other.y1
            and other.y0 <= self.y1
        )

    def holds_middle(self, other: Placed) -> bool:
        """Whether the other's middle lies inside."""
        x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


def around(things: Iterable[Placed]) -> Area:
    """The smallest area that holds all of them; there must be one."""
    known = list(things)
    return Area(
        min(each.x0 for each in known),
        min(each.y0 for each in known),
        max(each.x1 for each in known),
        max(each.y1 for each in known),
    )


@dataclass(frozen=True, slots=True)
class Word:
    """Characters without a space between them, in one size and on one base line.

    ``tight`` is a word that follows the one before without a space (an exponent, a changed font);
    ``turned`` one that is not read from left to right; ``sure`` is 0 to 1.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    bold: bool = False
    math: bool = False
    tight: bool = False
    turned: bool = False
    sure: float = 1.0


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as the parser or the recognition left it; ``notes`` are sentences for a person."""

    number: int
    width: float
    height: float
    rotation: int
    source: Literal["text", "ocr", "none"]
    words: tuple[Word, ...] = ()
    across: tuple[Area, ...] = ()
    """Horizontal rules."""
    down: tuple[Area, ...] = ()
    """Vertical rules."""
    drawings: tuple[Area, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))


def is_done(folder: Path, number: int) -> bool:
    """Whether a page lies below a folder, its words and its picture."""
    image = folder / "pages" / f"{number}.png"
    return image.is_file() and (folder / "raw" / f"{number}.json").is_file()


def page_from_json(text: str) -> RawPage:
    """Raises ValueError, TypeError or KeyError where the text is not a page's."""
    found: dict[str, Any] = json.loads(text)
    lists: dict[str, Any] = {
        name: tuple(Area(**each) for each in found.pop(name))
        for name in ("across", "down", "drawings")
    }
    lists["words"] = tuple(Word(**each) for each in found.pop("words"))
    lists["notes"] = tuple(found.pop("notes"))
    return RawPage(**found, **lists)
