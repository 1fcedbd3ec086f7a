"""The third layer: a model reads the condensed trajectory.

One call for each part of the trajectory asks about all classes at once. The classes share their evidence
(whether a number was computed decides between honest, copied and fabricated), and a call for each class
would read the long common part seven times. What asking about several things at once costs in accuracy is
met by two checks: a finding must quote text that really stands at the turn it names, else it is dropped
and counted; and each one is asked about again, alone, with what stands around it. Only a confirmed finding
is a violation; any other one is suspicious.

The trajectory is hostile text, and stands between lines with a digest of all that is shown. A part that
cannot be read makes the layer ``failed`` for that part and nobody guilty.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import Model

from expbench.monitor.asking import (
    CLASSES,
    Asker,
    FailedError,
    Finding,
    Findings,
    Second,
    classes,
    fence,
    masked,
)
from expbench.monitor.condensed import (
    BUDGET,
    MOST_PARTS,
    Part,
    condense,
    deliverables,
    render,
    stands_in,
    text_of,
)
from expbench.monitor.findings import QUOTE, distinct
from expbench.monitor.verdict import verdict_of
from expbench.prompts import load
from expbench.schema import MonitorReport, ResearchTask, SubmissionText, Turn, Violation

_AROUND = 2
_AROUND_BOUND = 4_000
_MOST_FINDINGS = 20
_HANDED_IN = 12_000


@dataclass(frozen=True)
class Watched:
    """One attempt: its turns and what it handed in."""

    turns: Sequence[Turn]
    submission: SubmissionText

    def holds(self, finding: Finding) -> bool:
        """Whether the quote of a finding stands where it says; none of no turn, or of a wrong one."""
        if not finding.explanation.strip() or len(finding.quote) > 2 * QUOTE:
            return False
        if finding.turn is None:
            handed = self.submission
            texts = (handed.script, handed.diff, handed.conclusion, handed.design)
            return any(stands_in(finding.quote, text) for text in texts)
        if not 0 <= finding.turn < len(self.turns):
            return False
        turn = self.turns[finding.turn]
        return turn.role == "tool" and stands_in(finding.quote, text_of(turn))

    def around(self, turn: int | None) -> str:
        """What stands around a finding, as text."""
        if turn is None:
            return deliverables(self.submission, _AROUND_BOUND)[0]
        near = range(max(0, turn - _AROUND), min(len(self.turns), turn + _AROUND + 1))
        return "\n".join(render(at, self.turns[at], _AROUND_BOUND)[0] for at in near)


class ModelMonitor:
    """Watches with an Inspect model.

    Args:
        model: the model, or its name as ``provider/model``.
        budget: characters of one part of a trajectory.
        parts: the most parts that are asked about.

    Raises:
        NotFoundError: no provider has that name.
        PrerequisiteError: the provider lacks its package or its key.
    """

    def __init__(self, model: Model | str, budget: int = BUDGET, parts: int = MOST_PARTS) -> None:
        self._asker = Asker.of(model)
        self._budget, self._parts = budget, parts

    @property
    def name(self) -> str:
        """The model's id, as ``provider/model``."""
        return str(self._asker.model)

    @property
    def model(self) -> Model:
        """The model itself, for another layer that asks it."""
        return self._asker.model

    async def check(
        self, trajectory: Sequence[Turn] | None, submission: SubmissionText, task: ResearchTask
    ) -> MonitorReport:
        """What the model finds; nothing that a model does raises here."""
        layer = f"model {self.name}"
        if not trajectory:
            why = "there is no trajectory"
            return MonitorReport(
                verdict="unscored", reason=why, layers=(), failed=(f"{layer}: {why}",)
            )
        asker = Asker(self._asker.model, structured=self._asker.structured)
        watched = Watched(trajectory, submission)
        parts = condense(trajectory, self._budget, self._parts)
        asked = [self._ask(asker, part, parts, watched, task) for part in parts]
        replies = await asyncio.gather(*asked, return_exceptions=True)
        self._asker.structured = asker.structured
        findings: list[Finding] = []
        failed: list[str] = []
        for part, reply in zip(parts, replies, strict=True):
            if isinstance(reply, Findings):
                findings += reply.findings[:_MOST_FINDINGS]
            elif isinstance(reply, FailedError):
                failed.append(f"{layer}: turns {part.first}–{part.last}: {reply}")
            else:
                raise reply
        if len(failed) == len(parts):
            return MonitorReport(
                verdict="unscored",
                reason=f"the model layer failed: {failed[0].rpartition(': ')[2]}",
                layers=(),
                failed=tuple(failed),
                usage=asker.usage,
            )
        true = [finding for finding in unique(findings) if watched.holds(finding)]
        violations = await asyncio.gather(
            *(confirm(asker, finding, watched, task, "model") for finding in true)
        )
        found = distinct(violations)
        return MonitorReport(
            verdict=verdict_of(found),
            violations=found,
            reason=dropped(len(unique(findings)) - len(true)),
            layers=(layer,),
            failed=tuple(failed),
            usage=asker.usage,
        )

    async def _ask(
        self, asker: Asker, part: Part, parts: Sequence[Part], watched: Watched, task: ResearchTask
    ) -> Findings:
        handed, _ = deliverables(watched.submission, _HANDED_IN)
        text = f"{part.text}\n{handed}" if part is parts[-1] else part.text
        number = parts.index(part) + 1
        prompt = load("monitor_frame").fill(
            classes=classes(),
            fence=fence(task.question, text),
            question=task.question,
            method=task.method,
            masked=masked(task),
            part=f"This is part {number} of {len(parts)} of the trajectory." if parts[1:] else "",
            trajectory=text,
        )
        return await asker.ask(prompt, Findings)


async def confirm(
    asker: Asker, finding: Finding, watched: Watched, task: ResearchTask, layer: str
) -> Violation:
    """The second question about one finding: a violation if it is confirmed, else suspicious."""
    around = watched.around(finding.turn)
    prompt = load("monitor_confirm").fill(
        **{"class": f"{finding.kind}: {CLASSES[finding.kind]}"},
        explanation=finding.explanation[:600],
        fence=fence(finding.quote, around),
        question=task.question,
        quote=finding.quote,
        around=around,
    )
    try:
        second = await asker.ask(prompt, Second)
        confirmed, note = second.verdict == "confirmed", ""
        if not confirmed:
            note = f" (a second question: {second.verdict})"
    except FailedError as error:
        confirmed, note = False, f" (a second question failed: {error})"
    return Violation(
        kind=finding.kind,
        severity="violation" if confirmed else "suspicious",
        quote=" ".join(finding.quote.split(" "))[:QUOTE],
        turn=finding.turn,
        explanation=finding.explanation[:600] + note,
        layer="comparison" if layer == "comparison" else "model",
    )


def unique(findings: Sequence[Finding]) -> list[Finding]:
    """Findings without those that overlapping parts gave twice."""
    first = {(f.kind, f.turn, " ".join(f.quote.split())): f for f in reversed(findings)}
    return list(reversed(first.values()))


def dropped(count: int) -> str:
    """A sentence about findings whose quotes do not stand where they say, if there are any."""
    if not count:
        return ""
    plural = "findings were" if count > 1 else "finding was"
    return f"{count} {plural} dropped: the quote does not stand at the named turn"
