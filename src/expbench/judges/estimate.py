"""What judging will cost, before any call.

The prompts are built as the judge builds them (same frames, same cuts) and their tokens are counted by
the judge's own estimate (:func:`~expbench.judges.excerpt.tokens_in`: by kinds of characters, no model's
vocabulary). What a model will answer cannot be known: the assumed tokens, and everything else that is
assumed, stand in the estimate as sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix

from inspect_ai.model import ContentText

from expbench.judges.asking import fence, opening
from expbench.judges.base import PHASES, JudgeContext, delivered
from expbench.judges.baseline import BASELINES
from expbench.judges.chunks import chunks
from expbench.judges.excerpt import tokens_in
from expbench.judges.repository import Library
from expbench.judges.showing import Deliverable
from expbench.policy import Record
from expbench.prices import Price, PriceList, prices
from expbench.prompts import load
from expbench.schema import Judging, ResearchTask, RubricItem, SubmissionText, Usage

ANSWER_TOKENS = 120
"""What a verdict has: a quotation, a sentence or two, and the JSON around them."""
REASONING_TOKENS = 600
"""What a call is assumed to think; models that do not reason need none of it."""
LEAST_CACHED = 1024
"""Providers cache no shorter beginnings (OpenAI and Anthropic; some models need more)."""

BUDGET = 30_000
"""Tokens of a deliverable in one question: the default of :class:`~expbench.judges.model.ModelJudge`."""
_LISTS = 4_000
"""Tokens of the workspace's list of files in one question, likewise."""
PART = 60_000
"""Characters in one question of :class:`~expbench.judges.paper.PaperJudge`, by default."""
MOST_PARTS = 40
"""Questions that it asks about one deliverable at most, by default."""
_FORM = 25
"""Tokens of the form of its reply."""

_LINE = "    score = evaluate(model, data, seed=seed)  # one of the runs\n"
_PROSE = "The accuracy of each of the four variants was measured on the same ten seeds. "
TYPICAL = SubmissionText(
    design=_PROSE * 21,
    conclusion=_PROSE * 26,
    diff="diff --git a/run.py b/run.py\n--- /dev/null\n+++ b/run.py\n@@ -0,0 +1,400 @@\n"
    + f"+{_LINE}" * 400,
    script="set -e\npython run.py\n",
    changed=("run.py",),
)
"""A submission of the usual size, for estimates before there is any: two that a capable agent made of
real tasks had designs of 1,400 and 1,800 characters, conclusions of 1,900 and 2,100, patches of 25,000."""


@dataclass(frozen=True)
class Case:
    """One submission that will be judged."""

    items: Sequence[RubricItem]
    task: ResearchTask
    submission: SubmissionText = TYPICAL
    context: JudgeContext | None = None


class JudgeEstimate(Record):
    """What one judge will use.

    Attributes:
        input_tokens: all that are sent, so as many as it costs without a provider's cache.
        cached_tokens: those of them that the provider can read from its cache.
        dollars: with the provider's cache; ``None`` where the price is not known.
        dollars_uncached: without it.
    """

    judge: str
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None
    dollars_uncached: float | None = None


class Estimate(Record):
    """What judging will use, by judge and in all; ``assumptions`` are sentences for whoever reads it."""

    submissions: int
    judges: tuple[JudgeEstimate, ...]
    assumptions: tuple[str, ...] = ()
    reason: str = ""
    """Why there are no dollars in all."""

    @property
    def total(self) -> JudgeEstimate:
        """All judges together; the dollars are known when those of every one are."""
        return JudgeEstimate(
            judge=" + ".join(each.judge for each in self.judges),
            calls=sum(each.calls for each in self.judges),
            input_tokens=sum(each.input_tokens for each in self.judges),
            cached_tokens=sum(each.cached_tokens for each in self.judges),
            output_tokens=sum(each.output_tokens for each in self.judges),
            dollars=_sum(each.dollars for each in self.judges),
            dollars_uncached=_sum(each.dollars_uncached for each in self.judges),
        )


@dataclass(frozen=True)
class Call:
    """One call's tokens: the ``frame`` that a phase's calls share, then the ``question``.

    ``cached`` are those of the frame that the provider has read before.
    """

    frame: int
    question: int
    cached: int
    verdicts: int


def estimate(
    cases: Iterable[Case],
    judging: Judging,
    table: PriceList | None = None,
    reasoning_tokens: int = REASONING_TOKENS,
) -> Estimate:
    """What judging the cases will use; nothing is asked, loaded or checked.

    ``table`` has the prices (:func:`expbench.prices.prices` where none is given).
    """
    table = prices() if table is None else table
    models = [name for name in judging.judges if name not in BASELINES]
    counted, typical, calls = 0, False, list[Call]()
    for case in cases:
        counted += 1
        typical = typical or case.submission is TYPICAL
        if models:
            calls += case_calls(case, judging)
    found = tuple(
        _of_judge(name, calls, table.of(name), reasoning_tokens)
        if name in models
        else JudgeEstimate(judge=name, dollars=0.0, dollars_uncached=0.0)
        for name in judging.judges
    )
    unknown = [each.judge for each in found if each.dollars is None]
    return Estimate(
        submissions=counted,
        judges=found,
        assumptions=tuple(_assumptions(typical, table, reasoning_tokens)) if models else (),
        reason=f"there is no price for {' and '.join(unknown)}" if unknown else "",
    )


