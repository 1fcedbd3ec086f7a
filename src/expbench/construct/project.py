"""A construction project: its folder, its paper and repository, its drafts, and who works on it.

Every file of results is written beside its place and renamed there, so that a kill leaves the old or the new
one. One process at a time changes a project; reading it needs no lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from expbench.construct.journal import Journal
from expbench.construct.records import Draft
from expbench.durable import sync_folder
from expbench.errors import DataError, NotFoundError, RepositoryError, UserError
from expbench.papers.document import Document
from expbench.paths import CachePaths
from expbench.schema import Record, Repository
from expbench.tracer.graph import Trace
from expbench.workspace import Source, freeze, from_git, write_whole
from expbench.workspace.repository.git import GitError, git

_Kind = TypeVar("_Kind", bound=Record)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PDF_CAP = 500_000_000


class ProjectFacts(Record):
    """``project.json``: what the project is of. ``budget`` caps what all its models cost, in dollars."""

    name: str
    repository: Repository
    pdf: str
    """The PDF's sha256."""
    created: str
    budget: float | None = None


@dataclass(frozen=True)
class Project:
    """An open project; ``cache`` is the user's, where repositories are kept."""

    root: Path
    cache: CachePaths

    @cached_property
    def facts(self) -> ProjectFacts:
        """Raises NotFoundError, DataError."""
        file = self.root / "project.json"
        try:
            return ProjectFacts.model_validate_json(file.read_bytes())
        except OSError:
            raise NotFoundError(
                f"{self.root} is no construction project: begin one with `expbench construct new`."
            ) from None
        except ValidationError:
            raise DataError(f"{file} is damaged: restore it.") from None

    @cached_property
    def journal(self) -> Journal:
        """The project's journal. Raises DataError."""
        return Journal(self.root / "journal.jsonl")

    @property
    def pdf(self) -> Path:
        return self.root / "paper" / "paper.pdf"

    @property
    def repo(self) -> Path:
        """The repository's files at its commit, nothing masked."""
        return self.root / "repo"

    @property
    def out(self) -> Path:
        return self.root / "out"

    def source(self) -> Source:
        """The repository at its commit. Raises RepositoryError."""
        repository = self.facts.repository
        return from_git(repository.url, repository.commit, self.cache.repos)

    def document(self) -> Document:
        """The paper as it was read. Raises NotFoundError, DataError."""
        file = self.root / "paper" / "document.json"
        try:
            return Document.model_validate_json(file.read_bytes())
        except OSError:
            raise NotFoundError(
                f"The paper of {self.root} is not read yet: `expbench construct read {self.root}`."
            ) from None
        except ValidationError:
            raise DataError(f"{file} is damaged: read the paper again.") from None

    def drafts(self) -> tuple[Draft, ...]:
        """All drafts, in the order of their ids. Raises DataError."""
        found = sorted((self.root / "drafts").glob("*.json"))
        return tuple(_parsed(Draft, file) for file in found)

    def trace(self, draft: Draft) -> Trace | None:
        """A draft's trace, if there is one. Raises DataError."""
        file = self._trace_file(draft)
        return _parsed(Trace, file) if file.is_file() else None

    def save_draft(self, draft: Draft) -> None:
        """Put a draft in its place."""
        write_text(self.root / "drafts" / f"{draft.id}.json", draft.model_dump_json(indent=1))

    def save_trace(self, draft: Draft, trace: Trace | None) -> None:
        """Put a draft's trace in its place, or take it away."""
        file = self._trace_file(draft)
        if trace is None:
            file.unlink(missing_ok=True)
        else:
            write_text(file, trace.model_dump_json(indent=1))

    def _trace_file(self, draft: Draft) -> Path:
        return self.root / "traces" / f"{draft.id}.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the project for this process, and mend what a kill cut short.

        Raises:
            UserError: another process works on it.
        """
        _ = self.facts
        with (self.root / ".lock").open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    f"Another process works on {self.root}: wait for its end, or stop it."
                ) from None
            self.journal.mend()
            yield


def _parsed(kind: type[_Kind], file: Path) -> _Kind:
    try:
        return kind.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{file} is damaged at {where}: {first['msg']}.") from None


def write_text(path: Path, text: str) -> None:
    """Replace a file as a whole; it is on disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text if text.endswith("\n") else f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def new_project(
    root: Path,
    pdf: Path,
    repo: str,
    commit: str,
    name: str,
    created: str,
    cache: CachePaths,
    network: Mapping[str, str],
    budget: float | None = None,
) -> Project:
    """Begin a project; it is there as a whole or not at all.

    The repository is brought by its commit alone, without hooks, filters or anything that it configures,
    into the store, and its files are written out.

    Args:
        repo: a clone's folder, or a git address.
        commit: its full id; empty for what HEAD is now.
        name: of the paper; empty for the PDF's.

    Raises:
        UserError: the folder is in use, the PDF is none, or the name is not fit for a file.
        RepositoryError: the commit cannot be had.
    """
    name = name or re.sub(r"[^A-Za-z0-9._-]+", "-", pdf.stem).strip("-.") or "paper"
    if not _NAME.fullmatch(name):
        raise UserError(f"--name {name!r} is not fit for a file: use letters, digits and dashes.")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UserError(f"{root} is there already: name a folder that is not, or go on with it.")
    digest = _checked_pdf(pdf)
    address = str(Path(repo).expanduser().resolve()) if Path(repo).expanduser().exists() else repo
    pin = commit or _head(address, network)
    source = from_git(address, pin, cache.repos, network=network)
    root.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{root.name}-", dir=root.parent))
    try:
        (made / "paper").mkdir()
        shutil.copyfile(pdf, made / "paper" / "paper.pdf")
        write_whole(freeze(source), made / "repo")
        facts = ProjectFacts(
            name=name,
            repository=Repository(url=address, commit=pin),
            pdf=digest,
            created=created,
            budget=budget,
        )
        write_text(made / "project.json", facts.model_dump_json(indent=1))
        made.chmod(0o755)
        if root.exists():
            root.rmdir()
        made.rename(root)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return Project(root, cache)


def _checked_pdf(pdf: Path) -> str:
    try:
        if pdf.stat().st_size > _PDF_CAP:
            raise UserError(
                f"{pdf} is larger than {_PDF_CAP // 1_000_000} MB: give the paper alone."
            )
        content = pdf.read_bytes()
    except OSError as error:
        raise NotFoundError(f"{pdf} cannot be read ({error.strerror}): check --pdf.") from None
    if b"%PDF-" not in content[:1024]:
        raise UserError(f"{pdf} is no PDF: check --pdf.")
    return hashlib.sha256(content).hexdigest()


def _head(address: str, network: Mapping[str, str]) -> str:
    """The commit that an address's HEAD is now."""
    try:
        found = git(["ls-remote", "--", address, "HEAD"], env=network, timeout=300).split()
    except GitError as error:
        raise RepositoryError(
            f"{address} is no git repository that can be had ({error}): give a clone's folder or an "
            "address with --repo."
        ) from None
    if not found or not _COMMIT.fullmatch(found[0].decode()):
        raise RepositoryError(f"{address} has no HEAD: name a commit with --commit.")
    return found[0].decode()
