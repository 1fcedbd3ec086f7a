"""Evidence: what a model quotes stands in the paper, and the numbers that it states in what it quotes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from expbench.monitor.numbers import NumberSet, result_numbers
from expbench.papers.document import Document, Element, Passage

LEAST_QUOTE = 12
"""Characters from which a quote says where it is from."""
_LEAST_SHOWN = 300


class Quote(BaseModel):
    """Words of the paper that a field rests on, as a model gives them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    field: str
    element: str
    quote: str


def plain(text: str) -> str:
    """A text without differences of white space, ligatures and compatibility forms."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip()


def content_of(element: Element) -> str:
    """All that an element says: its text, and a table's cells row by row."""
    rows = [" | ".join(row) for row in element.cells]
    return "\n".join([element.text, *rows])


def by_id(document: Document) -> dict[str, Element]:
    """The elements of a paper by their ids."""
    return {element.id: element for element in document.elements}


def wrong_quote(quote: Quote, elements: Mapping[str, Element]) -> str:
    """Why a quote is no evidence; empty when it is."""
    element = elements.get(quote.element)
    if element is None:
        return f"there is no element {quote.element!r}"
    said = plain(quote.quote)
    if len(said) < LEAST_QUOTE:
        return f"the quote {said!r} is too short to say where it is from"
    if said not in plain(element.text) and said not in plain(content_of(element)):
        return f"the quote {said[:80]!r} does not stand in element {quote.element}"
    return ""


def passages(
    quotes: Iterable[Quote], field: str, elements: Mapping[str, Element]
) -> tuple[Passage, ...]:
    """The places of a field's quotes, which must be right ones, each once."""
    found = {}
    for quote in quotes:
        if quote.field == field:
            element = elements[quote.element]
            passage = Passage(
                element=element.id, page=element.page, box=element.box, quote=plain(quote.quote)
            )
            found[(passage.element, passage.quote)] = passage
    return tuple(found.values())


def unfounded_numbers(
    text: str, found: Sequence[Passage], elements: Mapping[str, Element]
) -> tuple[str, ...]:
    """The result numbers of a text that none of the elements of its passages states."""
    stated = "\n".join(
        [each.quote for each in found]
        + [content_of(elements[each.element]) for each in found if each.element in elements]
    )
    numbers = NumberSet.of(stated.replace("−", "-"))
    return tuple(each.text for each in result_numbers(text) if each not in numbers)


def evidence_block(elements: Iterable[Element], room: int) -> str:
    """Elements as a model is shown them: id, place and content; no more than ``room`` characters."""
    lines: list[str] = []
    for element in elements:
        place = element.section + (" (appendix)" if element.appendix else "")
        label = f" {element.label}" if element.label else ""
        text = plain(element.text)
        if element.cells:
            text += "\n" + "\n".join(" | ".join(row) for row in element.cells)
        line = f"[{element.id}] {element.kind}{label}, {place}\n{text}"
        if len(line) > room:
            # The beginning of a long element says more than nothing of it.
            lines += [f"{line[:room]} […]"] if room > _LEAST_SHOWN else []
            break
        room -= len(line)
        lines.append(line)
    return "\n\n".join(lines)
