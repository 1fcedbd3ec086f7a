"""From a paper to drafts of tasks, in three passes (the publication's section 2.1).

Takeaways first; then section by section, each classified, with the context of earlier ones carried; then
each candidate against the whole paper, its appendix too, by retrieval: what is sent is what the search finds,
never the whole text. Every field keeps the passages that it rests on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from expbench.construct import pictures as crops
from expbench.construct.desk import Desk, filled, sent_back, stopped
from expbench.construct.evidence import Quote, by_id, content_of, evidence_block, wrong_quote
from expbench.construct.extract_checks import TaskReply, fields_of, wrong_task
from expbench.construct.records import Draft, DraftField
from expbench.construct.task import paper_of, value
from expbench.dataset.release import Paper
from expbench.failures.similarity import Prototypes
from expbench.papers.document import Document, Element
from expbench.replies import Interview

Search = Callable[[str, int], Sequence[Element]]
"""The elements of the paper that are nearest to a query, the nearest first."""

SECTION_ROOM = 12_000
"""Characters of a section that are sent at once; a longer one is sent in parts."""
WHOLE_ROOM = 16_000
TAKEAWAY_ROOM = 14_000
_CONTEXT_ROOM = 3_000
_LEAST_SECTION = 200
_FOUND = 10
NEAR = 0.86
"""Cosine of two questions from which they count as one. The release's known duplicates have 1.0, and 7 of its
2,248 pairs of questions about one paper as much as this."""
_SILENT = frozenset({"reference", "title"})
_TAKEAWAY_QUERIES = ("abstract", "we find results show", "conclusion", "compared with baseline")


class _Takeaway(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = Field(max_length=2_000)
    element: str
    quote: str


class TakeawaysReply(BaseModel):
    """What the paper found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    takeaways: tuple[_Takeaway, ...] = Field(max_length=20)


class Candidate(BaseModel):
    """A task as one section has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(max_length=4_000)
    method: str = Field(max_length=12_000)
    expected_outcome: str = Field(max_length=8_000)
    quotes: tuple[Quote, ...] = Field(max_length=100)


class SectionReply(BaseModel):
    """What one section is for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["context", "question", "other"]
    context: str = Field(max_length=4_000)
    candidates: tuple[Candidate, ...] = Field(max_length=12)


@dataclass
class Extraction:
    """One paper's extraction; ``interview`` is with the stage's model."""

    document: Document
    search: Search
    paper: Paper
    interview: Interview
    folder: Path | None = None
    """The document's, where pictures of tables and figures are sent too."""
    takeaways: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was not read, and why."""
    elements: dict[str, Element] = field(init=False)

    def __post_init__(self) -> None:
        self.elements = by_id(self.document)

    async def candidates(self) -> list[Candidate]:
        """The first two passes. Raises SpentError."""
        await self._take_away()
        context = ""
        found: list[Candidate] = []
        for section, part in sections(self.document):
            seen = self._pictures(part)
            reply = await self.interview.ask(
                SectionReply,
                filled(
                    "construct_section",
                    known=_known(self.takeaways, context),
                    section=section,
                    elements=evidence_block(part, SECTION_ROOM * 2),
                )
                + crops.caption_of(seen),
                self._wrong_section,
                [content for _, content in seen],
            )
            if self.interview.stopped:
                raise stopped(self.interview)
            if reply is None:
                self.notes.append(f"section {section!r} was not used: {self.interview.problem}")
            else:
                context = f"{context}\n{reply.context}".strip()[-_CONTEXT_ROOM:]
                found += reply.candidates if reply.kind == "question" else ()
        return distinct(found)

    async def draft(
        self, name: str, candidate: Candidate, interview: Interview, before: Draft | None = None
    ) -> Draft:
        """The third pass for one candidate: a draft, or a refused one that says why.

        Args:
            before: the draft that was sent back, where it was.

        Raises:
            SpentError: the budget is spent, or the model does not answer.
        """
        shown = _whole(candidate, self.search, self.elements)
        seen = self._pictures(shown)
        reply = await interview.ask(
            TaskReply,
            filled(
                "construct_task",
                back=sent_back(before, "extract"),
                candidate=json.dumps(
                    candidate.model_dump(mode="json"), ensure_ascii=False, indent=1
                ),
                elements=evidence_block(shown, WHOLE_ROOM),
            )
            + crops.caption_of(seen),
            lambda each: wrong_task(each, self.elements, self.paper),
            [content for _, content in seen],
        )
        if interview.stopped:
            raise stopped(interview)
        rounds = before.rounds if before else 0
        if reply is None or reply.refused:
            why = (
                reply.refused if reply else f"after {interview.attempts} tries: {interview.problem}"
            )
            kept = before.fields if before else _bare(candidate)
            return Draft(id=name, fields=kept, refused=why[:1_000], rounds=rounds)
        fields = fields_of(reply, self.elements, self.paper.title)
        return Draft(id=name, fields=fields, rounds=rounds)

    def _pictures(self, elements: Sequence[Element]) -> tuple[tuple[Element, bytes], ...]:
        return () if self.folder is None else crops.shown(elements, self.folder)

    async def _take_away(self) -> None:
        found = [each for query in _TAKEAWAY_QUERIES for each in self.search(query, 4)]
        captions = [each for each in self.document.elements if each.kind == "caption"]
        first = [each for each in self.document.elements if each.page == 1]
        shown = _once([*first, *captions, *found])
        reply = await self.interview.ask(
            TakeawaysReply,
            filled(
                "construct_takeaways",
                title=self.document.title,
                elements=evidence_block(shown, TAKEAWAY_ROOM),
            ),
            self._wrong_takeaways,
        )
        if self.interview.stopped:
            raise stopped(self.interview)
        self.takeaways = [each.text for each in reply.takeaways] if reply else []

    def _wrong_takeaways(self, reply: TakeawaysReply) -> str:
        quotes = (
            Quote(field="takeaway", element=each.element, quote=each.quote)
            for each in reply.takeaways
        )
        return self._wrong_quotes(quotes)

    def _wrong_section(self, reply: SectionReply) -> str:
        return self._wrong_quotes(quote for each in reply.candidates for quote in each.quotes)

    def _wrong_quotes(self, quotes: Iterator[Quote]) -> str:
        faults = (wrong_quote(quote, self.elements) for quote in quotes)
        return "; ".join(list(dict.fromkeys(filter(None, faults)))[:4])


def sections(document: Document) -> Iterator[tuple[str, tuple[Element, ...]]]:
    """The sections that the second pass reads, in order: no references, no appendix, no headings alone.

    What floated away from its section is read with it.
    """
    parts: dict[str, list[Element]] = {}
    for element in document.elements:
        if element.kind not in _SILENT and not element.appendix:
            parts.setdefault(element.section, []).append(element)
    for section, elements in parts.items():
        yield from ((section, part) for part in _fitting(elements))


def _fitting(elements: Sequence[Element]) -> Iterator[tuple[Element, ...]]:
    """A section's elements in parts that can be sent at once."""
    part: list[Element] = []
    room = SECTION_ROOM
    for element in elements:
        length = len(content_of(element))
        if part and length > room:
            yield tuple(part)
            part, room = [], SECTION_ROOM
        part.append(element)
        room -= length
    if sum(len(content_of(element)) for element in part) >= _LEAST_SECTION:
        yield tuple(part)


