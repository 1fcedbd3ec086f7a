"""A sentence as clauses: where one finding ends and the next begins.

There is no parser here, only word lists and the places of commas and conjunctions outside brackets.
A cut needs a positive sign that a new finding begins: a conjunction with a subject and a verb of its
own, a second verb of the same subject, or a participle that adds a result or an explanation. In
doubt a sentence stays whole, since half a finding is worse than two in one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from expbench.dataset.claims import grammar as g
from expbench.dataset.claims.blocks import Range, nested, trim

Role = Literal["finding", "explanation"]

_TOKEN = re.compile(r"[^\W_][\w'’/+%.-]*[\w%]|\w|[^\w\s]")
_WRAPPER = re.compile(
    r"(?:(?:Also|Additionally|Furthermore|Moreover|However|Specifically|Overall|Finally|Hence|Thus"
    r"|Therefore|In addition|In particular|Notably|Quantitatively|Conversely|In contrast|Meanwhile"
    r"|Second(?:ly)?|First(?:ly)?|Lastly|As a result|For example|For instance|Importantly),?\s+)?"
    r"(?:(?:Based on|According to|As (?:shown|reported|illustrated|seen|indicated|depicted) (?:in|by)"
    r"|In line with|Consistent with|Following|As per|Per)\s(?:[^,()]|\([^()]*\)){3,160},\s+)?"
    r"(?:(?:It (?:is|was|can be|will be|should be)\s(?:also\s)?(?:expected|anticipated|observed|found|"
    r"hypothesi[sz]ed|predicted|noted|seen|evident|clear)"
    r"(?:\sto\s(?:show|see|observe|find|reveal|demonstrate))?(?:\sthat,?)?"
    r"|We\s(?:expect|anticipate|observe|find|see|hypothesi[sz]e|predict)(?:\sto\s(?:see|observe|find))?"
    r"(?:\sthat)?"
    r"|(?:(?:The|These|Our)\s)?(?:[\w’'-]+\s){0,3}?"
    r"(?:experiments?|results?|findings?|evaluations?|analys[ei]s|study|outcomes?|comparisons?|metrics"
    r"|data|tests?|simulations?|papers?|authors|visuali[sz]ations?|measurements|expectations?)(?:\s\w+){0,4}?"
    r"\s(?:(?:is|are)\s(?:expected|anticipated|likely)\sto\s|should\s|will\s|would\s)?"
    r"(?:also\s|further\s|clearly\s|collectively\s)?"
    r"(?:demonstrate|show|reveal|confirm|indicate|find|verify|illustrate|suggest|prove|establish|"
    r"highlight|report|reflect|imply|implie|validate|is|are|be)s?\sthat),?\s+)?",
    re.IGNORECASE,
)
"""What introduces a finding and is none: connectives, sources, *it is expected that*."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence. ``leads`` are earlier parts of it that it needs to be read by itself."""

    start: int
    end: int
    role: Role = "finding"
    leads: tuple[Range, ...] = ()
    subject: Range | None = None


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        return self.text.lower()


@dataclass
class _Cutter:
    """Goes through a sentence once and keeps what the next clause may need of the last ones."""

    text: str
    tokens: Sequence[_Token]
    end: int
    condition: Range | None = None
    clause_from: int = 0
    """Index of the first token of the last clause with a subject."""
    found: list[Clause] = field(default_factory=list)

    def close(self, at: int) -> None:
        """End the open clause before character ``at``."""
        start, end = trim(self.text, self.found[-1].start, at)
        self.found[-1] = replace(self.found[-1], start=start, end=end, subject=self.subject(at))

    def subject(self, before: int) -> Range | None:
        """The subject of the last clause that has one of its own, looked for before a character."""
        last = next((i for i, t in enumerate(self.tokens) if t.start >= before), len(self.tokens))
        if self.clause_from >= last:
            return None
        start, end = trim(self.text, self.tokens[self.clause_from].start, _subject(self, last)[0])
        return (start, end) if start < end else None

    def open(self, at: int, role: Role = "finding", leads: tuple[Range, ...] = ()) -> None:
        """Begin a clause at character ``at``."""
        self.found.append(Clause(at, self.end, role, leads))


