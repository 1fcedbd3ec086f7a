"""Relations against the outputs: the numbers of both sides are found, and their direction is checked.

A relation counts as contradicted only when every pair of numbers that it can be said of points the other way;
where they differ among each other it is not checkable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from expbench.grounding.cells import Cell
from expbench.grounding.contests import is_under, sharp
from expbench.grounding.literals import Literals
from expbench.grounding.names import Mention, Text, Token
from expbench.grounding.pairs import Pair, pairs
from expbench.grounding.quality import is_metric, polarity_of, stated
from expbench.grounding.relations import direction
from expbench.grounding.scene import Around, Scene, is_number, is_weak
from expbench.judges.words import stem
from expbench.reruns import ClaimState
from expbench.schema import GroundedClaim, ReportedClaim

Vote = tuple[bool, Pair]
_BESIDE_THE_POINT = frozenset(
    (
        *(
            "std",
            "stderr",
            "se",
            "sd",
            "sem",
            "deviation",
            "standard",
            "ci",
            "low",
            "high",
            "lower",
            "upper",
        ),
        *("lr", "rank", "count", "p", "pvalue"),
    )
)
_TIMES = frozenset(("time", "seconds", "sec", "secs", "runtime", "elapsed"))
_OF_SPREAD = re.compile(r"\bstandard (?:errors?|deviations?)\b|\bstd\b", re.IGNORECASE)
"""A claim of how far numbers spread, which are not compared."""
_OF_TIME = re.compile(
    r"\b(?:fast|slow|quick)(?:er|est)?\b|\bseconds\b|\bruntimes?\b|\btime (?:per|to)\b"
    r"|\b(?:training|inference|running|wall|wall-clock|total|computation|decoding|run) times?\b",
    re.IGNORECASE,
)
"""A claim of times, which else are beside the point."""
GENERAL = re.compile(
    r"\b(?:all|every|each|always|everywhere|throughout|consistently|in any)\b", re.IGNORECASE
)
_RATE = re.compile(
    r"/\s?s(?:ec)?\b|per[ _]sec|ps\b|through|speed|rate\b|\b(?:fps|qps|it/s|tok/s|flops)\b",
    re.IGNORECASE,
)
"""What a label of a rate has: more of it is faster."""
_MAGNITUDE = re.compile(r"drawdown|drop|decline|decrease|shortfall|reduction|\bloss", re.IGNORECASE)
"""Negative numbers under these are spoken of by their size."""
_IN_POINTS = re.compile(r"\d\s(?:percentage )?points\b|\bgains?\b")
"""What is gained in points is better when it is more."""
_GAP = re.compile(r"\bgaps?\b", re.IGNORECASE)
"""What lies between two numbers of any quantity, where no label has the word."""
_OF_TWO = re.compile(r"\w\s(?:vs\.?|versus)\s\w")
_SIDE_BEFORE = 200
"""Characters before a claim in which its subject may stand: *A is first on x and last on y*."""
TIE = 0.03
"""Share by which two numbers on a par may differ."""
_FAR = 0.25


@dataclass
class Compared:
    """What all checks of relations share: the sides of a claim, its conditions, its votes."""

    scene: Scene
    literals: Literals

    def side(self, claim: ReportedClaim, at: int) -> list[Mention]:
        """The labels that a side of a claim names, in their places in the conclusion."""
        text = self.scene.conclusion.text
        start = text.rfind(claim.sides[at], max(0, claim.start - _SIDE_BEFORE), claim.end)
        if start >= 0:
            return self.scene.within(start, start + len(claim.sides[at]))
        return Text(claim.sides[at]).mentions(self.scene.outputs.index)

    def narrowed(
        self,
        claim: ReportedClaim,
        found: Sequence[Pair],
        names: Iterable[Token],
        wide: bool = False,
    ) -> tuple[list[Pair], bool]:
        """The pairs under the labels that a claim and what stands around it name; whether it is plain which.

        What the claim itself names has to hold. Other labels of the sentence, then of what comes before it,
        narrow down what is left, as long as something is left; with ``wide`` only its quantities do.
        """
        own = set(names)
        around = self.scene.around(claim.start, claim.end)
        around = Around(*map(sharp, (around.inside, around.here, around.earlier)))
        general = GENERAL.search(claim.text) is not None
        if _OF_SPREAD.search(claim.text):
            return [], False
        left = [p for p in found if measured(p[0], claim.text) and not self._barred(p)]
        if _OF_TIME.search(claim.text):
            left = [pair for pair in left if _is_time(pair[0])] or left
        numbers = [m for m in around.inside if is_number(m) and not self._of_names(m, own)]
        for mention in around.inside:
            if (
                not is_number(mention)
                and mention.token not in own
                and not self._of_names(mention, own)
            ):
                left = [pair for pair in left if mention.token in pair[0].tokens] or left
        if numbers:
            left = [p for p in left if any(is_under(p[0], m.token) for m in numbers)] or left
        others = {m.token for m in around.here if is_number(m)}
        plain = bool(numbers) or general or len(others) < 2
        for mention in (*around.here, *around.earlier):
            if (
                self._of_names(mention, own)
                or mention.token in own
                or (wide and not is_metric(mention.token))
                or ((numbers or general) and is_number(mention))
                or (general and mention in around.earlier and not is_metric(mention.token))
            ):
                continue
            some = [pair for pair in left if is_under(pair[0], mention.token)]
            known = any(self.scene.apart(mention, other) for other in around.inside)
            if some and not known and not self._replaced(mention, around.here):
                left = some
        return left, plain

    def _replaced(self, mention: Mention, here: Sequence[Mention]) -> bool:
        """Whether a nearer mention of the sentence excludes this one."""
        return any(
            self.scene.apart(mention, other) for other in here[: here.index(mention)] if other != mention
        ) if mention in here else any(self.scene.apart(mention, other) for other in here)  # fmt: skip

    def _of_names(self, mention: Mention, names: set[Token]) -> bool:
        return any(self.scene.rivals(mention.token, name) for name in names)

    def _barred(self, pair: Pair) -> bool:
        return any(self.literals.why(cell) for cell in pair)

    def polarity(self, cell: Cell, claim: ReportedClaim) -> int:
        """1 where more is better, -1 where less is, 0 where nothing tells."""
        labels = " ".join(label for _, label in cell.labels).lower()
        if match := re.search(r"(lower|higher|smaller|larger) is better", labels):
            return -1 if match[1] in ("lower", "smaller") else 1
        given = {str(token).partition("=")[0] for token in cell.tokens if "=" in str(token)}
        own = {
            sign
            for token in cell.tokens
            if stem(str(token)) not in given and (sign := polarity_of(token))
        }
        if own:
            return own.pop() if len(own) == 1 else 0
        told = stated(claim.text) or stated(_GAP.sub(" ", self.scene.conclusion.text))
        told = told or stated(self.scene.context, asked=True)
        return told or int(_IN_POINTS.search(self.scene.conclusion.text) is not None)

    def votes(
        self, claim: ReportedClaim, found: Iterable[Pair], axis: str, sign: int
    ) -> list[Vote]:
        """For each pair whether its first number is more (or better) than its second, as claimed."""
        cast = []
        for pair in found:
            outputs = self.scene.outputs
            levels = [outputs.level(cell) for cell in pair]
            if max(levels) < 0 and _MAGNITUDE.search(
                " ".join(label for _, label in pair[0].labels)
            ):
                levels = [abs(level) for level in levels]
            difference = levels[0] - levels[1]
            wanted = sign * self._turn(axis, pair[0], claim)
            if wanted and difference:
                cast.append(((difference > 0) == (wanted > 0), pair))
        return cast

    def _turn(self, axis: str, cell: Cell, claim: ReportedClaim) -> int:
        """1 where more of a number is more on an axis, -1 where less is: *faster* in MB/s or in seconds."""
        if axis == "quality":
            return self.polarity(cell, claim)
        if axis == "size":
            return 1
        labels = " ".join(label for _, label in cell.labels)
        return 1 if _RATE.search(labels) else -1

    def judge(
        self, claim: ReportedClaim, cast: Sequence[Vote], plain: bool = True, every: bool = False
    ) -> GroundedClaim:
        """The verdict that votes give; against a claim only when all are and it is plain what is meant.

        With ``every`` the claim is that all agree.
        """
        if not cast:
            return verdict(
                claim, "not_checkable", reason="the outputs have no two numbers to compare for it"
            )
        good = [pair for agrees, pair in cast if agrees]
        one = (good or [pair for _, pair in cast])[0]
        where = f"{one[0].place} and {one[1].place}"
        shown = f"{_written(one[0])} and {_written(one[1])}"
        if len(good) == len(cast):
            return verdict(
                claim, "grounded", where, one[0].quote, f"{len(good)} of {len(cast)} agree: {shown}"
            )
        if (not good or every) and plain:
            against = next(pair for agrees, pair in cast if not agrees)
            where = f"{against[0].place} and {against[1].place}"
            shown = f"{_written(against[0])} and {_written(against[1])}"
            return verdict(claim, "contradicted", where, against[0].quote, f"there it is {shown}")
        return verdict(
            claim, "not_checkable", where, one[0].quote, f"{len(good)} of {len(cast)} agree"
        )

    def unnamed(self, claim: ReportedClaim) -> GroundedClaim:
        """The verdict where the outputs do not know the names."""
        return verdict(
            claim, "not_checkable", reason="the outputs do not name both sides in its words"
        )

    def rivals(
        self, one: Sequence[Mention], other: Sequence[Mention]
    ) -> tuple[Token, Token] | None:
        """The last name of the first side and the first one of the second that exclude each other."""
        for first in one if one is other else reversed(one):
            for second in other:
                weak = is_weak(first.token) or is_weak(second.token)
                if not weak and self.scene.apart(first, second):
                    return self._closer(first, one), self._closer(second, other)
        return None

    def _closer(self, name: Mention, side: Sequence[Mention]) -> Token:
        """A name, or what stands close to it and tells more: *eps* of *eps = 0.1*."""
        index = self.scene.outputs.index
        near = [m.token for m in side if abs(m.start - name.end) <= 6 or m == name]
        inside = [t for t in near if index[t] <= index[name.token]]
        return min(inside, key=lambda token: len(index[token]))

    def compare(self, claim: ReportedClaim, one: Token, other: Token) -> tuple[list[Pair], bool]:
        """The pairs of two names' numbers that a claim can be said of; whether it is plain which."""
        return self.narrowed(claim, pairs(self.scene.outputs, [one], [other]), (one, other))


