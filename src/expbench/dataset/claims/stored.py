"""Splits of conclusions as a file: ``claims.json``, to be reviewed and kept beside a data set.

::

    {"iclr2024/18439/0": {"conclusion_sha256": "…", "by": "rules",
                          "claims": [{"start": 20, "end": 96, "kind": "relation"}, …]}, …}

A claim is a place in the conclusion (in characters), so the file holds no text of the data set. A
reviewer moves places, sets ``"essential": false``, or gives a ``text`` of his own, and puts his name
into ``by``. The digest ties a split to its conclusion: places in another text mean nothing.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from expbench.dataset.claims.splitting import Span, claims_of, split
from expbench.errors import DataError
from expbench.schema import Claim, Record, ResearchTask

RULES = "rules"
"""Who split it, when nobody but this package did."""


class StoredSplit(Record):
    """One conclusion's claims, who made them, and the sha256 of the conclusion's UTF-8 bytes."""

    conclusion_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    by: str = Field(default=RULES, pattern=r"^(rules|model \S.*|person \S.*)$")
    claims: tuple[Span, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _decides_something(self) -> StoredSplit:
        if not any(claim.essential for claim in self.claims):
            raise ValueError("no claim is essential, so nothing would decide")
        return self

    def fits(self, conclusion: str) -> bool:
        """Whether it is a split of this conclusion, and every place lies in it."""
        places = [(claim.start, claim.end) for claim in self.claims]
        places += [place for claim in self.claims for place in claim.lead]
        return self.conclusion_sha256 == digest_of(conclusion) and all(
            end <= len(conclusion) for _, end in places
        )

    def claims_for(self, conclusion: str) -> tuple[Claim, ...]:
        """The claims as a task carries them."""
        return claims_of(conclusion, self.claims)


_File = TypeAdapter(dict[str, StoredSplit])


def digest_of(conclusion: str) -> str:
    """The digest that ties a split to its conclusion."""
    return hashlib.sha256(conclusion.encode()).hexdigest()


def split_by_rules(task: ResearchTask) -> StoredSplit | None:
    """A task's conclusion split by rules; ``None`` when there is none to split."""
    conclusion = task.reference.conclusion
    spans = split(conclusion)
    return StoredSplit(conclusion_sha256=digest_of(conclusion), claims=spans) if spans else None


@functools.cache
def shipped_splits() -> dict[str, StoredSplit]:
    """The stored splits of the released tasks, by the digest of their conclusions."""
    text = resources.files("expbench.dataset.claims").joinpath("release.json").read_bytes()
    return {each.conclusion_sha256: each for each in _File.validate_json(text).values()}


def split_of(task: ResearchTask) -> StoredSplit | None:
    """The stored split of a task's conclusion, else the one by rules; ``None`` without a conclusion."""
    return shipped_splits().get(digest_of(task.reference.conclusion)) or split_by_rules(task)


def task_claims(task: ResearchTask) -> tuple[Claim, ...]:
    """What a task is judged by: its own claims, else those of its conclusion's split."""
    reference = task.reference
    if reference.claims:
        return reference.claims
    found = split_of(task)
    return found.claims_for(reference.conclusion) if found else ()


def read_claims(path: Path) -> dict[str, StoredSplit]:
    """The splits of a file, by task id.

    Raises:
        DataError: the file cannot be read or is not of this form.
    """
    try:
        return _File.validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"The claims {path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = " → ".join(map(str, first["loc"])) or "the top"
        raise DataError(
            f"The claims {path} are wrong at {where} ({first['msg']}): mend that place, or write the "
            "file again with `expbench tasks claims SUITE --out FILE`."
        ) from None


def with_claims(tasks: Sequence[ResearchTask], path: Path) -> tuple[ResearchTask, ...]:
    """The tasks with the claims of a file; those that it does not name stay as they are.

    Raises:
        DataError: the file cannot be read, or holds a split of another conclusion than the task's.
    """
    stored = read_claims(path)
    return tuple(_claimed(task, stored.get(task.id), path) for task in tasks)


def write_claims(
    tasks: Sequence[ResearchTask], path: Path, splits: Mapping[str, StoredSplit] | None = None
) -> int:
    """Write the splits of all tasks, as :func:`split_of` where ``splits`` has none; their number.

    Tasks that carry claims of their own, or have no conclusion, are left out.

    Raises:
        DataError: a given split is of another conclusion, or the file cannot be written.
    """
    given, found = splits or {}, dict[str, StoredSplit]()
    for task in tasks:
        if task.reference.claims:
            continue
        chosen = given.get(task.id) or split_of(task)
        if chosen is not None:
            _claimed(task, chosen, path)
            found[task.id] = chosen
    rows = [
        f"{json.dumps(name)}: "
        + json.dumps(each.model_dump(mode="json", exclude_defaults=True) | {"by": each.by})
        for name, each in found.items()
    ]
    _replace(path, "{\n" + ",\n".join(rows) + "\n}\n")
    return len(found)


def _claimed(task: ResearchTask, stored: StoredSplit | None, path: Path) -> ResearchTask:
    if stored is None:
        return task
    reference = task.reference
    if not stored.fits(reference.conclusion):
        raise DataError(
            f"The claims of {task.id} in {path} are of another conclusion: split it again with "
            f"`expbench tasks claims` and review it, or take {task.id} out of the file."
        )
    claims = stored.claims_for(reference.conclusion)
    return task.model_copy(update={"reference": reference.model_copy(update={"claims": claims})})


def _replace(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}): give a file in a folder of yours."
        ) from None