def clauses(text: str, start: int, end: int) -> tuple[Clause, ...]:
    """The clauses of one sentence in their order, without connectives and introductions."""
    wrapper = _WRAPPER.match(text, start, end)
    begin = wrapper.end() if wrapper and end - wrapper.end() > 20 else start
    closed = nested(text, begin, end)
    tokens = [
        _Token(match.group(), match.start(), match.end())
        for match in _TOKEN.finditer(text, begin, end)
        if match.start() not in closed
    ]
    cutter = _Cutter(text, tokens, end)
    cutter.open(begin)
    index = _opening(cutter)
    while index < len(tokens):
        index = _step(cutter, index)
    cutter.close(end)
    return tuple(each for each in cutter.found if each.start < each.end)


def _opening(cutter: _Cutter) -> int:
    """Deals with a subordinate clause at the sentence's start; the index after it."""
    tokens = cutter.tokens
    if not tokens:
        return 0
    first = tokens[0].word
    concedes = first in g.CONTRAST and first != "but" and first != "yet"
    condition = first in g.SUBORDINATE | g.PREPOSITIONS
    comma = next((i for i, token in enumerate(tokens) if token.text == ","), None)
    if not (concedes or condition) or comma is None or comma + 1 >= len(tokens):
        return 1
    while condition and _is_list(cutter, comma):
        comma = next(
            (i for i in range(comma + 1, len(tokens)) if tokens[i].text == ","), len(tokens)
        )
        if comma + 1 >= len(tokens):
            return 1
    if condition:
        cutter.condition = (tokens[0].start, tokens[comma].start)
    elif _has_verb(tokens[1:comma]):
        cutter.found[-1] = Clause(tokens[1].start, cutter.end)
        cutter.clause_from = 1
        cutter.close(tokens[comma].start)
        subject = cutter.found[-1].subject
        pronoun = tokens[comma + 1].word in g.PRONOUNS
        cutter.open(tokens[comma + 1].start, leads=(subject,) if subject and pronoun else ())
    cutter.clause_from = comma + 1
    return comma + 2


def _is_list(cutter: _Cutter, comma: int) -> bool:
    """Whether the comma stands between members of a list, ``on A, B, and C, …``."""
    rest = cutter.tokens[comma + 1 :]
    following = next((i for i, token in enumerate(rest) if token.text == ","), None)
    return following is not None and not _has_verb(rest[:following]) and following <= 6


def _step(cutter: _Cutter, index: int) -> int:
    """Looks at one token; the index of the next one to look at."""
    tokens, token = cutter.tokens, cutter.tokens[index]
    after_comma = tokens[index - 1].text in ",—–"
    if cutter.found[-1].role == "explanation":
        ahead = _ahead(tokens, index + 1)
        if after_comma and token.word in g.CONTRAST and _has_verb(ahead):
            return _new_clause(cutter, index, index + 1)
        return index + 1
    if token.word in g.CONTRAST:
        return _contrast(cutter, index)
    if token.word == "and":
        return _conjunction(cutter, index)
    if reason := _reason(cutter, index, after_comma):
        return reason
    if after_comma and token.word == "with" and _absolute(tokens, index):
        cutter.close(tokens[index - 1].start)
        cutter.open(tokens[index + 1].start)
        cutter.clause_from = index + 1
        return index + 2
    if after_comma and _past_adverbs(tokens, index)[1] in g.RESULTING and _main_seen(cutter, index):
        return _same_subject(cutter, index, index, participle=True)
    if after_comma and index + 1 < len(tokens) and _list_verb(cutter, index):
        return _same_subject(cutter, index, index)
    return index + 1


def _contrast(cutter: _Cutter, index: int) -> int:
    tokens = cutter.tokens
    ahead = _ahead(tokens, index + 1)
    at, word = _past_adverbs(tokens, index + 1)
    if not ahead or word in g.COMPARATIVES:
        return index + 1
    if word in g.VERBS and _verb_like(tokens, at):
        if _in_relative(cutter, index):
            return index + 1
        return _same_subject(cutter, index, index + 1)
    gerund = word in g.RESULTING or (tokens[index].word == "while" and word.endswith("ing"))
    if gerund and not any(token.word in g.MODALS for token in ahead):
        if not _main_seen(cutter, index):
            return index + 1
        return _same_subject(cutter, index, index + 1, participle=True)
    if _has_verb(ahead):
        return _new_clause(cutter, index, index + 1)
    return index + 1


