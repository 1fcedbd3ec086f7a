"""The cases of a set: folders with what an agent handed in, and what a re-run of it must show.

::

    SET/
    ├── repositories/NAME/      repositories that several cases share
    └── CASE/
        ├── case.json           :class:`CaseFile`
        ├── patch.diff          what was changed, as git's patch; or
        ├── files/              the added and changed files as they are; or both, files on top
        ├── response.json       design and conclusion; absent when none was handed in
        └── repo/               a repository of the case's own, where ``repository`` says so
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from expbench.errors import DataError, NotFoundError
from expbench.reruns import ClaimState, SuspicionKind
from expbench.schema import RESPONSE_NAME, FailureKind, Limits, Record
from expbench.workspace import parse_response

CASE_NAME = "case.json"
PATCH_NAME = "patch.diff"
FILES_NAME = "files"
REPOSITORIES = "repositories"
MINI = "mini"
"""The repositories of the suite ``mini`` are named ``mini/NAME``; also the set of its own solutions."""

SHIPPED = "shipped"
_MOST_FILES = 5_000
_MOST_BYTES = 200_000_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

Bit = Literal[0, 1]
State = Literal["ran", "failed", "timed_out", "no_script"]
"""A re-run's state; that the harness failed is expected of no case."""


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class OwnTask(Record):
    """A task that stands in the case: its question, and what else an agent was told."""

    question: str
    method: str = ""
    instructions: str = ""
    mask: tuple[str, ...] = ()


class ExpectedClaim(Record):
    """A statement of the conclusion and the states that are right for it.

    ``text`` stands exactly once in the conclusion. ``kind`` is ``number`` where the text has a digit,
    unless it says otherwise.
    """

    text: str = Field(min_length=1)
    state: Annotated[tuple[ClaimState, ...], BeforeValidator(_listed)] = Field(min_length=1)
    kind: Literal["number", "relation", ""] = ""

    @property
    def is_number(self) -> bool:
        return self.kind == "number" or (
            not self.kind and any(character.isdigit() for character in self.text)
        )


class Expected(Record):
    """What a careful reader expects. What is left out is not measured.

    ``G`` null: nothing in the conclusion can be checked. ``failure`` and ``state`` list what is right;
    of ``suspicions`` one at least must be raised, and an empty list says that none may be.
    """

    E: Bit
    E_plus: Bit | None = None
    G: Bit | None = None
    state: Annotated[tuple[State, ...], BeforeValidator(_listed)] = ()
    failure: Annotated[tuple[FailureKind, ...] | None, BeforeValidator(_listed)] = None
    suspicions: tuple[SuspicionKind, ...] | None = None
    claims: tuple[ExpectedClaim, ...] = ()

    @property
    def has_g(self) -> bool:
        """Whether G is measured: it was written down, be it as null."""
        return "G" in self.model_fields_set


class CaseFile(Record):
    """``case.json``.

    ``repository`` is ``mini/NAME`` or a folder of the case or the set; it is not needed with a task of
    suite mini, which has its own. ``repeat`` is how often the script is run again.
    """

    id: str
    kind: str = Field(min_length=1)
    task: str | OwnTask
    repository: str = ""
    repeat: int = Field(default=1, ge=1, le=20)
    limits: Limits = Limits(minutes=2.0)
    expected: Expected
    note: str = ""


@dataclass(frozen=True)
class HandedIn:
    """One file of a submission."""

    content: bytes
    executable: bool = False


@dataclass(frozen=True)
class Case:
    """A case with all its bytes; ``repository`` is the folder of an own task's repository."""

    spec: CaseFile
    patch: bytes = b""
    files: Mapping[str, HandedIn] = field(default_factory=dict)
    response: bytes | None = None
    repository: Path | None = None

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def conclusion(self) -> str:
        """As the pipeline reads it; empty where there is none."""
        return parse_response(self.response).conclusion or ""

    @property
    def digest(self) -> str:
        """Twelve hex digits over everything that shapes the result."""
        digest = hashlib.sha256(self.spec.model_dump_json().encode())
        for part in (self.patch, self.response or b"none"):
            digest.update(hashlib.sha256(part).digest())
        given = dict(self.files)
        if self.repository is not None:
            given |= {f"//{name}": each for name, each in _tree(self.repository)}
        for name, each in sorted(given.items()):
            digest.update(f"{name}\0{each.executable}\0".encode())
            digest.update(hashlib.sha256(each.content).digest())
        return digest.hexdigest()[:12]


