"""A conclusion before the outputs that it speaks of: which labels of theirs it names, and where.

Two labels exclude each other when (next to) no number of the outputs stands under both: two methods, two
metrics, two values of one setting.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from expbench.grounding.figures import Figure
from expbench.grounding.names import STOP, Mention, Text, Token, label_tokens, words
from expbench.grounding.outputs import Outputs
from expbench.grounding.passages import Conclusion, Passage
from expbench.grounding.quality import POLARITY, is_metric
from expbench.judges.words import stem
from expbench.schema import ReportedClaim

_OVERLAP = 0.1
"""Share of the rarer label's numbers that may also stand under a label which excludes it."""
_WEAK = words(
    """
    best better worst worse lowest highest largest smallest greatest least most first last
    lower higher larger smaller winner leader ahead behind rank order mean average value
    result results score final total overall number run runs method methods model models
    """
)
"""Words of labels that say little where a text has them: they never make a number another one's."""
_PLAIN = frozenset(
    ["only", "until", "already", "still", "is", "best", "least", "ahead", "lowest", "first"]
)
_SET_BEFORE = re.compile(
    r"([A-Za-z_]+)\s?(?:=|of)?\s?(?:(?:from|between)\s)?(?:\d[\d.]*\s?(?:,|/|and|or|to)\s?)*$"
)
_SET_AFTER = re.compile(
    r"(?:\s?(?:,|/|,?\s?and|or|to)\s?\d[\d.]*){0,6}(?:\s(?=\w)|"
    r"-(?=\w+\s\w))([A-Za-z]+)(?:(?<=\w)(?:\b)\s([A-Za-z]+))?"
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|this|these|both|respectively|"
    r"the (?:two|three|same|former|latter|other|others))\b",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"\b(?:the (?:rest|others?)|all (?:other|remaining|methods|models|of)|every (?:other|method))\b",
    re.I,
)
_NAMED = re.compile(
    r"([A-Za-z_]+)\s?(?:=|of|is)?\s?(?:(?:from|between)\s-?[\d.]+(?:[eE]-?\d+)?\s?(?:to|and)\s)?$"
)
_NAMES = re.compile(r"\s([A-Za-z_]{3,})")
_PLACED = re.compile(
    r"(?:^|[.;,]\s|\band\s|\bbut\s)(?:[Aa]t|[Ww]ith|[Ff]or|[Bb]eyond|[Aa]bove|[Uu]p to|[Uu]ntil)\s$"
)
_WITH = re.compile(r"\b(?:[Ww]ith|[Uu]sing|[Bb]y)\s(?:the\s|a\s)?$")
_AT = re.compile(r"(?:(?:^|[.;]\s|,\s(?:and\s)?)[Aa]t\s|\d\s?%?\)?\sat\s)$")
_LIST_AT = re.compile(r"(?:,\s\d+(?:\.\d+)?)*,?\sand\s\d+(?:\.\d+)?\s\((?=\d)")
"""Conditions before their results in brackets: *at 0.15, 0.3 and 0.6 (71.8, 49.7, 30.6)*."""
_ROW_WITH = re.compile(
    r"\b(?:with|at|for|using|after)\s(\d+(?:\.\d+)?(?:,\s\d+(?:\.\d+)?)*,?\s(?:and|or)\s\d+(?:\.\d+)?)\s"
    r"(?!points|percent|times|and|vs|of)[a-z]{3,}\b(?!\s(?:for|by|in)\b)",
    re.IGNORECASE,
)
_NAME_BEFORE = 60
_SHORTEST = 3
_BACK = 400
_MOST_MENTIONS = 3_000
_MOST_COMPARED = 50
_REMOVED = re.compile(
    r"(?:^|[\s(])(?:[-−–]\s?(?=[A-Za-z])|w/o\b|without\b|no[ _-]|minus\b|before\b)", re.I
)
_AGAINST = re.compile(r"\s(?:vs\.?|versus|against|minus|[-−–])\s", re.IGNORECASE)
_VERSUS = re.compile(r"\s*,?\s*(?:vs\.?|versus|against|compared (?:with|to))\s*(?:only\s|the\s)?")


Place = tuple[int, int]
"""Start and end of something in a conclusion."""


