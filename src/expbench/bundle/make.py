"""Making a bundle: the same run gives the same bytes, but for a sealed part, whose salt is random."""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pydantic import TypeAdapter

import expbench as package
from expbench.board import TaskFacts, read_spend
from expbench.bundle.layout import (
    CLAIMS,
    INDEX,
    JUDGE_EVAL,
    LEDGER,
    MANIFEST,
    OUTCOMES,
    SEALED,
    SUBMISSIONS,
    SUFFIX,
    TASKS,
    TRUTH,
    Claims,
    Index,
    SubmissionLine,
    check_index,
)
from expbench.bundle.public import public_manifest, public_outcome
from expbench.bundle.sealing import Sealer, Secret
from expbench.bundle.secrecy import check
from expbench.errors import DataError, PrerequisiteError, UserError
from expbench.judge_eval.known import KnownEval
from expbench.metrics import summarise
from expbench.packing.layout import PackedFile, blobs_in, name_in_store
from expbench.packing.members import Hashed, fresh_file, write_members
from expbench.redaction import redacted, without_secrets
from expbench.runs import Run, held
from expbench.schema import Blob, Outcome, ResearchTask, Submission


@dataclass(frozen=True)
class Submitted:
    """A bundle. ``sealed``: bytes of its sealed part, 0 without one; ``left_out``: what is not in it."""

    bundle: Path
    run: str
    files: int
    submissions: int
    size: int
    sha256: str
    sealed: int
    left_out: tuple[str, ...]


@dataclass
class _Parts:
    """What goes into an archive: bytes that are at hand, and blobs of the run's store."""

    run: Run
    allowed: bool
    contents: dict[str, bytes] = field(default_factory=dict)
    blobs: dict[str, Blob] = field(default_factory=dict)

    def put(self, name: str, content: bytes) -> None:
        check(name, content, self.allowed)
        self.contents[name] = content

    def keep(self, blob: Blob | None, what: str) -> None:
        """A blob of the store, which is read whole and checked once."""
        if blob is not None and (name := name_in_store(blob)) not in self.blobs:
            check(f"{what} ({name})", self.run.store.get(blob), self.allowed)
            self.blobs[name] = blob

    @property
    def files(self) -> tuple[PackedFile, ...]:
        found = [_measured(name, content) for name, content in self.contents.items()]
        found += [
            PackedFile(name=name, size=blob.size, sha256=blob.digest)
            for name, blob in self.blobs.items()
        ]
        return tuple(sorted(found, key=lambda each: each.name))

    def open(self, entry: PackedFile) -> BinaryIO:
        if entry.name in self.contents:
            return io.BytesIO(self.contents[entry.name])
        return self.run.store.open(self.blobs[entry.name])

    def changed(self, entry: PackedFile) -> DataError:
        return DataError(f"{entry.name} of {self.run.paths.root} was changed while it was read.")


def submit(
    run: Run,
    bundle: Path,
    facts: Mapping[str, TaskFacts],
    judge_eval: KnownEval | None = None,
    truth: Sequence[ResearchTask] = (),
    secret: Secret | None = None,
    allow_secret_looking: bool = False,
) -> Submitted:
    """Write the bundle of a run.

    Args:
        facts: of the run's tasks, as far as they are at hand.
        truth: the tasks with their ground truth, for the sealed part.
        secret: with it, ground truth, trajectories and all texts go into a sealed part.

    Raises:
        UserError: the run cannot be submitted as it is, or a secret stands in it.
        DataError: its files are damaged, changed or missing.
        InfrastructureError: it does not account for all its attempts.
        PrerequisiteError: a file cannot be read or written, or the library for sealing is missing.
    """
    _check(run, bundle)
    parts = _public(run, facts, judge_eval, allow_secret_looking)
    with tempfile.TemporaryDirectory(prefix="expbench-submit-") as folder:
        sealed = Path(folder) / SEALED
        if secret is not None:
            _seal(run, truth, secret, sealed, allow_secret_looking)
        files = sorted((*parts.files, *_file_at(sealed)), key=lambda each: each.name)
        index = Index(expbench=package.__version__, run=run.manifest.name, files=tuple(files))
        check_index(index, bundle)
        _make_folder(bundle.absolute().parent)
        with fresh_file(bundle) as file:
            sink = Hashed(file)
            head = index.model_dump_json(indent=1).encode() + b"\n"
            opened = _opener(parts, sealed)
            write_members(sink, (INDEX, head), files, opened, parts.changed)
            size = file.tell()
        return Submitted(
            bundle=bundle,
            run=index.run,
            files=len(files),
            submissions=parts.contents[SUBMISSIONS].count(b"\n"),
            size=size,
            sha256=sink.digest.hexdigest(),
            sealed=sum(each.size for each in files if each.name == SEALED),
            left_out=tuple(_left_out(secret, truth)),
        )


