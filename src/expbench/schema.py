"""The vocabulary: every record that crosses a process, a file or a log.

One task's way through, and the record that each step makes::

    ResearchTask --prepare--> workspace --agent--> Submission --+-- monitor ----> MonitorReport --+
                                                                +-- judges -----> Judgement ------+-> Outcome
                                                                +-- re-execute -> Execution ------+

All records are frozen and refuse unknown fields, so that a file written by one version and read by
another fails loudly. Large bytes (patches, outputs, trajectories) never stand in a record: they lie
in the run's store and a record holds a :class:`Blob`, their digest and size.
"""

from __future__ import annotations

import hashlib
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

Phase = Literal["design", "implementation", "conclusion"]
"""What a judge looks at. The release calls the second one "setup"; its loader translates."""

ScoreName = Literal["monitor", "design", "implementation", "conclusion", "execution"]

SCORE_NAMES: tuple[ScoreName, ...] = get_args(ScoreName)
"""The scores of an outcome in the order of the publication's labels M, D, I, C, E."""

SCRIPT_NAME = "reproduce_exp_bench.sh"
"""The script that an agent hands in; it is run from the repository's root."""

RESPONSE_NAME = "response.json"
"""The file with an agent's design and conclusion, in the repository's root."""


class Record(BaseModel):
    """Base of all records: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- tasks ---------------------------------------------------------------------------------------


class Citation(Record):
    """A place in the paper's repository: a file (relative, POSIX) and 1-based inclusive lines."""

    path: str
    ranges: tuple[tuple[int, int], ...] = ()


class DesignItem(Record):
    """One variable of the experiment's design, with its values as text."""

    kind: Literal["constant", "independent", "dependent"]
    name: str
    values: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The variable in one line, ``name: value; value``."""
        return f"{self.name}: {'; '.join(self.values)}" if self.values else self.name


class Requirement(Record):
    """One implementation step, and where the authors' code does it."""

    text: str
    citations: tuple[Citation, ...] = ()


class Claim(Record):
    """One atomic statement of the conclusion. C needs every essential one."""

    text: str
    kind: Literal["relation", "number", "condition", "statement"] = "statement"
    essential: bool = True


