"""A judge that asks a language model, one item in each call.

Several items in one call cost accuracy (RuVerBench, arXiv 2606.29920), so each item has a call of
its own unless told otherwise; the long part that all items of a phase share comes first and the item
last, and the first question of a phase is asked alone, so that providers which cache prompts read the
submission once.

The submission is hostile text, fenced off as :mod:`~expbench.judges.asking` describes. A ``met`` must
quote what was shown of it word for word, which the judge checks. A reply that cannot be used is asked
for once more; what still fails, and every error of the model or its API, leaves the item unscored with
the reason, never a zero. About the implementation the model may first ask for files, twice.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio import to_thread
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model

from expbench.judges.asking import PROMPTS, Line, NoAnswer, fence, opening
from expbench.judges.base import (
    PHASES,
    JudgeContext,
    decided_without_judge,
    unscored,
    verdict_on,
)
from expbench.judges.reply import Reply, parse, parse_list, parse_request
from expbench.judges.repository import Library
from expbench.judges.showing import Deliverable, Showing
from expbench.models import load_model
from expbench.prompts import load
from expbench.schema import Judgement, Phase, ResearchTask, RubricItem, SubmissionText, Verdict

UNPARSABLE = "unparsable reply"
NO_EVIDENCE = "evidence is not in the submission"
TOO_LONG = "model error: the question is longer than the model's window"
_ATTEMPTS = 2
_REQUESTS = 2
_HALVINGS = 4
_FILES_SHARE = 4
"""One part in this many of the budget is what one request for files may bring."""
_LISTS = 4_000
"""Tokens for the list of the workspace's files, at most."""


class _TooLong(Exception):  # noqa: N818
    """The model's window is shorter than the question."""


@dataclass
class _Case:
    """One phase of one submission before the judge."""

    task: ResearchTask
    line: Line
    deliverable: Deliverable
    library: Library | None
    mark: str
    """The fence, the same in all questions about the phase."""
    had: str = ""


@dataclass
class _Talk:
    """One conversation with the model about some items."""

    case: _Case
    items: Sequence[RubricItem]
    showing: Showing
    messages: list[ChatMessage]
    files: list[str] = field(default_factory=list)
    requests: int = 0
    again: bool = False

    @property
    def may_request(self) -> bool:
        return self.case.library is not None and self.requests < _REQUESTS and not self.again

    async def reply(self) -> str:
        """The model's next reply that is no request for files. Raises NoAnswer and _TooLong."""
        while True:
            one_verdict = len(self.items) == 1 and not self.may_request
            output = await self.case.line.ask(self.messages, one_verdict)
            if output.stop_reason == "model_length":
                raise _TooLong
            text = output.completion
            self.messages.append(ChatMessageAssistant(content=text or "(empty)"))
            wanted = parse_request(text) if self.may_request else None
            if wanted is None:
                return text
            await self._give(wanted)

    async def _give(self, paths: Sequence[str]) -> None:
        assert self.case.library is not None
        self.requests += 1
        answer = await self.case.library.answer(paths, self.items, self.showing)
        self.files += [name for name in answer.files if name not in self.files]
        if answer.more is not None:
            self.showing = self.showing.with_more(answer.more)
        self.messages.append(ChatMessageUser(content=answer.text))

    def ask_again(self, problem: str) -> None:
        """Have the next reply decide, and say what was wrong with this one."""
        self.again = True
        self.messages.append(ChatMessageUser(content=load("judge_again").fill(problem=problem)))

    def verdict(self, item: RubricItem, reply: Reply | None) -> Verdict:
        """The verdict that a reply is; unscored when it is none."""
        if reply is None:
            return self.noted(unscored(item, UNPARSABLE))
        met = reply.verdict == "met"
        if met and not self.showing.has(reply.evidence):
            return self.noted(unscored(item, NO_EVIDENCE))
        return self.noted(verdict_on(item, met, reply.evidence, reply.reason, reply.alternative))

    def noted(self, verdict: Verdict) -> Verdict:
        """The verdict with what was shown for it."""
        return verdict.model_copy(update={"shown": self.showing.record(self.files)})


