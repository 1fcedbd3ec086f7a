"""The stages of a project, each of which does what is left of it: so a stage that was killed goes on.

A draft is put in its place as soon as a stage is done with it. Which stage a draft is at is told by what it
holds, and by where it was sent back to; the journal has only time and money.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from expbench.construct.desk import Desk
from expbench.construct.extracting import (
    Search,
    candidate_of,
    extraction,
    near_duplicate,
)
from expbench.construct.journal import Event, now
from expbench.construct.locating import Bounds, find_chain
from expbench.construct.project import Project, write_text
from expbench.construct.records import Draft, DraftField, Stage
from expbench.construct.release import TAKEAWAYS
from expbench.construct.task import (
    COMMANDS,
    paper_of,
    source_paths,
    value,
    with_fields,
    workspace_path,
)
from expbench.construct.verifying import (
    Verifying,
    save_check,
    seen_draft,
    send_back,
    settled,
    verified_now,
)
from expbench.construct.writing import Writing
from expbench.errors import NotFoundError
from expbench.sandboxes.host import SandboxHost
from expbench.tracer.graph import Trace
from expbench.workspace.files import SourceFiles

Tell = Callable[[str], None]
"""Told what is being done, a sentence each time."""
Tracer = Callable[[Project, Draft], Trace]


def at(draft: Draft, trace: Trace | None) -> Stage:
    """The stage that a draft needs next; ``review`` when all are behind it."""
    if draft.back == "extract":
        return "extract"
    if draft.no_answer or draft.refused:
        return "review"
    if "source" not in draft.fields:
        return "locate"
    if trace is None:
        return "trace"
    if "agent_instructions" not in draft.fields:
        return "write"
    return "review" if draft.verified else "verify"


def waiting(project: Project, stage: Stage) -> tuple[Draft, ...]:
    """The drafts that a stage has something to do for."""
    return tuple(
        draft
        for draft in project.drafts()
        if not draft.refused and at(draft, project.trace(draft)) == stage
    )


def left(project: Project, stage: Stage) -> bool:
    """Whether a stage that asks a model has anything to do."""
    return bool(waiting(project, stage)) or (stage == "extract" and not done(project, stage))


def begin_again(project: Project, stage: Stage, names: Sequence[str]) -> None:
    """Lift the refusal of drafts, so that a stage does them once more and is told why they were refused.

    Raises:
        NotFoundError: there is no such draft, or it is not refused.
    """
    refused = {draft.id: draft for draft in project.drafts() if draft.refused}
    for name in names:
        if name not in refused:
            raise NotFoundError(
                f"There is no refused draft {name!r}: `expbench construct status {project.root}` lists them."
            )
        draft = refused[name]
        lifted = {"refused": "", "rounds": 0}
        project.save_draft(send_back(draft, stage, draft.refused).model_copy(update=lifted))
        if stage in ("extract", "locate"):
            project.save_trace(draft, None)


@contextmanager
def timed(project: Project, stage: Stage, draft: str = "") -> Iterator[None]:
    """Journal that a stage was begun and, where it came to its end, ended after so many seconds."""
    project.journal.add(Event(at=now(), stage=stage, kind="begun", draft=draft))
    started = time.monotonic()
    yield
    seconds = round(time.monotonic() - started, 3)
    project.journal.add(Event(at=now(), stage=stage, kind="ended", draft=draft, seconds=seconds))


def done(project: Project, stage: Stage) -> bool:
    """Whether a stage that is of the whole paper came to its end."""
    return any(
        each.kind == "ended" and each.stage == stage and not each.draft
        for each in project.journal.events
    )


@dataclass
class Result:
    """What a stage did: the drafts that it was done with, and notes for a person."""

    drafts: list[Draft] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, project: Project, draft: Draft) -> None:
        """Put a draft in its place."""
        project.save_draft(draft)
        self.drafts.append(draft)


def extract(desk: Desk, search: Search, tell: Tell, pictures: bool = False) -> Result:
    """Make the paper's drafts, or mend those that were sent back. Raises UserError."""
    return asyncio.run(_extract(desk, search, tell, pictures))