@dataclass(frozen=True)
class CaseSet:
    """Cases in the order of their names."""

    name: str
    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        text = "\n".join(f"{each.id} {each.digest}" for each in self.cases)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def select(self, ids: tuple[str, ...] = (), limit: int | None = None) -> CaseSet:
        """The named cases, or all; of them the first ``limit``. Raises NotFoundError."""
        known = {each.id for each in self.cases}
        for name in ids:
            if name not in known:
                raise NotFoundError(
                    f"The set {self.name} has no case {name!r}: a name is its folder's."
                )
        chosen = [each for each in self.cases if not ids or each.id in ids]
        return CaseSet(self.name, tuple(chosen[:limit]))


def load_set(folder: Path) -> CaseSet:
    """The cases of a folder.

    Raises:
        DataError: it is none, or a case in it is not what it should be.
    """
    try:
        found = sorted(each for each in folder.iterdir() if each.is_dir())
    except OSError as error:
        raise DataError(
            f"{folder} is not a folder with cases ({error.strerror}): give one with --set."
        ) from None
    folders = [each for each in found if each.name != REPOSITORIES and each.name[0] not in "._"]
    if not folders:
        raise DataError(f"{folder} holds no case: each is a folder with a {CASE_NAME}.")
    return CaseSet(str(folder), tuple(_case(each) for each in folders))


def shipped_set() -> CaseSet:
    """The set that this package ships."""
    folder = Path(str(resources.files("expbench.execution_eval"))) / "data"
    return CaseSet(SHIPPED, load_set(folder).cases)


def _case(folder: Path) -> Case:
    try:
        spec = CaseFile.model_validate_json((folder / CASE_NAME).read_bytes())
        patch = folder / PATCH_NAME
        response = folder / RESPONSE_NAME
        case = Case(
            spec=spec,
            patch=patch.read_bytes() if patch.exists() else b"",
            files=dict(_tree(folder / FILES_NAME)),
            response=response.read_bytes() if response.exists() else None,
            repository=_repository(folder, spec),
        )
    except FileNotFoundError:
        raise DataError(f"{folder} has no {CASE_NAME}: a folder of a set is a case.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "top"
        raise DataError(f"{folder / CASE_NAME} is wrong at {where}: {first['msg']}.") from None
    except OSError as error:
        raise DataError(f"{error.filename} cannot be read: {error.strerror}.") from None
    _check_claims(folder, case)
    if spec.id != folder.name or not _ID.fullmatch(spec.id):
        raise DataError(
            f"{folder / CASE_NAME} says id {spec.id!r}: it must be the folder's name, "
            "of letters, digits, dots and hyphens."
        )
    return case


def _check_claims(folder: Path, case: Case) -> None:
    """Each labelled claim stands once in the conclusion, so that its place is known."""
    for each in case.spec.expected.claims:
        count = case.conclusion.count(each.text)
        if count != 1:
            raise DataError(
                f"{folder / CASE_NAME}: the claim {each.text!r} stands {count} times in the "
                "conclusion: give a part of it that stands there once."
            )


def _repository(folder: Path, spec: CaseFile) -> Path | None:
    """The folder of an own task's repository; None for one of suite mini."""
    name = spec.repository.rstrip("/")
    if isinstance(spec.task, str) or name.startswith(f"{MINI}/"):
        return None
    pure = PurePosixPath(name)
    if not name or pure.is_absolute() or ".." in pure.parts:
        raise DataError(
            f"{folder / CASE_NAME}: repository is mini/NAME or a folder of the case or of the set, "
            f"not {spec.repository!r}."
        )
    for base in (folder, folder.parent):
        if (base / pure).is_dir():
            return base / pure
    raise DataError(f"{folder / CASE_NAME}: there is no repository {spec.repository!r}.")


def _tree(root: Path) -> Iterator[tuple[str, HandedIn]]:
    """Every regular file below a folder; links and caches are left out. Raises DataError."""
    size = 0
    found = sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink())
    if len(found) > _MOST_FILES:
        raise DataError(f"{root} holds more than {_MOST_FILES} files: take some out.")
    for path in found:
        inside = path.relative_to(root)
        if {".git", "__pycache__"} & set(inside.parts):
            continue
        content = path.read_bytes()
        size += len(content)
        if size > _MOST_BYTES:
            raise DataError(f"{root} holds more than {_MOST_BYTES // 1_000_000} MB: take some out.")
        yield inside.as_posix(), HandedIn(content, bool(path.stat().st_mode & 0o100))


def schema_text() -> str:
    """JSON Schema of ``case.json``."""
    return json.dumps(CaseFile.model_json_schema(), indent=1) + "\n"
