"""What a stage will ask of its model, before it asks: calls, tokens and dollars, roughly."""

from __future__ import annotations

from expbench.construct.extracting import expected_prompts
from expbench.construct.project import Project
from expbench.construct.records import Stage
from expbench.construct.stages import done, waiting
from expbench.prices import prices
from expbench.schema import Record, Usage

_CHARACTERS = 4
"""Of a token, on average of English and code."""
_ANSWER = 900
"""Tokens of an answer, on average."""
_AGAIN = 1.3
"""Calls for each answer that can be used."""
_TURNS, _TURN_TOKENS = 15, 9_000
"""A search's answers, and what is sent for each on average."""


class Estimate(Record):
    """What a stage is expected to use; ``dollars`` is ``None`` where the price is not known."""

    stage: Stage
    model: str
    drafts: int
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None


def estimate(project: Project, stage: Stage, model: str, pictures: bool = False) -> Estimate:
    """The estimate of what is left of a stage. Raises NotFoundError where the paper is not read."""
    drafts = waiting(project, stage)
    if stage == "extract":
        folder = project.root / "paper" if pictures else None
        prompts = [] if done(project, "extract") else expected_prompts(project.document(), folder)
        prompts += [18_000] * len(drafts)
    elif stage == "locate":
        prompts = [_TURN_TOKENS * _CHARACTERS] * (_TURNS * len(drafts))
    else:
        prompts = [14_000, 6_000] * len(drafts)
    again = 1.0 if stage == "locate" else _AGAIN
    calls = round(len(prompts) * again)
    used = Usage(
        input_tokens=round(sum(prompts) / _CHARACTERS * again),
        output_tokens=calls * _ANSWER,
        calls=calls,
    )
    price = prices().of(model)
    return Estimate(
        stage=stage,
        model=model,
        drafts=len(drafts),
        calls=calls,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        dollars=None if price is None else round(price.dollars(used), 4),
    )
