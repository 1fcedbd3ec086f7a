"""Headings: which lines are some, and the path of headings that a place of a document has."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from expbench.papers.lines import Line

_NUMBERED = re.compile(
    r"(?P<number>(?:Appendix\s+)?(?:\d{1,2}|[A-Z]|[IVX]{1,5})(?:\.\d{1,2})*)[.:]?\s+(?P<title>[^\W_].*)"
)
_KNOWN = re.compile(
    r"(?:abstract|introduction|related work|background|methods?|methodology|experiments?|results|"
    r"discussion|conclusions?|limitations|acknowledge?ments?|references|bibliography|appendix|appendices|"
    r"supplementary materials?|broader impact|ethics statement|reproducibility statement)",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:\W*\d*\W*)(?:references|bibliography|literature cited)\W*", re.IGNORECASE
)
_APPENDIX = re.compile(r"(?:appendix|appendices|supplementary)", re.IGNORECASE)
_LONGEST = 140


@dataclass(frozen=True)
class Heading:
    """A heading's number, as ``4.2`` or ``A``, and its words."""

    number: str
    title: str


def heading_of(line: Line, body: float, recognised: bool) -> Heading | None:
    """The heading that a line is, or none.

    Args:
        line: one line.
        body: the size in which most of the document is set.
        recognised: whether the line comes from a picture, where sizes and boldness are estimates.
    """
    text = line.text.strip()
    if len(text) > _LONGEST or text.endswith((",", ";")):
        return None
    larger = line.size > (1.2 if recognised else 1.08) * body
    stands_out = line.bold or larger
    plain = text.rstrip(":. ")
    if _KNOWN.fullmatch(plain) and (stands_out or plain.isupper() or plain.lower() == "abstract"):
        return Heading("", plain)
    match = _NUMBERED.match(text)
    if match and stands_out and not text.endswith(".") and _is_title(match["title"]):
        return Heading(match["number"].removeprefix("Appendix").strip(), match["title"])
    if recognised or not line.bold or not larger:
        return None
    return Heading("", text) if re.match(r"[^\W\d_]", text) and not text.endswith(".") else None


def _is_title(text: str) -> bool:
    return text[0].isupper() or text[0].isdigit() or len(text.split()) <= 4


@dataclass
class Path:
    """The headings above the present place."""

    headings: list[Heading] = field(default_factory=list)
    appendix: bool = False
    references: bool = False
    numbered: bool = False
    """Whether a section with a number came before."""

    def enter(self, heading: Heading) -> None:
        """Go on below a heading."""
        title = f"{heading.number} {heading.title}".strip()
        self.references = bool(_REFERENCES.fullmatch(title))
        lettered = bool(re.fullmatch(r"[A-Z](?:\.\d+)*", heading.number))
        if _APPENDIX.match(heading.title) or (lettered and self.numbered):
            self.appendix = True
        self.numbered = self.numbered or heading.number[:1].isdigit()
        above = [
            each
            for each in self.headings
            if each.number and heading.number.startswith(f"{each.number}.")
        ]
        self.headings = [*above, heading]

    def __str__(self) -> str:
        return " / ".join(f"{each.number} {each.title}".strip() for each in self.headings)