class ModelJudge:
    """Judges with an Inspect model.

    Raises ``NotFoundError`` for a model whose provider is unknown and ``PrerequisiteError`` when the
    provider lacks a package or a key.

    Args:
        model: an Inspect model or its name, ``provider/model``.
        budget: tokens of a deliverable that one question may show, as
            :func:`~expbench.judges.excerpt.tokens_in` estimates them; of a longer one it sees what is
            nearest to the item, and the verdict records what that was. A model with a shorter window
            is asked with less.
        items_per_call: how many items of a phase one question has.
        concurrency: calls about one submission at the same time; over all submissions the model's own
            ``max_connections`` limits them.
        deadline: seconds until a call that gets no answer is given up.
        retries: repetitions of a call that failed for the moment.
    """

    def __init__(
        self,
        model: Model | str,
        budget: int = 30_000,
        items_per_call: int = 1,
        concurrency: int = 8,
        deadline: float = 600,
        retries: int = 5,
    ) -> None:
        self._model = load_model(model) if isinstance(model, str) else model
        self._budget = budget
        self._group = max(1, items_per_call)
        self._concurrency = max(1, concurrency)
        self._deadline = deadline
        self._retries = retries
        self._structured = True

    @property
    def name(self) -> str:
        """The model's id, as ``provider/model``."""
        return str(self._model)

    @property
    def prompt_digest(self) -> str:
        """sha256 over all prompts and over the numbers that shape what a question shows."""
        digests = "".join(load(name).digest for name in PROMPTS)
        return hashlib.sha256(f"{digests} {self._budget} {self._group}".encode()).hexdigest()

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One verdict for each item, in their order; nothing that a model does raises here."""
        line = Line(self._model, self._concurrency, self._deadline, self._retries, self._structured)
        verdicts = decided_without_judge(items, submission)

        async def decide_phase(phase: Phase) -> None:
            own = [item for item in items if item.phase == phase and item.id not in verdicts]
            if own:
                case = await to_thread.run_sync(
                    _case, phase, submission, task, context, line, self._budget
                )
                await self._decide_all(case, own, verdicts)

        await asyncio.gather(*map(decide_phase, PHASES))
        self._structured = line.structured
        return Judgement(
            judge=self.name,
            prompt_digest=self.prompt_digest,
            verdicts=tuple(verdicts[item.id] for item in items),
            usage=line.usage,
        )

    async def _decide_all(
        self, case: _Case, items: list[RubricItem], verdicts: dict[str, Verdict]
    ) -> None:
        groups = [items[at : at + self._group] for at in range(0, len(items), self._group)]
        for part in (groups[:1], groups[1:]):
            for decided in await asyncio.gather(*(self._decide(case, each) for each in part)):
                verdicts.update({verdict.item: verdict for verdict in decided})

    async def _decide(self, case: _Case, items: list[RubricItem]) -> list[Verdict]:
        if len(items) == 1:
            return [await self._alone(case, items[0])]
        found = await self._together(case, items)
        return [
            found[item.id] if item.id in found else await self._alone(case, item) for item in items
        ]

    async def _together(self, case: _Case, items: list[RubricItem]) -> dict[str, Verdict]:
        """Verdicts by item from one question; those that are missing need a question of their own."""
        try:
            talk = await _talk(case, items, self._budget)
            replies = parse_list(await talk.reply(), {item.id for item in items})
        except (NoAnswer, _TooLong):
            return {}
        verdicts = (talk.verdict(item, replies.get(item.id)) for item in items)
        return {verdict.item: verdict for verdict in verdicts if verdict.state != "unscored"}

    async def _alone(self, case: _Case, item: RubricItem) -> Verdict:
        for halved in range(_HALVINGS):
            talk = await _talk(case, [item], self._budget >> halved)
            try:
                return await _one(talk, item)
            except _TooLong:
                continue
            except NoAnswer as error:
                return talk.noted(unscored(item, str(error)))
        return talk.noted(unscored(item, TOO_LONG))


async def _one(talk: _Talk, item: RubricItem) -> Verdict:
    for attempt in range(_ATTEMPTS):
        verdict = talk.verdict(item, parse(await talk.reply()))
        if verdict.state != "unscored" or attempt + 1 == _ATTEMPTS:
            break
        talk.ask_again(verdict.reason)
    return verdict


def _case(
    phase: Phase,
    submission: SubmissionText,
    task: ResearchTask,
    context: JudgeContext | None,
    line: Line,
    budget: int,
) -> _Case:
    deliverable = Deliverable(phase, submission)
    mark = fence(phase, task.question, deliverable.text)
    if context is None or phase != "implementation":
        return _Case(task, line, deliverable, None, mark)
    library = Library(context, deliverable, budget // _FILES_SHARE)
    return _Case(task, line, deliverable, library, mark, library.had(min(_LISTS, budget // 4)))


async def _talk(case: _Case, items: Sequence[RubricItem], budget: int) -> _Talk:
    showing = await to_thread.run_sync(case.deliverable.show, items, budget)
    first = opening(
        case.task, items, case.had, showing.text, case.mark, code_room=budget // len(items)
    )
    return _Talk(case, items, showing, [first])