class Comparisons(Compared):
    """Checks *A is more than B*, *A equals B*, *A is best*, *A > B > C*."""

    def comparison(self, claim: ReportedClaim) -> GroundedClaim:
        """Two sides."""
        chosen = (
            self.rivals(self.side(claim, 0), self.side(claim, 1)) if len(claim.sides) > 1 else None
        )
        if chosen is None:
            return self.unnamed(claim)
        found, plain = self.compare(claim, *chosen)
        if claim.relation == "=":
            return self._equality(claim, found)
        axis, sign = direction(claim.text) or ("size", 1 if claim.relation == ">" else -1)
        symbol = re.search(r"[<>≻≺]", claim.text)
        if symbol and direction(claim.text) is None:
            return self._symbols(claim, [found], plain)
        return self.judge(claim, self.votes(claim, found, axis, sign), plain)

    def _equality(self, claim: ReportedClaim, found: Sequence[Pair]) -> GroundedClaim:
        if not found:
            return self.judge(claim, [])
        far = [abs(a.value - b.value) / max(abs(a.value), abs(b.value), 1e-12) for a, b in found]
        one = found[far.index(min(far))]
        where = f"{one[0].place} and {one[1].place}"
        shown = f"there it is {_written(one[0])} and {_written(one[1])}"
        if max(far) <= TIE:
            return verdict(claim, "grounded", where, one[0].quote, shown)
        state: ClaimState = "contradicted" if min(far) > _FAR else "not_checkable"
        return verdict(claim, state, where, one[0].quote, shown)

    def ranking(self, claim: ReportedClaim) -> GroundedClaim:
        """Three names or more, in their order."""
        sides = [self.side(claim, at) for at in range(len(claim.sides))]
        found: list[list[Pair]] = []
        plain = True
        for one, other in pairwise(sides):
            chosen = self.rivals(one, other)
            if chosen is None:
                return self.unnamed(claim)
            options, sure = self.compare(claim, *chosen)
            plain = plain and sure
            found.append(options)
        if re.search(r"[<>≻≺]", claim.text):
            return self._symbols(claim, found, plain)
        return self._ordered(claim, found, plain)

    def _symbols(
        self, claim: ReportedClaim, found: Sequence[Sequence[Pair]], plain: bool
    ) -> GroundedClaim:
        """*A < B* is said of sizes; *A > B* of sizes, or that A is better."""
        up = re.search(r"[<≺]", claim.text) is not None
        flat = [pair for options in found for pair in options]
        by_size = self.votes(claim, flat, "size", -1 if up else 1)
        by_quality = self.votes(claim, flat, "quality", -1 if up else 1)
        if (
            not all(agrees for agrees, _ in by_size)
            and by_quality
            and all(a for a, _ in by_quality)
        ):
            return self.judge(claim, by_quality, plain)
        return self._every(claim, found, by_size, plain)

    def _ordered(
        self, claim: ReportedClaim, found: Sequence[Sequence[Pair]], plain: bool
    ) -> GroundedClaim:
        """A listed order: best first where the metric tells, else in either direction."""
        flat = [pair for options in found for pair in options]
        worst_first = (
            re.search(r"\b(?:worst|lowest|weakest) to\b|ascending", claim.text) is not None
        )
        cast = self.votes(claim, flat, "quality", -1 if worst_first else 1)
        if not cast:
            cast = self.votes(claim, flat, "size", 1)
            if cast and not any(agrees for agrees, _ in cast):
                cast = [(True, pair) for _, pair in cast]
        return self._every(claim, found, cast, plain)

    def _every(
        self,
        claim: ReportedClaim,
        found: Sequence[Sequence[Pair]],
        cast: Sequence[Vote],
        plain: bool,
    ) -> GroundedClaim:
        """A ranking falls with any neighbours of it that are the other way round in every pair."""
        agreeing = {id(pair) for agrees, pair in cast if agrees}
        wrong = [
            options
            for options in found
            if options and not any(id(pair) in agreeing for pair in options)
        ]
        if wrong and cast:
            against = [(False, pair) for options in wrong for pair in options]
            return self.judge(claim, against, plain)
        return self.judge(claim, cast, plain)