class Reference(Record):
    """The ground truth of a task. Nothing of it may come near an agent."""

    design: tuple[DesignItem, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    conclusion: str = ""
    claims: tuple[Claim, ...] = ()
    source: tuple[str, ...] = ()
    usage: str = ""


class Repository(Record):
    """Where a paper's code is: a git address and commit, or a tree that ships with the suite."""

    url: str
    commit: str = ""
    submodules: tuple[str, ...] = ()


class Limits(Record):
    """What one attempt may use. ``None`` means that nothing is demanded."""

    minutes: float = Field(default=40.0, gt=0)
    """Wall-clock minutes for the agent, and again for the re-execution (paper, section 4: 40)."""
    memory_mib: int | None = Field(default=4096, gt=0)
    processes: int | None = Field(default=512, gt=0)
    file_mib: int | None = Field(default=4096, gt=0)
    """Largest single file."""
    output_mib: int = Field(default=10, gt=0)
    """Bytes kept of one command's output, head and tail."""


class PromptView(Record):
    """The only part of a task that an agent may see."""

    task_id: str
    question: str
    method: str
    instructions: str
    masked: tuple[str, ...]


class ResearchTask(Record):
    """One complete research experiment.

    ``id`` is ``venue/paper/index``; ``type`` is the publication's: 1 an experiment of the paper,
    2 made from the repository, 3 no implementation known (implementation is judged against the method).
    """

    id: str
    paper: str
    venue: str
    title: str = ""
    category: str = ""
    type: Literal[1, 2, 3]
    repository: Repository
    question: str
    method: str
    instructions: str = ""
    mask: tuple[str, ...] = ()
    reference: Reference = Reference()
    limits: Limits = Limits()
    flags: tuple[str, ...] = ()

    def prompt_view(self) -> PromptView:
        """Everything that an agent may see, and nothing else."""
        return PromptView(
            task_id=self.id,
            question=self.question,
            method=self.method,
            instructions=self.instructions,
            masked=self.mask,
        )


# --- submissions ---------------------------------------------------------------------------------


class Blob(Record):
    """Bytes in the run's store: sha256 hex digest and size in bytes."""

    digest: str
    size: int


class LeftOut(Record):
    """A file of the agent's tree, or a folder with all below it, that is not in the patch, and why.

    A folder's path ends in a slash; an empty path counts what has no row of its own. ``size`` is in
    bytes, of all ``files``; ``digest`` is the sha256, empty where no one file was read (see ``reason``).
    """

    path: str
    size: int
    reason: str
    digest: str = ""
    files: int = 1


class Submission(Record):
    """Everything that an agent handed in, taken from outside the sandbox by comparing trees.

    ``design`` and ``conclusion`` are ``None`` when the agent gave none; ``problems`` says why in words.
    ``patch`` is git's binary patch from the masked tree to the agent's tree, ``text`` its view for
    judges (:class:`SubmissionText` as JSON); ``script`` is the reproduce script, ``response`` the raw
    bytes of ``response.json`` and ``trajectory`` the agent's messages and tool calls as JSON lines
    (:class:`Turn`).
    """

    task_id: str
    base_tree: str
    design: str | None = None
    conclusion: str | None = None
    patch: Blob
    text: Blob
    script: Blob | None = None
    response: Blob | None = None
    trajectory: Blob | None = None
    changed: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 over the record's canonical JSON; two equal submissions have the same."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class SubmissionText(Record):
    """A submission as text, which is what judges and the monitor read.

    ``diff`` is a unified diff of the text files (notebooks as code cells, binary files and outputs by
    name and size only), without the reproduce script, which stands in ``script``.
    """

    design: str = ""
    conclusion: str = ""
    diff: str = ""
    script: str = ""
    changed: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing at all was handed in."""
        return not (self.design or self.conclusion or self.diff or self.script)


class Turn(Record):
    """One step of a trajectory: what was said, or a tool's call with its result."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    tool: str = ""
    command: str = ""
    """For a tool turn: the shell command, code or file operation that was called, as one text."""
    failed: bool = False


# --- scoring -------------------------------------------------------------------------------------


class RubricItem(Record):
    """One thing that a judge decides.

    ``code`` is the authors' code at the cited lines, where the repository is at hand; it is ground
    truth, for judges only.
    """

    id: str
    phase: Phase
    kind: str
    text: str
    essential: bool = True
    code: str = ""


class Verdict(Record):
    """A judge's decision on one item. ``evidence`` stands verbatim in the submission."""

    item: str
    phase: Phase
    state: Literal["met", "not_met", "unscored"]
    evidence: str = ""
    reason: str = ""
    alternative: bool = False


class Usage(Record):
    """Model tokens of one stage."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0


class Judgement(Record):
    """All verdicts of one judge on one submission."""

    judge: str
    prompt_digest: str = ""
    verdicts: tuple[Verdict, ...] = ()
    usage: Usage = Usage()

    def of(self, phase: Phase) -> tuple[Verdict, ...]:
        """The verdicts of one phase, in the rubric's order."""
        return tuple(v for v in self.verdicts if v.phase == phase)


class Violation(Record):
    """One finding of the monitor, with the quote that shows it and the turn it stands in."""

    kind: Literal[
        "git_history", "paper_access", "hard_coded_results", "copied_results", "harness_probing"
    ]
    severity: Literal["violation", "suspicious"]
    quote: str
    turn: int | None = None
    explanation: str = ""


class MonitorReport(Record):
    """The monitor's verdict. Without a readable trajectory it is unscored, never guilty."""

    verdict: Literal["clean", "suspicious", "violation", "unscored"]
    violations: tuple[Violation, ...] = ()
    reason: str = ""


class Enforced(Record):
    """How each demanded limit was enforced by the sandbox, in words; absent means it was not.

    ``workspace``: ``overlay``, ``reflink`` or ``copy``."""

    provider: str
    workspace: str = ""
    limits: dict[str, str] = Field(default_factory=dict)


class Execution(Record):
    """What the clean re-run of the reproduce script did."""

    state: Literal["ran", "failed", "timed_out", "no_script", "infrastructure"]
    exit_code: int | None = None
    seconds: float | None = None
    stdout: Blob | None = None
    stderr: Blob | None = None
    cause: str = ""
    """The line of output, or the reason, that explains a state other than ``ran``."""
    enforced: Enforced | None = None


class Score(Record):
    """One number in [0, 1], or the reason why there is none."""

    value: float | None = Field(default=None, ge=0.0, le=1.0)
    reason: str = ""
    met: int = 0
    not_met: int = 0
    unscored: int = 0

    @model_validator(mode="after")
    def _unscored_says_why(self) -> Score:
        if self.value is None and not self.reason:
            raise ValueError("a score without a value needs a reason")
        return self

    @property
    def full(self) -> bool | None:
        """Whether the score is 100 %; ``None`` when it is unscored."""
        return None if self.value is None else self.value >= 1.0


Status = Literal["finished", "agent_error", "infrastructure", "missing"]
"""The explicit state in which every planned task ends."""


class Outcome(Record):
    """The result of one task in one epoch: five scores, each a number or unscored with a reason.

    ``infrastructure`` and ``missing`` outcomes carry no scores; ``agent_error`` ones are judged on what
    the agent left. D, I and C are the judge's raw scores: the publication's rule that a violation sets
    them to zero is applied by ``metrics``, so that nothing is lost.
    """

    task_id: str
    paper: str
    epoch: int = Field(ge=1)
    agent: str
    model: str
    status: Status
    reason: str = ""
    limit: str = ""
    """The limit that ended the agent, when one did."""
    submission: str = ""
    """Digest of the submission."""
    scores: dict[str, Score] = Field(default_factory=dict)
    judgement: Judgement | None = None
    monitor: MonitorReport | None = None
    execution: Execution | None = None
    enforced: Enforced | None = None
    agent_seconds: float = 0.0
    agent_usage: Usage = Usage()
