"""How fast a judge is asked: ``--judge-concurrency`` and ``--judge-deadline``."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import ValidationError
from typer.testing import CliRunner

from expbench.cli.judging import judging_choice
from expbench.cli.main import app
from expbench.dataset import load_suite
from expbench.errors import UserError
from expbench.judges import make_judge
from expbench.schema import Judging, RubricItem, SubmissionText

TASK = load_suite("mini").tasks[0]
ITEMS = tuple(
    RubricItem(id=f"design/{n}", phase="design", kind="constant", text=f"v{n}: {n}")
    for n in range(9)
)
SUBMISSION = SubmissionText(design="v1 is 1")
NO = '{"verdict": "not_met", "evidence": "", "reason": "no", "alternative": false}'


class Counting(ModelAPI):
    """Says no, and knows how many calls it had at the same time; as ``hang`` it never answers."""

    now = most = 0

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        if self.model_name == "hang":
            await asyncio.sleep(3600)
        Counting.now += 1
        Counting.most = max(Counting.most, Counting.now)
        for _ in range(20):
            await asyncio.sleep(0)
        Counting.now -= 1
        return ModelOutput.from_content(self.model_name, NO)


@modelapi(name="counting")
def counting() -> type[ModelAPI]:
    return Counting


@pytest.mark.parametrize("concurrency", [1, 3])
def test_so_many_calls_about_one_submission_run_together(concurrency: int) -> None:
    Counting.now = Counting.most = 0
    judge = make_judge(Judging(judges=("counting/x",), concurrency=concurrency))
    judgement = asyncio.run(judge.judge(ITEMS, SUBMISSION, TASK))
    assert {verdict.state for verdict in judgement.verdicts} == {"not_met"}
    assert Counting.most == concurrency


@pytest.mark.parametrize("protocol", ["itemised", "paper"])
def test_a_call_without_an_answer_is_given_up(protocol: str) -> None:
    """R48: with the seconds in the reason, and unscored."""
    judging = Judging.model_validate(
        {"judges": ["counting/hang"], "protocol": protocol, "deadline": 1}
    )
    judgement = asyncio.run(make_judge(judging).judge(ITEMS[:1], SUBMISSION, TASK))
    reasons = [each.reason for each in (*judgement.verdicts, *judgement.marks)]
    assert len(reasons) == 1 and "no answer within 1 s" in reasons[0]


def test_the_pace_is_recorded_but_makes_no_other_judge() -> None:
    quick = Judging(judges=("counting/x",), concurrency=2, deadline=30)
    slow = Judging(judges=("counting/x",))
    assert quick != slow and quick.label == slow.label
    assert slow.at_pace_of(quick) == quick
    assert Judging.model_validate_json('{"judges": ["baseline"]}').concurrency == 8


@pytest.mark.parametrize(("concurrency", "deadline"), [(0, 600.0), (8, 0.5), (8, float("nan"))])
def test_a_pace_that_is_none_is_refused(concurrency: int, deadline: float) -> None:
    with pytest.raises(ValidationError):
        Judging(concurrency=concurrency, deadline=deadline)
    with pytest.raises(UserError, match="--judge-deadline"):
        judging_choice(None, "itemised", 1, 1, concurrency, deadline)


@pytest.mark.parametrize("command", ["run", "judge", "judge-eval"])
@pytest.mark.parametrize("option", [("--judge-concurrency", "0"), ("--judge-deadline", "0")])
def test_the_commands_have_both_options(
    command: str, option: tuple[str, str], tmp_path: Path
) -> None:
    arguments = [command, *([str(tmp_path)] if command == "judge" else []), *option]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2 and "Invalid value" in done.stderr and option[0] in done.stderr