def _conjunction(cutter: _Cutter, index: int) -> int:
    tokens = cutter.tokens
    at, word = _past_adverbs(tokens, index + 1)
    if at >= len(tokens) or not _main_seen(cutter, index):
        return index + 1
    if word in g.VERBS and _verb_like(tokens, at):
        if _in_relative(cutter, index):
            return index + 1
        return _same_subject(cutter, index, index + 1)
    first = index + 2 if tokens[index + 1].word == "that" else index + 1
    if tokens[index - 1].text == "," and first < len(tokens):
        ahead = _ahead(tokens, first)
        if tokens[first].word not in ("how", "which") and _has_verb(ahead):
            return _new_clause(cutter, index, first)
    return index + 1


def _reason(cutter: _Cutter, index: int, after_comma: bool) -> int:
    """Begins an explanation at ``index`` if one begins there; the next index, or 0."""
    tokens, token = cutter.tokens, cutter.tokens[index]
    at, word = _past_adverbs(tokens, index)
    following = tokens[index + 1].word if index + 1 < len(tokens) else ""
    explains = (
        token.word in g.REASONS
        or (
            token.word == "due" and following == "to" and tokens[index - 1].word not in g.BE_HAVE_DO
        )
        or (token.word == "since" and after_comma)
        or (token.word == "as" and after_comma and following not in g.AFTER_AS)
        or (token.word == "showing" and after_comma and following in ("that", "the"))
        or (word in g.EXPLAINING and (after_comma or at > index))
        or (token.word in ("which", "this") and after_comma and _explains(following))
        or (token.word == "so" and following == "that")
    )
    if not explains or not _main_seen(cutter, index):
        return 0
    cutter.close(token.start)
    cutter.open(token.start, "explanation")
    return max(index, at) + 1


def _explains(verb: str) -> bool:
    stem = re.sub(r"(?:e?s|ed)$", "", verb)
    return len(stem) > 3 and any(word.startswith(stem) for word in g.EXPLAINING)


def _new_clause(cutter: _Cutter, index: int, first: int) -> int:
    """A clause with a subject of its own; a condition at the sentence's start holds for it too."""
    tokens = cutter.tokens
    cutter.close(tokens[index].start)
    leads = (cutter.condition,) if cutter.condition and tokens[index].word == "and" else ()
    subject = cutter.found[-1].subject
    if subject and tokens[first].word in g.PRONOUNS:
        leads = (*leads, subject)
    cutter.open(tokens[first].start, leads=leads)
    cutter.clause_from = first
    return first + 1


def _same_subject(cutter: _Cutter, index: int, first: int, participle: bool = False) -> int:
    """A second verb of the same subject, which is put before it, with the auxiliary it needs."""
    tokens = cutter.tokens
    at, word = _past_adverbs(tokens, first)
    subject_end, auxiliary_end = _subject(cutter, index)
    bare = word in g.BARE and word not in g.MODALS and not participle
    lead_end = auxiliary_end if bare else subject_end
    begin = tokens[cutter.clause_from].start
    lead = trim(cutter.text, begin, lead_end)
    if lead[0] >= lead[1]:  # without its subject it would be half a finding
        return max(at, first) + 1
    leads: tuple[Range, ...] = (lead,)
    if cutter.condition and cutter.condition[0] < begin:
        leads = (cutter.condition, *leads)
    cutter.close(tokens[index].start)
    cutter.open(tokens[first].start, leads=leads)
    return max(at, first) + 1


def _subject(cutter: _Cutter, before: int) -> tuple[int, int]:
    """Where the subject of the current clause ends, and where its auxiliaries end."""
    tokens = cutter.tokens
    for index in range(cutter.clause_from, before):
        verb = index > cutter.clause_from and _verb_like(tokens, index)
        if verb and not _after_relative(tokens, index):
            noun = index - 1
            while noun > cutter.clause_from and _is_adverb(tokens[noun].word):
                noun -= 1
            end = tokens[noun].end
            last = index - 1
            while last + 1 < before and tokens[last + 1].word in g.AUXILIARY:
                last += 1
            return end, tokens[max(last, index - 1)].end
    end = tokens[cutter.clause_from].start
    return end, end


