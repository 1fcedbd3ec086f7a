"""Splitting a conclusion into atomic claims, by rules alone.

The release has one text for each conclusion; judged as one item it is all or nothing, and a verdict
on it says little. Here it becomes spans, each one finding: a relation, a number, what holds under a
condition, or a statement. Sentences are cut at semicolons, lists, contrasts and conjunctions of
clauses; numbers in brackets stay with their claim. A span refers to the text by offsets, so that a
split can be stored and reviewed where the text itself may not be copied.

Not every claim is essential. What explains (*because*, *indicating that*, *this confirms*), gives an
example, may or may not be, or says how results are shown can be missing from a right conclusion; so can
a table's rows where sentences say what the table shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field, model_validator

from expbench.dataset.claims.blocks import Block, Range, blocks, sentences, trim
from expbench.dataset.claims.clauses import Clause, clauses
from expbench.dataset.claims.grammar import PRONOUNS, SURE_VERBS
from expbench.dataset.claims.weighing import (
    Kind,
    beside_the_point,
    explains,
    kind_of,
    only_a_number,
)
from expbench.schema import Claim, Record

_FEWEST_LETTERS = 8
_INCOMPLETE = re.compile(
    r"\b(?:to|should|will|would|that|be|include|includes|including|are|is|following|show|expected|by|"
    r"of|for|in|on|with|as|follows)[\s*_]*:?[\s*_]*$",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:[\W\d_]|\b(?:tables?|figures?|fig|expected|results?|summary|findings?|observations?|key|the|main"
    r"|trends?|outcomes?|in|particular|specifically|overall|conclusions?|insights?|takeaways?|based|on"
    r"|according|to|from|visual|shown|as|per|of|and|paper|our|following|example|hypothesis|authors|s|[a-z]"
    r"|reported|prior|plot|observed|average|sample|general|common|additionally|also)\b)*",
    re.IGNORECASE,
)
_REASON = re.compile(r"[\s,*_]*\b(?:since|because|due to)[\s*_]*:?[\s*_]*$", re.IGNORECASE)
_LONGEST_LEAD = 120
"""Characters of a line that leads to a list and is put before its items; a longer one is not."""


_EXPLANATION, _ASIDE, _ROW, _FINDING = range(4)
"""How much a claim weighs; the essential ones are those that weigh most of a conclusion's."""


class Span(Record):
    """One claim as a place in a conclusion, in characters; ``end`` is not part of it.

    ``lead`` are places whose words come before it, so that it can be read by itself. ``text`` is a
    rewording by a person or a model and replaces both.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    kind: Kind = "statement"
    essential: bool = True
    lead: tuple[Range, ...] = ()
    text: str = ""

    @model_validator(mode="after")
    def _runs_forward(self) -> Span:
        if any(start >= end or start < 0 for start, end in ((self.start, self.end), *self.lead)):
            raise ValueError("a claim and its leads start before they end")
        return self

    def words(self, conclusion: str) -> str:
        """The claim as one readable line."""
        if self.text:
            return self.text
        parts = [conclusion[start:end] for start, end in (*self.lead, (self.start, self.end))]
        return _readable(parts)


_Weighed = tuple[Span, int]


def split(conclusion: str) -> tuple[Span, ...]:
    """The claims of a conclusion in their order; at least one of them is essential.

    A text without any letter has none.
    """
    found = [each for block in blocks(conclusion) for each in _of_block(conclusion, block)]
    if not found:
        start, end = trim(conclusion, 0, len(conclusion))
        return (Span(start=start, end=end),) if re.search(r"\w", conclusion) else ()
    weight = max(weight for _, weight in found)
    return tuple(span.model_copy(update={"essential": own == weight}) for span, own in found)


def claims_of(conclusion: str, spans: Sequence[Span]) -> tuple[Claim, ...]:
    """The claims that ``spans`` stand for."""
    return tuple(
        Claim(text=span.words(conclusion), kind=span.kind, essential=span.essential)
        for span in spans
    )


def covered(conclusion: str, spans: Sequence[Span]) -> float:
    """The share of a conclusion's letters and digits that stands in some claim, in [0, 1]."""
    inside = {at for span in spans for at in range(span.start, span.end)}
    written = [at for at, char in enumerate(conclusion) if char.isalnum()]
    return sum(at in inside for at in written) / len(written) if written else 1.0