def measured(cell: Cell, claim: str = "") -> bool:
    """Whether a number is a result, not an error bar or a setting; a time only for a claim of times."""
    last = _last_words(cell)
    titles = {
        word
        for role, label in cell.labels
        if role == "title"
        for word in re.findall(r"[a-z]+", label.lower())
    }
    bars = "standard" in titles and titles & {"errors", "error", "deviation", "deviations"}
    of_two = any(_OF_TWO.search(label) for _, label in cell.labels)
    return (
        not of_two
        and not last & _BESIDE_THE_POINT
        and (not last & _TIMES or _OF_TIME.search(claim) is not None)
        and not bars
        and bool(cell.labels)
        and cell.labels[-1][0] != "near"
    )


def _last_words(cell: Cell) -> set[str]:
    labels = [label.lower() for _, label in cell.labels[-2:]]
    return {word for label in labels for word in re.findall(r"[a-z][a-z0-9]*", label)}


def _is_time(cell: Cell) -> bool:
    """Whether a number is a time, or a rate of how much is done in one."""
    timed = cell.figure.unit == "seconds" or bool(
        _last_words(cell) & {*_TIMES, "latency", "ms", "s"}
    )
    return timed or any(_RATE.search(label) for _, label in cell.labels)


def _written(cell: Cell) -> str:
    return cell.written or f"{cell.value:g}"


def verdict(
    claim: ReportedClaim, state: ClaimState, where: str = "", quote: str = "", reason: str = ""
) -> GroundedClaim:
    """The verdict on a claim."""
    return GroundedClaim(claim=claim, state=state, where=where, quote=quote, reason=reason)
