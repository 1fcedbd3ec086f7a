"""Which mentions of a passage a number belongs to, and how firmly: by where they stand.

A mention is bound *surely* when it stands right behind the number (*0.82 for A*) or in its place of a list
that is as long (*at 16 and 128 with 0.06 and 0.01*), *nearly* when it is the nearest of its kind before it,
and else it is only in the same sentence, or in an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from expbench.grounding import cues
from expbench.grounding.figures import Figure
from expbench.grounding.names import Mention, Text, Token
from expbench.grounding.passages import Passage
from expbench.grounding.quality import is_metric
from expbench.grounding.scene import Place, Scene, is_number, is_weak, of_two_kinds
from expbench.schema import ReportedClaim

SURE, NEAR, HERE, EARLIER = 3.0, 2.0, 1.0, 0.5
"""How firmly a mention is bound: by its place, as the nearest one, in the sentence, in an earlier one."""

_REACH = 70
_MOST_MENTIONS = 80


def bound(scene: Scene, claim: ReportedClaim) -> dict[Token, float]:
    """The tokens that a claim's number may belong to, each with its strength."""
    figure = scene.figure(claim)
    passage = scene.conclusion.passage(claim.start)
    if figure is None or passage is None:
        return {}
    found = (
        _in_row(scene, figure, passage) if passage.row else _Binding(scene, figure, passage).found()
    )
    for token, strength in _earlier(scene, passage, found).items():
        found.setdefault(token, strength)
    extra = Text(f"{claim.metric}; {claim.condition}; {'; '.join(claim.sides)}")
    for mention in extra.mentions(scene.outputs.index):
        found.setdefault(mention.token, EARLIER)
    return found


def _in_row(scene: Scene, figure: Figure, passage: Passage) -> dict[Token, float]:
    """For a table's row: the names in it, and the header of the number's column."""
    text = scene.conclusion.text
    column = text.count("|", passage.start, figure.start)
    found = {mention.token: SURE for mention in scene.within(passage.start, passage.end)}
    for start, end in passage.leads:
        for mention in scene.within(start, end):
            if text.count("|", start, mention.start) == column:
                found[mention.token] = SURE
    return found


def _earlier(scene: Scene, passage: Passage, here: dict[Token, float]) -> dict[Token, float]:
    """What stands in the lines that lead to a sentence and in the sentences before it."""
    found: dict[Token, float] = {}
    for start, end in passage.leads if not passage.row else ():
        found |= {mention.token: EARLIER for mention in scene.within(start, end)}
    begin = scene.block_start(passage)
    found |= {m.token: EARLIER for m in scene.within(begin, passage.sentence[0])}
    return {
        token: strength
        for token, strength in found.items()
        if not any(scene.rivals(token, other) for other, s in here.items() if s >= HERE)
    }


