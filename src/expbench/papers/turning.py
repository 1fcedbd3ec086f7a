"""From a stored page's coordinates (points, from below) to those of the page as it is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A page's visible part as it is stored, and the quarters clockwise by which it is shown turned.

    ``content`` is the angle, clockwise, at which text runs on the stored page that runs from left to right
    on the shown one.
    """

    left: float
    bottom: float
    right: float
    top: float
    rotation: int

    @property
    def content(self) -> int:
        return -self.rotation % 360

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as shown."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.rotation % 180 else (width, height)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where a stored place is shown, from the top left corner."""
        match self.rotation:
            case 90:
                return y - self.bottom, x - self.left
            case 180:
                return self.right - x, y - self.bottom
            case 270:
                return self.top - y, self.right - x
            case _:
                return x - self.left, self.top - y

    def box(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """Where a stored box is shown: left, top, right, bottom."""
        (a, b), (c, d) = self.point(x0, y0), self.point(x1, y1)
        return min(a, c), min(b, d), max(a, c), max(b, d)
