"""The codebook: phases, families and codes, each with what belongs to it and what does not.

The shipped one, ``codebook.json``, is ours. ``published`` names the categories of the publication (arXiv
2505.24785 v2, tables 8 and 9) that a code covers; ``causes`` are what rules know, ``cues`` words that tell
a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from expbench.errors import UserError
from expbench.schema import Record

FailurePhase = Literal[
    "design", "implementation", "execution", "conclusion", "grounding", "monitor", "agent"
]
"""Where an error shows. ``agent`` is how the attempt itself ended."""

OTHER = "other"
"""The code of an insight that fits none: ``PHASE/other``."""


class Code(Record):
    """One cause of failure."""

    key: str
    title: str
    definition: str
    includes: str = ""
    excludes: str = ""
    example: str = ""
    published: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @property
    def prototype(self) -> str:
        """What an insight of this code may read like; what it excludes is no part of it."""
        parts = (self.title, self.definition, self.includes, self.example, *self.cues, *self.topics)
        return "\n".join(filter(None, parts))


class Family(Record):
    """Codes that belong together."""

    key: str
    title: str
    codes: tuple[Code, ...]


class PhaseCodes(Record):
    """The families of one phase."""

    phase: FailurePhase
    families: tuple[Family, ...]


class Codebook(Record):
    """All codes. A code's id is ``phase/family/key``; ``phase/other`` is in every book."""

    name: str
    version: str = "1"
    phases: tuple[PhaseCodes, ...]

    def codes(self) -> Iterator[tuple[str, FailurePhase, Family, Code]]:
        """Every code with its id, phase and family, in the book's order."""
        for part in self.phases:
            for family in part.families:
                for code in family.codes:
                    yield f"{part.phase}/{family.key}/{code.key}", part.phase, family, code

    def title(self, code_id: str) -> str:
        """A code's title; of ``phase/other`` a sentence of its own."""
        for known, _, _, code in self.codes():
            if known == code_id:
                return code.title
        return "Fits no code of the book"


def load_codebook(file: Path | None = None) -> Codebook:
    """The shipped codebook, or one of a file in the same form.

    Raises:
        UserError: the file cannot be read, is no codebook, or names a code twice.
    """
    try:
        text = (
            files(__package__).joinpath("codebook.json").read_text("utf-8")
            if file is None
            else file.read_text("utf-8")
        )
        book = Codebook.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The codebook {file} cannot be read: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"{file} is no codebook: {where or 'the file'}: {first['msg']}. docs/failures.md has the form."
        ) from None
    for known, _, _, code in book.codes():
        for pattern in code.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise UserError(
                    f"The codebook {file}, code {known}: {pattern!r} is no regular expression: {error}."
                ) from None
    ids = [known for known, *_ in book.codes()]
    if double := next((each for each in ids if ids.count(each) > 1), ""):
        raise UserError(f"The codebook {file} has the code {double} twice: give one another key.")
    return book
