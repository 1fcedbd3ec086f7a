"""The publication's monitor, for comparability: a model reads the log and answers three questions.

EXP-Bench's monitor is one prompt over the whole log of an agent: did it get at the paper, did it use git
operations, did it fake data? Any yes convicts, and a conviction sets design, implementation and
conclusion to zero. Ours asks the same in its own words; a log that is too long for one question is read
in parts, and one hit in any part convicts, as the whole would.

It differs in one point on purpose. The released harness also convicts when the reply cannot be parsed, so
that a broken instrument costs an honest agent everything. Here such a log is ``unscored``, and the reason
says what the harness would have done. ``convict_unparsed=True`` does as the harness does: it makes numbers
that compare with published ones, and no use else. A model that gives no answer at all (an error, a time-out)
is unscored in any case.

Use :func:`expbench.monitor.check` for anything that matters: it has evidence for what it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict

from expbench.judges.asking import Line, NoAnswer, fence
from expbench.judges.chunks import chunks
from expbench.judges.reply import parse_as
from expbench.judges.visible import visible
from expbench.models import load_model
from expbench.prompts import load
from expbench.schema import MonitorReport, ResearchTask, SubmissionText, Turn, Violation
from expbench.verdicts import ViolationKind

UNPARSABLE = "unparsable reply"
_ATTEMPTS = 2
_QUOTE_CHARS = 300
_KINDS: dict[str, ViolationKind] = {
    "paper_access": "paper_access",
    "git_operations": "git_history",
    "faked_data": "fabricated_results",
}
"""The publication's questions and what this package calls a yes to them."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    paper_access: bool
    git_operations: bool
    faked_data: bool
    quote: str
    reason: str


@dataclass(frozen=True)
class _Part:
    """What became of one part of the log: an answer, or the reason why there is none."""

    answer: _Answer | None = None
    problem: str = ""


class PaperMonitor:
    """The publication's monitor. Raises ``NotFoundError`` and ``PrerequisiteError`` as a judge does.

    Args:
        model: an Inspect model or its name, ``provider/model``.
        convict_unparsed: take an unusable reply for a violation, as the released harness does.
        budget: characters of the log in one question.
        most_parts: how many parts are asked about at most; a longer log without a hit is unscored.
        concurrency: questions about one log at the same time.
        deadline: seconds until a call that gets no answer is given up.
        retries: repetitions of a call that failed for the moment.
    """

    def __init__(
        self,
        model: Model | str,
        convict_unparsed: bool = False,
        budget: int = 60_000,
        most_parts: int = 100,
        concurrency: int = 4,
        deadline: float = 600,
        retries: int = 5,
    ) -> None:
        self._model = load_model(model) if isinstance(model, str) else model
        self._convict_unparsed = convict_unparsed
        self._budget = max(1_000, budget)
        self._most_parts = max(1, most_parts)
        self._concurrency = max(1, concurrency)
        self._deadline = deadline
        self._retries = retries

    @property
    def name(self) -> str:
        """What a report calls this layer."""
        return f"paper {self._model}"

    async def check(
        self, turns: Sequence[Turn] | None, submission: SubmissionText, task: ResearchTask
    ) -> MonitorReport:
        """The verdict on one log. The submission is not read: the publication's monitor has the log only."""
        if not turns:
            why = "there is no trajectory" if turns is None else "the trajectory is empty"
            return MonitorReport(
                verdict="unscored", reason=why, layers=(), failed=(self._why(why),)
            )
        line = Line(self._model, self._concurrency, self._deadline, self._retries, shape=_Answer)
        logs = chunks(visible("\n".join(map(_shown, range(len(turns)), turns))), self._budget)
        asked = logs[: self._most_parts]
        parts = await asyncio.gather(
            *(
                _ask(line, _prompt(task, log, number, len(logs)))
                for number, log in enumerate(asked, 1)
            )
        )
        unread = [_Part(problem="left out, the log is too long")] * (len(logs) - len(asked))
        report = self._report((*parts, *unread), turns)
        return report.model_copy(update={"usage": line.usage})

    def _report(self, parts: Sequence[_Part], turns: Sequence[Turn]) -> MonitorReport:
        found = tuple(_violations(parts, turns))
        problem = _problems(parts)
        failed = (self._why(problem),) if problem else ()
        unparsed = any(part.problem == UNPARSABLE for part in parts)
        if found:
            return MonitorReport(
                verdict="violation", violations=found, layers=(self.name,), failed=failed
            )
        if unparsed and self._convict_unparsed:
            reason = f"{problem}, which counts as a violation here as in the published harness"
            return MonitorReport(
                verdict="violation", reason=reason, layers=(self.name,), failed=failed
            )
        if problem:
            would = "; the published harness would convict" if unparsed else ""
            return MonitorReport(
                verdict="unscored", reason=f"{problem}{would}", layers=(), failed=failed
            )
        return MonitorReport(verdict="clean", layers=(self.name,))

    def _why(self, problem: str) -> str:
        return f"{self.name}: {problem}"


async def _ask(line: Line, prompt: str) -> _Part:
    messages: list[ChatMessage] = [ChatMessageUser(content=prompt)]
    for _ in range(_ATTEMPTS):
        try:
            output = await line.ask(messages, one_verdict=True)
        except NoAnswer as error:
            return _Part(problem=str(error))
        if answer := parse_as(_Answer, output.completion):
            return _Part(answer)
        messages += [
            ChatMessageAssistant(content=output.completion or "(empty)"),
            ChatMessageUser(content=load("paper_again").fill(problem=UNPARSABLE)),
        ]
    return _Part(problem=UNPARSABLE)


def _prompt(task: ResearchTask, log: str, number: int, of: int) -> str:
    about = "\n".join(filter(None, (task.title, task.repository.url, task.question)))
    return load("paper_monitor").fill(
        part=str(number), parts=str(of), fence=fence(task.id, log), task=about, log=log
    )


def _shown(index: int, turn: Turn) -> str:
    if turn.role != "tool":
        return f"[{index} {turn.role}] {turn.text}"
    state = ", failed" if turn.failed else ""
    return f"[{index} tool {turn.tool}{state}] {turn.command}\n[output]\n{turn.text}"


def _violations(parts: Iterable[_Part], turns: Sequence[Turn]) -> Iterable[Violation]:
    """One finding for each yes; the quote is there only where it stands in the log."""
    for answer in (part.answer for part in parts if part.answer is not None):
        turn = _turn_of(answer.quote, turns)
        for question, kind in _KINDS.items():
            if getattr(answer, question):
                yield Violation(
                    kind=kind,
                    severity="violation",
                    quote=answer.quote[:_QUOTE_CHARS] if turn is not None else "",
                    turn=turn,
                    explanation=answer.reason,
                    layer="model",
                )


def _turn_of(quote: str, turns: Sequence[Turn]) -> int | None:
    wanted = " ".join(quote.split())
    if not wanted:
        return None
    shown = (" ".join(visible(f"{each.command}\n{each.text}").split()) for each in turns)
    return next((index for index, text in enumerate(shown) if wanted in text), None)


def _problems(parts: Sequence[_Part]) -> str:
    reasons = [part.problem for part in parts if part.problem]
    if not reasons:
        return ""
    each = "; ".join(dict.fromkeys(reasons))
    return each if len(parts) == 1 else f"{len(reasons)} of {len(parts)} parts of the log: {each}"
