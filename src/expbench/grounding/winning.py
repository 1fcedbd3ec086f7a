"""Who is best, and how often: *A is the most accurate*, *A wins in 2 of 3 sizes*."""

from __future__ import annotations

import re
from collections.abc import Sequence

from expbench.grounding.cells import Cell
from expbench.grounding.comparing import GENERAL, Comparisons, Vote, measured, verdict
from expbench.grounding.contests import another_agrees, contests, sharp
from expbench.grounding.matching import pool_of
from expbench.grounding.names import Mention, Token
from expbench.grounding.pairs import Pair, beside, pairs
from expbench.grounding.quality import is_metric, stated
from expbench.grounding.relations import direction
from expbench.grounding.scene import is_number, is_weak
from expbench.reruns import ClaimState
from expbench.schema import GroundedClaim, ReportedClaim

_PART_OF_ALL = re.compile(
    r"\b(?:among|except|apart from|besides|other than|of the (?:remaining|others|adjusted|two|three)|"
    r"versus|vs|until|"
    r"(?<!the )most|mostly|often|usually|many|some|several|at first|overall|on average|average|extremes?|"
    r"ends?)\b",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"^\s*(?:at|for|with|in|from|by|on|over)\b|\b(?:it|they|this|these)\b", re.IGNORECASE
)
_BY = re.compile(r"(?:by|in|on)\b", re.IGNORECASE)
_AT = re.compile(
    r"\b(?:lowest|smallest|highest|largest|best|worst|minimal|maximal)\s(?:at|for|with|after|in)\s"
)
_MOST_CELLS = 300
_ELSEWHERE = "under other conditions of the outputs it holds, and which are meant is not plain"


