"""Means, extremes, spreads of several numbers of the outputs, where a claim's words ask for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from expbench.grounding.binding import HERE, NEAR
from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.literals import Literals
from expbench.grounding.locating import NAMED, Locator, size_alike
from expbench.grounding.matching import Wanted, chance
from expbench.grounding.names import Token
from expbench.grounding.pairs import series, summaries
from expbench.grounding.quality import STATISTICS, is_metric
from expbench.grounding.scene import is_weak

_ERROR_WORDS = frozenset(
    ("std", "stderr", "error", "errors", "sd", "se", "sem", "deviation", "ci", "halfwidth")
)
_STATISTICS = {
    "mean": re.compile(
        r"\b(?:mean|average[ds]?|averaging|overall|across|over (?:the |all |five |\d+ )?\w+s)\b"
    ),
    "median": re.compile(r"\bmedian\b"),
    "min": re.compile(
        r"\b(?:min(?:imum)?|lowest|smallest|best|least|down to|from|between|at worst)\b"
    ),
    "max": re.compile(r"\b(?:max(?:imum)?|highest|largest|best|peaks?|up to|worst|between)\b"),
    "last": re.compile(r"\b(?:final(?:ly)?|last|ends?|ended|finish\w*|converge\w*|at the end)\b"),
    "sum": re.compile(r"\b(?:total|sum|altogether|in all)\b"),
    "std": re.compile(r"\b(?:std|sd|standard deviation|deviation|spread)\b|±"),
    "stderr": re.compile(r"\b(?:stderr|se|standard errors?|sem)\b|±"),
}
"""Words near a number that ask for a statistic of several numbers of the outputs."""


_OPENING = re.compile(r"[^\d.;:]{0,80}?,\s|[^\d.;:]{0,80}")
_PROGRESS = re.compile(
    r"(?:epochs?|steps?|iter(?:ation)?s?|rounds?|gen(?:eration)?s?|episodes?|updates?|time|t|day|week)"
    r"[\s=:_]*\d+(?:[./]\d+)?",
    re.IGNORECASE,
)
_SHORTEST = 2
_MOST_ALIKE = 800


def _is_course(members: Sequence[Cell]) -> bool:
    """Whether numbers are of one quantity at the steps of a course."""
    common = frozenset.intersection(*(frozenset(member.labels) for member in members))
    rest = [[label for label in member.labels if label not in common] for member in members]
    return all(len(own) == 1 and _PROGRESS.fullmatch(own[0][1].strip()) for own in rest)


@dataclass
class Summaries:
    """Looks up statistics that the outputs do not print but show the numbers of."""

    locator: Locator
    literals: Literals

    def errors(self, cell: Cell) -> Iterator[float]:
        """What can be the error of a number: beside it, in a table of errors, its series' spread."""
        if cell.figure.error is not None:
            yield cell.figure.error
        own = {label for role, label in cell.labels if role not in ("statistic", "over")}
        for spread in self.all:
            if spread.labels[-1][1] in ("std", "stderr"):
                shared = {
                    label for role, label in spread.labels if role not in ("statistic", "over")
                }
                if shared == own or (not cell.derived and shared >= own):
                    yield spread.value
        for other in self.locator.scene.outputs.cells:
            words = {
                word for _, label in other.labels for word in re.findall(r"[a-z]+", label.lower())
            }
            if other is not cell and words & _ERROR_WORDS:
                beside = other.source == cell.source and other.line == cell.line
                labels = {label for _, label in other.labels}
                if beside or len(own & labels) >= max(1, min(len(own), len(labels)) - 1):
                    yield other.value

    @cached_property
    def all(self) -> list[Cell]:
        """The statistics of every series of the outputs."""
        return list(summaries(self.locator.scene.outputs))

    def matching(self, wanted: Wanted, bound: dict[Token, float]) -> Cell | None:
        """A mean, extreme or last value that the claim's words, or its sentence's first ones, ask for."""
        asked = self.asked(wanted.figure) | self._opened(wanted.figure)
        cells = [
            cell
            for cell in self.all
            if cell.labels[-1][1] in asked
            and wanted.equals(cell)
            and not self.literals.why(cell)
            and not (cell.labels[-1][1] in bound and cell.tokens & STATISTICS - bound.keys())
        ]
        sure = {t for t, strength in bound.items() if strength >= NEAR}
        fitting = [
            c
            for c in cells
            if sure <= c.tokens
            and not self.locator.stands_elsewhere(c, wanted, bound)
            and not self._of_another(c, bound)
        ]
        best = None
        for cell in fitting:
            shared = [t for t, strength in bound.items() if t in cell.tokens]
            firm = [t for t in shared if bound[t] >= HERE]
            pool = [
                each
                for each in self.all
                if each.labels[-1][1] in asked and all(token in each.tokens for token in shared)
            ]
            likely = chance(wanted, cell, pool)
            if firm and likely <= NAMED and (best is None or likely < best[0]):
                best = (likely, cell)
        return best[1] if best else None

    def _of_another(self, cell: Cell, bound: dict[Token, float]) -> bool:
        """Whether an extreme or last number is another name's than the one that the sentence speaks of."""
        if cell.labels[-1][1] not in ("min", "max", "last"):
            return False
        scene = self.locator.scene
        alike = scene.outputs.alike(cell)[:_MOST_ALIKE]
        own = [each.tokens for each in alike if each.value == cell.value]
        names = {
            t
            for t, strength in bound.items()
            if strength >= HERE
            and not (is_metric(t) or is_weak(t) or t in STATISTICS or "=" in str(t))
            and isinstance(t, str)
            and 0 < sum(t in each.tokens for each in alike) < len(alike)
        }
        return bool(own) and all(
            any(t not in tokens and any(scene.rivals(t, x) for x in tokens) for t in names)
            and not names & tokens
            for tokens in own
        )

    def other(self, wanted: Wanted, bound: dict[Token, float]) -> Cell | None:
        """The one statistic that the claim's words and names ask for, where it is another number."""
        asked = self.asked(wanted.figure)
        sure = {t for t, strength in bound.items() if strength >= NEAR}
        if not asked or not any(isinstance(token, str) for token in sure):
            return None
        cells = [
            cell
            for cell in self.all
            if cell.labels[-1][1] in asked
            and sure <= cell.tokens
            and size_alike(cell.value, wanted.figure)
        ]
        for token in (t for t, strength in bound.items() if HERE <= strength < NEAR):
            cells = [cell for cell in cells if token in cell.tokens] or cells
        return cells[0] if cells and len({f"{cell.value:.4g}" for cell in cells}) == 1 else None

    def _opened(self, figure: Figure) -> set[str]:
        """The statistic that a sentence opens with: *Averaged over five seeds, A has 0.9 and B 0.8*."""
        conclusion = self.locator.scene.conclusion
        passage = conclusion.passage(figure.start)
        if passage is None:
            return set()
        opening = _OPENING.match(conclusion.text, *passage.sentence)
        words = opening[0].lower() if opening else ""
        return {name for name in ("mean", "median", "sum") if _STATISTICS[name].search(words)}

    def last_of(self, cell: Cell) -> Cell | None:
        """The last number of the course (by epoch, step, round …) that one is from; ``None`` if of none."""
        for members in self._courses:
            if any(member is cell for member in members):
                return members[-1]
        return None

    def is_extreme(self, cell: Cell, largest: bool, of_course: bool = False) -> bool:
        """Whether a number is the largest, or smallest, of some series, or of none at all.

        Args:
            of_course: of its course by epochs, steps, rounds …, if it is from one.
        """
        pick = max if largest else min
        course = [members for members in self._courses if any(m is cell for m in members)]
        if of_course and course:
            return all(pick(m.value for m in own) == cell.value for own in course)
        inside = [members for members in self._series if any(m is cell for m in members)]
        return not inside or any(pick(m.value for m in own) == cell.value for own in inside)

    @cached_property
    def _series(self) -> list[list[Cell]]:
        return list(series(self.locator.scene.outputs))

    @cached_property
    def _courses(self) -> list[list[Cell]]:
        return [
            members for members in self._series if len(members) > _SHORTEST and _is_course(members)
        ]

    def asked(self, figure: Figure) -> set[str]:
        """The statistics that the words around a number ask for."""
        conclusion = self.locator.scene.conclusion
        passage = conclusion.passage(figure.start)
        begin, end = (passage.start, passage.end) if passage else (0, len(conclusion.text))
        first, last = max(begin, figure.start - 60), min(end, figure.end + 40)
        words = conclusion.text[first:last].lower()
        return {name for name, cues in _STATISTICS.items() if cues.search(words)}
