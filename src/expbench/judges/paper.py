"""Protocol ``paper``: one mark for each phase, as the publication's judge gives them.

It exists for comparability only. EXP-Bench (section 4) grades a submission by three questions to a
model: which percentage of the reference's design variables the design matches, which percentage of the
requirements the code changes meet (intent over naming), and whether the conclusion is correct by its
meaning. The questions here are our own words. What is known about such judges is why the itemised
protocol is the default: a percentage cannot be checked, and quotes nothing.

A deliverable that is too long for one question is read in parts, one after the other, and each question
is told what was found in the parts before it. It says which items are matched by now and the percentage by
now; items that were matched once stay matched, and the phase's mark is the best percentage of all parts.
For the conclusion, which is correct or not, the last question decides, since only it knows all parts.

What differs from the publication's harness: a reply counts only as one JSON object of the wanted form and is
asked for once more, after which the phase is unscored, where the harness searches the text; the submission
stands between random-looking lines (:mod:`~expbench.judges.asking`); and what was not handed in is 0 without
a question.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from typing import Annotated

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict, Field

from expbench.judges.asking import Line, NoAnswer, fence
from expbench.judges.base import NOTHING_SUBMITTED, PHASES, JudgeContext, delivered
from expbench.judges.chunks import chunks
from expbench.judges.marks import score_marks
from expbench.judges.reply import parse_as
from expbench.judges.visible import visible
from expbench.models import load_model
from expbench.prompts import load
from expbench.schema import Judgement, Mark, Phase, ResearchTask, RubricItem, SubmissionText, Usage

UNPARSABLE = "unparsable reply"
_PROMPTS = ("paper_frame", "paper_earlier", "paper_again", *(f"paper_{phase}" for phase in PHASES))
_ATTEMPTS = 2
_NOTE_CHARS = 2_000


class _Share(BaseModel):
    """An answer about design or implementation: item numbers matched by now, and the percentage."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    matched: list[Annotated[int, Field(ge=1)]]
    percent: float = Field(ge=0, le=100, allow_inf_nan=False)
    reason: str