def _main_seen(cutter: _Cutter, index: int) -> bool:
    """Whether the current clause has had its verb, so that something new can begin."""
    tokens = cutter.tokens
    return any(
        _verb_like(tokens, at) and not _after_relative(tokens, at)
        for at in range(cutter.clause_from + 1, min(index, len(tokens)))
    )


def _after_relative(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a verb belongs to a relative pronoun right before it: *a model that learns*."""
    while at > 1 and (tokens[at - 1].word in g.AUXILIARY or tokens[at - 1].word.endswith("ly")):
        at -= 1
    return tokens[at - 1].word in ("that", "which", "who")


def _in_relative(cutter: _Cutter, index: int) -> bool:
    """Whether a relative clause with a verb stands before ``index``, to which a verb may belong.

    What a verb of saying introduces (*show that A beats B*) is a clause of its own, with its subject.
    """
    tokens, relative = cutter.tokens, False
    for at in range(cutter.clause_from + 1, index):
        word = tokens[at].word
        if word == "that" and tokens[at - 1].word in g.SAYING and at + 2 < index:
            cutter.clause_from, relative = at + 1, False
        elif word in ("that", "which", "who", "where", "whose"):
            relative = any(_verb_like(tokens, later) for later in range(at + 1, index))
    return relative


def _list_verb(cutter: _Cutter, index: int) -> bool:
    """Whether a comma is followed by one more verb of a list, ``should raise A, lower B, and …``."""
    at, word = _past_adverbs(cutter.tokens, index)
    return (
        word in (g.SURE_VERBS & g.VERBS) - g.MODALS - g.BE_HAVE_DO
        and at + 1 < len(cutter.tokens)
        and cutter.tokens[at + 1].text not in ",;"
        and _main_seen(cutter, index)
        and not _in_relative(cutter, index)
    )


def _absolute(tokens: Sequence[_Token], index: int) -> bool:
    """Whether ``with`` begins a phrase that says something of a subject of its own."""
    ahead = _ahead(tokens, index + 1)
    return any(
        token.word in g.RESULTING or (token.word == "expected" and place)
        for place, token in enumerate(ahead[:12])
        if place
    )


def _ahead(tokens: Sequence[_Token], index: int) -> Sequence[_Token]:
    """The tokens up to the next comma or contrast."""
    for at in range(index, len(tokens)):
        if at > index and (tokens[at].text in ",;—–" or tokens[at].word in g.CONTRAST):
            return tokens[index:at]
    return tokens[index:]


def _has_verb(tokens: Sequence[_Token]) -> bool:
    relative = False
    for at, token in enumerate(tokens):
        if token.word in ("that", "which", "who", "when", "if", "where") and at:
            relative = True
        if at and token.word in g.SURE_VERBS and _verb_like(tokens, at):
            return not relative or token.word in g.MODALS
    return False


def _verb_like(tokens: Sequence[_Token], at: int) -> bool:
    """Whether the word can be a verb there: no noun after *the*, no *increase in*."""
    word = tokens[at].word
    if word not in g.VERBS:
        return False
    before = tokens[at - 1].word if at else ""
    after = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if before in {"the", "a", "an", "this", "of", "in", "their", "its", "any", "no", "each"}:
        return False
    sure = word in g.SURE_VERBS
    return sure or not (after in {"in", "of", "and", ",", "for", ""} and before not in g.AUXILIARY)


def _past_adverbs(tokens: Sequence[_Token], at: int) -> tuple[int, str]:
    """The first word from ``at`` on that is no adverb, and its index."""
    while at < len(tokens) - 1 and _is_adverb(tokens[at].word):
        at += 1
    return (at, tokens[at].word) if at < len(tokens) else (at, "")


def _is_adverb(word: str) -> bool:
    return word in g.ADVERBS or (word.endswith("ly") and len(word) > 4)