def case_calls(case: Case, judging: Judging) -> Iterator[Call]:
    """The calls of one judge about one submission, in the order in which they are made."""
    for phase in PHASES:
        own = [item for item in case.items if item.phase == phase]
        if own and delivered(case.submission, phase):
            if judging.protocol == "paper":
                first = list(_paper_calls(case, own))
            else:
                first = list(_phase_calls(case, own, judging.items_per_call))
            yield from first
            for _ in range(judging.samples - 1):
                yield from (replace(call, cached=_cached(call.frame)) for call in first)


def _phase_calls(case: Case, items: Sequence[RubricItem], group: int) -> Iterator[Call]:
    """The calls about one phase, as :class:`~expbench.judges.model.ModelJudge` makes them."""
    deliverable = Deliverable(items[0].phase, case.submission)
    mark = fence(deliverable.phase, case.task.question, deliverable.text)
    had = ""
    if case.context and deliverable.phase == "implementation":
        had = Library(case.context, deliverable, 0).had(min(_LISTS, BUDGET // 4))
    first, sizes = "", dict[str, int]()
    for at in range(0, len(items), group):
        own = items[at : at + group]
        shown = deliverable.show(own, BUDGET).text
        message = opening(case.task, own, had, shown, mark, code_room=BUDGET // len(own))
        frame, question = (part.text for part in message.content if isinstance(part, ContentText))
        if frame not in sizes:
            sizes[frame] = tokens_in(frame)
        again = sizes[frame] if frame == first else tokens_in(_beginning(first, frame))
        yield Call(sizes[frame], tokens_in(question), _cached(again), len(own))
        first = first or frame


def _paper_calls(case: Case, items: Sequence[RubricItem]) -> Iterator[Call]:
    """The calls about one phase, as :class:`~expbench.judges.paper.PaperJudge` makes them.

    Its calls share no beginning worth caching; repeated for a sample, the first one is.
    """
    phase, task = items[0].phase, case.task
    text = Deliverable(phase, case.submission).text
    reference = "\n".join(f"1. ({item.kind}) {item.text}" for item in items)
    if phase == "conclusion" and task.reference.conclusion:
        reference = task.reference.conclusion
    parts = chunks(text, PART)[:MOST_PARTS]
    earlier = load("paper_earlier").text if len(parts) > 1 else ""
    frame = load("paper_frame").fill(
        instructions=load(f"paper_{phase}").text,
        fence=fence(text),
        reply="",
        question=task.question,
        method=task.method,
        reference=reference,
        earlier=earlier,
        submission="",
    )
    around = tokens_in(frame) + _FORM
    for number, part in enumerate(parts):
        sent = around + tokens_in(part)
        yield Call(0 if number else sent, sent if number else 0, 0, 1)


def _beginning(one: str, other: str) -> str:
    return commonprefix([one, other])  # noqa: RUF071 (letter by letter is meant)


def _cached(tokens: int) -> int:
    return tokens if tokens >= LEAST_CACHED else 0


def _of_judge(
    name: str, calls: Sequence[Call], price: Price | None, reasoning: int
) -> JudgeEstimate:
    used = [
        Usage(
            calls=1,
            input_tokens=call.frame + call.question,
            cache_read=call.cached,
            cache_write=_cached(call.frame) if not call.cached else 0,
            output_tokens=call.verdicts * ANSWER_TOKENS + reasoning,
        )
        for call in calls
    ]
    bare = [each.model_copy(update={"cache_read": 0, "cache_write": 0}) for each in used]
    return JudgeEstimate(
        judge=name,
        calls=len(calls),
        input_tokens=sum(each.input_tokens for each in used),
        cached_tokens=sum(each.cache_read for each in used),
        output_tokens=sum(each.output_tokens for each in used),
        dollars=sum(map(price.of_call, used)) if price else None,
        dollars_uncached=sum(map(price.of_call, bare)) if price else None,
    )


def _assumptions(typical: bool, table: PriceList, reasoning: int) -> Iterator[str]:
    if typical:
        yield (
            "Submissions that do not exist yet are taken to be of the usual size: "
            f"{len(TYPICAL.diff):,} characters of changes."
        )
    yield "Tokens are estimated by kinds of characters: rather too many than too few."
    yield (
        f"An answer is taken to have {ANSWER_TOKENS} tokens for each verdict and {reasoning} of "
        "thinking for each call; a model that does not reason needs fewer, one that reasons long more."
    )
    yield "Second questions, after a reply that cannot be used, and requests for files are not counted."
    yield "Verdicts that are cached from earlier, equal questions cost nothing, and are counted here."
    yield f"Prices are those of the list of {table.version}."


def _sum(dollars: Iterable[float | None]) -> float | None:
    known = list(dollars)
    return None if None in known else sum(each for each in known if each is not None)
