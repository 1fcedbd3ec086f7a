"""Open coding with a running codebook (EXP-Bench, section 4.3): batches of tasks, then merging and splitting.

Tasks come in batches in the order of their ids. Each error of a batch goes to a code that is there, or to a
new one with definition, inclusion, exclusion and example. Afterwards codes of a phase are merged and split,
until nothing changes or the rounds are over; errors of a split code are coded again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from expbench.failure_coding.asking import Asker
from expbench.failure_coding.fixed import (
    Choice,
    Progress,
    as_errors,
    as_lines,
    choose,
    described,
    mark_of,
    misnumbered,
    parts,
)
from expbench.failures import Code, Codebook, Coded, Family, Insight, PhaseCodes
from expbench.failures.codebook import OTHER, FailurePhase
from expbench.judges.asking import fence
from expbench.prompts import load

FAMILY = "found"
_EXAMPLES = 5
_KEY = r"^[a-z][a-z0-9_]{0,59}$"


class _New(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    key: str = Field(pattern=_KEY)
    title: str = Field(min_length=1, max_length=120)
    definition: str = Field(min_length=1, max_length=600)
    includes: str = Field(max_length=600)
    excludes: str = Field(max_length=600)
    example: str = Field(max_length=600)

    def code(self) -> Code:
        return Code(**self.model_dump())


class _Opened(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    new: list[_New] = Field(max_length=50)
    codes: list[Choice] = Field(max_length=200)


class _Merge(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    codes: list[str] = Field(min_length=2, max_length=50)
    into: _New


class _Split(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    code: str
    into: list[_New] = Field(min_length=2, max_length=20)


class _Revision(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    merge: list[_Merge] = Field(max_length=50)
    split: list[_Split] = Field(max_length=50)


@dataclass(frozen=True)
class Opened:
    """What open coding came to. ``rounds`` are those that changed something; ``stable``: the last changed
    nothing."""

    book: Codebook
    coded: tuple[Coded, ...]
    rounds: int
    stable: bool


@dataclass
class _Phase:
    """The codes of one phase, and the errors' codes by their ids."""

    phase: FailurePhase
    codes: dict[str, Code] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)


async def open_coding(
    insights: Sequence[Insight], asker: Asker, progress: Progress | None = None
) -> Opened:
    """A codebook of the insights' own, and each insight's code; unanswered ones are coded by nobody."""
    phases: dict[FailurePhase, _Phase] = {}
    for batch in batches(insights, asker.plan.batch):
        for phase, part in parts(batch):
            await _add(part, phases.setdefault(phase, _Phase(phase)), asker)
            if progress is not None:
                progress(len(part))
    rounds, stable = 0, False
    by_id = {each.id: each for each in insights}
    for _ in range(asker.plan.rounds):
        changed = [await _revise(state, by_id, asker) for state in phases.values()]
        stable = not any(changed)
        if stable:
            break
        rounds += 1
    return Opened(_book(phases, asker), _coded(insights, phases), rounds, stable)


def batches(insights: Sequence[Insight], size: int) -> list[list[Insight]]:
    """The insights of so many tasks each, by the tasks' ids."""
    by_task: dict[str, list[Insight]] = defaultdict(list)
    for each in insights:
        by_task[each.task_id].append(each)
    tasks = sorted(by_task)
    return [
        [each for task in tasks[start : start + size] for each in by_task[task]]
        for start in range(0, len(tasks), size)
    ]


def open_question(part: Sequence[Insight], phase: FailurePhase, codes: dict[str, Code]) -> str:
    """What the model is asked about some errors of a batch."""
    return load("failures_open").fill(
        phase=phase,
        codes=as_lines([{"code": key, **described(code)} for key, code in codes.items()]),
        errors=as_errors(part),
        fence=mark_of(part),
    )


