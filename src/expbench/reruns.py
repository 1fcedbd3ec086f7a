"""What a clean re-run showed, and whether a conclusion follows from it: a part of the vocabulary.

:mod:`expbench.schema` has all of it; import it from there.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from expbench.policy import Enforced, Record, Refusal
from expbench.verdicts import Usage


class Blob(Record):
    """Bytes in the run's store: sha256 hex digest and size in bytes."""

    digest: str
    size: int


FailureKind = Literal[
    "environment",
    "missing_module",
    "missing_file",
    "input_data",
    "checkpoint",
    "tensor",
    "syntax",
    "memory",
    "gpu",
    "permission",
    "network",
    "time",
    "interactive",
    "other",
]
"""Why a script fails, after the publication's map of execution errors. ``environment`` is a dependency
that cannot be installed or does not fit; ``missing_file`` a script or file of the code; ``tensor`` shapes
and types; ``interactive`` waits for a person."""


class Failure(Record):
    """The cause of a failed re-run by rule: its kind and the line of output that shows it."""

    kind: FailureKind
    line: str
    detail: str = ""
    """What is missing, in one word: a module, a path, a host."""


class MadeFile(Record):
    """A file that the re-run made or changed.

    ``content`` is there for small texts and pictures; ``writer`` is the program that wrote it where that is
    known, ``written`` when it was written last, in seconds from the script's begin. ``submitted``: a file
    of that path came with the submission and was set aside; ``same``: its bytes were made again.
    """

    path: str
    size: int
    digest: str = ""
    content: Blob | None = None
    writer: str = ""
    written: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    submitted: bool = False
    same: bool = False


class UsedFile(Record):
    """A source file that the re-run executed or read, from the submission or the repository.

    ``lines``: how many of its lines ran, where that was counted.
    """

    path: str
    origin: Literal["submission", "repository"]
    use: Literal["executed", "read"]
    lines: int | None = None


class UsedProcess(Record):
    """A process of the re-run: its command, its parent's place in the list, seconds of processor time.

    ``started`` and ``ended`` are seconds from the script's begin, as far as anything saw them.
    """

    command: str
    parent: int | None = None
    cpu_seconds: float | None = None
    exit_code: int | None = None
    started: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    ended: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Trace(Record):
    """What a re-run did, as ``by`` saw it; ``none`` with the reason where nothing could be seen.

    ``overhead`` is how many times longer a run takes with this tracer, as measured when it was chosen.
    """

    by: Literal["strace", "python", "none"]
    overhead: float | None = None
    reason: str = ""
    files: tuple[UsedFile, ...] = ()
    processes: tuple[UsedProcess, ...] = ()
    more: int = 0
    """Files and processes beyond what is listed."""


SuspicionKind = Literal[
    "prints_only",
    "copies_shipped_result",
    "no_experiment_code",
    "needs_its_own_results",
    "identical_under_seed",
    "insensitive_to_code",
]


class Suspicion(Record):
    """Something that a person should look at: never a verdict."""

    kind: SuspicionKind
    explanation: str
    quote: str = ""


class Execution(Record):
    """What the clean re-run of the reproduce script did.

    ``script`` is where it was found; ``adapted`` says what had to be mended to start it (line ends, the
    agent's absolute paths). ``set_aside`` are the results that came with the submission and were not there.
    """

    state: Literal["ran", "failed", "timed_out", "no_script", "infrastructure"]
    exit_code: int | None = None
    seconds: float | None = None
    stdout: Blob | None = None
    stderr: Blob | None = None
    cause: str = ""
    """The line of output, or the reason, that explains a state other than ``ran``."""
    enforced: Enforced | None = None
    failure: Failure | None = None
    script: str = ""
    adapted: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    cpu_seconds: float | None = None
    peak_memory_mib: float | None = None
    made: tuple[MadeFile, ...] = ()
    made_more: int = 0
    """Files made beyond those that are listed."""
    refused: tuple[Refusal, ...] = ()
    """What the script asked the network for and did not get."""
    trace: Trace | None = None
    suspicions: tuple[Suspicion, ...] = ()

    @property
    def produced(self) -> bool:
        """Whether it ended well and made outputs that were not in the submission (E+).

        What it printed counts: a printed result is an output.
        """
        if self.state != "ran":
            return False
        printed = self.stdout is not None and self.stdout.size > 0
        return printed or any(each.size for each in self.made)


ClaimState = Literal["grounded", "contradicted", "not_found", "not_checkable"]


class ReportedClaim(Record):
    """A statement of the agent's conclusion that a run could show.

    ``value`` and ``unit`` for a number, ``relation`` for what is compared; ``start`` and ``end`` are
    the place in the conclusion.
    """

    text: str
    kind: Literal["number", "relation"]
    start: int
    end: int
    value: float | None = None
    error: float | None = None
    """What stands after ±, in the value's unit."""
    unit: Literal["", "percent", "fraction", "seconds", "times", "points", "count"] = ""
    metric: str = ""
    condition: str = ""
    relation: str = ""
    """``>``, ``<``, ``=``, ``ranking``, ``trend``, ``crossing`` or ``significance``."""
    sides: tuple[str, ...] = ()
    essential: bool = True


class GroundedClaim(Record):
    """One claim against the re-run's outputs: the state, where it stands there, and the quote.

    ``where`` is ``stdout:LINE``, ``PATH:LINE`` or a place in a table or JSON (``PATH#a.b[2]``).
    """

    claim: ReportedClaim
    state: ClaimState
    where: str = ""
    quote: str = ""
    reason: str = ""


class Extraction(Record):
    """The claims that were taken from a conclusion. ``dropped`` ones of a model did not stand in it.

    ``by`` is ``rules`` or ``rules + model NAME``; ``reason`` says why a model that was asked added nothing.
    """

    claims: tuple[ReportedClaim, ...]
    by: str = "rules"
    dropped: int = 0
    reason: str = ""
    usage: Usage = Usage()


class Grounding(Record):
    """All checkable claims of a conclusion. ``by`` names what extracted them: rules, or a model too."""

    claims: tuple[GroundedClaim, ...] = ()
    by: str = "rules"
    runs: int = 1
    reason: str = ""
    """Why nothing could be checked, when that is so."""

    def count(self, state: ClaimState) -> int:
        """How many claims are in a state."""
        return sum(each.state == state for each in self.claims)


class Perturbation(Record):
    """What changed when the experiment was disturbed (another seed, its code stubbed).

    ``reason`` says why nothing can be told from it, when that is so.
    """

    kind: Literal["seed", "stub"]
    execution: Execution
    identical: int = Field(default=0, ge=0)
    """Numbers of the output that came out the same to the last digit, of ``compared``."""
    compared: int = Field(default=0, ge=0)
    suspicion: Suspicion | None = None
    reason: str = ""

    @property
    def told(self) -> str:
        """What it showed, in a sentence or two."""
        why = self.suspicion.explanation if self.suspicion else self.reason
        same = f"{self.kind}: {self.identical} of {self.compared} numbers came out the same."
        return f"{same} {why}".rstrip()