def _of_block(text: str, block: Block) -> list[_Weighed]:
    if block.kind == "heading":
        return []
    if block.kind == "row":
        place = trim(text, block.start, block.end)
        return [(Span(start=place[0], end=place[1], kind="number", lead=block.leads), _ROW)]
    leads = tuple(place for place in block.leads if _says_something(text[place[0] : place[1]]))
    lines = [text[start:end] for start, end in block.leads]
    reasons = any(_REASON.search(line) or explains(line.lstrip("*_ ")) for line in lines)
    label, subject = _label(text, block), None
    spans: list[_Weighed] = []
    for sentence in sentences(text, block.start, block.end):
        if _only_leads(text, sentence, block):
            continue
        before = leads if not spans or label is None else (*leads, label)
        found = _clauses(text, sentence, subject)
        spans += [_span(text, sentence, clause, before, reasons) for clause in found]
        subject = next((clause.subject for clause in found if clause.subject), subject)
    return spans


def _says_something(lead: str) -> bool:
    """Whether a line that leads to a list is needed to read its items: no *Trend from Figure 8:*."""
    if len(lead) > _LONGEST_LEAD:
        return False
    return _ANNOUNCES.fullmatch(lead) is None


def _clauses(text: str, sentence: Range, subject: Range | None) -> list[Clause]:
    """A sentence's clauses; one that begins with a pronoun gets the subject of the sentence before."""
    if explains(text[sentence[0] : sentence[1]].lstrip("*_ ")):
        return [Clause(*sentence, "explanation")]
    found = _whole_enough(text, clauses(text, *sentence))
    if found and subject and not found[0].leads:
        first = re.match(r"\w+", text[found[0].start : found[0].end])
        if first and first.group().lower() in PRONOUNS:
            found[0] = replace(found[0], leads=(subject,), subject=None)
    return found


def _span(
    text: str, sentence: Range, clause: Clause, leads: tuple[Range, ...], reason: bool
) -> _Weighed:
    words = text[clause.start : clause.end]
    if (reason_word := _REASON.search(words)) and reason_word.start():
        words = words[: reason_word.start()]
    whole = text[sentence[0] : sentence[1]].lstrip("*_ ")
    carried = " ".join(text[start:end] for start, end in clause.leads)
    kind, weight = kind_of(words, carried), _FINDING
    if reason or clause.role == "explanation":
        weight = _EXPLANATION
    elif beside_the_point(whole, f"{carried} {words}"):
        weight = _ASIDE
    elif kind == "number" and only_a_number(words):
        weight = _ROW
    end = clause.start + len(words)
    return Span(start=clause.start, end=end, kind=kind, lead=(*leads, *clause.leads)), weight


def _whole_enough(text: str, found: Sequence[Clause]) -> list[Clause]:
    """The clauses, each too short to say anything joined to the one before."""
    kept: list[Clause] = []
    for clause in found:
        letters = sum(map(str.isalnum, text[clause.start : clause.end]))
        if kept and letters < _FEWEST_LETTERS:
            kept[-1] = replace(kept[-1], end=clause.end)
        elif letters >= 2:
            kept.append(clause)
    return kept


def _only_leads(text: str, sentence: Range, block: Block) -> bool:
    """Whether a sentence is the beginning of its list's items and no claim itself."""
    if sentence[1] < block.end and text[sentence[1] : block.end].strip(" *_:"):
        return False
    words = text[sentence[0] : block.end].rstrip("*_ ")
    if not words.endswith(":"):
        return re.search(r"\b(?:are|is|follows)$", words) is not None
    verbs = SURE_VERBS & set(re.findall(r"\w+", words.lower()))
    return not verbs or _INCOMPLETE.search(words) is not None


def _label(text: str, block: Block) -> Range | None:
    """A name before a colon at a block's start, which its later sentences are about too."""
    match = re.match(r"\**[A-Z][\w\s/&()-]{2,50}\**:\**\s", text[block.start : block.end])
    return (block.start, block.start + match.end()) if match else None


def _readable(parts: Sequence[str]) -> str:
    rows = [part.strip() for part in parts]
    if rows and rows[-1].count("|") > 0 and len(rows) > 1 and rows[-2].startswith("|"):
        return " ".join(filter(None, (*rows[:-2], _as_row(rows[-2], rows[-1]))))
    words = ""
    for part in parts:
        plain = " ".join(part.replace("**", "").split())
        words += (_joint(plain) if words and words[-1] not in ":" else " " if words else "") + plain
    return words[:1].upper() + words[1:] if words[:1].isalpha() and words[1:2].islower() else words


def _joint(words: str) -> str:
    """What stands between a lead and the claim, by the claim's first words."""
    first = re.match(r"(?:(?:\w+ly|also|thus|thereby|even|further)\s)*(\w+)", words, re.IGNORECASE)
    word = first.group(1).lower() if first else ""
    if word in PRONOUNS:
        return ": "
    return ", " if word.endswith("ing") else " "


def _as_row(header: str, row: str) -> str:
    names, cells = (
        [cell.strip(" *") for cell in line.strip().strip("|").split("|")] for line in (header, row)
    )
    if len(names) != len(cells):
        return " ".join(row.split())
    pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=True)]
    return "; ".join(pairs)