async def _add(part: Sequence[Insight], state: _Phase, asker: Asker) -> None:
    prompt = open_question(part, state.phase, state.codes)

    def wrong(given: _Opened) -> str:
        keys = [each.key for each in given.new]
        if len(set(keys)) < len(keys) or set(keys) & {*state.codes, OTHER}:
            return "a new code has the key of another one"
        return misnumbered(given.codes, len(part), {*state.codes, *keys})

    reply = await asker.ask(_Opened, prompt, wrong)
    if reply is None:
        return
    used = {each.code for each in reply.codes}
    state.codes |= {each.key: each.code() for each in reply.new if each.key in used}
    state.chosen |= {part[each.error].id: each.code for each in reply.codes}


async def _revise(state: _Phase, by_id: dict[str, Insight], asker: Asker) -> bool:
    """Whether merging and splitting changed the codes of a phase."""
    counts = Counter(state.chosen.values())
    shown = [
        {
            "code": key,
            **described(code),
            "errors": counts[key],
            "some": [by_id[own].text[:200] for own, k in state.chosen.items() if k == key][
                :_EXAMPLES
            ],
        }
        for key, code in state.codes.items()
    ]
    if not shown:
        return False
    lines = as_lines(shown)
    prompt = load("failures_merge").fill(phase=state.phase, codes=lines, fence=fence(lines))
    reply = await asker.ask(_Revision, prompt, lambda given: _unfit(given, state))
    if reply is None:
        return False
    for merge in reply.merge:
        for key in merge.codes:
            del state.codes[key]
        state.codes[merge.into.key] = merge.into.code()
        for own, key in state.chosen.items():
            if key in merge.codes:
                state.chosen[own] = merge.into.key
    for split in reply.split:
        await _split(split, state, by_id, asker)
    return bool(reply.merge or reply.split)


def _unfit(given: _Revision, state: _Phase) -> str:
    """Why a revision cannot be made; empty when it can."""
    taken = [key for merge in given.merge for key in merge.codes] + [
        each.code for each in given.split
    ]
    if strange := [key for key in taken if key not in state.codes]:
        return f"there is no code {strange[0]!r}"
    if len(set(taken)) < len(taken):
        return "a code is in two of the changes"
    new = [merge.into.key for merge in given.merge] + [n.key for s in given.split for n in s.into]
    kept = set(state.codes) - set(taken)
    if len(set(new)) < len(new) or set(new) & {*kept, OTHER}:
        return "a new code has the key of another one"
    return ""


async def _split(split: _Split, state: _Phase, by_id: dict[str, Insight], asker: Asker) -> None:
    own = [by_id[each] for each, key in state.chosen.items() if key == split.code]
    del state.codes[split.code]
    new = {each.key: each.code() for each in split.into}
    state.codes |= new
    for _, part in parts(own):
        chosen = await choose(part, state.phase, new, asker)
        for at, insight in enumerate(part):
            key = chosen.get(at, "")
            if key in new:
                state.chosen[insight.id] = key
            else:
                del state.chosen[insight.id]


def _book(phases: dict[FailurePhase, _Phase], asker: Asker) -> Codebook:
    found = []
    for state in phases.values():
        used = set(state.chosen.values())
        codes = tuple(code for key, code in state.codes.items() if key in used)
        if codes:
            family = Family(key=FAMILY, title="Found here", codes=codes)
            found.append(PhaseCodes(phase=state.phase, families=(family,)))
    return Codebook(name=f"found by {asker.model}", phases=tuple(found))


def _coded(insights: Sequence[Insight], phases: dict[FailurePhase, _Phase]) -> tuple[Coded, ...]:
    found = []
    for each in insights:
        key = phases[each.phase].chosen.get(each.id) if each.phase in phases else None
        if key is None:
            found.append(Coded(insight=each, code=f"{each.phase}/{OTHER}", by="unanswered"))
        else:
            found.append(Coded(insight=each, code=f"{each.phase}/{FAMILY}/{key}", by="model"))
    return tuple(found)
