"""Panels, samples, agreement, families, and the estimate of what judging will cost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expbench.errors import NotFoundError, UserError
from expbench.judges import get_judge, make_judge
from expbench.judges.agreement import Share, agreement, krippendorff_alpha
from expbench.judges.base import NOTHING_SUBMITTED, JudgeContext, verdict_on
from expbench.judges.base import unscored as unscored_
from expbench.judges.families import family, family_warnings
from expbench.judges.panel import Member, Panel
from expbench.schema import (
    Judgement,
    Judging,
    Mark,
    Phase,
    Repository,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Usage,
    Verdict,
    Vote,
)

SUBMISSION = SubmissionText(
    design="The learning rate is 0.1.", conclusion="A beats B.", diff="+x = 1", script="python x.py"
)
TASK = ResearchTask(
    id="v/1/0",
    paper="1",
    venue="v",
    type=1,
    repository=Repository(url="https://example.org/r"),
    question="Does A beat B?",
    method="Compare them.",
)
ITEM = RubricItem(id="design/0", phase="design", kind="constant", text="lr: 0.1")
CONTEXT = JudgeContext(masked=("a.py",), files=("b.py",))


class Says:
    """A judge that answers what it is told, and remembers how it was asked."""

    def __init__(self, *verdicts: Verdict, name: str = "x/says", **fields: object) -> None:
        self.name = name
        self.prompt_digest = "0" * 64
        self.verdicts, self.fields = verdicts, fields
        self.contexts: list[JudgeContext | None] = []
        self.running = self.most = 0

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        self.contexts.append(context)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        return Judgement.model_validate(
            {
                "judge": self.name,
                "verdicts": self.verdicts,
                "prompt_digest": "0" * 64,
                **self.fields,
            }
        )


def met(reason: str = "m", evidence: str = "0.1", alternative: bool = False) -> Verdict:
    return verdict_on(ITEM, True, evidence, reason, alternative)


def not_met(reason: str = "n") -> Verdict:
    return verdict_on(ITEM, False, "", reason)


def unscored(reason: str = "broken") -> Verdict:
    return unscored_(ITEM, reason)


def panel(*members: Sequence[Verdict]) -> Panel:
    """A panel with one list of samples for each member, which are called a, b, c, …"""
    return Panel(
        [
            Member("abcdefgh"[n], tuple(Says(verdict) for verdict in samples))
            for n, samples in enumerate(members)
        ],
        "the panel",
    )


def ask(
    judge: Panel, items: Sequence[RubricItem] = (ITEM,), submission: SubmissionText = SUBMISSION
) -> Judgement:
    return asyncio.run(judge.judge(items, submission, TASK, CONTEXT))


def decided(*members: Sequence[Verdict]) -> Verdict:
    (verdict,) = ask(panel(*members)).verdicts
    return verdict


# --- the majority --------------------------------------------------------------------------------


def test_the_majority_of_the_judges_decides_and_every_vote_is_kept() -> None:
    verdict = decided([met("yes", "0.1")], [not_met("no")], [met("also", "rate")])
    assert (verdict.state, verdict.reason, verdict.evidence) == ("met", "yes", "0.1")
    assert verdict.votes == (
        Vote(judge="a", state="met", reason="yes"),
        Vote(judge="b", state="not_met", reason="no"),
        Vote(judge="c", state="met", reason="also"),
    )


def test_evidence_and_reason_are_never_of_the_minority() -> None:
    verdict = decided([met("wrong", "0.1")], [not_met("right")], [not_met("right too")])
    assert (verdict.state, verdict.reason, verdict.evidence) == ("not_met", "right", "")


def test_evidence_is_of_a_member_that_has_some() -> None:
    assert decided([met("bare", "")], [met("quoted", "0.1")]).evidence == "0.1"


def test_a_tie_is_unscored_and_says_so() -> None:
    verdict = decided([met()], [not_met()])
    assert verdict.state == "unscored"
    assert verdict.reason == "the judges are split 1 to 1"
    assert not verdict.evidence
    assert [vote.state for vote in verdict.votes] == ["met", "not_met"]


def test_an_unscored_member_is_no_vote() -> None:
    assert decided([met()], [unscored()], [unscored()]).state == "met"
    assert decided([met()], [unscored()], [not_met()]).state == "unscored"


def test_where_nobody_decides_all_reasons_are_told() -> None:
    verdict = decided([unscored("no key")], [unscored("timed out")], [unscored("no key")])
    assert verdict.state == "unscored"
    assert verdict.reason == "none of the judges decided: no key; timed out"


def test_a_judge_says_what_most_of_its_samples_say() -> None:
    """Three votes for met and three against: by judges it is two to one, so samples do not add up."""
    verdict = decided(
        [not_met(), not_met(), not_met()],
        [met(), met(), not_met()],
        [met(), unscored(), unscored()],
    )
    assert verdict.state == "met"
    assert [vote.sample for vote in verdict.votes] == [0, 1, 2] * 3
    assert [vote.judge for vote in verdict.votes] == list("aaabbbccc")


def test_a_judge_whose_samples_are_split_has_no_vote() -> None:
    assert decided([met(), not_met()], [not_met(), not_met()]).state == "not_met"
    alone = decided([met(), not_met()])
    assert (alone.state, alone.reason) == ("unscored", "the samples are split 1 to 1")


def test_an_alternative_needs_most_of_the_met_votes() -> None:
    other = met("another way", "sgd", alternative=True)
    assert decided([other], [other], [met()]).alternative
    assert decided([other], [other], [met()]).evidence == "sgd"
    assert not decided([other], [met()]).alternative
    assert not decided([other], [met()], [met()]).alternative
    assert not decided([other], [not_met()], [not_met()]).alternative


def test_a_missing_verdict_is_unscored_and_no_vote() -> None:
    (verdict,) = ask(Panel([Member("a", (Says(),)), Member("b", (Says(met()),))], "p")).verdicts
    assert verdict.state == "met"
    assert verdict.votes[0].state == "unscored"


def test_what_was_not_handed_in_needs_no_votes() -> None:
    (verdict,) = ask(panel([met()], [met()]), submission=SubmissionText()).verdicts
    assert (verdict.state, verdict.reason, verdict.votes) == ("not_met", NOTHING_SUBMITTED, ())


@given(st.lists(st.sampled_from(["met", "not_met", "unscored"]), min_size=1, max_size=7))
def test_the_majority_is_that_of_the_decided_votes(states: list[str]) -> None:
    makers = {"met": met, "not_met": not_met, "unscored": unscored}
    verdict = decided(*([makers[state]()] for state in states))
    difference = states.count("met") - states.count("not_met")
    wanted = "unscored" if difference == 0 else "met" if difference > 0 else "not_met"
    assert verdict.state == wanted
    assert (verdict.reason != "") or wanted != "unscored"


# --- what a panel adds up ------------------------------------------------------------------------


def test_usage_cached_and_warnings_are_of_all_answers() -> None:
    paid = Says(met(), usage=Usage(input_tokens=10, calls=1, dollars=0.5), warnings=("w",))
    kept = Says(met(), cached=1, warnings=("w",))
    given_ = ask(Panel([Member("a", (paid, paid)), Member("b", (kept,))], "a + b", warnings=("v",)))
    assert given_.usage == Usage(input_tokens=20, calls=2, dollars=1.0)
    assert given_.cached == 1
    assert given_.warnings == ("v", "w")
    assert given_.judge == "a + b"
    assert given_.prompt_digest == "0" * 64


def test_dollars_of_a_panel_are_unknown_when_those_of_one_member_are() -> None:
    """R45"""
    paid = Says(met(), usage=Usage(calls=1, dollars=0.5))
    unknown = Says(met(), usage=Usage(calls=1))
    assert ask(Panel([Member("a", (paid,)), Member("b", (unknown,))], "p")).usage.dollars is None


def test_the_context_reaches_every_sample() -> None:
    judge = Says(met())
    ask(Panel([Member("a", (judge, judge, judge))], "p"))
    assert judge.contexts == [CONTEXT] * 3


def test_the_first_sample_is_asked_before_the_others() -> None:
    """So that a provider that caches prompts reads the submission once."""
    judge = Says(met())
    ask(Panel([Member("a", (judge,) * 4)], "p"))
    assert judge.most == 3


# --- marks ---------------------------------------------------------------------------------------


def marks(phase: Phase, *values: float | None) -> Mark:
    members = [
        Member(
            "abcdefgh"[n],
            (Says(protocol="paper", marks=(Mark(phase=phase, value=value, reason="said"),)),),
        )
        for n, value in enumerate(values)
    ]
    given_ = ask(Panel(members, "p", "paper"))
    assert given_.protocol == "paper"
    assert given_.verdicts == ()
    (mark,) = given_.marks
    return mark


def test_a_panels_mark_is_the_middle_one() -> None:
    mark = marks("design", 0.2, 1.0, 0.6)
    assert mark.value == 0.6
    assert mark.reason == "said (the judges: 20%, 100%, 60%)"
    assert marks("implementation", 0.2, 0.4).value == pytest.approx(0.3)
    assert marks("design", 0.2, None).value == 0.2
    assert marks("design", None, None).value is None


def test_a_conclusion_is_right_or_wrong_or_a_tie() -> None:
    assert marks("conclusion", 1.0, 1.0, 0.0).value == 1.0
    tie = marks("conclusion", 1.0, 0.0)
    assert tie.value is None
    assert tie.reason == "the judges are split in half"


# --- agreement -----------------------------------------------------------------------------------


def judgement(*units: Mapping[str, str]) -> Judgement:
    """Verdicts with votes written as letters: m(et), n(ot met), u(nscored), one for each sample."""
    states = {"m": "met", "n": "not_met", "u": "unscored"}
    return Judgement.model_validate(
        {
            "judge": "p",
            "verdicts": [
                {
                    **met().model_dump(),
                    "votes": [
                        {"judge": judge, "state": states[letter], "sample": sample}
                        for judge, letters in unit.items()
                        for sample, letter in enumerate(letters)
                    ],
                }
                for unit in units
            ],
        }
    )


def columns(*raters: str) -> list[list[str | None]]:
    """Units from one line for each rater, a dot for a missing value."""
    rows = zip(*(line.split() for line in raters), strict=True)
    return [[None if value == "." else value for value in row] for row in rows]


PUBLISHED = {
    # Krippendorff (2011), sections A, B and C: nominal data.
    "binary, two observers": (
        columns("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"),
        0.095,
    ),
    "nominal, two observers": (
        columns("a a b b d c c c e d d a", "b a b b b c c c e d d d"),
        0.692,
    ),
    "nominal, four observers, missing data": (
        columns(
            "1 2 3 3 2 1 4 1 2 . . .",
            "1 2 3 3 2 2 4 1 2 5 . 3",
            ". 3 3 3 2 3 4 2 2 5 1 .",
            "1 2 3 3 2 4 4 1 2 5 1 .",
        ),
        0.743,
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_alpha_is_that_of_the_published_examples(name: str) -> None:
    units, alpha = PUBLISHED[name]
    assert krippendorff_alpha(units) == pytest.approx(alpha, abs=0.0005)


def test_alpha_is_zero_by_chance_one_in_agreement_and_undefined_without_variation() -> None:
    rng = random.Random(7)
    chance = [[rng.choice("mn"), rng.choice("mn")] for _ in range(20_000)]
    assert krippendorff_alpha(chance) == pytest.approx(0.0, abs=0.03)
    assert krippendorff_alpha([["m", "m"], ["n", "n"]]) == 1.0
    assert krippendorff_alpha([["m", "m"], ["m", "m"]]) is None
    assert krippendorff_alpha([["m", None], ["n"]]) is None
    assert krippendorff_alpha([]) is None


def test_agreement_of_a_panel() -> None:
    found = agreement(
        [
            judgement({"a": "m", "b": "m", "c": "m"}, {"a": "m", "b": "n", "c": "m"}),
            judgement({"a": "n", "b": "n", "c": "u"}, {"a": "m", "b": "u", "c": "u"}),
        ]
    )
    assert found.unanimous == Share(hits=2, of=3)
    assert found.unanimous.value == pytest.approx(2 / 3)
    units = [["m"] * 3, ["m", "n", "m"], ["n", "n", None], ["m", None, None]]
    assert found.alpha == krippendorff_alpha(units)
    assert found.own == {}


def test_self_agreement_counts_pairs_of_samples_that_were_decided() -> None:
    found = agreement([judgement({"a": "mmn", "b": "mm"}, {"a": "uun", "b": "mn"})])
    assert found.own == {"a": Share(hits=1, of=3), "b": Share(hits=1, of=2)}
    assert found.unanimous == Share(hits=1, of=1)


def test_agreement_of_one_judge_asked_once_is_unknown() -> None:
    found = agreement([Judgement(judge="a", verdicts=(met(),))])
    assert found.unanimous == Share()
    assert found.unanimous.value is None
    assert found.alpha is None


# --- families ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("openai/gpt-5", "openai"),
        ("openai/o3-mini", "openai"),
        ("openrouter/openai/gpt-oss-120b", "openai"),
        ("openai/azure/gpt-4o", "openai"),
        ("azureai/gpt-4.1-mini", "openai"),
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic"),
        ("anthropic/vertex/claude-opus-4-1", "anthropic"),
        ("openrouter/anthropic/claude-haiku-4.5", "anthropic"),
        ("google/gemini-2.5-pro", "google"),
        ("google/vertex/gemini-2.5-flash", "google"),
        ("together/google/gemma-3-27b-it", "google"),
        ("together/meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta-llama"),
        ("bedrock/meta.llama3-1-405b-instruct-v1:0", "meta-llama"),
        ("groq/llama-3.3-70b-versatile", "meta-llama"),
        ("ollama/llama3.2", "meta-llama"),
        ("hf/codellama/CodeLlama-7b-hf", "meta-llama"),
        ("ollama/qwen3:8b", "qwen"),
        ("together/Qwen/Qwen2.5-72B-Instruct", "qwen"),
        ("vllm/Qwen/QwQ-32B", "qwen"),
        ("deepseek/deepseek-chat", "deepseek"),
        ("groq/deepseek-r1-distill-llama-70b", "deepseek"),
        ("hf/deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "deepseek"),
        ("mistral/mistral-large-2512", "mistral"),
        ("together/mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral"),
        ("mistral/codestral-latest", "mistral"),
        ("bedrock/amazon.nova-pro-v1:0", "amazon-nova"),
        ("bedrock/us.amazon.nova-lite-v1:0", "amazon-nova"),
        ("grok/grok-4", "xai"),
        ("openrouter/x-ai/grok-4-fast", "xai"),
        ("openrouter/moonshotai/kimi-k2", "moonshot"),
        ("openrouter/z-ai/glm-4.6", "zhipu"),
        ("openrouter/nvidia/llama-3.1-nemotron-70b-instruct", "nvidia"),
        ("openrouter/cohere/command-r-plus", "cohere"),
        ("openrouter/microsoft/phi-4", "microsoft"),
        ("openai/something-new", "openai"),
        ("ollama/house-model", ""),
        ("hf/EleutherAI/gpt-neo-2.7B", ""),
        ("mockllm/model", ""),
        ("baseline", ""),
        ("", ""),
    ],
)
def test_families_through_aggregators(model: str, wanted: str) -> None:
    assert family(model) == wanted


def test_a_judge_of_the_contestants_family_is_warned_of() -> None:
    warned = family_warnings(["openai/o3-mini", "google/gemini-2.5-pro"], "openrouter/openai/gpt-5")
    (sentence,) = warned
    assert "openai/o3-mini" in sentence
    assert "openrouter/openai/gpt-5" in sentence
    assert "gemini" not in sentence
    (itself,) = family_warnings(["house/model"], "house/model")
    assert "also the contestant" in itself


def test_a_panel_of_one_family_is_warned_of() -> None:
    (sentence,) = family_warnings(["openai/o3", "openai/gpt-5", "mistral/mistral-small"], "")
    assert "openai/o3 and openai/gpt-5" in sentence


@pytest.mark.parametrize("contestant", ["", "mockllm/model", "anthropic/claude-opus-5"])
def test_strangers_are_not_warned_of(contestant: str) -> None:
    judges = ["baseline", "scripted/judge.json", "openai/o3-mini", "ollama/house"]
    assert family_warnings(judges, contestant) == ()


# --- making --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judging", "said"),
    [
        (Judging(judges=()), "name one"),
        (Judging(judges=("mockllm/a", "mockllm/a")), "--judge-samples"),
        (Judging(samples=3), "--judge-samples"),
        (Judging(items_per_call=2), "--items-per-call"),
        (Judging(protocol="paper"), "--protocol paper"),
        (Judging(judges=("mockllm/a", "baseline"), protocol="paper"), "--protocol paper"),
        (Judging(judges=("mockllm/a",), protocol="paper", items_per_call=2), "--items-per-call"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(judging: Judging, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make_judge(judging)


@pytest.mark.parametrize("name", ["nobody", "openai", "nosuchprovider/x", ""])
def test_an_unknown_member_is_not_found(name: str) -> None:
    with pytest.raises(NotFoundError):
        make_judge(Judging(judges=("baseline", name)))


def test_one_judge_asked_once_is_that_judge() -> None:
    assert make_judge(Judging()).name == "baseline"
    plain = make_judge(Judging(judges=("mockllm/model",)))
    assert type(plain) is type(get_judge("mockllm/model"))
    assert plain.name == "mockllm/model"


def test_a_panel_is_called_after_all_that_is_unusual() -> None:
    judging = Judging(judges=("baseline", "mockllm/model"), samples=3)
    assert make_judge(judging).name == "baseline + mockllm/model, 3 samples"
