"""What reviewers decided, and a draft with it: pure functions, and the reading of ``reviews/NAME.jsonl``.

A reviewer's decisions on a field are a stack: a new one covers the earlier, ``undo`` takes the last one off.
A decision is about the value that was shown (:attr:`~expbench.construct.records.Decision.of`): where a later
stage has written another one, the field is open again.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from expbench.construct.records import Decision, Draft, DraftField
from expbench.errors import DataError

FOLDER = "reviews"
Place = tuple[str, str]
"""A draft's id and a field's name."""


def digest_of(value: Any) -> str:
    """sha256 of a field's value as JSON with sorted names."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def decisions(project: Path) -> dict[str, tuple[Decision, ...]]:
    """Every reviewer's decisions, by the reviewer's name, in the order they were made.

    Raises:
        DataError: a file cannot be read, or a line of it is damaged.
    """
    files = sorted((project / FOLDER).glob("*.jsonl"))
    return {file.stem: read_decisions(file) for file in files}


def read_decisions(file: Path) -> tuple[Decision, ...]:
    """One reviewer's decisions; a last line that a kill cut short is none. Raises DataError."""
    try:
        content = file.read_bytes() if file.exists() else b""
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None
    return parse_decisions(content, file)


def parse_decisions(content: bytes, file: Path, before: int = 0) -> tuple[Decision, ...]:
    """The decisions of whole lines, of which ``before`` stand above them. Raises DataError."""
    found = []
    for number, line in enumerate(content.split(b"\n")[:-1], before + 1):
        try:
            found.append(Decision.model_validate_json(line))
        except ValidationError:
            raise DataError(f"{file}, line {number} is damaged: restore the file.") from None
    return tuple(found)


def standing(made: Iterable[Decision]) -> dict[Place, Decision]:
    """One reviewer's decisions that hold, after all that was taken back."""
    stacks: dict[Place, list[Decision]] = defaultdict(list)
    for each in made:
        stack = stacks[each.draft, each.field]
        if each.kind != "undo":
            stack.append(each)
        elif stack:
            stack.pop()
    return {place: stack[-1] for place, stack in stacks.items() if stack}


def about(decision: Decision | None, digest: str) -> Decision | None:
    """The decision, if it is about the value with that digest; one that names none is about any."""
    return decision if decision is not None and decision.of in ("", digest) else None


def spent(made: Iterable[Decision]) -> dict[str, float]:
    """Seconds that a reviewer spent, by draft; also on what was taken back later."""
    found: dict[str, float] = defaultdict(float)
    for each in made:
        found[each.draft] += each.seconds
    return dict(found)


def reviewed(draft: Draft, made: Mapping[str, Sequence[Decision]]) -> Draft:
    """The draft with what reviewers said of its present values.

    Of several fixes of a field the latest counts. What any of them rejected is rejected, whatever the
    others say, with all their reasons.

    Args:
        made: decisions by reviewer, as :func:`decisions` gives them.
    """
    held = [standing(own) for own in made.values()]
    fields: dict[str, DraftField] = {}
    accepted, rejected = [], {}
    for name, field in draft.fields.items():
        digest = digest_of(field.value)
        said = [about(each.get((draft.id, name)), digest) for each in held]
        known = sorted((each for each in said if each is not None), key=lambda each: each.at)
        reasons = [each.reason for each in known if each.kind == "reject"]
        fixes = [each.value for each in known if each.kind == "fix"]
        if reasons:
            rejected[name] = "; ".join(dict.fromkeys(reasons))
        elif known:
            accepted.append(name)
        fields[name] = field.model_copy(update={"value": fixes[-1]}) if fixes else field
    update = {"fields": fields, "accepted": tuple(accepted), "rejected": rejected}
    return draft.model_copy(update=update)
