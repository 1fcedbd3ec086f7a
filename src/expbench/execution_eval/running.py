"""Running the cases of a set for real: the clean re-run of each, and the grounding of what it showed.

What is finished is written to a journal at once, so that an evaluation that was stopped goes on where
it was. A result is taken from there only when neither the case nor this package's code has changed; a
re-run that the harness failed is done again.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

import expbench
from expbench.durable import append_line, held_journal
from expbench.errors import InfrastructureError
from expbench.execution import Conditions, execution_score, produced_score
from expbench.execution.examining import examine
from expbench.execution_eval.cases import Case, CaseSet
from expbench.execution_eval.submitting import Submitted, submit
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Execution, Grounding, Record, Score
from expbench.workspace import BlobStore, SourceFinder

JOURNAL = "journal.jsonl"
STORE = "store"
Progress = Callable[[str, int, int], None]
"""Called with the case that was finished, how many are done, and of how many."""


class Observed(Record):
    """What one case showed; a line of the journal.

    E and E+ of several re-runs are the lowest; ``scores`` have the names of :class:`Expected`.
    """

    case: str
    digest: str
    """Of the case, the code and the sandbox."""
    executions: tuple[Execution, ...] = ()
    grounding: Grounding | None = None
    scores: dict[str, Score]
    seconds: float = 0.0
    problem: str = ""
    """Why the harness could not do it; it is done again then."""


@dataclass(frozen=True)
class Bench:
    """What cases are run with.

    ``ground`` looks the conclusion up in what the re-runs showed; ``conditions`` are those of every re-run,
    such as what watches it.
    """

    host: SandboxHost
    sources: SourceFinder
    store: BlobStore
    ground: Grounder
    conditions: Conditions = field(default_factory=Conditions)

    def key(self, case: Case) -> str:
        """Digest of everything that shapes a case's result."""
        text = f"{case.digest} {code_digest()} {self.host.kind} {self.host.image}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


Grounder = Callable[[Submitted, tuple[Execution, ...], BlobStore], tuple[Grounding, Score]]


def observe(case: Case, bench: Bench) -> Observed:
    """Run one case. Raises DataError for a case that is none; failures of the harness are recorded."""
    started = time.monotonic()
    policy = bench.host.policy.model_copy(update={"limits": case.spec.limits})
    host = replace(bench.host, policy=policy)
    try:
        given = submit(case, bench.sources, bench.store)
        executions = tuple(
            examine(
                given.submission, given.prepared, host, bench.store, conditions=bench.conditions
            )
            for _ in range(case.spec.repeat)
        )
        grounding, g = bench.ground(given, executions, bench.store)
    except InfrastructureError as error:
        missing = Score(reason=f"infrastructure: {error}", unscored=1)
        scores = dict.fromkeys(("E", "E_plus", "G"), missing)
        return Observed(case=case.id, digest="", scores=scores, problem=str(error))
    problems = [each.cause for each in executions if each.state == "infrastructure"]
    return Observed(
        case=case.id,
        digest=bench.key(case),
        executions=executions,
        grounding=grounding,
        scores={
            "E": _lowest([execution_score(each) for each in executions]),
            "E_plus": _lowest([produced_score(each) for each in executions]),
            "G": g,
        },
        seconds=round(time.monotonic() - started, 3),
        problem=problems[0] if problems else "",
    )


def _lowest(scores: list[Score]) -> Score:
    """The score without a value if there is one, else the smallest."""
    return min(scores, key=lambda each: -1.0 if each.value is None else each.value)


def run_set(
    chosen: CaseSet,
    bench: Bench,
    journal: Journal,
    concurrency: int,
    progress: Progress = lambda case, done, total: None,
) -> dict[str, Observed]:
    """Every case's result by its id: from the journal, or run now, ``concurrency`` at a time.

    A case that cannot be made stops it, and the scripts that run.
    """
    stop = threading.Event()
    bench = replace(bench, conditions=replace(bench.conditions, cancelled=stop))
    found: dict[str, Observed] = {}
    total = len(chosen.cases)
    waiting: list[Case] = []
    for case in chosen.cases:
        known = journal.find(case.id, bench.key(case))
        if known is None:
            waiting.append(case)
        else:
            found[case.id] = known
            progress(case.id, len(found), total)
    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        running = {pool.submit(observe, case, bench) for case in waiting}
        try:
            for observed in _as_they_end(running):
                journal.add(observed)
                found[observed.case] = observed
                progress(observed.case, len(found), total)
        except BaseException:
            stop.set()
            for each in running:
                each.cancel()
            raise
    return {case.id: found[case.id] for case in chosen.cases}


def _as_they_end(running: set[Future[Observed]]) -> Iterator[Observed]:
    left = set(running)
    while left:
        ended, left = wait(left, return_when=FIRST_COMPLETED)
        for each in ended:
            yield each.result()


@dataclass
class Journal:
    """The finished cases of an evaluation."""

    known: dict[str, Observed] = field(default_factory=dict)
    _path: Path | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def find(self, case: str, digest: str) -> Observed | None:
        """A case's result, if it is of the same digest and the harness did not fail."""
        observed = self.known.get(case)
        if observed is None or observed.problem or observed.digest != digest:
            return None
        return observed

    def add(self, observed: Observed) -> None:
        """Keep it; where there is a file, it is there when this returns."""
        with self._lock:
            self.known[observed.case] = observed
            if self._path is not None:
                append_line(self._path, observed.model_dump_json().encode() + b"\n")


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal of an evaluation's folder.

    Raises:
        PrerequisiteError: the folder cannot be written, or another process writes to it.
    """
    with held_journal(folder / JOURNAL) as path:
        yield Journal(_read(path), path)


def _read(path: Path) -> dict[str, Observed]:
    """Every line but damaged ones, which are done again."""
    found = {}
    for line in path.read_bytes().splitlines():
        try:
            observed = Observed.model_validate_json(line)
        except ValidationError:
            continue
        found[observed.case] = observed
    return found


@functools.cache
def code_digest() -> str:
    """Digest of this package's code and prompts: what a result was made by."""
    digest = hashlib.sha256()
    root = Path(expbench.__file__).parent
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.suffix in (".py", ".txt") and not {"data", "mini"} & set(inside.parts):
            digest.update(str(inside).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
