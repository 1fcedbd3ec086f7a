"""What judges and the monitor decide: the part of the vocabulary that is about scoring.

:mod:`expbench.schema` has all of it; import it from there.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from expbench.policy import Record

Phase = Literal["design", "implementation", "conclusion"]
"""What a judge looks at. The release calls the second one "setup"; its loader translates."""

Protocol = Literal["itemised", "paper"]
"""``itemised``: a verdict for each item. ``paper``: the publication's one mark for each phase."""


class Usage(Record):
    """Model tokens of one stage.

    ``input_tokens`` are all that were sent, also those that a provider read from its cache
    (``cache_read``) or wrote to it (``cache_write``); ``output_tokens`` are all that came back, also the
    ``reasoning_tokens``. ``dollars`` is ``None`` where a price is not known.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning_tokens: int = 0
    dollars: float | None = None

    def __add__(self, other: Usage) -> Usage:
        """Both together. Dollars are known when those of every stage with a call are."""
        known = [each.dollars for each in (self, other) if each.calls]
        total = sum(d for d in known if d is not None) if known and None not in known else None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            dollars=total,
        )


class Judging(Record):
    """How submissions are judged: everything that a user may choose about it.

    Several ``judges`` are a panel, of which the majority decides; each is asked ``samples`` times about
    each group of ``items_per_call`` items (more than one is cheaper and less exact).

    ``concurrency`` calls of a model about one submission run at the same time, and a call without an
    answer after ``deadline`` seconds is given up: both are the pace and no part of any question.
    """

    judges: tuple[str, ...] = ("baseline",)
    protocol: Protocol = "itemised"
    samples: int = Field(default=1, ge=1)
    items_per_call: int = Field(default=1, ge=1)
    concurrency: int = Field(default=8, ge=1)
    deadline: float = Field(default=600.0, ge=1.0, le=86_400.0)

    def at_pace_of(self, other: Judging) -> Judging:
        """The same judging, asked as fast as ``other``."""
        return self.model_copy(
            update={"concurrency": other.concurrency, "deadline": other.deadline}
        )

    @property
    def label(self) -> str:
        """All of it in one line, as reports name the judge; what is usual is left out."""
        parts = [" + ".join(self.judges)]
        if self.protocol != "itemised":
            parts.append(f"protocol {self.protocol}")
        if self.samples > 1:
            parts.append(f"{self.samples} samples")
        if self.items_per_call > 1:
            parts.append(f"{self.items_per_call} items a call")
        return ", ".join(parts)


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


class Shown(Record):
    """What of a submission a judge was shown for one verdict, where it was not all.

    ``parts`` names the shown hunks (``path@line``) or passages out of ``of``; ``files`` are repository
    files that the judge asked for.
    """

    parts: tuple[str, ...] = ()
    of: int = 0
    files: tuple[str, ...] = ()


class Vote(Record):
    """One answer to one item: of one judge of a panel, or of one sample of a judge."""

    judge: str
    state: Literal["met", "not_met", "unscored"]
    sample: int = 0
    reason: str = ""


class Verdict(Record):
    """A judge's decision on one item. ``evidence`` stands verbatim in the submission.

    ``votes`` are there when more than one answer was asked for; ``shown`` when not everything was shown.
    """

    item: str
    phase: Phase
    state: Literal["met", "not_met", "unscored"]
    evidence: str = ""
    reason: str = ""
    alternative: bool = False
    votes: tuple[Vote, ...] = ()
    shown: Shown | None = None


class Mark(Record):
    """One mark for a whole phase, in [0, 1]: the publication's way. ``None`` when there is none."""

    phase: Phase
    value: float | None = Field(default=None, ge=0.0, le=1.0)
    reason: str = ""


NO_ANSWER = "model error: "
"""How the reason of a verdict begins that was not given because the model did not answer."""


class Judgement(Record):
    """All verdicts (or, by protocol ``paper``, marks) of one judge or panel on one submission."""

    judge: str
    protocol: Protocol = "itemised"
    prompt_digest: str = ""
    verdicts: tuple[Verdict, ...] = ()
    marks: tuple[Mark, ...] = ()
    usage: Usage = Usage()
    cached: int = 0
    """Verdicts that were taken from earlier, equal questions; ``usage`` has nothing of them."""
    warnings: tuple[str, ...] = ()
    """What makes these verdicts less believable, such as a judge of the contestant's own family."""

    @property
    def unanswered(self) -> str:
        """Why a judge that is a model gave no answer about something, where asking again may help."""
        open_ones = [v.reason for v in self.verdicts if v.state == "unscored"]
        open_ones += [mark.reason for mark in self.marks if mark.value is None]
        return next((reason for reason in open_ones if reason.startswith(NO_ANSWER)), "")

    def of(self, phase: Phase) -> tuple[Verdict, ...]:
        """The verdicts of one phase, in the rubric's order."""
        return tuple(v for v in self.verdicts if v.phase == phase)


ViolationKind = Literal[
    "paper_access",
    "git_history",
    "copied_results",
    "fabricated_results",
    "harness_probing",
    "original_package",
    "run_tampering",
]
"""Fabricated results are also hard-coded and simulated ones; ``original_package`` is the paper's own
package, installed; ``run_tampering`` is what makes the re-run show something else than the experiment."""


class Violation(Record):
    """One finding of the monitor, with the quote that shows it and the turn it stands in."""

    kind: ViolationKind
    severity: Literal["violation", "suspicious"]
    quote: str
    turn: int | None = None
    explanation: str = ""
    layer: Literal["rules", "model", "comparison"] = "rules"
    """What found it; ``comparison`` is the model that reads several trajectories of one task."""


class MonitorReport(Record):
    """The monitor's verdict. Without a readable trajectory it is unscored, never guilty.

    ``layers`` are those that looked (``rules``, ``model NAME``, ``comparison NAME``), ``failed`` those
    that were asked and could not, with the reason; ``prevented`` is what the workspace and the sandbox
    had made impossible, in words.
    """

    verdict: Literal["clean", "suspicious", "violation", "unscored"]
    violations: tuple[Violation, ...] = ()
    reason: str = ""
    layers: tuple[str, ...] = ("rules",)
    failed: tuple[str, ...] = ()
    prevented: tuple[str, ...] = ()
    usage: Usage = Usage()