class Winners(Comparisons):
    """Checks *A is best* and *A is more than B in k of n*."""

    def counted(
        self, claim: ReportedClaim, names: Sequence[Mention], k: int, n: int
    ) -> GroundedClaim | None:
        """*A is more than B in k of n seeds*: k of n pairs agree. ``None`` where it is no such claim."""
        passage = self.scene.conclusion.passage(claim.start)
        said = direction(self.scene.conclusion.text[slice(*passage.sentence)]) if passage else None
        chosen = self.rivals(names, names)
        if said is None or chosen is None:
            return None
        found, _ = self.narrowed(claim, pairs(self.scene.outputs, [chosen[0]], [chosen[1]]), chosen)
        cast = self.votes(claim, found, *said)
        if len(cast) != n:
            return None
        agreeing = sum(agrees for agrees, _ in cast)
        one = cast[0][1]
        reason = f"{agreeing} of {n} pairs agree"
        state: ClaimState = "grounded" if agreeing == k else "contradicted"
        return verdict(claim, state, f"{one[0].place} and others", one[0].quote, reason)

    def best(self, claim: ReportedClaim) -> GroundedClaim:
        """One name that is said to be the most, the least, the best or the worst."""
        said = direction(claim.text)
        mentions = [
            m for m in sharp(self.side(claim, 0)) if not is_weak(m.token) and not is_metric(m.token)
        ]
        names = [m for m in mentions if not is_number(m)]
        if not names and not _NO_NAME.search(claim.sides[0]):
            names = mentions
        if said is None or not names:
            return self.unnamed(claim)
        extreme = self._extreme_at(claim)
        name, paired = self._competing(*extreme) if extreme else self._first_competing(names)
        found, plain = self.narrowed(claim, paired, (name,))
        votes = self._won_by_all(claim, found)
        passage = self.scene.conclusion.passage(claim.start)
        sentence = self.scene.conclusion.text[slice(*passage.sentence)] if passage else claim.text
        plain = plain and not _PART_OF_ALL.search(sentence)
        judged = self.judge(claim, votes, plain, self._of_every(claim, votes))
        if judged.state == "contradicted":
            wide, _ = self.narrowed(claim, paired, (name,), wide=True)
            if another_agrees(self._won_by_all(claim, wide)):
                return verdict(claim, "not_checkable", judged.where, judged.quote, _ELSEWHERE)
        return judged

    def _won_by_all(self, claim: ReportedClaim, found: Sequence[Pair]) -> list[Vote]:
        """For each number of a name one vote: the first one against it, if there is one."""
        said = direction(claim.text)
        cast: dict[int, Vote] = {}
        for vote in self.votes(claim, found, *said) if said else ():
            known = cast.get(id(vote[1][0]))
            if known is None or not vote[0]:
                cast[id(vote[1][0])] = vote
        return list(cast.values())

    def _competing(self, name: Token, cells: Sequence[Cell] = ()) -> tuple[Token, list[Pair]]:
        cells = cells or pool_of(self.scene.outputs, [name])[:_MOST_CELLS]
        return name, contests(self.scene.outputs, cells, name)

    def _first_competing(self, names: Sequence[Mention]) -> tuple[Token, list[Pair]]:
        """The last name that numbers compete with, and these: *temperature* of *temperature scaling*."""
        tried = (self._competing(each.token) for each in reversed(names))
        return next((each for each in tried if each[1]), (names[-1].token, []))

    def _extreme_at(self, claim: ReportedClaim) -> tuple[Token, list[Cell]] | None:
        """Where a quantity is said to be extreme, and its numbers there: *the loss is lowest at epoch 12*."""
        side = [m for m in self.side(claim, 0) if not is_number(m)]
        quantity = any(is_metric(m.token) for m in side) or stated(claim.sides[0])
        by = _BY.match(claim.sides[0])  # *by loss ours is lowest at 8* speaks of ours
        if not side or not quantity or by or not _AT.search(claim.text):
            return None
        numbers = [m for m in self.scene.around(claim.start, claim.end).inside if is_number(m)]
        for mention in numbers[:1]:
            cells = pool_of(self.scene.outputs, [mention.token, *(m.token for m in side)])
            return (mention.token, cells[:_MOST_CELLS]) if cells else None
        return None

    def _of_every(self, claim: ReportedClaim, cast: Sequence[Vote]) -> bool:
        """Whether a claim says *at all sizes* of one metric, of which all its numbers are."""
        if not GENERAL.search(claim.text):
            return False
        around = self.scene.around(claim.start, claim.end)
        metrics = [m.token for m in around.inside if is_metric(m.token)]
        return any(all(token in pair[0].tokens for _, pair in cast) for token in metrics)

    def won(
        self, claim: ReportedClaim, names: Sequence[Mention], k: int, n: int
    ) -> GroundedClaim | None:
        """*A wins in k of n sizes*: it is ahead of all others there. ``None`` where it is no such claim."""
        passage = self.scene.conclusion.passage(claim.start)
        said = direction(self.scene.conclusion.text[slice(*passage.sentence)]) if passage else None
        words = [m for m in names if not is_number(m) and not is_weak(m.token)]
        named = [m for m in words if not is_metric(m.token)]
        if said is None or not named:
            return None
        name = named[-1].token
        cells = [c for c in pool_of(self.scene.outputs, [name])[:_MOST_CELLS] if measured(c)]
        among = [(c, beside(self.scene.outputs, c, name)) for c in cells]
        among = [(cell, others) for cell, others in among if others]
        metrics = [m.token for m in words if is_metric(m.token)]
        for token in metrics:
            among = [each for each in among if token in each[0].tokens] or among
        if len(among) != n:
            return None
        wins = [
            all(agrees for agrees, _ in cast)
            for cell, others in among
            if (cast := self.votes(claim, [(cell, other) for other in others], *said))
        ]
        if len(wins) != n:
            return None
        cell = among[0][0]
        state: ClaimState = "grounded" if sum(wins) == k else "contradicted"
        reason = f"ahead in {sum(wins)} of {n}"
        return verdict(claim, state, f"{cell.place} and others", cell.quote, reason)
