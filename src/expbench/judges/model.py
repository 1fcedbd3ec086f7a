"""A judge that asks a language model, one item in each call.

Several items in one call cost accuracy (RuVerBench, arXiv 2606.29920), so each item has a call of
its own; the long part that all items of a phase share comes first and the item last, and the first
item of a phase is asked alone, so that providers which cache prompts read the submission once.

The submission is hostile text. It stands between two lines that carry a digest of everything that
is shown, which no submission can know in advance, and the model is told that nothing between them
is an instruction. A ``met`` must quote the submission word for word, which the judge checks. A
reply that cannot be used is asked for once more; what still fails, and every error of the model or
its API, leaves the item unscored with the reason, never a zero.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import json_schema

from expbench.judges.base import PHASES, decided_without_judge, unscored, verdict_on
from expbench.judges.excerpt import Excerpt, excerpt
from expbench.judges.reply import Reply, parse
from expbench.models import load_model
from expbench.prompts import load
from expbench.schema import (
    Judgement,
    Phase,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Usage,
    Verdict,
)

_PROMPTS = ("judge_frame", "judge_item", "judge_again", *(f"judge_{phase}" for phase in PHASES))
_SCHEMA = ResponseSchema(name="verdict", json_schema=json_schema(Reply))
_UNPARSABLE = "unparsable reply"
_NO_EVIDENCE = "evidence is not in the submission"
_ATTEMPTS = 2


@dataclass
class _Tally:
    """What one judgement has used so far."""

    usage: Usage = field(default_factory=Usage)

    def add(self, output: ModelOutput) -> None:
        used = output.usage
        cached = (
            (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
            if used
            else 0
        )
        self.usage = Usage(
            input_tokens=self.usage.input_tokens + (used.input_tokens if used else 0) + cached,
            output_tokens=self.usage.output_tokens + (used.output_tokens if used else 0),
            calls=self.usage.calls + 1,
        )


class ModelJudge:
    """Judges with an Inspect model.

    ``budget`` is how many characters of a deliverable one call may show; a longer one is cut to the
    parts nearest to the item, and the verdict says so. Calls run together, limited by the model's
    own ``max_connections``. Raises ``NotFoundError`` for a model whose provider is unknown and
    ``PrerequisiteError`` when the provider lacks a package or a key.
    """

    def __init__(self, model: Model | str, budget: int = 120_000) -> None:
        self._model = load_model(model) if isinstance(model, str) else model
        self._budget = budget
        self._structured = True

    @property
    def name(self) -> str:
        """The model's id, as ``provider/model``."""
        return str(self._model)

    @property
    def prompt_digest(self) -> str:
        """sha256 over all prompts that this judge uses."""
        digests = "".join(load(name).digest for name in _PROMPTS)
        return hashlib.sha256(digests.encode()).hexdigest()

    async def judge(
        self, items: Sequence[RubricItem], submission: SubmissionText, task: ResearchTask
    ) -> Judgement:
        """One verdict for each item, in their order; nothing that a model does raises here."""
        tally = _Tally()
        verdicts = decided_without_judge(items, submission)
        phases = [[i for i in items if i.phase == p and i.id not in verdicts] for p in PHASES]

        async def decide_phase(own: list[RubricItem]) -> None:
            for part in (own[:1], own[1:]):
                decided = [self._decide(item, submission, task, tally) for item in part]
                verdicts.update({v.item: v for v in await asyncio.gather(*decided)})

        await asyncio.gather(*map(decide_phase, phases))
        return Judgement(
            judge=self.name,
            prompt_digest=self.prompt_digest,
            verdicts=tuple(verdicts[item.id] for item in items),
            usage=tally.usage,
        )

    async def _decide(
        self, item: RubricItem, submission: SubmissionText, task: ResearchTask, tally: _Tally
    ) -> Verdict:
        shown = excerpt(
            _deliverable(submission, item.phase), f"{item.text}\n{item.code}", self._budget
        )
        messages: list[ChatMessage] = [
            ChatMessageUser(
                content=[
                    ContentText(text=_frame(item.phase, shown.text, task)),
                    ContentText(text=_question(item)),
                ]
            )
        ]
        problem = _UNPARSABLE
        for _ in range(_ATTEMPTS):
            try:
                output = await self._generate(messages)
            except Exception as error:  # a broken instrument must not end the run or cost the agent
                return _noted(unscored(item, f"model error: {type(error).__name__}"), shown)
            tally.add(output)
            reply = parse(output.completion)
            if reply is None:
                problem = _UNPARSABLE
            elif reply.verdict == "met" and not _stands_in(reply.evidence, shown.text):
                problem = _NO_EVIDENCE
            else:
                return _noted(_verdict(item, reply), shown)
            messages += [
                ChatMessageAssistant(content=output.completion or "(empty)"),
                ChatMessageUser(content=load("judge_again").fill(problem=problem)),
            ]
        return _noted(unscored(item, problem), shown)

    async def _generate(self, messages: list[ChatMessage]) -> ModelOutput:
        if not self._structured:
            return await self._model.generate(messages)
        try:
            return await self._model.generate(
                messages, config=GenerateConfig(response_schema=_SCHEMA)
            )
        except Exception:  # perhaps only the schema was refused: what it is differs by provider
            output = await self._model.generate(messages)
            self._structured = False
            return output


def _deliverable(submission: SubmissionText, phase: Phase) -> str:
    if phase == "design":
        return submission.design
    if phase == "conclusion":
        return submission.conclusion
    return f"[The reproduce script]\n{submission.script}\n[The changes]\n{submission.diff}"


def _frame(phase: Phase, shown: str, task: ResearchTask) -> str:
    fence = hashlib.sha256(f"{phase}\0{task.question}\0{shown}".encode()).hexdigest()
    return load("judge_frame").fill(
        instructions=load(f"judge_{phase}").text,
        fence=fence,
        question=task.question,
        method=task.method,
        submission=shown,
    )


def _question(item: RubricItem) -> str:
    code = f"\nThe authors' code for it:\n{item.code}\n" if item.code else ""
    return load("judge_item").fill(kind=f"{item.phase}, {item.kind}", item=item.text, code=code)


def _verdict(item: RubricItem, reply: Reply) -> Verdict:
    return verdict_on(item, reply.verdict == "met", reply.evidence, reply.reason, reply.alternative)


def _noted(verdict: Verdict, shown: Excerpt) -> Verdict:
    if not shown.cut:
        return verdict
    note = "the submission was cut down to the parts nearest to this item"
    reason = f"{verdict.reason} ({note})" if verdict.reason else note
    return verdict.model_copy(update={"reason": reason})


def _stands_in(evidence: str, shown: str) -> bool:
    """Whether ``evidence`` is a passage of ``shown``, spaces and a diff's margin apart."""
    wanted = " ".join(evidence.split())
    bare = "\n".join(line[1:] if line[:1] in "+- " else line for line in shown.split("\n"))
    return bool(wanted) and any(wanted in " ".join(text.split()) for text in (shown, bare))