@dataclass(frozen=True)
class Around:
    """Mentions in a claim, elsewhere in its sentence, and before it, each from the nearest on."""

    inside: list[Mention]
    here: list[Mention]
    earlier: list[Mention]


class Scene:
    """A conclusion before the outputs that it speaks of."""

    def __init__(
        self,
        conclusion: Conclusion,
        outputs: Outputs,
        claims: Sequence[ReportedClaim],
        context: str = "",
    ) -> None:
        self.conclusion = conclusion
        self.context = context
        self.outputs = outputs
        self.places: list[Place] = sorted(
            (figure.start, figure.end)
            for claim in claims
            if claim.kind == "number"
            and (figure := self.figure(claim)) is not None
            and not self.given(figure)
        )

    def given(self, figure: Figure) -> bool:
        """Whether a figure is a setting by the outputs: they have a label of its name and value."""
        if (
            figure.unit not in ("", "percent")
            or figure.error is not None
            or figure.total is not None
        ):
            return False
        if figure.unit == "percent" and figure.step < 1 and figure.value.is_integer():
            return False  # *64.0 %* was measured, whatever is set to 64
        text = self.conclusion.text
        if figure.value in self._set and (
            (figure.unit == "percent" and self._placed(figure))
            or self._at(figure)
            or self._listed(figure)
        ):
            return True
        before = _NAMED.search(text[max(0, figure.start - _NAME_BEFORE) : figure.start])
        behind = _NAMES.match(text[figure.end : figure.end + _NAME_BEFORE])
        names = [match[1] for match in (before, behind) if match is not None]
        known: set[str] = self._set.get(figure.value, set())
        own = {stem(name.lower()) for name in names} - POLARITY.keys()
        own |= {name.lower() for name in names} if own else set()
        return any(_alike(name, other) for name in own for other in known)

    @cached_property
    def _set(self) -> dict[float, set[str]]:
        """The values that labels of the outputs give to settings, with the settings' stems."""
        found: dict[float, set[str]] = defaultdict(set)
        for token in self.outputs.index:
            if isinstance(token, str) and "=" in token:
                name, _, value = token.rpartition("=")
                found[float(value)].add(name)
        return found

    def said_of(self, figure: Figure) -> list[Mention]:
        """The mentions between a figure and the one before it in its passage."""
        passage = self.conclusion.passage(figure.start)
        start = passage.start if passage else 0
        ends = [f.end for f in self.conclusion.figures if start <= f.end <= figure.start]
        return self.within(max([start, *ends]), figure.start)

    @lru_cache(maxsize=5_000)  # noqa: B019 - a scene lives as long as one grounding
    def removed(self, token: Token) -> bool:
        """Whether the outputs name by a label what was taken away: *- dropout*, *w/o dropout*."""
        ids = sorted(self.outputs.index.get(token, frozenset()))[:_MOST_COMPARED]
        labels = {label for at in ids for _, label in self.outputs.cells[at].labels}
        return any(_REMOVED.search(each) and token in label_tokens(each) for each in labels)

    def _placed(self, figure: Figure) -> bool:
        """Whether a figure stands as a condition: *at 95 % it collapses*."""
        text = self.conclusion.text
        behind = re.match(r"\s?([a-z]+)", text[figure.end : figure.end + _NAME_BEFORE])
        measured = behind is not None and stem(behind[1]) in POLARITY
        return not measured and _PLACED.search(text[: figure.start][-_NAME_BEFORE:]) is not None

    def _at(self, figure: Figure) -> bool:
        """Whether a bare number is said as a place: *At 0.5 A leads*, *9.2 % at 0.4*."""
        text = self.conclusion.text
        if figure.unit or figure.digits > _SHORTEST:
            return False
        row = _LIST_AT.match(text, figure.end)
        if row is not None and text[: figure.start].endswith("at "):
            return all(float(value) in self._set for value in re.findall(r"\d+(?:\.\d+)?", row[0]))
        if not _AT.search(text[: figure.start][-12:]):
            return False
        return re.match(r"\s(?:the\s)?[A-Za-z]|[,.;)]|\sand\s|$", text[figure.end :]) is not None

    def _listed(self, figure: Figure) -> bool:
        """Whether a number stands in a row of one setting's values: *with 200 and 1000 examples*."""
        text = self.conclusion.text
        start = max(0, figure.start - _NAME_BEFORE)
        for row in _ROW_WITH.finditer(text, start, figure.end + _NAME_BEFORE):
            values = [float(value) for value in re.findall(r"\d+(?:\.\d+)?", row[1])]
            known = [self._set.get(value, set()) for value in values]
            if row.start(1) <= figure.start < row.end(1) and set.intersection(*known):
                return True
        return False

    def figure(self, claim: ReportedClaim) -> Figure | None:
        """The figure of the conclusion that a claim is about."""
        found = [
            figure
            for figure in self.conclusion.figures
            if claim.start <= figure.start < claim.end and figure.value == claim.value
        ]
        return next((f for f in found if f.unit == claim.unit), found[0] if found else None)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Where the conclusion names labels of the outputs; numbers that are claims are no names."""
        found = Text(self.conclusion.text).mentions(self.outputs.index)
        kept = [self._named(mention) for mention in found if not self._is_claim(mention)]
        kept = self._without_parts_of_names(kept[:_MOST_MENTIONS])
        phrases = {(m.start, m.end) for m in kept if re.search(r"[ @+-]", self._words(m))}
        return tuple(m for m in kept if not any(_inside(m, phrase) for phrase in phrases))

    def _without_parts_of_names(self, found: list[Mention]) -> list[Mention]:
        """The mentions without quantities that are parts of names: *with focal loss the AUC is 0.8*."""
        text = self.conclusion.text
        names = {m.end: m for m in found if not is_number(m) and stem(str(m.token)) not in POLARITY}
        pairs = [(names[m.start - 1], m) for m in found if m.start - 1 in names]
        pairs = [(name, m) for name, m in pairs if stem(str(m.token)) in POLARITY]
        parts = {
            text[name.start : m.end].lower()
            for name, m in pairs
            if _WITH.search(text[: name.start][-_NAME_BEFORE:]) and self._of_another(m, found)
        }
        dropped = {id(m) for name, m in pairs if text[name.start : m.end].lower() in parts}
        return [m for m in found if id(m) not in dropped]

    def _of_another(self, metric: Mention, found: list[Mention]) -> bool:
        """Whether the passage names another quantity than this one."""
        passage = self.conclusion.passage(metric.start)
        return passage is not None and any(
            passage.start <= m.start < passage.end
            and stem(str(m.token)) in POLARITY
            and self.rivals(m.token, metric.token)
            for m in found
        )

    def _words(self, mention: Mention) -> str:
        return self.conclusion.text[mention.start : mention.end]

    def _named(self, mention: Mention) -> Mention:
        """A number as the value of what it sets, where the outputs have labels of that setting."""
        if not isinstance(mention.token, float):
            return mention
        named = f"{self._setting(mention)}={mention.token:.9g}"
        return (
            Mention(named, mention.start, mention.end) if named in self.outputs.index else mention
        )

    def within(self, start: int, end: int) -> list[Mention]:
        """The mentions of a part of the conclusion."""
        return [m for m in self.mentions if m.start >= start and m.end <= end]

    def rivals(self, one: Token, other: Token) -> bool:
        """Whether no number of the outputs stands under both labels."""
        return one != other and self._exclude(one, other)

    def apart(self, one: Mention, other: Mention) -> bool:
        """Whether two mentions exclude each other: by the outputs, or as two values of one setting."""
        if one.token == other.token:
            return False
        if self.rivals(one.token, other.token):
            return True
        return (
            is_number(one)
            and is_number(other)
            and bool(self._setting(one))
            and self._setting(one) == self._setting(other)
        )

    @lru_cache(maxsize=50_000)  # noqa: B019 - a scene lives as long as one grounding
    def _setting(self, mention: Mention) -> str:
        """The name of what a number sets: *W* in *W = 400*, *changes* in *4 changes*."""
        text = self.conclusion.text
        own = text[mention.start : mention.end].split()
        if len(own) > 1 and own[0].isalpha():
            return stem(own[-1].lower())  # the first epoch
        before = _SET_BEFORE.search(text[max(0, mention.start - 60) : mention.start])
        if before and before[1].lower() not in STOP and before[1].lower() not in _PLAIN:
            return stem(before[1].lower())
        after = _SET_AFTER.match(text[mention.end : mention.end + 60])
        if after is None or after[1].lower() in STOP or not _is_plain_word(after[1]):
            return before[1].lower() if before and before[1].lower() in STOP else ""
        return stem(after[1].lower()) + (f" {stem(after[2].lower())}" if after[2] else "")

    @lru_cache(maxsize=50_000)  # noqa: B019 - a scene lives as long as one grounding
    def _exclude(self, one: Token, other: Token) -> bool:
        index = self.outputs.index
        first, second = index.get(one, frozenset()), index.get(other, frozenset())
        both = first & second
        if both and len(both) <= _MOST_COMPARED:
            both = frozenset(at for at in both if not self._compares(at, one, other))
        return len(both) <= _OVERLAP * min(len(first), len(second))

    def _compares(self, at: int, one: Token, other: Token) -> bool:
        """Whether a number of the outputs is of two names: *t-test A vs B: 2.1*."""
        labels = [label for _, label in self.outputs.cells[at].labels if _AGAINST.search(label)]
        return any({one, other} <= label_tokens(label) for label in labels)

    def _is_claim(self, mention: Mention) -> bool:
        if not isinstance(mention.token, float):
            return False
        return any(start <= mention.start and mention.end <= end for start, end in self.places)

    def refers_back(self, figure: Figure, names: Iterable[Token], numeric: bool) -> bool:
        """Whether a sentence may mean names of an earlier one, by a pronoun or by *the rest*."""
        passage = self.conclusion.passage(figure.start)
        if passage is None:
            return True
        start, end = passage.sentence
        text = self.conclusion.text[start:end]
        if _GROUP.search(text) and not numeric:
            return True
        earlier = {m.token for m in self.within(max(0, start - _BACK), start)}
        return _PRONOUN.search(text) is not None and bool(earlier & set(names))

    def compared(self, figure: Figure) -> bool:
        """Whether a number is what the one right before it is compared with."""
        ends = [end for _, end in self.places if end <= figure.start]
        return bool(ends) and bool(
            _VERSUS.fullmatch(self.conclusion.text[max(ends) : figure.start])
        )

    def block_start(self, passage: Passage) -> int:
        """Where the paragraph of a passage begins."""
        return min(p.start for p in self.conclusion.passages if p.block == passage.block)

    def around(self, start: int, end: int) -> Around:
        """The labels that a passage names around a part of it, from the nearest on, and those before it."""
        passage = self.conclusion.passage(start)
        inside = self.within(start, end)
        if passage is None:
            return Around(inside, [], [])
        here = [m for m in self.within(*passage.sentence) if m not in inside]
        here.sort(key=lambda m: min(abs(m.start - end), abs(start - m.end)))
        begin = self.block_start(passage)
        leads = [m for lead in passage.leads if lead[0] < begin for m in self.within(*lead)]
        earlier = self.within(begin, passage.sentence[0])[::-1]
        return Around(inside, here, [*earlier, *leads])


def _alike(one: str, other: str) -> bool:
    """Whether two stems are of one name, perhaps cut short: *gen* and *generation*."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _SHORTEST and long.startswith(short))


def _is_plain_word(word: str) -> bool:
    """Whether a word behind a number can be what it counts: no name, no verb of comparison."""
    return word.islower() and word not in _WEAK


def of_two_kinds(one: Mention, other: Mention) -> bool:
    """Whether one is the value of a setting and the other a quantity, which exclude nothing."""
    return (is_number(one) and is_metric(other.token)) or (
        is_number(other) and is_metric(one.token)
    )


def is_weak(token: Token) -> bool:
    """Whether a label's word says little where a text has it."""
    return isinstance(token, str) and (token in _WEAK or (len(token) == 1 and token.islower()))


def is_number(mention: Mention) -> bool:
    """Whether a mention is of a number that is a label."""
    return isinstance(mention.token, float) or "=" in mention.token


def _inside(mention: Mention, phrase: tuple[int, int]) -> bool:
    """Whether a mention is a part of a longer one."""
    own = (mention.start, mention.end)
    return own != phrase and phrase[0] <= own[0] and own[1] <= phrase[1]
