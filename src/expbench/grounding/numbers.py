"""A claim's number against the outputs: grounded, contradicted, or not found, with the reason."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from expbench.grounding.agreeing import Agreeing
from expbench.grounding.binding import NEAR, SURE
from expbench.grounding.binding import bound as bound_of
from expbench.grounding.caution import Caution
from expbench.grounding.cells import Cell
from expbench.grounding.derived import Computed, computed, kinds, of_pair, refuted
from expbench.grounding.figures import Figure
from expbench.grounding.following import Partners
from expbench.grounding.literals import Literals
from expbench.grounding.locating import COMPUTED, Locator, size_alike
from expbench.grounding.matching import Wanted
from expbench.grounding.names import Token
from expbench.grounding.parallel import Parallel
from expbench.grounding.passages import Passage
from expbench.grounding.scene import Scene
from expbench.grounding.summaries import Summaries
from expbench.judges.words import stem
from expbench.reruns import ClaimState
from expbench.schema import GroundedClaim, ReportedClaim

_OF_DIFFERENCES = re.compile(
    r"\b(?:differ\w*|gaps?|gains?|apart|spread|change[sd]?|var(?:y|ies))\b", re.IGNORECASE
)
_ENDS = re.compile(
    r"\b(?:ends?|ended|ending|finish\w*|final(?:ly)?)\b(?![^.;,()]{0,40}\d)[^.;,()]{0,40}$",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    r"\b[Tt]he (highest|largest|greatest|maximum|lowest|smallest|minimum) [a-z0-9@ -]{2,30}? (?:is|was|of) "
    r"(?:about |only )?$"
)
_PEAK = re.compile(
    r"\b(?:(peak(?:s|ed|ing)?)|bottom(?:s|ed|ing)? out) at (?:about |only |around )?$",
    re.IGNORECASE,
)
_ELSEWHERE = "the number stands there for something else"
_BEFORE = 60
_FEW = 2
_NEAREST = 4
_MANY = 4
_NEAR = 40


@dataclass
class Numbers:
    """Looks up number claims of one conclusion; keeps what it has found for those that follow from it."""

    scene: Scene
    literals: Literals
    found: dict[int, Cell] = field(default_factory=dict)
    """By a claim's start the number of the outputs that it is."""
    pairs: dict[int, Cell] = field(default_factory=dict)
    """The same by the end of its figure."""

    @cached_property
    def locator(self) -> Locator:
        """Finds numbers."""
        return Locator(self.scene)

    @cached_property
    def summaries(self) -> Summaries:
        """Finds statistics of numbers."""
        return Summaries(self.locator, self.literals)

    @cached_property
    def parallel(self) -> Parallel:
        """Finds numbers that stand in rows."""
        return Parallel(self.scene, Agreeing(self.scene), self._honest)

    @cached_property
    def partners(self) -> Partners:
        """Finds numbers that are said in one breath with others."""
        return Partners(self.scene, self.pairs, self._honest)

    @cached_property
    def caution(self) -> Caution:
        """Says where a number may be meant that the reader did not bind."""
        return Caution(self.scene, self.parallel, self.pairs)

    def _honest(self, figure: Figure) -> list[Cell]:
        equal = self.locator.equal(Wanted.of(figure, self.scene.conclusion.text))
        return [cell for cell in equal if not self.literals.why(cell)]

    def ground(self, claim: ReportedClaim) -> GroundedClaim:
        """The verdict on one claim."""
        figure = self.scene.figure(claim)
        if figure is None or claim.value is None:
            return GroundedClaim(claim=claim, state="not_checkable", reason="it has no number")
        if self.scene.given(figure):
            return _verdict(claim, "not_checkable", reason="the run was given it as a setting")
        bound = bound_of(self.scene, claim)
        wanted = Wanted.of(figure, self.scene.conclusion.text)
        if claim.relation in ("<", ">"):
            return self._bounded(claim, wanted, bound)
        equal = self.locator.equal(wanted)
        honest = [cell for cell in equal if not self.literals.why(cell)]
        honest = self.locator.nearest(honest, bound)
        fitting = [
            cell for cell in honest if not self.locator.stands_elsewhere(cell, wanted, bound)
        ]
        if figure.unit == "percent":
            fitting = [cell for cell in fitting if not self.scene.outputs.sets(cell)]
        if _ENDS.search(self.scene.conclusion.text[: figure.start][-_BEFORE:]):
            fitting = [cell for cell in fitting if self._ends(cell, wanted)]
        extreme = _EXTREME.search(self.scene.conclusion.text[: figure.start][-_BEFORE:])
        if extreme is not None:
            largest = extreme[1].lower() in ("highest", "largest", "maximum", "greatest")
            fitting = [cell for cell in fitting if self.summaries.is_extreme(cell, largest)]
        peak = _PEAK.search(self.scene.conclusion.text[: figure.start][-_BEFORE:])
        if peak is not None:
            largest = peak[1] is not None
            fitting = [c for c in fitting if self.summaries.is_extreme(c, largest, of_course=True)]
        best = self.locator.likeliest(fitting, wanted, bound)
        if best is not None:
            direct = self._with_error(claim, best, wanted)
            other = self.summaries.matching(wanted, bound) if direct.state != "grounded" else None
            return direct if other is None else self._with_error(claim, other, wanted)
        in_row = self.parallel.cell(figure)
        if in_row is not None:
            return self._with_error(claim, in_row, wanted)
        second = self.partners.of(figure, honest, bound)
        if second is not None:
            return self._with_error(claim, second, wanted)
        counted = self._share(figure, wanted)
        if counted is not None:
            return _verdict(claim, "grounded", counted.place, counted.quote, "share of a count")
        follows = self._of_rows(claim, figure) or computed(
            claim, self.scene, bound, self._said(claim), self._said_before(claim)
        )
        if follows is not None and not any(self.literals.why(cell) for cell in follows.cells):
            return _verdict(claim, "grounded", follows.where, follows.cells[0].quote, follows.words)
        summary = self.summaries.matching(wanted, bound)
        if summary is not None:
            return self._with_error(claim, summary, wanted)
        missing = self._missing(claim, wanted, bound, equal, honest, fitting)
        doubtful = missing.state == "contradicted" or missing.reason == _ELSEWHERE
        meant = self.caution.meant(figure, honest, bound) if doubtful else None
        if meant is None:
            return missing
        reason = "its sentence leaves open whether it is the number of that name or this one"
        return _verdict(claim, "not_checkable", meant.place, meant.quote, reason)

    def _of_rows(self, claim: ReportedClaim, figure: Figure) -> Computed | None:
        """What follows from the two numbers in the same place of two rows: *26 %, 26 % and 22 % less*."""
        for pair in self.parallel.beside(figure):
            if all(each.end in self.pairs for each in pair):
                one, other = (self.pairs[each.end] for each in pair)
                return of_pair(claim, self.scene, (one, other))
        return None

    def _with_error(self, claim: ReportedClaim, cell: Cell, wanted: Wanted) -> GroundedClaim:
        """The verdict on a number that was found, with what stands behind ± in the claim."""
        figure = wanted.figure
        self.found[claim.start] = self.pairs[figure.end] = cell
        if figure.error is None:
            return _verdict(claim, "grounded", cell.place, cell.quote, cell.derived)
        half = 0.5 * figure.step * (1 + 1e-6)
        shares = figure.unit == "percent" or (figure.unit in ("", "points") and cell.value <= 1)
        factors = (1.0, 0.01) if shares and abs(cell.value) <= 1 < figure.value else (1.0,)
        if figure.unit == "percent":
            factors = (1.0, 0.01)
        for value in self.summaries.errors(cell):
            if any(abs(figure.error * f - value) <= half * f for f in factors):
                return _verdict(claim, "grounded", cell.place, cell.quote, cell.derived)
        own = cell.figure.error
        if own is not None and not any(
            abs(figure.value * f - cell.value) <= half * f for f in factors
        ):
            return _verdict(claim, "grounded", cell.place, cell.quote, "the errors overlap")
        state: ClaimState = "contradicted" if own is not None else "not_found"
        reason = (
            f"the value stands there, with the error {own:g}"
            if own is not None
            else "its error stands nowhere"
        )
        return _verdict(claim, state, cell.place, cell.quote, reason)

    def _ends(self, cell: Cell, wanted: Wanted) -> bool:
        """Whether a number is the last of its course, or of none."""
        last = self.summaries.last_of(cell)
        return last is None or wanted.equals(last)

    def _share(self, figure: Figure, wanted: Wanted) -> Cell | None:
        """The count that a share is of, right behind it: *138 of 150 cases (92 %)*."""
        for other in self.scene.conclusion.figures:
            near = 0 <= figure.start - other.end <= _NEAR
            if near and figure.unit == "percent" and other.total and other.end in self.pairs:
                share = 100 * other.value / other.total
                return (
                    self.pairs[other.end] if abs(share - figure.value) <= wanted.tolerance else None
                )
        return None

    def _said(self, claim: ReportedClaim) -> list[Cell]:
        """The numbers of the outputs that the sentence of a claim states."""
        passages = self.scene.conclusion.passages
        at = next((i for i, p in enumerate(passages) if p.start <= claim.start < p.end), None)
        if at is None:
            return []
        own = passages[at].sentence
        near = [start for start in self.found if own[0] <= start < own[1]]
        near.sort(key=lambda start: abs(start - claim.start))
        cells = [self.found[start] for start in near[:_NEAREST]]
        return [*cells, *self._stated(passages[at], cells)]

    def _said_before(self, claim: ReportedClaim) -> list[Cell]:
        """The numbers of the outputs that the sentences before a claim's state, of its paragraph."""
        passage = self.scene.conclusion.passage(claim.start)
        if passage is None:
            return []
        begin, end = self.scene.block_start(passage), passage.sentence[0]
        near = sorted((start for start in self.found if begin <= start < end), reverse=True)
        return [self.found[start] for start in near[:_NEAREST]]

    def _stated(self, passage: Passage, cells: Sequence[Cell]) -> list[Cell]:
        """Numbers of a sentence that are no claims and stand in the outputs: *of the 60,000 jobs*."""
        start, end = passage.sentence
        claimed = {place[0] for place in self.scene.places}
        found: list[Cell] = []
        for figure in self.scene.conclusion.figures:
            if not start <= figure.start < end or figure.start in claimed or not figure.whole:
                continue
            equal = self.locator.equal(Wanted.of(figure, self.scene.conclusion.text))
            plain = [each for each in equal if figure.digits > 1 and not self.literals.why(each)]
            found += [each for each in plain[:1] if each not in cells]
        return found[:_NEAREST]

    def _bounded(
        self, claim: ReportedClaim, wanted: Wanted, bound: dict[Token, float]
    ) -> GroundedClaim:
        """*Above 0.99*, *under 4 %*: all numbers of that name and condition have to agree."""
        place = self.locator.place(bound)
        if (
            not place
            or kinds(claim, self.scene, plainly=True)
            or wanted.figure.unit == "points"
            or _OF_DIFFERENCES.search(claim.text)
        ):
            follows = computed(claim, self.scene, bound, self._said(claim))
            if follows is not None and not any(map(self.literals.why, follows.cells)):
                one = follows.cells[0]
                return _verdict(claim, "grounded", follows.where, one.quote, follows.words)
            reason = "the outputs do not tell what it is said of"
            return _verdict(claim, "not_checkable", reason=reason)
        agreeing = []
        for cell in place:
            other = abs(cell.value)
            readings = [abs(value) for value, _ in wanted.readings(cell.figure)]
            value = min(
                readings, key=lambda reading: abs(math.log((reading + 1e-9) / (other + 1e-9)))
            )
            agreeing.append(
                other >= value - 1e-9 if claim.relation == ">" else other <= value + 1e-9
            )
        quote = place[0].quote
        if all(agreeing):
            return _verdict(claim, "grounded", place[0].place, quote, f"{len(place)} numbers agree")
        if not any(agreeing) and len(place) <= _FEW * 2:
            return _verdict(
                claim, "contradicted", place[0].place, quote, "the number there does not agree"
            )
        return _verdict(
            claim, "not_checkable", reason="it is not plain which numbers it is said of"
        )

    def _missing(
        self,
        claim: ReportedClaim,
        wanted: Wanted,
        bound: dict[Token, float],
        equal: Sequence[Cell],
        honest: Sequence[Cell],
        fitting: Sequence[Cell],
    ) -> GroundedClaim:
        """What is said of a number that was not found: contradicted, or why it does not count."""
        if self.scene.outputs.empty:
            return _verdict(claim, "not_found", reason="the re-run put out no number")
        barred = [cell for cell in equal if cell not in honest]
        if barred:
            return _verdict(
                claim, "not_found", barred[0].place, barred[0].quote, self.literals.why(barred[0])
            )
        if claim.unit == "seconds":
            return _verdict(claim, "not_checkable", reason="times differ from machine to machine")
        named = any(
            isinstance(token, str) and stem(token) in COMPUTED and strength >= NEAR
            for token, strength in bound.items()
        )
        elsewhere = [cell for cell in honest if cell not in fitting]
        if kinds(claim, self.scene, plainly=True) and not named and not elsewhere:
            return self._not_computed(claim, wanted, bound)
        place = [
            cell for cell in self.locator.place(bound) if size_alike(cell.value, wanted.figure)
        ]
        if place and not elsewhere and all(self._said_else(cell, claim) for cell in place):
            reason = "what stands there is said as another number of the sentence"
            return _verdict(claim, "not_found", place[0].place, place[0].quote, reason)
        others = sorted({cell.value for cell in place})
        if (
            place
            and (len(others) <= _FEW or elsewhere)
            and not any(wanted.equals(cell) for cell in place)
        ):
            nearest = min(place, key=lambda cell: abs(cell.value - wanted.figure.value))
            if elsewhere and self._is_open(claim, bound, elsewhere):
                return _verdict(
                    claim, "not_found", elsewhere[0].place, elsewhere[0].quote, _ELSEWHERE
                )
            reason = f"there it is {nearest.written or f'{nearest.value:g}'}"
            if elsewhere:
                reason += f"; the claim's number stands at {elsewhere[0].place} for something else"
            return _verdict(claim, "contradicted", nearest.place, nearest.quote, reason)
        if fitting:
            reason = "an equal number stands there, which may be chance: no name is common to both"
            return _verdict(claim, "not_found", fitting[0].place, fitting[0].quote, reason)
        if elsewhere:
            state: ClaimState = (
                "not_found" if self._is_open(claim, bound, elsewhere) else "contradicted"
            )
            return _verdict(claim, state, elsewhere[0].place, elsewhere[0].quote, _ELSEWHERE)
        told = self.summaries.other(wanted, bound)
        if told is not None:
            return _verdict(
                claim,
                "contradicted",
                told.place,
                told.quote,
                f"the {told.derived} is {told.value:.4g}",
            )
        if _is_label(wanted, self.scene):
            return _verdict(claim, "not_checkable", reason="the run was given it as a setting")
        return _verdict(claim, "not_found", reason="no such number in the outputs")

    def _is_open(
        self, claim: ReportedClaim, bound: dict[Token, float], elsewhere: Sequence[Cell]
    ) -> bool:
        """Whether its sentence has too many numbers to say which name this one belongs to."""
        passage = self.scene.conclusion.passage(claim.start)
        start, end = passage.sentence if passage else (0, 0)
        sure = {token for token, strength in bound.items() if strength >= SURE}
        told = bool(sure) and not any(sure <= cell.tokens for cell in elsewhere)
        many = sum(start <= place[0] < end for place in self.scene.places) >= _MANY
        return many and not told

    def _said_else(self, cell: Cell, claim: ReportedClaim) -> bool:
        """Whether another claim of the sentence, of another metric, is this number of the outputs."""
        passage = self.scene.conclusion.passage(claim.start)
        start, end = passage.sentence if passage else (0, 0)
        near = [at for at, one in self.found.items() if one is cell and start <= at < end]
        metric = claim.metric and claim.metric.lower()
        return bool(metric) and any(at != claim.start for at in near)

    def _not_computed(
        self, claim: ReportedClaim, wanted: Wanted, bound: dict[Token, float]
    ) -> GroundedClaim:
        results, plain = refuted(claim, self.scene, bound)
        if results and plain:
            one: Computed = results[0]
            reason = f"the {one.words} is {one.value:.4g}"
            return _verdict(claim, "contradicted", one.where, one.cells[0].quote, reason)
        return _verdict(
            claim,
            "not_found",
            reason="neither in the outputs nor computed from two numbers of them",
        )


def _is_label(wanted: Wanted, scene: Scene) -> bool:
    """Whether the outputs only name the number as a setting."""
    return float(wanted.figure.value) in scene.outputs.index and wanted.figure.unit == ""


def _verdict(
    claim: ReportedClaim, state: ClaimState, where: str = "", quote: str = "", reason: str = ""
) -> GroundedClaim:
    return GroundedClaim(claim=claim, state=state, where=where, quote=quote, reason=reason)
