"""Trends, crossings and significance against the outputs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from expbench.grounding.cells import Cell
from expbench.grounding.comparing import Vote, measured, verdict
from expbench.grounding.matching import pool_of
from expbench.grounding.names import Mention, Token
from expbench.grounding.pairs import Pair, pairs
from expbench.grounding.quality import is_metric
from expbench.grounding.relations import direction, negated
from expbench.grounding.scene import is_number, is_weak
from expbench.grounding.significance import tests_shown
from expbench.grounding.winning import Winners
from expbench.judges.words import stem
from expbench.schema import GroundedClaim, ReportedClaim

_NUMBERED = re.compile(r"(.*?)[\s=:_]*(-?\d+(?:\.\d+)?(?:e-?\d+)?)")
_SIZES = frozenset(
    map(
        stem,
        (
            *("sample", "samples", "size", "data", "examples", "n"),
            *("number", "count", "labels", "observations", "points"),
        ),
    )
)
_BETWEEN = re.compile(
    r"\bbetween\s(?:[A-Za-z_]\w*\s?=?\s?)?(\d[\d.]*)(?:[/\w-]*)\s?(?:\w+\s)?and\s(?:[A-Za-z_]\w*\s?=?\s?)?(\d[\d.]*\d|\d)"
)
_VALUE = r"(?:[A-Za-z_]+\s?=?\s?)?(\d+(?:\.\d+)?)"
_FROM = re.compile(
    rf"\b(?:from|beyond|above|after|starting at)\s{_VALUE}\s(?:\w+\s)?(?:on(?:wards?)?|upwards?)\b",
    re.IGNORECASE,
)
_UP_TO = re.compile(rf"\b(?:up to|until|below)\s{_VALUE}")
_FROM_TO = re.compile(rf"\b(?:from|between)\s{_VALUE}\s(?:to|and)\s{_VALUE}")
_STEADILY = re.compile(r"\b(?:steadily|continuously)\b", re.IGNORECASE)
_STRICTLY = re.compile(r"monoton|strictly|every (?:step|increase)|at each", re.IGNORECASE)
_SLACK = 0.05
"""Share of its whole range by which a steady line may go the other way in one step."""
_SHORTEST = 3


class Relations(Winners):
    """Checks the relation claims of one conclusion."""

    def ground(self, claim: ReportedClaim) -> GroundedClaim:
        """The verdict on one relation."""
        if self.scene.outputs.empty:
            return verdict(claim, "not_found", reason="the re-run put out no number")
        checks = {
            "significance": self._significance,
            "trend": self._trend,
            "crossing": self._crossing,
        }
        if claim.relation in checks:
            return checks[claim.relation](claim)
        if claim.relation == "ranking":
            return self.ranking(claim) if len(claim.sides) > 1 else self.best(claim)
        return self.comparison(claim)

    def _trend(self, claim: ReportedClaim) -> GroundedClaim:
        """Numbers that are put in the order of a setting: all such lines have to go the claimed way."""
        said = direction(claim.text)
        subject = (
            [m for m in self.side(claim, 0) if not is_number(m) and not is_weak(m.token)]
            if claim.sides
            else []
        )
        if said is None or not subject:
            return self.unnamed(claim)
        kept = self._together([m.token for m in subject])
        words = re.findall(r"[A-Za-z]+", claim.sides[1] if len(claim.sides) > 1 else "")
        lines = self._in_range(claim, self._lines(claim, kept, {stem(word) for word in words}))
        ends = {id(line[0][1]): line for line in lines}
        found, plain = self.narrowed(claim, [(line[-1][1], line[0][1]) for line in lines], kept)
        cast: list[Vote] = []
        for last, first in found:
            line = [cell.value for _, cell in ends[id(first)]]
            for agrees, pair in self.votes(claim, [(last, first)], *said):
                cast.append((agrees and self._goes(claim, line), pair))
        return self.judge(claim, cast, plain)

    def _in_range(
        self, claim: ReportedClaim, lines: Sequence[list[tuple[float, Cell]]]
    ) -> list[list[tuple[float, Cell]]]:
        """The parts of lines that a claim's sentence speaks of: *from k = 5 on*, *up to depth 8*."""
        passage = self.scene.conclusion.passage(claim.start)
        text = self.scene.conclusion.text[slice(*passage.sentence)] if passage else claim.text
        kept = []
        for line in lines:
            places = [place for place, _ in line]
            low, high = _bounds(text, places)
            part = [(place, cell) for place, cell in line if low <= place <= high]
            kept.append(part if len(part) > 1 else line)
        return kept

    def _goes(self, claim: ReportedClaim, line: Sequence[float]) -> bool:
        """Whether a line goes one way all along, where the claim says so."""
        steadily = _STEADILY.search(claim.text)
        if not steadily and not _STRICTLY.search(claim.text):
            return True
        slack = _SLACK * (max(line) - min(line)) if steadily else 0.0
        steps = [later - earlier for earlier, later in pairwise(line)]
        return all(step >= -slack for step in steps) or all(step <= slack for step in steps)

    def _together(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens under which there are numbers, one after the other."""
        kept: list[Token] = []
        for token in tokens:
            if pool_of(self.scene.outputs, [*kept, token]):
                kept.append(token)
        return kept

    def _lines(
        self, claim: ReportedClaim, tokens: Sequence[Token], variable: set[str]
    ) -> list[list[tuple[float, Cell]]]:
        """Numbers that differ in the value of one setting only, in its order."""
        groups: dict[tuple[object, ...], dict[float, Cell]] = defaultdict(dict)
        for cell in pool_of(self.scene.outputs, tokens):
            for at, (role, label) in enumerate(cell.labels if measured(cell, claim.text) else ()):
                named = _NUMBERED.fullmatch(label)
                if role == "title" or named is None or not _is_variable(named[1], variable):
                    continue
                rest = tuple(each for i, each in enumerate(cell.labels) if i != at)
                groups[(cell.group, cell.source, role, named[1], rest)][float(named[2])] = cell
        return [sorted(group.items()) for group in groups.values() if len(group) >= _SHORTEST]

    def _crossing(self, claim: ReportedClaim) -> GroundedClaim:
        """Two names whose order is another one at the two ends of *between x and y*."""
        passage = self.scene.conclusion.passage(claim.start)
        between = _BETWEEN.search(claim.text)
        mentions = self.scene.within(passage.start, passage.end) if passage else []
        names = [
            m
            for m in mentions
            if not is_number(m) and not is_metric(m.token) and not is_weak(m.token)
        ]
        chosen = self._first_rivals(names)
        if chosen is None or between is None:
            return self.unnamed(claim)
        by_labels: dict[tuple[str, ...], list[tuple[int, Pair]]] = defaultdict(list)
        for end in (float(between[1].rstrip(".")), float(between[2].rstrip("."))):
            for pair in self._pairs_at(claim, *chosen, end):
                words = sorted(
                    str(t) for t in pair[0].tokens if not isinstance(t, float) and "=" not in str(t)
                )
                by_labels[tuple(words)].append((1 if pair[0].value > pair[1].value else -1, pair))
        cast = [
            (len({s for s, _ in ends}) > 1, ends[0][1])
            for ends in by_labels.values()
            if len(ends) > 1
        ]
        return self.judge(claim, [vote for vote in cast if vote[0]] or cast)

    def _first_rivals(self, names: Sequence[Mention]) -> tuple[Token, Token] | None:
        for at, one in enumerate(names):
            for other in names[at + 1 :]:
                if self.scene.apart(one, other):
                    return one.token, other.token
        return None

    def _pairs_at(self, claim: ReportedClaim, one: Token, other: Token, value: float) -> list[Pair]:
        found = [
            p
            for p in pairs(self.scene.outputs, [one], [other], [value])
            if p[0].value != p[1].value
        ]
        around = self.scene.around(claim.start, claim.end)
        metrics = [
            m.token for m in (*around.inside, *around.here, *around.earlier) if is_metric(m.token)
        ]
        some = [pair for pair in found if any(token in pair[0].tokens for token in metrics)]
        return [
            p for p in some or found if measured(p[0]) and not any(self.literals.why(c) for c in p)
        ]

    def _significance(self, claim: ReportedClaim) -> GroundedClaim:
        """A test has to be in the outputs: a p-value, or an interval of a difference."""
        every = tests_shown(self.scene.outputs)
        shown = [test for test in every if not any(map(self.literals.why, test.cells))]
        if not shown:
            reason = "the outputs show no test: no p-value and no interval"
            if every:
                barred = next(cell for cell in every[0].cells if self.literals.why(cell))
                reason = f"its test {self.literals.why(barred)}"
            return verdict(claim, "not_found", reason=reason)
        tokens = {m.token for m in self.scene.within(claim.start, claim.end)}
        best = max(len(tokens & test.tokens) for test in shown)
        fitting = [test for test in shown if len(tokens & test.tokens) == best]
        agreeing = [test for test in fitting if test.significant != negated(claim.text)]
        one = (agreeing or fitting)[0]
        if claim.sides and not negated(claim.text):
            turned = self.comparison(claim)
            if turned.state == "contradicted":
                return turned
        if len(agreeing) == len(fitting):
            return verdict(claim, "grounded", one.place, one.quote, one.words)
        if not agreeing:
            return verdict(claim, "contradicted", one.place, one.quote, one.words)
        return verdict(
            claim, "not_checkable", one.place, one.quote, "several tests, with different outcomes"
        )


def _bounds(text: str, places: Sequence[float]) -> tuple[float, float]:
    """The range of a setting that a sentence names, by values that the setting has."""
    low, high = min(places), max(places)
    for match in _FROM_TO.finditer(text):
        if float(match[1]) in places and float(match[2]) in places:
            return float(match[1]), float(match[2])
    for match in _FROM.finditer(text):
        low = float(match[1]) if float(match[1]) in places else low
    for match in _UP_TO.finditer(text):
        high = float(match[1]) if float(match[1]) in places else high
    return low, high


def _is_variable(name: str, variable: set[str]) -> bool:
    """Whether a label's name is what a trend is over: the same word, or *n* for the size of a sample."""
    words = {stem(word) for word in re.findall(r"[A-Za-z]+", name)}
    if not variable or not words:
        return True
    sizes = bool(words & {"n", "size", stem("samples")}) and bool(variable & _SIZES)
    short = any(
        word[0] == other[0] and min(len(word), len(other)) == 1
        for word in words
        for other in variable
    )
    return bool(words & variable) or sizes or short