class _Whole(BaseModel):
    """An answer about the conclusion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    correct: bool
    reason: str


_Answer = _Share | _Whole
_FORMS: dict[type[_Share] | type[_Whole], str] = {
    _Share: '{"matched": [numbers of the matched items], "percent": number from 0 to 100, '
    '"reason": one or two sentences}',
    _Whole: '{"correct": true or false, "reason": one or two sentences}',
}


def _shape(phase: Phase) -> type[_Share] | type[_Whole]:
    return _Whole if phase == "conclusion" else _Share


class PaperJudge:
    """The publication's judge: marks, no verdicts.

    Raises ``NotFoundError`` for a model whose provider is unknown and ``PrerequisiteError`` when the
    provider lacks a package or a key.

    Args:
        model: an Inspect model or its name, ``provider/model``.
        budget: characters of a deliverable in one question; a longer one is read in parts.
        most_parts: how many parts are read at most, so that nobody can make judging cost without
            bound; the mark's reason says when there were more.
        deadline: seconds until a call that gets no answer is given up.
        retries: repetitions of a call that failed for the moment.
    """

    def __init__(
        self,
        model: Model | str,
        budget: int = 60_000,
        most_parts: int = 40,
        deadline: float = 600,
        retries: int = 5,
    ) -> None:
        self._model = load_model(model) if isinstance(model, str) else model
        self._budget = max(1_000, budget)
        self._most_parts = max(1, most_parts)
        self._deadline = deadline
        self._retries = retries

    @property
    def name(self) -> str:
        """The model's id, as ``provider/model``."""
        return str(self._model)

    @property
    def prompt_digest(self) -> str:
        """sha256 over all prompts and over the numbers that shape what a question shows."""
        digests = "".join(load(name).digest for name in _PROMPTS)
        shape = f"{digests} {self._budget} {self._most_parts}"
        return hashlib.sha256(shape.encode()).hexdigest()

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One mark for each phase that ``items`` have; nothing that a model does raises here.

        The conclusion is held against the reference's whole conclusion, whatever its claims are.
        ``context`` is not used: the publication's judge is not told what the agent had.
        """
        phases = [phase for phase in PHASES if any(item.phase == phase for item in items)]
        lines = [self._line(phase) for phase in phases]
        marks = await asyncio.gather(
            *(
                self._mark(phase, [i for i in items if i.phase == phase], submission, task, line)
                for phase, line in zip(phases, lines, strict=True)
            )
        )
        return Judgement(
            judge=self.name,
            protocol="paper",
            prompt_digest=self.prompt_digest,
            marks=tuple(marks),
            usage=sum((line.usage for line in lines), Usage()),
        )

    def _line(self, phase: Phase) -> Line:
        return Line(self._model, 1, self._deadline, self._retries, shape=_shape(phase))

    async def _mark(
        self,
        phase: Phase,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        line: Line,
    ) -> Mark:
        if not delivered(submission, phase):
            return Mark(phase=phase, value=0.0, reason=NOTHING_SUBMITTED)
        reference = _reference(phase, items, task)
        parts = chunks(visible(_deliverable(submission, phase)), self._budget)
        answers: list[_Answer] = []
        try:
            for number, part in enumerate(parts[: self._most_parts], 1):
                earlier = _earlier(number, len(parts), answers)
                prompt = _prompt(phase, task, reference, earlier, _noted(part, answers))
                answers.append(await _ask(line, prompt, len(items)))
        except NoAnswer as error:
            where = f", part {len(answers) + 1} of {len(parts)}" if len(parts) > 1 else ""
            return Mark(phase=phase, reason=f"{error}{where}")
        left_out = len(parts) - len(answers)
        note = f" ({len(answers)} of {len(parts)} parts were read)" if left_out else ""
        return Mark(phase=phase, value=_value(answers), reason=f"{answers[-1].reason}{note}")


async def _ask(line: Line, prompt: str, count: int) -> _Answer:
    """One usable answer. Raises NoAnswer."""
    messages: list[ChatMessage] = [ChatMessageUser(content=prompt)]
    for _ in range(_ATTEMPTS):
        output = await line.ask(messages, one_verdict=True)
        answer = _read(line.shape, output.completion, count)
        if answer is not None:
            return answer
        messages += [
            ChatMessageAssistant(content=output.completion or "(empty)"),
            ChatMessageUser(content=load("paper_again").fill(problem=UNPARSABLE)),
        ]
    raise NoAnswer(UNPARSABLE)


def _read(shape: type[BaseModel], text: str, count: int) -> _Answer | None:
    if shape is _Whole:
        return parse_as(_Whole, text)
    share = parse_as(_Share, text)
    return share if share is not None and all(n <= count for n in share.matched) else None


def _value(answers: Sequence[_Answer]) -> float:
    last = answers[-1]
    if isinstance(last, _Whole):
        return float(last.correct)
    return max(answer.percent for answer in answers if isinstance(answer, _Share)) / 100


def _noted(part: str, answers: Sequence[_Answer]) -> str:
    """A part with the note on those before it, which may quote them and so stands inside the fence."""
    last = answers[-1] if answers else None
    if not isinstance(last, _Whole):
        return part
    note = visible(last.reason)[:_NOTE_CHARS]
    return f"[A note on the parts before]\n{note}\n[This part]\n{part}"


def _prompt(phase: Phase, task: ResearchTask, reference: str, earlier: str, part: str) -> str:
    return load("paper_frame").fill(
        instructions=load(f"paper_{phase}").text,
        fence=fence(phase, task.question, part),
        reply=_FORMS[_shape(phase)],
        question=task.question,
        method=task.method,
        reference=reference,
        earlier=earlier,
        submission=part,
    )


def _earlier(number: int, of: int, answers: Sequence[_Answer]) -> str:
    """What was found in the parts before this one; of words, which may be hostile, nothing."""
    if of == 1:
        return ""
    shares = [answer for answer in answers if isinstance(answer, _Share)]
    wholes = [answer for answer in answers if isinstance(answer, _Whole)]
    matched = sorted({n for answer in shares for n in answer.matched})
    found = "nothing yet: this is the first part"
    if shares:
        best = max(answer.percent for answer in shares)
        found = f"items {', '.join(map(str, matched)) or 'none'}; {best:g} per cent by then"
    elif wholes:
        said = "correct" if wholes[-1].correct else "not correct"
        found = f"{said} by then; a note on them stands before the text of this part"
    return load("paper_earlier").fill(part=str(number), parts=str(of), found=found)


def _reference(phase: Phase, items: Iterable[RubricItem], task: ResearchTask) -> str:
    if phase == "conclusion":
        return task.reference.conclusion.strip() or "\n".join(item.text for item in items)
    return "\n".join(f"{n}. ({i.kind}) {i.text}" for n, i in enumerate(items, 1))


def _deliverable(submission: SubmissionText, phase: Phase) -> str:
    if phase == "design":
        return submission.design
    if phase == "conclusion":
        return submission.conclusion
    return f"[The reproduce script]\n{submission.script}\n[The changes]\n{submission.diff}"


__all__ = ["PaperJudge", "score_marks"]