def _check(run: Run, bundle: Path) -> None:
    if run.paths.base != run.paths.root:
        raise UserError(
            f"{run.paths.root} is a part of {run.paths.base}: submit the run of that folder."
        )
    if held(run.paths):
        raise UserError(f"{run.paths.root} is being run by another process: wait for it.")
    if not bundle.name.endswith(SUFFIX) or bundle.name == SUFFIX:
        raise UserError(f"{bundle.name!r} is no name for a bundle: give --out NAME{SUFFIX}.")
    if bundle.exists() or bundle.is_symlink():
        raise UserError(f"{bundle} exists: remove it or choose another file with --out.")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PrerequisiteError(
            f"{folder} cannot be made ({error.strerror}): choose another file with --out."
        ) from None


def _public(
    run: Run, facts: Mapping[str, TaskFacts], judge_eval: KnownEval | None, allowed: bool
) -> _Parts:
    parts = _Parts(run, allowed)
    manifest = without_secrets(public_manifest(run.manifest))
    outcomes = [without_secrets(public_outcome(outcome)) for outcome in run.ordered()]
    own = [facts[task] for task in manifest.tasks if task in facts]
    lines = [_line(run, outcome) for outcome in outcomes if outcome.submission]
    claims = Claims(
        expbench=manifest.versions.get("expbench", ""),
        suite=manifest.suite,
        suite_version=manifest.suite_version,
        data_version=manifest.data_version,
        errata=manifest.errata,
        agent=manifest.agent,
        model=manifest.model,
        judge=manifest.judge,
        summary=summarise(run.planned, outcomes),
    )
    parts.put(MANIFEST, manifest.model_dump_json(indent=1).encode() + b"\n")
    parts.put(OUTCOMES, _lines(outcomes))
    parts.put(SUBMISSIONS, _lines(lines))
    parts.put(TASKS, TypeAdapter(list[TaskFacts]).dump_json(own, indent=1) + b"\n")
    eval_text = judge_eval.model_dump_json(indent=1) if judge_eval else "null"
    parts.put(JUDGE_EVAL, redacted(eval_text).encode() + b"\n")
    spend = read_spend(run.paths.ledger)
    parts.put(LEDGER, spend.model_dump_json(indent=1).encode() + b"\n")
    parts.put(CLAIMS, claims.model_dump_json(indent=1).encode() + b"\n")
    for line in lines:
        for blob in handed_in(line.submission):
            parts.keep(blob, f"the submission of {line.task_id}, epoch {line.epoch}")
    return parts


def handed_in(submission: Submission) -> Iterator[Blob]:
    """The blobs of a submission that everybody may see: all but the trajectory."""
    for blob in (submission.patch, submission.text, submission.script, submission.response):
        if blob is not None:
            yield blob


def _line(run: Run, outcome: Outcome) -> SubmissionLine:
    key = (outcome.task_id, outcome.epoch)
    attempt = run.attempts.get(key)
    if attempt is None or attempt.submission.digest != outcome.submission:
        raise DataError(
            f"{run.paths.journal} lacks the submission of {key[0]}, epoch {key[1]}, that its outcome names."
        )
    return SubmissionLine(task_id=key[0], epoch=key[1], submission=attempt.submission)


def _lines(records: Iterable[Outcome | SubmissionLine]) -> bytes:
    return "".join(record.model_dump_json() + "\n" for record in records).encode()


def _seal(
    run: Run, truth: Sequence[ResearchTask], secret: Secret, dest: Path, allowed: bool
) -> None:
    """Write what is not for everybody: all outcomes, ground truth, trajectories, the re-runs' outputs."""
    parts = _Parts(run, allowed)
    outcomes = [without_secrets(outcome) for outcome in run.ordered()]
    parts.put(OUTCOMES, _lines(outcomes))
    chosen = [task for task in truth if task.id in set(run.manifest.tasks)]
    parts.put(TRUTH, TypeAdapter(list[ResearchTask]).dump_json(chosen) + b"\n")
    for outcome in outcomes:
        what = f"the attempt at {outcome.task_id}, epoch {outcome.epoch}"
        attempt = run.attempts.get((outcome.task_id, outcome.epoch))
        if attempt is not None:
            parts.keep(attempt.submission.trajectory, what)
        for blob in blobs_in(outcome):
            parts.keep(blob, what)
    index = Index(
        kind="sealed", expbench=package.__version__, run=run.manifest.name, files=parts.files
    )
    check_index(index, run.paths.root)
    with dest.open("wb") as file:
        sealer = Sealer(file, secret)
        head = index.model_dump_json().encode() + b"\n"
        write_members(sealer, (INDEX, head), index.files, parts.open, parts.changed)
        sealer.close()


def _opener(parts: _Parts, sealed: Path) -> Callable[[PackedFile], BinaryIO]:
    return lambda entry: sealed.open("rb") if entry.name == SEALED else parts.open(entry)


def _file_at(path: Path) -> Iterator[PackedFile]:
    if path.exists():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield PackedFile(name=path.name, size=path.stat().st_size, sha256=digest)


def _measured(name: str, content: bytes) -> PackedFile:
    digest = hashlib.sha256(content).hexdigest()
    return PackedFile(name=name, size=len(content), sha256=digest)


def _left_out(secret: Secret | None, truth: Sequence[ResearchTask]) -> Iterator[str]:
    if secret is None:
        yield "trajectories, ground truth, judges' reasons, the monitor's quotations, the re-runs' outputs"
    elif not truth:
        yield "ground truth, which is not at hand"
