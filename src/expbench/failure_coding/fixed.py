"""Coding against a codebook by a model: some errors of one phase in a call, each answered once."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field

from expbench.failure_coding.asking import Asker
from expbench.failures import Code, Codebook, Coded, Insight
from expbench.failures.codebook import OTHER, FailurePhase
from expbench.judges.asking import fence
from expbench.prompts import load

PER_CALL = 15
"""Errors in one question; more make models miscount."""

Progress = Callable[[int], None]
"""Told of how many errors were coded just now."""


class Choice(BaseModel):
    """The code of one error, by its number in the question."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    error: int
    code: str = Field(min_length=1, max_length=200)


class _Choices(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    codes: list[Choice] = Field(max_length=200)


async def code_by_model(
    insights: Sequence[Insight], book: Codebook, asker: Asker, progress: Progress | None = None
) -> tuple[Coded, ...]:
    """Each insight with the model's code, in their order; unanswered ones are coded ``PHASE/other`` by
    nobody."""
    codes = codes_by_phase(book)
    found: dict[str, str] = {}
    for phase, part in parts(insights):
        chosen = await choose(part, phase, codes[phase], asker)
        found |= {part[at].id: code for at, code in chosen.items()}
        if progress is not None:
            progress(len(part))
    return tuple(_coded(each, found.get(each.id)) for each in insights)


async def choose(
    part: Sequence[Insight], phase: FailurePhase, codes: dict[str, Code], asker: Asker
) -> dict[int, str]:
    """The code's id of each error by its number; empty where the model gave no usable reply."""
    prompt = question(part, phase, codes)
    known = {*codes, OTHER, f"{phase}/{OTHER}"}
    reply = await asker.ask(
        _Choices, prompt, lambda given: misnumbered(given.codes, len(part), known)
    )
    if reply is None:
        return {}
    return {
        each.error: f"{phase}/{OTHER}" if each.code == OTHER else each.code for each in reply.codes
    }


def question(part: Sequence[Insight], phase: FailurePhase, codes: dict[str, Code]) -> str:
    """What the model is asked about some errors of one phase."""
    shown = [{"code": code_id, **described(code)} for code_id, code in codes.items()]
    return load("failures_code").fill(
        phase=phase, codes=as_lines(shown), errors=as_errors(part), fence=mark_of(part)
    )


def codes_by_phase(book: Codebook) -> dict[FailurePhase, dict[str, Code]]:
    """A book's codes by their ids, for each phase that has any."""
    codes: dict[FailurePhase, dict[str, Code]] = defaultdict(dict)
    for code_id, phase, _, code in book.codes():
        codes[phase][code_id] = code
    return codes


def parts(insights: Sequence[Insight]) -> Iterator[tuple[FailurePhase, list[Insight]]]:
    """The insights by phase, some at a time."""
    by_phase: dict[FailurePhase, list[Insight]] = defaultdict(list)
    for each in insights:
        by_phase[each.phase].append(each)
    for phase, own in by_phase.items():
        for start in range(0, len(own), PER_CALL):
            yield phase, own[start : start + PER_CALL]


def misnumbered(choices: Sequence[Choice], count: int, known: set[str]) -> str:
    """Why choices cannot be used: an error twice or not at all, or a code that does not exist."""
    times = Counter(each.error for each in choices)
    if set(times) != set(range(count)) or any(n > 1 for n in times.values()):
        return f"every error from 0 to {count - 1} has to be there exactly once"
    strange = [each.code for each in choices if each.code not in known]
    return f"there is no code {strange[0]!r}" if strange else ""


def described(code: Code) -> dict[str, str]:
    """A code as a model is shown it; without what rules know of it."""
    return {
        "title": code.title,
        "definition": code.definition,
        "includes": code.includes,
        "excludes": code.excludes,
        "example": code.example,
    }


def as_lines(objects: Sequence[dict[str, object]] | Sequence[dict[str, str]]) -> str:
    """One JSON object in each line."""
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in objects) or "(none yet)"


def as_errors(part: Sequence[Insight]) -> str:
    """Errors as a model is shown them: numbered, with their evidence, without task and agent."""
    return as_lines(
        [
            {"error": at, "what": each.text, "evidence": each.quote, "place": each.place}
            for at, each in enumerate(part)
        ]
    )


def mark_of(part: Sequence[Insight]) -> str:
    """The fence around errors, which follows from them."""
    return fence(*(text for each in part for text in (each.id, each.text, each.quote)))


def _coded(insight: Insight, code: str | None) -> Coded:
    if code is None:
        return Coded(insight=insight, code=f"{insight.phase}/{OTHER}", by="unanswered")
    return Coded(insight=insight, code=code, by="model")
