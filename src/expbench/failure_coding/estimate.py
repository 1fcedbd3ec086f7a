"""What a model's coding will use, before any call.

Against a book the questions are those that will be asked; openly their codes are not known yet, and as
many as in the shipped book are assumed from the first batch on. Answers are assumed; what the journal has
already is not taken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from expbench.failure_coding.asking import Plan
from expbench.failure_coding.fixed import codes_by_phase, parts, question
from expbench.failure_coding.opencoding import batches, open_question
from expbench.failures import Codebook, Insight
from expbench.judges.excerpt import tokens_in
from expbench.prices import prices
from expbench.schema import Record, Usage

CHOICE_TOKENS = 25
"""A code and the error's number, as JSON."""
CODE_TOKENS = 120
"""A new code with all its texts."""


class CodingEstimate(Record):
    """One coder's calls, tokens, and dollars, which are ``None`` where the model's price is not known."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None


def estimate_coding(
    insights: Sequence[Insight], book: Codebook, plan: Plan, opened: bool
) -> CodingEstimate:
    """What coding by the plan's model will use, every question answered at once."""
    calls = list(_open(insights, book, plan) if opened else _fixed(insights, book))
    price = prices().of(plan.model)
    return CodingEstimate(
        model=plan.model,
        calls=len(calls),
        input_tokens=sum(each.input_tokens for each in calls),
        output_tokens=sum(each.output_tokens for each in calls),
        dollars=None if price is None else sum(price.of_call(each) for each in calls),
    )


def _fixed(insights: Sequence[Insight], book: Codebook) -> Iterator[Usage]:
    codes = codes_by_phase(book)
    for phase, part in parts(insights):
        asked = tokens_in(question(part, phase, codes.get(phase, {})))
        yield Usage(calls=1, input_tokens=asked, output_tokens=CHOICE_TOKENS * len(part))


def _open(insights: Sequence[Insight], book: Codebook, plan: Plan) -> Iterator[Usage]:
    codes = codes_by_phase(book)
    for batch in batches(insights, plan.batch):
        for phase, part in parts(batch):
            asked = tokens_in(open_question(part, phase, codes.get(phase, {})))
            answer = CHOICE_TOKENS * len(part) + CODE_TOKENS
            yield Usage(calls=1, input_tokens=asked, output_tokens=answer)
    for phase in {each.phase for each in insights}:
        asked = tokens_in(open_question((), phase, codes.get(phase, {})))
        answer = CODE_TOKENS * max(1, len(codes.get(phase, {})) // 4)
        yield from [Usage(calls=1, input_tokens=asked, output_tokens=answer)] * plan.rounds