async def _extract(desk: Desk, search: Search, tell: Tell, pictures: bool) -> Result:
    project, result = desk.project, Result()
    work = extraction(desk, search, pictures)
    for draft in waiting(project, "extract"):
        tell(f"{draft.id}: once more, {draft.why[:100]}")
        with timed(project, "extract", draft.id):
            mended = await work.draft(
                draft.id, candidate_of(draft), desk.interview(draft.id), draft
            )
            project.save_trace(draft, None)
            result.add(project, mended)
    if done(project, "extract"):
        return result
    with timed(project, "extract"):
        tell(f"{work.document.title or project.facts.name}: its sections")
        found = await work.candidates()
        result.notes += work.notes
        write_text(project.root / "paper" / TAKEAWAYS, json.dumps(work.takeaways, indent=1))
        known = {draft.id: draft for draft in project.drafts()}
        for number, candidate in enumerate(found, 1):
            name = f"q{number:02d}"
            if name in known:
                continue
            tell(f"{name}: {candidate.question[:100]}")
            draft = await work.draft(name, candidate, desk.interview(name))
            others = [each for each in known.values() if not each.refused and each.id < name]
            if not draft.refused and (twin := near_duplicate(draft, others)):
                draft = draft.model_copy(update={"refused": f"it asks the same as {twin}"})
            known[name] = draft
            result.add(project, draft)
    return result


def locate(desk: Desk, search: Search, bounds: Bounds, host: SandboxHost, tell: Tell) -> Result:
    """Find the authors' programs for each question. Raises UserError, InfrastructureError."""
    project, result = desk.project, Result()
    for draft in waiting(project, "locate"):
        tell(f"{draft.id}: {value(draft, 'question')[:100]}")
        with timed(project, "locate", draft.id):
            work = find_chain(draft, desk, search, bounds, host, project.source())
            project.save_trace(draft, None)
            chain = work.chain
            if chain is None:
                why = f"no chain was found: {work.ended or 'the agent ended without handing in'}"
                located = draft.model_copy(update={"refused": why[:1_000]})
            elif chain.no_answer:
                located = draft.model_copy(
                    update={"no_answer": chain.no_answer, "back": "", "why": ""}
                )
            else:
                fields = {
                    "source": [workspace_path(path) for path in chain.source],
                    COMMANDS: list(chain.commands),
                    "usage_instructions": chain.usage_instructions,
                }
                made = {
                    name: DraftField(value=each, stage="locate") for name, each in fields.items()
                }
                located = with_fields(draft, made, back="", why="")
            result.add(project, located)
    return result


def trace(project: Project, tracer: Tracer, tell: Tell) -> Result:
    """Trace each chain; no model is asked."""
    result = Result()
    for draft in waiting(project, "trace"):
        tell(f"{draft.id}: {', '.join(source_paths(draft))}")
        with timed(project, "trace", draft.id):
            found = tracer(project, draft)
            if found.steps:
                project.save_trace(draft, found)
                result.drafts.append(draft)
            else:
                why = f"the chain's source tells no step: {'; '.join(found.notes)[:500]}"
                result.add(project, draft.model_copy(update={"refused": why}))
    return result


def write(desk: Desk, tell: Tell) -> Result:
    """Word requirements and instructions, choose masks. Raises UserError."""
    project = desk.project
    facts, result = project.facts, Result()
    paper = paper_of(facts.name, "", facts.repository)
    work = Writing(desk, paper, SourceFiles(project.source()))
    for draft in waiting(project, "write"):
        found = project.trace(draft)
        assert found is not None
        tell(f"{draft.id}: {len(found.steps)} steps traced")
        with timed(project, "write", draft.id):
            result.add(project, asyncio.run(work.write(draft, found)))
    return result


def verify(work: Verifying, rounds: int, tell: Tell) -> Result:
    """Run everything in clean sandboxes, and send back what does not hold.

    What reviewers have fixed since is verified again. Raises InfrastructureError.
    """
    project, result = work.project, Result()
    fixed = [each for each in project.drafts() if each.verified and not each.refused]
    again = [each for each in fixed if not verified_now(project, each)]
    for draft in [*waiting(project, "verify"), *again]:
        tell(f"{draft.id}: {' && '.join(value(draft, COMMANDS, ()))[:100]}")
        with timed(project, "verify", draft.id):
            found = work.check(seen_draft(project, draft))
            save_check(project, found)
            after = settled(draft, found, rounds)
            if after.back:
                stage = after.back
                project.journal.add(
                    Event(at=now(), stage=stage, kind="sent_back", draft=draft.id, text=after.why)
                )
                if stage in ("extract", "locate"):
                    project.save_trace(draft, None)
            result.notes += [f"{draft.id}: {note}" for note in found.notes]
            result.add(project, after)
    return result
