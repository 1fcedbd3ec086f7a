"""Labelled errors: one JSON object in each line.

``id``, ``phase``, ``text`` and ``codes`` are required; the first code is the label, further ones are what a
careful reader may say instead. ``quote`` is the evidence, ``cause`` what a rule knows, and ``paper`` what
errors depend on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pydantic import Field, ValidationError

from expbench.errors import UserError
from expbench.failures import Codebook, Insight
from expbench.failures.codebook import OTHER, FailurePhase
from expbench.schema import Record

SHIPPED = "shipped"


class LabelledError(Record):
    """One error and its code."""

    id: str = Field(min_length=1)
    phase: FailurePhase
    text: str = Field(min_length=1)
    codes: tuple[str, ...] = Field(min_length=1)
    quote: str = ""
    cause: str = ""
    paper: str = ""
    batch: str = ""

    @property
    def insight(self) -> Insight:
        """The error as a coder gets it."""
        return Insight(
            id=self.id,
            run="",
            task_id=self.id,
            paper=self.paper or self.id,
            epoch=1,
            agent="",
            model="",
            phase=self.phase,
            cause=self.cause,
            text=self.text,
            quote=self.quote or self.text,
            place="",
        )


@dataclass(frozen=True)
class LabelledErrors:
    """A set and its digest."""

    name: str
    digest: str
    errors: tuple[LabelledError, ...]


def load_errors(book: Codebook, file: Path | None = None) -> LabelledErrors:
    """The shipped set, or one of a file.

    Raises:
        UserError: the file cannot be read, a line is of another form, an id comes twice, or a code is
            not in the book.
    """
    name = str(file) if file else SHIPPED
    try:
        content = (
            file.read_bytes()
            if file
            else files(__package__).joinpath("data/insights.jsonl").read_bytes()
        )
        lines = content.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The set {name} cannot be read: {error}.") from None
    known = {code_id for code_id, *_ in book.codes()} | {f"{p.phase}/{OTHER}" for p in book.phases}
    found: dict[str, LabelledError] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        each = _error(line, f"{name}, line {number}", known)
        if each.id in found:
            raise UserError(f"{name}, line {number}: the id {each.id!r} is there twice.")
        found[each.id] = each
    if not found:
        raise UserError(f"The set {name} has no errors.")
    return LabelledErrors(name, hashlib.sha256(content).hexdigest()[:12], tuple(found.values()))


def _error(line: str, where: str, known: set[str]) -> LabelledError:
    try:
        each = LabelledError.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}: {field or 'the line'}: {first['msg']}.") from None
    for code in each.codes:
        if code not in known:
            raise UserError(f"{where}: the codebook has no code {code!r}.")
        if not code.startswith(f"{each.phase}/"):
            raise UserError(f"{where}: the code {code!r} is of another phase than {each.phase!r}.")
    return each
