"""Relations that are told with their numbers: *A beats B (0.91 against 0.87)*, *A is best with 0.91*.

Which numbers are compared is then said by the author. Once these were found in the outputs, the relation is
one of them, whatever else the outputs hold of the names; and in *A beats B (x against y)* x is A's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from expbench.grounding.cells import Cell
from expbench.grounding.comparing import TIE, Compared, Vote, verdict
from expbench.grounding.names import Token, label_tokens
from expbench.grounding.pairs import Pair, one_apart
from expbench.grounding.quality import is_metric
from expbench.grounding.relations import direction
from expbench.grounding.scene import Place, Scene, is_number, is_weak
from expbench.reruns import ClaimState
from expbench.schema import GroundedClaim, ReportedClaim

_AGAINST = re.compile(r"\s?%?\s?,?\s?(?:vs\.?|versus|against|compared (?:with|to))\s(?:only\s)?\$?")
_JOINED = re.compile(rf"{_AGAINST.pattern}|\s?%?\s?and\s|\s?%?,\s", re.IGNORECASE)
_TOWARDS = re.compile(r"\s?%?\sto\s(?:only\s)?")
_BEHIND = re.compile(r"\s\(|,?\s(?:with|at|by|reaching|namely)?\s?(?=\$?\d)|:\s(?=\$?\d)")
_ENDED = re.compile(r"[);]|(?<!vs)\.\s|:\s")
_DENIED = re.compile(
    r"\b(?:nothing|hardly|barely|not|never|nor|neither|no (?:longer|more|less|better|worse))\b",
    re.IGNORECASE,
)
_MOST_RIVALS = 400


@dataclass(frozen=True)
class Witnesses:
    """Checks the relations of one conclusion by the numbers that are told with them."""

    scene: Scene
    compared: Compared
    found: Mapping[int, Cell]
    """By the end of a figure the number of the outputs that it was found to be."""

    def judged(self, claim: ReportedClaim, first: GroundedClaim) -> GroundedClaim:
        """The verdict on a relation, where ``first`` leaves it open or takes other numbers for its own."""
        if first.state not in ("not_checkable", "contradicted"):
            return first
        if claim.relation == "=":
            return self._equal(claim, first)
        said = direction(claim.text)
        if said is None or _DENIED.search(claim.text):
            return first
        named, votes = True, list[Vote]()
        for pair, by_name in self._pairs(claim):
            cast = self.compared.votes(claim, [pair], *said)
            if not cast:
                return first
            votes += cast
            named = named and by_name
        if not votes:
            return first
        good = all(agrees for agrees, _ in votes)
        if first.state == "contradicted" and not (good and named):
            return first
        if good:
            return _by(claim, "grounded", votes[0][1])
        if not any(agrees for agrees, _ in votes) and (named or claim.relation != "trend"):
            return _by(claim, "contradicted", votes[0][1])
        return first

    def exchanged(self, claim: ReportedClaim) -> list[Place]:
        """The two numbers of *A beats B (x against y)* where x is B's number of the outputs and y is A's.

        It goes on with what follows: *and is level with it at 0.3 (x against y)*.
        """
        passage = self.scene.conclusion.passage(claim.start)
        if claim.relation not in ("<", ">") or len(claim.sides) != 2 or passage is None:
            return []
        text, found = self.scene.conclusion.text, list[Place]()
        places = [p for p in self.scene.places if claim.end <= p[0] < passage.sentence[1]]
        for one, other in pairwise(places):
            if not _AGAINST.fullmatch(text[one[1] : other[0]]):
                continue
            first, second = self.found.get(one[1]), self.found.get(other[1])
            if first is None or second is None:
                continue
            ended = _ENDED.search(text, other[1])
            names = first.tokens ^ second.tokens
            behind = self.scene.within(claim.end, ended.start() if ended else len(text))
            if any(m.token in names and not is_number(m) for m in behind):
                break
            if self._order(claim, first, second) < 0:
                found += [one, other]
        return found

    def _places(self, claim: ReportedClaim) -> list[Place]:
        """The found numbers inside a claim, and in what follows right behind it."""
        text = self.scene.conclusion.text
        end = claim.end
        behind = _BEHIND.match(text, claim.end)
        if behind is not None:
            ended = _ENDED.search(text, behind.end())
            end = ended.start() if ended else len(text)
        return [p for p in self.scene.places if claim.start <= p[0] < end and p[1] in self.found]

    def _pairs(self, claim: ReportedClaim) -> Iterator[tuple[Pair, bool]]:
        """The compared numbers, the subject's first; whether the claim's names say which is whose."""
        places = self._places(claim)
        if claim.relation == "trend":
            yield from self._courses(places)
        elif claim.relation == "ranking" and len(claim.sides) == 1:
            yield from self._won(claim, places)
        elif claim.relation in ("<", ">") and len(claim.sides) == 2:
            for one, other in self._against(places):
                order = self._order(claim, one, other)
                yield ((one, other) if order >= 0 else (other, one)), order != 0

    def _against(self, places: Sequence[Place]) -> Iterator[Pair]:
        text = self.scene.conclusion.text
        for one, other in pairwise(places):
            first, second = self.found[one[1]], self.found[other[1]]
            between = text[one[1] : other[0]]
            if _AGAINST.fullmatch(between):
                yield first, second

    def _courses(self, places: Sequence[Place]) -> Iterator[tuple[Pair, bool]]:
        """The ends of *rises from x to y*, the later one first."""
        text = self.scene.conclusion.text
        for one, other in pairwise(places):
            first, last = self.found[one[1]], self.found[other[1]]
            if _TOWARDS.fullmatch(text[one[1] : other[0]]) and one_apart(first, last) is not None:
                yield (last, first), False

    def _order(self, claim: ReportedClaim, one: Cell, other: Cell) -> int:
        """1 where the first number is the first side's, -1 where it is the second one's, 0 if untold."""
        own, foreign = one.tokens - other.tokens, other.tokens - one.tokens
        sides = [{m.token for m in self.compared.side(claim, at)} for at in range(2)]
        straight = bool(sides[0] & own) + bool(sides[1] & foreign)
        turned = bool(sides[0] & foreign) + bool(sides[1] & own)
        return (straight > turned) - (turned > straight)

    def _won(self, claim: ReportedClaim, places: Sequence[Place]) -> Iterator[tuple[Pair, bool]]:
        """For each number of a winner those of its rivals; else the number that it is set against."""
        names = {
            m.token
            for m in self.compared.side(claim, 0)
            if not is_number(m) and not is_weak(m.token) and not is_metric(m.token)
        }
        own = [cell for place in places if (cell := self.found[place[1]]).tokens & names]
        rivals = [(cell, rival) for cell in own for rival in self._rivals(cell, names)]
        if rivals:
            yield from ((pair, True) for pair in rivals)
        elif not own:
            yield from ((pair, False) for pair in self._against(places[:2]))

    def _rivals(self, cell: Cell, names: set[Token]) -> list[Cell]:
        """The numbers of the other names, under the same labels."""
        found = []
        for other in self.scene.outputs.alike(cell)[:_MOST_RIVALS]:
            place = one_apart(cell, other)
            if place is None:
                continue
            mine, its = (label_tokens(each.labels[place][1]) for each in (cell, other))
            if mine & names and not names & (its - mine):
                found.append(other)
        return found

    def _equal(self, claim: ReportedClaim, first: GroundedClaim) -> GroundedClaim:
        text = self.scene.conclusion.text
        for one, other in pairwise(self._places(claim)):
            pair = self.found[one[1]], self.found[other[1]]
            near = abs(pair[0].value - pair[1].value) <= TIE * max(abs(c.value) for c in pair)
            joined = _JOINED.fullmatch(text[one[1] : other[0]])
            if joined and near and one_apart(*pair) is not None:
                return _by(claim, "grounded", pair)
        return first


def _by(claim: ReportedClaim, state: ClaimState, pair: Pair) -> GroundedClaim:
    where = f"{pair[0].place} and {pair[1].place}"
    shown = " and ".join(cell.written or f"{cell.value:g}" for cell in pair)
    return verdict(claim, state, where, pair[0].quote, f"told with its numbers: {shown}")