@dataclass(frozen=True)
class _Binding:
    """The binding of one number in a sentence."""

    scene: Scene
    figure: Figure
    passage: Passage

    @property
    def text(self) -> str:
        return self.scene.conclusion.text

    @cached_property
    def mentions(self) -> list[Mention]:
        """The mentions of the sentence; of very many the nearest ones."""
        found = [m for m in self.scene.within(*self.passage.sentence) if not self._is_unit(m)]
        if len(found) > _MOST_MENTIONS:
            found = sorted(
                sorted(found, key=self._distance)[:_MOST_MENTIONS], key=lambda m: m.start
            )
        return found

    def _is_unit(self, mention: Mention) -> bool:
        """Whether a mention is the unit of the number: *719 MiB/s*, *5.7 ms*."""
        behind = self.text[self.figure.end : mention.start]
        right_behind = mention.start >= self.figure.end and behind.strip() == ""
        written = self.text[mention.start : mention.end]
        inside = self.figure.start <= mention.start < self.figure.end
        return not is_number(mention) and (
            inside or (right_behind and cues.UNIT.fullmatch(written) is not None)
        )

    @cached_property
    def series(self) -> list[Place]:
        """The claims' numbers that stand in one list with this one, itself included."""
        places = self.scene.places
        inside = [p for p in places if self.passage.start <= p[0] < self.passage.end]
        at = next((i for i, place in enumerate(inside) if place[0] == self.figure.start), None)
        if at is None:
            return []
        first = last = at
        while first and self._joined(inside[first - 1], inside[first]):
            first -= 1
        while last + 1 < len(inside) and self._joined(inside[last], inside[last + 1]):
            last += 1
        return inside[first : last + 1]

    @cached_property
    def _run(self) -> list[Place]:
        """The numbers that are written as one with this one: *0.37/0.41/0.42*."""
        own = (self.figure.start, self.figure.end)
        if own not in self.series:
            return [own]
        first = last = self.series.index(own)
        while first and self._slashed(self.series[first - 1], self.series[first]):
            first -= 1
        while last + 1 < len(self.series) and self._slashed(
            self.series[last], self.series[last + 1]
        ):
            last += 1
        return self.series[first : last + 1]

    def _slashed(self, one: Place, other: Place) -> bool:
        return self.text[one[1] : other[0]].strip() == "/"

    def _compared(self) -> bool:
        """Whether the number, or the row of numbers that it is in, is what others are compared with."""
        return self.scene.compared(replace(self.figure, start=self._run[0][0]))

    def found(self) -> dict[Token, float]:
        """Each token of the sentence with its strength, from the nearest on.

        Of mentions that exclude one another the less firmly bound ones are only in the sentence.
        """
        placed = [(mention, self._strength(mention)) for mention in self.mentions]
        placed.sort(key=lambda each: self._distance(each[0]))
        found: dict[Token, float] = {}
        for mention, strength in placed:
            weaker = strength >= NEAR and any(
                other > strength and self.scene.apart(mention, m) for m, other in placed
            )
            found[mention.token] = max(HERE if weaker else strength, found.get(mention.token, 0.0))
        return found

    def _distance(self, mention: Mention) -> int:
        if mention.start >= self.figure.end:
            return mention.start - self.figure.end
        return self.figure.start - mention.end

    def _joined(self, one: Place, other: Place) -> bool:
        return cues.LIST.fullmatch(self.text[one[1] : other[0]]) is not None

    def _strength(self, mention: Mention) -> float:
        if cues.BECAUSE.search(self.text[self.figure.end : mention.start]):
            return EARLIER
        if self._denied(mention) or cues.PER.search(
            self.text[max(0, mention.start - 6) : mention.start]
        ):
            return EARLIER
        listed = self._in_list(mention)
        if listed is not None:
            return listed
        if mention.start >= self.passage.end:
            return EARLIER
        if mention.start >= self.figure.end:
            return self._behind(mention)
        if mention.start < self.passage.start:
            return HERE
        return min(self._before(mention), HERE) if is_weak(mention.token) else self._before(mention)

    def _denied(self, mention: Mention) -> bool:
        """Whether the text says *without X*, *before X*, and the outputs mean X where they say it."""
        before = cues.DENIAL.search(self.text[max(0, mention.start - 24) : mention.start])
        if before is None or is_number(mention):
            return False
        denied = isinstance(mention.token, str) and mention.token.startswith("non-")
        return not denied and not self.scene.removed(mention.token)

    def _before(self, mention: Mention) -> float:
        """The strength of a mention that stands before the number in its passage."""
        others = self._others(mention)
        gap = self.text[mention.end : self.figure.start]
        if any(mention.end + 1 < other.start < self.figure.start for other in others):
            return HERE
        if any(other.end + 1 == mention.start for other in others):
            return HERE
        if cues.LABEL.search(gap[1:]) or cues.ASIDE.search(gap) or self._of_earlier(mention):
            return HERE
        several = any(other.end <= self.figure.start for other in others)
        before = self.text[max(0, mention.start - 20) : mention.start]
        owned = cues.OBJECT.search(before) is not None
        if is_number(mention):
            if self._ended(gap) or self._arrives(mention):
                return EARLIER
            return self._number_before(mention, several, owned)
        first = self.series[0][0] if self.series else self.figure.start
        foreign = any(mention.end <= start < first for start, _ in self.scene.places)
        if foreign and is_metric(mention.token) and self._carries(mention):
            return NEAR
        if foreign and not owned and not others and self._goes_on(mention):
            return NEAR
        if foreign or re.search(r"\bfrom\s(?:about\s)?$", self.text[: self.figure.start]):
            return HERE
        if owned and not re.fullmatch(r"[\w-]{0,14}\s?[(:,]?\s?", gap):
            return HERE
        pair = owned and len(self.series) == 2
        compared = self._compared()
        return HERE if len(self.series) > 1 and (several or pair or compared) else NEAR

    def _goes_on(self, mention: Mention) -> bool:
        """Whether a sentence goes on about a name: *A has an F1 of 0.9 and a loss of 0.3*."""
        ends = [end for _, end in self.scene.places if mention.end <= end <= self.figure.start]
        between = self.text[max(ends) : self.figure.start]
        before = [m for m in self.mentions if m.end <= self.figure.start and not is_number(m)]
        its = [m for m in before if not self.scene.apart(mention, m)]
        here = [m for m in its if m.start >= max(ends)]
        changed = any(self.scene.apart(one, m) for one in here for m in its if m not in here)
        return changed and cues.AND_ITS.match(between) is not None

    def _carries(self, mention: Mention) -> bool:
        """Whether a name goes on over earlier numbers: nothing of its kind is named anywhere before."""
        if self.scene.compared(self.figure) or cues.TOWARDS.match(
            self.text[self.figure.end :][:12]
        ):
            return False
        if cues.NOT_CARRIED.search(self.text[max(0, self.figure.start - 24) : self.figure.start]):
            return False
        before = [m for m in self.mentions if m.start < self.figure.end and m != mention]
        apart = any(self.scene.apart(mention, other) for other in before)
        return not apart and not is_weak(mention.token)

    def _ended(self, gap: str) -> bool:
        """Whether the number is the last, worst … of all: *best at 40 (0.92) and ends at 0.90*."""
        last = list(cues.CUE.finditer(gap))[-1:]
        return any(re.search(r"\d", gap[: match.start()]) for match in last)

    def _arrives(self, mention: Mention) -> bool:
        """Whether the number is what a course goes to from the one under a condition: *it falls to 0.66*."""
        begun = any(mention.end <= start < self.figure.start for start, _ in self.scene.places)
        return begun and cues.GOES_TO.search(self.text[: self.figure.start][-40:]) is not None

    def _number_before(self, mention: Mention, several: bool, owned: bool) -> float:
        """The same for a number that is a condition, which may hold for a whole list."""
        later = any(
            is_number(m) and mention.end <= m.start < self.figure.start for m in self.mentions
        )
        if (owned and len(self.series) == 2) or (later and self.scene.compared(self.figure)):
            return HERE
        first = self.series[0][0] if self.series else self.figure.start
        adjacent = cues.ADJACENT.fullmatch(self.text[mention.end : first]) is not None
        return HERE if several and len(self.series) > 1 and not adjacent else NEAR

    def _others(self, mention: Mention) -> list[Mention]:
        """The mentions that exclude one, without those whose words can also be read as going with it."""
        together = {(m.start, m.end) for m in self.mentions if not self.scene.apart(mention, m)}
        return [
            m
            for m in self.mentions
            if self.scene.apart(mention, m)
            and (m.start, m.end) not in together
            and not of_two_kinds(mention, m)
        ]

    def _of_earlier(self, mention: Mention) -> bool:
        """Whether a mention goes with an earlier number: *0.753 (coef) versus 0.547*."""
        gaps = [
            self.text[end : mention.start] for _, end in self.scene.places if end <= mention.start
        ]
        following = self.text[mention.end : mention.end + 6]
        closed = following[:1] in (",", ";", ")") or cues.TOWARDS.match(following) is not None
        bracketed = any(re.fullmatch(r"\s?\([\w.=\s]{0,12}", gap) for gap in gaps)
        opened = self.text.rfind("(", self.passage.start, mention.start)
        closes = self.text.find(")", opened, self.figure.start)
        if 0 <= opened < mention.start < closes and any(
            opened < start < closes for start, _ in self.scene.places
        ):
            return True
        closing = self.text.find(")", mention.end, self.figure.start)
        return (bracketed and closing >= 0) or (
            closed and any(cues.BELONGS.fullmatch(gap) for gap in gaps)
        )

    def _behind(self, mention: Mention) -> float:
        """The strength of a mention behind the number; a condition behind a list is of all its numbers."""
        begin = self.series[-1][1] if is_number(mention) and self.series else self._run[-1][1]
        gap = self.text[begin : mention.start]
        places = self.scene.places
        if is_number(mention) and begin > self.figure.end and self._begins_a_course():
            return EARLIER
        if mention.start < begin or any(begin <= start < mention.start for start, _ in places):
            return HERE
        behind = self.text[mention.end : mention.end + 3].lstrip(" ")[:1] == "("
        of_next = not (behind and cues.OF.match(gap)) and any(
            mention.end <= start
            and cues.LEADS_ON.fullmatch(self.text[mention.end : start])
            and not (is_number(mention) and cues.CHANGE.fullmatch(self.text[mention.end : end]))
            for start, end in places
        )
        if self.figure.unit == "times" and cues.BASE.match(gap) and is_metric(mention.token):
            return EARLIER
        if self.figure.total is not None and not is_number(mention) and cues.COUNTED.fullmatch(gap):
            return EARLIER
        direct = len(gap) <= _REACH and cues.DIRECT.fullmatch(gap) and not cues.BREAK.search(gap)
        tested = cues.TEST.match(self.text[mention.end : mention.end + 40]) is not None
        of_next = of_next or tested
        return HERE if of_next or not direct or is_weak(mention.token) else SURE

    def _begins_a_course(self) -> bool:
        """Whether the number is what a course starts from: *from 412.7 to 207.6 in 200 rounds*."""
        return re.search(r"\bfrom\s(?:about\s)?$", self.text[: self.series[0][0]]) is not None

    def _in_list(self, mention: Mention) -> float | None:
        """The strength of a mention in a list that is as long as the list of numbers."""
        inside = self.passage.start <= mention.start < self.passage.end
        if len(self.series) < 2 or not inside:
            return None
        beside = self._slashed_beside(mention)
        if beside is not None:
            return beside
        listed = self._mention_list(mention)
        if len(listed) != len(self.series) or not self._belong(mention, listed):
            return None
        at = next(i for i, place in enumerate(self.series) if place[0] == self.figure.start)
        return SURE if listed.index((mention.start, mention.end)) == at else 0.0

    def _slashed_beside(self, mention: Mention) -> float | None:
        """Of *best n is 100 / 400 with F1 0.80 / 0.73*: a condition goes with the number that has its place.

        Behind a further row of numbers, *and at the end 0.71 / 0.65*, another condition may hold.
        """
        row = next((r for r in self._rows if r[0] <= mention.start < r[1]), None)
        if row is None or not is_number(mention):
            return None
        of_row = self.text.count("/", row[0], mention.start)
        of_run = self._run.index((self.figure.start, self.figure.end))
        measured = any(row[1] <= start < self._run[0][0] for start, _ in self.scene.places)
        return 0.0 if of_row != of_run else HERE if measured else SURE

    @cached_property
    def _rows(self) -> list[Place]:
        """Other rows of numbers that are as long as the number's own."""
        found = (m.span() for m in cues.SLASHED.finditer(self.text, *self.passage.sentence))
        return [
            (start, end)
            for start, end in found
            if self.text.count("/", start, end) + 1 == len(self._run)
            and not start <= self.figure.start < end
        ]

    def _belong(self, mention: Mention, listed: Sequence[Place]) -> bool:
        """Whether a list of names and the numbers stand close, with nothing like them between."""
        before = listed[-1][1] <= self.series[0][0]
        first, last = (
            (listed[-1][1], self.series[0][0]) if before else (self.series[-1][1], listed[0][0])
        )
        gap = self.text[first:last]
        apart = re.search(r"[;:.)]|\b(?:while|but|so)\b", gap) or len(gap) > _REACH
        if apart or any(self.scene.apart(mention, m) for m in self.scene.within(first, last)):
            return False
        if not before:
            return cues.BEHIND_A_LIST.fullmatch(gap) is not None
        opening = self.text[max(0, listed[0][0] - 20) : listed[0][0]]
        return not re.search(r"\bbetween\s(?:\w+\s?=?\s?)?$", opening)

    def _mention_list(self, mention: Mention) -> list[Place]:
        """The places of mentions that stand in one list with this one."""
        numeric = is_number(mention)
        others = [
            m
            for m in self.mentions
            if m.token == mention.token
            or (is_number(m) if numeric else self.scene.apart(mention, m) and not is_number(m))
        ]
        places = sorted({(m.start, m.end) for m in others})
        first = last = places.index((mention.start, mention.end))
        while first and cues.MENTION_LIST.fullmatch(
            self.text[places[first - 1][1] : places[first][0]]
        ):
            first -= 1
        while last + 1 < len(places) and cues.MENTION_LIST.fullmatch(
            self.text[places[last][1] : places[last + 1][0]]
        ):
            last += 1
        return places[first : last + 1]
