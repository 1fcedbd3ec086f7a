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

from pydantic import Field, model_validator

from expbench.policy import Enforced as Enforced
from expbench.policy import Limits as Limits
from expbench.policy import Network as Network
from expbench.policy import Policy as Policy
from expbench.policy import Record as Record
from expbench.policy import Refusal as Refusal
from expbench.policy import Requests as Requests
from expbench.reruns import Blob as Blob
from expbench.reruns import Execution as Execution
from expbench.reruns import Extraction as Extraction
from expbench.reruns import Failure as Failure
from expbench.reruns import FailureKind as FailureKind
from expbench.reruns import GroundedClaim as GroundedClaim
from expbench.reruns import Grounding as Grounding
from expbench.reruns import MadeFile as MadeFile
from expbench.reruns import Perturbation as Perturbation
from expbench.reruns import ReportedClaim as ReportedClaim
from expbench.reruns import Suspicion as Suspicion
from expbench.reruns import Trace as Trace
from expbench.reruns import UsedFile as UsedFile
from expbench.reruns import UsedProcess as UsedProcess
from expbench.verdicts import Judgement as Judgement
from expbench.verdicts import Judging as Judging
from expbench.verdicts import Mark as Mark
from expbench.verdicts import MonitorReport as MonitorReport
from expbench.verdicts import Phase as Phase
from expbench.verdicts import Protocol as Protocol
from expbench.verdicts import RubricItem as RubricItem
from expbench.verdicts import Shown as Shown
from expbench.verdicts import Usage as Usage
from expbench.verdicts import Verdict as Verdict
from expbench.verdicts import Violation as Violation
from expbench.verdicts import ViolationKind as ViolationKind
from expbench.verdicts import Vote as Vote

ScoreName = Literal[
    "monitor", "design", "implementation", "conclusion", "execution", "produced", "grounding"
]

SCORE_NAMES: tuple[ScoreName, ...] = get_args(ScoreName)[:5]
"""The scores of an outcome in the order of the publication's labels M, D, I, C, E."""

ALL_SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
"""These, and ours: E+ (the re-run also produced outputs) and G (the conclusion follows from them)."""

SCRIPT_NAME = "reproduce_exp_bench.sh"
"""The script that an agent hands in; it is run from the repository's root."""

RESPONSE_NAME = "response.json"
"""The file with an agent's design and conclusion, in the repository's root."""


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
    solution: str = Field(default="", exclude=True, repr=False)
    """The folder of its oracle solution, where it lies beside the task file; no part of what the task is."""

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


Hints = Literal["none", "instructions", "full"]
"""How much a prompt helps: the form of the deliverables; also how to go about it; also worked examples."""

Reveal = Literal["question", "method", "instructions"]
"""What an agent is told of its task: the question; also the method; also the instructions."""


class Doubt(Record):
    """A reason not to take an attempt for the agent's best: its tools, its process or its patch failed."""

    kind: Literal["tool_calls", "agent_exit", "model_unreachable", "empty_patch", "no_response"]
    sentence: str


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
    doubts: tuple[Doubt, ...] = ()
    """Why this attempt may say little about the agent; it is never shown as finished without them."""
    submission: str = ""
    """Digest of the submission."""
    scores: dict[str, Score] = Field(default_factory=dict)
    judgement: Judgement | None = None
    monitor: MonitorReport | None = None
    execution: Execution | None = None
    claims: Extraction | None = None
    """The conclusion's claims, where a model was asked for them besides the rules."""
    grounding: Grounding | None = None
    perturbations: tuple[Perturbation, ...] = ()
    enforced: Enforced | None = None
    agent_seconds: float = 0.0
    agent_usage: Usage = Usage()
