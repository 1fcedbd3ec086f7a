"""The estimate of what judging will cost, held against what the judge really sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)

from expbench.judges.base import JudgeContext
from expbench.judges.estimate import (
    ANSWER_TOKENS,
    LEAST_CACHED,
    REASONING_TOKENS,
    TYPICAL,
    Case,
    Estimate,
    estimate,
)
from expbench.judges.excerpt import tokens_in
from expbench.judges.model import ModelJudge
from expbench.judges.paper import PaperJudge
from expbench.judges.rubric import rubric
from expbench.prices import PriceList, use_prices
from expbench.schema import (
    Claim,
    DesignItem,
    Judging,
    Reference,
    Repository,
    Requirement,
    ResearchTask,
    SubmissionText,
)

TASK = ResearchTask(
    id="v/1/0",
    paper="1",
    venue="v",
    type=1,
    repository=Repository(url="https://example.org/r"),
    question="Does A beat B?",
    method="Compare them on ten seeds.",
    reference=Reference(
        design=tuple(DesignItem(kind="constant", name=f"variable {n}") for n in range(5)),
        requirements=tuple(Requirement(text=f"Step {n}: train model {n}.") for n in range(7)),
        claims=(Claim(text="A beats B."), Claim(text="By 3 points.")),
    ),
)
ITEMS = rubric(TASK)
CONTEXT = JudgeContext(masked=("a.py",), files=tuple(f"lib/module_{n}.py" for n in range(900)))
PRICES = PriceList.model_validate(
    {"models": {"x/m": {"input": 10, "cache_read": 1, "cache_write": 12, "output": 100}}}
)


def long_diff(files: int) -> str:
    return "".join(
        f"diff --git a/f{n}.py b/f{n}.py\n--- /dev/null\n+++ b/f{n}.py\n@@ -0,0 +1,40 @@\n"
        + "".join(f"+value_{n}_{line} = train(model, {line})\n" for line in range(40))
        for n in range(files)
    )


CASES = {
    "typical": Case(ITEMS, TASK),
    "with a context": Case(ITEMS, TASK, context=CONTEXT),
    "long": Case(
        ITEMS,
        TASK,
        TYPICAL.model_copy(update={"diff": long_diff(100), "design": "One more run. " * 20_000}),
        CONTEXT,
    ),
    "in part": Case(ITEMS, TASK, SubmissionText(design="Ten seeds."), CONTEXT),
    "empty": Case(ITEMS, TASK, SubmissionText(), CONTEXT),
}


def sent(case: Case, group: int) -> list[tuple[int, int]]:
    """The tokens of frame and question of every call that the judge makes."""
    calls: list[tuple[int, int]] = []

    def respond(messages: list[ChatMessage], *_: object) -> ModelOutput:
        (first,) = messages
        assert isinstance(first, ChatMessageUser)
        frame, question = (part.text for part in first.content if isinstance(part, ContentText))
        calls.append((tokens_in(frame), tokens_in(question)))
        ids = [item.id for item in ITEMS]
        one = {"verdict": "not_met", "evidence": "", "reason": "", "alternative": False}
        answer = one if group == 1 else [{**one, "item": id_} for id_ in ids if id_ in question]
        if isinstance(answer, list) and not answer:
            answer = one
        output = ModelOutput.from_content("mockllm/model", json.dumps(answer))
        output.usage = ModelUsage()
        return output

    judge = ModelJudge(
        get_model("mockllm/model", custom_outputs=respond, memoize=False), items_per_call=group
    )
    judged = asyncio.run(judge.judge(case.items, case.submission, case.task, case.context))
    assert {verdict.state for verdict in judged.verdicts} == {"not_met"}
    return calls


def of(case: Case, **fields: object) -> Estimate:
    judging = Judging.model_validate({"judges": ("x/m",), **fields})
    return estimate([case], judging, PRICES)


@pytest.fixture(autouse=True)
def no_own_prices() -> Iterator[None]:
    yield
    use_prices(None)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("group", [1, 3])
def test_calls_and_tokens_are_those_that_the_judge_sends(name: str, group: int) -> None:
    calls = sent(CASES[name], group)
    (judge,) = of(CASES[name], items_per_call=group).judges
    assert judge.calls == len(calls)
    assert judge.input_tokens == sum(frame + question for frame, question in calls)
    assert judge.cached_tokens <= sum(frame for frame, _ in calls)


@pytest.mark.parametrize("name", CASES)
def test_protocol_paper_is_counted_as_it_is_sent(name: str) -> None:
    """The same calls; their tokens within a twentieth, since notes on earlier parts are not known."""
    case, calls = CASES[name], list[int]()

    def respond(messages: list[ChatMessage], *_: object) -> ModelOutput:
        calls.append(tokens_in(messages[0].text))
        conclusion = '"correct"' in messages[0].text
        answer = {"correct": True} if conclusion else {"matched": [1], "percent": 10}
        text = json.dumps({**answer, "reason": "r"})
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage()
        return output

    judge = PaperJudge(get_model("mockllm/model", custom_outputs=respond, memoize=False))
    judged = asyncio.run(judge.judge(case.items, case.submission, case.task, case.context))
    assert [mark.value for mark in judged.marks if mark.value is None] == []
    (found,) = of(case, protocol="paper").judges
    assert found.calls == len(calls)
    assert found.input_tokens == pytest.approx(sum(calls), rel=0.05)
    assert found.cached_tokens == 0
    (twice,) = of(case, protocol="paper", samples=2).judges
    assert twice.calls == 2 * len(calls)


def test_the_frame_of_a_phase_is_read_from_the_cache_after_its_first_call() -> None:
    """A phase with a frame that is too short for a provider's cache is sent whole each time."""
    calls = sent(CASES["typical"], 1)
    frames = [frame for frame, _ in calls]
    (judge,) = of(CASES["typical"]).judges
    repeated = sum(n for n in frames if n >= LEAST_CACHED) - sum(
        n for n in set(frames) if n >= LEAST_CACHED
    )
    assert 0 < repeated == judge.cached_tokens
    assert judge.dollars is not None
    assert judge.dollars_uncached is not None
    assert judge.dollars < judge.dollars_uncached


