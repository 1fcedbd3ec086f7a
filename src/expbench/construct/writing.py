"""From a trace to what a task file says of the implementation: requirements, mask, instructions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from expbench.construct.desk import Desk, filled, sent_back, stopped
from expbench.construct.masking import choose_mask
from expbench.construct.records import Draft, DraftField
from expbench.construct.requirement_checks import (
    MOST,
    InstructionsReply,
    StepsReply,
    excerpt,
    requirement_fields,
    wrong_instructions,
    wrong_span,
    wrong_steps,
)
from expbench.construct.task import (
    COMMANDS,
    listed,
    source_paths,
    value,
    with_fields,
    without_stages,
    workspace_path,
)
from expbench.dataset.citations import repository_path
from expbench.dataset.recipe import Files
from expbench.dataset.release import Paper
from expbench.replies import Interview
from expbench.tracer.graph import Step, Trace

PLACES = 36
"""Steps of a trace that a model is shown, by relevance."""
_LINES = 14
_ROOM = 20_000


@dataclass(frozen=True)
class Writing:
    """The writing of one project's drafts."""

    desk: Desk
    paper: Paper
    files: Files

    async def write(self, draft: Draft, trace: Trace) -> Draft:
        """The draft with requirements, mask and instructions, or refused with the reason.

        Raises:
            SpentError: the budget is spent, or the model does not answer.
        """
        begun = without_stages(draft, ("write", "verify"))
        commands = value(begun, COMMANDS, ())
        mask = choose_mask(self.files, source_paths(begun), commands, trace.mask)
        if mask.refused:
            return begun.model_copy(update={"refused": mask.refused})
        masked = DraftField(value=[workspace_path(path) for path in mask.paths], stage="write")
        begun = with_fields(begun, {"masked_source": masked})
        interview = self.desk.interview(draft.id)
        steps = await self._steps(begun, trace, interview)
        if steps is None:
            return _refused(begun, "requirements", interview)
        begun = with_fields(begun, steps)
        instructions = await self._instructions(begun, interview)
        if instructions is None:
            return _refused(begun, "instructions", interview)
        return with_fields(begun, {"agent_instructions": instructions}, back="", why="")

    async def _steps(
        self, draft: Draft, trace: Trace, interview: Interview
    ) -> dict[str, DraftField] | None:
        mask = [repository_path(path) for path in value(draft, "masked_source", ())]
        places = places_of(trace, mask, self.files)
        reply = await interview.ask(
            StepsReply,
            filled(
                "construct_requirements",
                most=str(MOST),
                question=value(draft, "question"),
                method=value(draft, "method"),
                back=sent_back(draft, "write"),
                places=shown_places(places.values(), mask, self.files),
            ),
            lambda each: wrong_steps(each, places, mask, self.files),
        )
        if interview.stopped:
            raise stopped(interview)
        return None if reply is None else requirement_fields(reply, places)

    async def _instructions(self, draft: Draft, interview: Interview) -> DraftField | None:
        steps = "\n".join(
            str(each.value).rpartition(" (")[0] for each in listed(draft, "requirements")
        )
        reply = await interview.ask(
            InstructionsReply,
            filled(
                "construct_instructions",
                back=sent_back(draft, "write"),
                question=value(draft, "question"),
                method=value(draft, "method"),
                steps=steps,
                usage=value(draft, "usage_instructions"),
            ),
            lambda each: wrong_instructions(each.agent_instructions, draft, self.paper, self.files),
        )
        if interview.stopped:
            raise stopped(interview)
        if reply is None:
            return None
        return DraftField(value=reply.agent_instructions.strip(), stage="write")


def places_of(trace: Trace, mask: Sequence[str], files: Files) -> dict[str, Step]:
    """The steps that may be cited, by id in the order of running: the most relevant that are there.

    Those of masked files come first, since they are what an agent has to write.
    """
    sound = [step for step in trace.steps if not wrong_span(step.span, files)]
    best = sorted(sound, key=lambda step: (step.span.path not in mask, -step.relevance))[:PLACES]
    return {step.id: step for step in sorted(best, key=lambda step: (step.order, step.id))}


def shown_places(steps: Iterable[Step], mask: Sequence[str], files: Files) -> str:
    """Places as a model is shown them, within what fits."""
    lines: list[str] = []
    room = _ROOM
    for step in steps:
        span = step.span
        code = excerpt(files, span).splitlines()
        cut = ["    …"] if len(code) > _LINES else []
        values = "; ".join(f"{name} = {text}" for name, text in step.values.items())
        text = "\n".join(
            [
                f"[{step.id}] {step.kind}, {span.path}:{span.start}-{span.end}: {step.label}"
                + ("" if span.path in mask else " (already in the repository)"),
                *([f"  values: {values[:400]}"] if values else []),
                *(f"    {line[:160]}" for line in code[:_LINES]),
                *cut,
            ]
        )
        if len(text) > room:
            break
        room -= len(text)
        lines.append(text)
    return "\n".join(lines)


def _refused(draft: Draft, what: str, interview: Interview) -> Draft:
    why = f"{what}: after {interview.attempts} tries: {interview.problem}"
    return draft.model_copy(update={"refused": why[:1_000]})