def distinct(found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates without near duplicates: of two that ask the same, the one with more evidence."""
    kept: list[Candidate] = []
    if not found:
        return kept
    texts = [each.question for each in found]
    known = Prototypes(texts)
    places: list[int] = []
    for number, each in enumerate(found):
        near = known.nearness(texts[number])
        twin = next((at for at, other in enumerate(places) if near[other] >= NEAR), None)
        if twin is None:
            kept.append(each)
            places.append(number)
        elif len(each.quotes) > len(kept[twin].quotes):
            kept[twin], places[twin] = each, number
    return kept


def near_duplicate(draft: Draft, others: Sequence[Draft]) -> str:
    """The id of a draft that asks the same; empty when none does."""
    if not others:
        return ""
    texts = [_said(each) for each in others]
    nearest = Prototypes([*texts, _said(draft)]).nearness(_said(draft))
    return next((each.id for each, near in zip(others, nearest, strict=False) if near >= NEAR), "")


def candidate_of(draft: Draft) -> Candidate:
    """A draft that was sent back, as a candidate again."""
    names = ("question", "method", "expected_outcome")
    quotes = [
        Quote(field=name, element=each.element, quote=each.quote)
        for name in names
        if name in draft.fields
        for each in draft.fields[name].passages
    ]
    texts = {name: str(value(draft, name)) for name in names}
    return Candidate(**texts, quotes=tuple(quotes))


def _said(draft: Draft) -> str:
    return str(value(draft, "question"))


def _known(takeaways: Sequence[str], context: str) -> str:
    lines = [f"- {text}" for text in takeaways]
    return "\n".join([*lines, context]) or "(nothing yet)"


def _whole(candidate: Candidate, search: Search, elements: dict[str, Element]) -> list[Element]:
    """What the third pass is shown: the candidate's own passages, their section's tables, what is found."""
    own = [elements[quote.element] for quote in candidate.quotes if quote.element in elements]
    places = {element.section for element in own}
    tables = [
        e for e in elements.values() if e.section in places and e.kind in ("table", "caption")
    ]
    found = [
        element
        for query in (
            candidate.question,
            candidate.method,
            candidate.expected_outcome,
            f"appendix settings hyperparameters seeds {candidate.question}",
        )
        for element in search(query[:800], _FOUND)
    ]
    return _once([*own, *tables, *found])


def _once(elements: Sequence[Element]) -> list[Element]:
    return list({e.id: e for e in elements if e.kind not in _SILENT}.values())


def _bare(candidate: Candidate) -> dict[str, DraftField]:
    """What is kept of a refused candidate: its texts, without evidence."""
    texts = candidate.model_dump(exclude={"quotes"})
    return {name: DraftField(value=text, stage="extract") for name, text in texts.items()}


def expected_prompts(document: Document, folder: Path | None = None) -> list[int]:
    """The characters of the prompts that a paper will need, as far as can be told before; a picture of a
    document in ``folder`` counts as its tokens' characters."""
    frame = 2_500
    picture = 0 if folder is None else crops.TOKENS * 4
    parts = [
        min(sum(len(content_of(e)) for e in part), SECTION_ROOM)
        + frame
        + _CONTEXT_ROOM // 2
        + picture * min(crops.MOST, sum(bool(e.crop) for e in part))
        for _, part in sections(document)
    ]
    tasks = max(1, len(parts) // 3)
    return [TAKEAWAY_ROOM + frame, *parts, *[WHOLE_ROOM + frame + picture * 2] * tasks]


def extraction(desk: Desk, search: Search, pictures: bool = False) -> Extraction:
    """A project's extraction; with ``pictures`` the model is shown tables and figures. Raises UserError."""
    document = desk.project.document()
    facts = desk.project.facts
    paper = paper_of(facts.name, document.title, facts.repository)
    folder = desk.project.root / "paper" if pictures else None
    return Extraction(document, search, paper, desk.interview(), folder)