def test_dollars_are_those_of_each_kind_of_token() -> None:
    case = Case(ITEMS[:2], TASK, SubmissionText(design="Ten seeds are run. " * 2_000))
    (frame, first), (again, second) = sent(case, 1)
    assert frame == again > LEAST_CACHED
    (judge,) = of(case).judges
    output = 2 * (ANSWER_TOKENS + REASONING_TOKENS)
    cached = frame * 12 + frame * 1 + (first + second) * 10 + output * 100
    whole = (2 * frame + first + second) * 10 + output * 100
    assert judge.output_tokens == output
    assert judge.dollars == pytest.approx(cached / 1e6)
    assert judge.dollars_uncached == pytest.approx(whole / 1e6)


def test_samples_are_calls_of_which_the_later_ones_read_the_cache() -> None:
    (once,) = of(CASES["long"]).judges
    (thrice,) = of(CASES["long"], samples=3).judges
    assert thrice.calls == 3 * once.calls
    assert thrice.input_tokens == 3 * once.input_tokens
    assert thrice.cached_tokens > 3 * once.cached_tokens


def test_a_panel_is_the_sum_of_its_members_and_the_baseline_is_free() -> None:
    found = estimate(
        [CASES["typical"]], Judging(judges=("baseline", "x/m", "openai/o3-mini")), None
    )
    assert [each.calls for each in found.judges] == [0, len(ITEMS), len(ITEMS)]
    assert found.judges[0].dollars == 0.0
    assert found.total.calls == 2 * len(ITEMS)
    assert found.total.input_tokens == 2 * found.judges[1].input_tokens


def test_an_unknown_price_makes_the_dollars_unknown_and_names_the_judge() -> None:
    """R45: never zero."""
    found = estimate([CASES["typical"]], Judging(judges=("x/m", "y/n", "baseline")), PRICES)
    assert found.judges[0].dollars is not None
    assert found.judges[1].dollars is None
    assert found.total.dollars is None
    assert found.total.dollars_uncached is None
    assert found.reason == "there is no price for y/n"
    assert of(CASES["typical"]).reason == ""


def test_the_users_prices_are_used() -> None:
    judging = Judging(judges=("x/m",))
    assert estimate([CASES["typical"]], judging).total.dollars is None
    use_prices(PRICES)
    assert estimate([CASES["typical"]], judging).total.dollars == of(CASES["typical"]).total.dollars


def test_a_judge_without_calls_costs_nothing_and_assumes_nothing() -> None:
    found = estimate([CASES["typical"], CASES["long"]], Judging())
    assert (found.submissions, found.total.calls, found.total.dollars) == (2, 0, 0.0)
    assert found.assumptions == ()


def test_what_is_assumed_is_said() -> None:
    found = " ".join(of(CASES["typical"]).assumptions)
    for wanted in ("usual size", str(ANSWER_TOKENS), str(REASONING_TOKENS), "list of own"):
        assert wanted in found
    assert "usual size" not in " ".join(of(CASES["long"]).assumptions)


def test_cases_may_come_one_by_one() -> None:
    both = estimate((case for case in (CASES["long"], CASES["typical"])), Judging(judges=("x/m",)))
    assert both.submissions == 2
    assert both.total.calls == 2 * len(ITEMS)
