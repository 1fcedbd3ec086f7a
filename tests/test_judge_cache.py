"""Stored verdicts: an equal question is asked once, and one byte changed is another question."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model

from expbench.errors import NotFoundError
from expbench.judges import make_judge
from expbench.judges.base import NOTHING_SUBMITTED, JudgeContext, verdict_on
from expbench.judges.base import unscored as unscored_
from expbench.judges.cache import CachedJudge, Kept, VerdictFolder
from expbench.judges.making import model_member
from expbench.judges.model import ModelJudge
from expbench.paths import CachePaths
from expbench.schema import (
    Judgement,
    Judging,
    Mark,
    Phase,
    Reference,
    Repository,
    ResearchTask,
    RubricItem,
    Shown,
    SubmissionText,
    Usage,
    Verdict,
)

SUBMISSION = SubmissionText(
    design="The learning rate is 0.1.",
    conclusion="A beats B by 3 points.",
    diff="diff --git a/x.py b/x.py\n+x = 1\n",
    script="python x.py",
    changed=("x.py",),
)
TASK = ResearchTask(
    id="v/1/0",
    paper="1",
    venue="v",
    type=1,
    repository=Repository(url="https://example.org/r"),
    question="Does A beat B?",
    method="Compare them.",
    instructions="Use seed 1.",
    mask=("a.py",),
    reference=Reference(conclusion="A beats B."),
)
ITEMS = (
    RubricItem(id="design/0", phase="design", kind="constant", text="lr: 0.1"),
    RubricItem(id="design/1", phase="design", kind="constant", text="batch: 8"),
    RubricItem(
        id="implementation/0", phase="implementation", kind="requirement", text="x", code="x = 1"
    ),
    RubricItem(id="conclusion/0", phase="conclusion", kind="relation", text="A > B"),
)
FILES = {"b.py": "def b(): ...\n", "c.py": "C = 3\n"}
CONTEXT = JudgeContext(masked=("a.py",), files=tuple(FILES), read=FILES.get)
DIGEST = "d" * 64


@dataclass
class Model:
    """A judge that counts what it is asked; ``answer`` makes its verdicts."""

    answer: Callable[[RubricItem], Verdict] = lambda item: verdict_on(item, True, "0.1", "said")
    name: str = "x/model"
    prompt_digest: str = DIGEST
    asked: list[str] = field(default_factory=list)

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        self.asked += [item.id for item in items]
        return Judgement(
            judge=self.name,
            prompt_digest=self.prompt_digest,
            verdicts=tuple(map(self.answer, items)),
            usage=Usage(calls=len(items), input_tokens=10 * len(items), dollars=0.5),
        )


@dataclass
class Asking:
    """One way to ask, of which tests change one ingredient."""

    folder: Path
    model: Model = field(default_factory=Model)
    items: tuple[RubricItem, ...] = ITEMS
    submission: SubmissionText = SUBMISSION
    task: ResearchTask = TASK
    context: JudgeContext | None = CONTEXT
    shaped_by: dict[str, Any] = field(default_factory=lambda: {"config": {"temperature": 0}})
    sample: int = 0
    together: bool = False

    def ask(self) -> Judgement:
        judge = CachedJudge(
            self.model, self.folder, self.shaped_by, self.sample, together=self.together
        )
        return asyncio.run(judge.judge(self.items, self.submission, self.task, self.context))


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    """Everything asked once, and a model that has not been asked anything since."""
    first = Asking(tmp_path / "verdicts")
    judged = first.ask()
    assert first.model.asked == [item.id for item in ITEMS]
    assert (judged.cached, judged.usage.calls) == (0, 4)
    return replace(first, model=Model())


# --- equal questions -----------------------------------------------------------------------------


def test_an_equal_question_is_not_asked_again(asking: Asking) -> None:
    again = asking.ask()
    assert asking.model.asked == []
    assert again.cached == 4
    assert again.usage == Usage()
    assert [verdict.item for verdict in again.verdicts] == [item.id for item in ITEMS]
    assert all((v.state, v.evidence, v.reason) == ("met", "0.1", "said") for v in again.verdicts)
    assert (again.judge, again.prompt_digest) == ("x/model", DIGEST)


def test_only_what_is_new_is_asked_and_the_order_stays(asking: Asking) -> None:
    new = RubricItem(id="design/2", phase="design", kind="constant", text="new")
    asking.items = (ITEMS[0], new, *ITEMS[1:])
    judged = asking.ask()
    assert asking.model.asked == ["design/2"]
    assert [verdict.item for verdict in judged.verdicts] == [item.id for item in asking.items]
    assert (judged.cached, judged.usage.calls) == (4, 1)


# --- one byte changed (R44) ----------------------------------------------------------------------

DESIGN = ["design/0", "design/1"]
ALL = [item.id for item in ITEMS]


def changed(**fields: object) -> Callable[[Asking], None]:
    """Change fields of the asking; dotted names reach into its records."""

    def change(asking: Asking) -> None:
        for name, value in fields.items():
            first, _, second = name.partition("__")
            if second:
                record = getattr(asking, first)
                copy = (
                    replace(record, **{second: value})
                    if isinstance(record, JudgeContext | Model)
                    else record.model_copy(update={second: value})
                )
                value = copy
            setattr(asking, first, value)

    return change


def item(number: int, **fields: object) -> Callable[[Asking], None]:
    def change(asking: Asking) -> None:
        items = list(asking.items)
        items[number] = items[number].model_copy(update=fields)
        asking.items = tuple(items)

    return change


INGREDIENTS: dict[str, tuple[Callable[[Asking], None], list[str]]] = {
    "the design": (changed(submission__design="The learning rate is 0.2."), DESIGN),
    "a space in the design": (changed(submission__design="The learning rate is 0.1. "), DESIGN),
    "the conclusion": (changed(submission__conclusion="B beats A."), ["conclusion/0"]),
    "the diff": (changed(submission__diff=SUBMISSION.diff + "\n"), ["implementation/0"]),
    "the script": (changed(submission__script="python y.py"), ["implementation/0"]),
    "the changed files": (changed(submission__changed=("y.py",)), ["implementation/0"]),
    "an item's text": (item(0, text="lr: 0.2"), ["design/0"]),
    "an item's kind": (item(0, kind="independent"), ["design/0"]),
    "an item's code": (item(2, code="x = 2"), ["implementation/0"]),
    "the question": (changed(task__question="Does B beat A?"), ALL),
    "the method": (changed(task__method="Compare them!"), ALL),
    "the instructions": (changed(task__instructions="Use seed 2."), ALL),
    "the task's mask": (changed(task__mask=("z.py",)), ALL),
    "the masked files": (changed(context__masked=("a.py", "z.py")), ALL),
    "the workspace's files": (changed(context__files=("b.py",)), ALL),
    "no workspace": (changed(context=None), ALL),
    "the judge": (changed(model__name="x/other"), ALL),
    "the prompts": (changed(model__prompt_digest="e" * 64), ALL),
    "the model's settings": (changed(shaped_by={"config": {"temperature": 1}}), ALL),
    "the model's address": (changed(shaped_by={"config": {"temperature": 0}, "address": "u"}), ALL),
    "the sample": (changed(sample=1), ALL),
    "several items a call": (changed(together=True), ALL),
}


@pytest.mark.parametrize("name", INGREDIENTS)
def test_one_ingredient_changed_judges_again(asking: Asking, name: str) -> None:
    """R44: exactly the items that the ingredient shapes are asked again, and afterwards kept."""
    change, wanted = INGREDIENTS[name]
    change(asking)
    asking.model.asked.clear()
    assert asking.ask().cached == len(ITEMS) - len(wanted)
    assert asking.model.asked == wanted
    asking.model.asked.clear()
    assert asking.ask().cached == len(ITEMS)
    assert asking.model.asked == []


def test_another_version_of_the_package_judges_again(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("expbench.judges.cache.__version__", "999")
    assert asking.ask().cached == 0


def test_with_several_items_a_call_the_others_are_part_of_the_question(tmp_path: Path) -> None:
    asking = Asking(tmp_path, together=True)
    asking.ask()
    asking.model.asked.clear()
    item(1, text="batch: 9")(asking)
    asking.ask()
    assert asking.model.asked == DESIGN


def test_what_does_not_shape_a_verdict_does_not_judge_again(asking: Asking) -> None:
    asking.task = TASK.model_copy(update={"title": "A title", "flags": ("weak",)})
    asking.ask()
    assert asking.model.asked == []


# --- what is kept --------------------------------------------------------------------------------


def test_an_unscored_verdict_is_asked_again(tmp_path: Path) -> None:
    first = Asking(tmp_path, Model(lambda each: unscored_(each, "model error: Timeout")))
    assert {verdict.state for verdict in first.ask().verdicts} == {"unscored"}
    assert list(tmp_path.rglob("*.json")) == []
    again = replace(first, model=Model()).ask()
    assert ({verdict.state for verdict in again.verdicts}, again.cached) == ({"met"}, 0)


def test_a_verdict_that_is_not_met_is_kept(tmp_path: Path) -> None:
    asking = Asking(tmp_path, Model(lambda each: verdict_on(each, False, "", "no")))
    asking.ask()
    assert {(v.state, v.reason) for v in asking.ask().verdicts} == {("not_met", "no")}
    assert len(asking.model.asked) == len(ITEMS)


def test_what_was_not_handed_in_is_neither_kept_nor_counted(tmp_path: Path) -> None:
    answer = lambda each: verdict_on(each, False, "", NOTHING_SUBMITTED)  # noqa: E731
    asking = Asking(tmp_path, Model(answer), submission=SubmissionText())
    asking.ask()
    assert asking.ask().cached == 0
    assert list(tmp_path.rglob("*.json")) == []


def shown(*files: str) -> Model:
    def answer(each: RubricItem) -> Verdict:
        record = Shown(parts=("x.py@1",), of=1, files=files)
        return verdict_on(each, True, "x").model_copy(update={"shown": record})

    return Model(answer)


def with_files(**texts: str | None) -> JudgeContext:
    found = {name.replace("_py", ".py"): text for name, text in texts.items()}
    return JudgeContext(masked=("a.py",), files=("b.py", "c.py"), read=found.get)


@pytest.mark.parametrize("file", ["b.py", "b.py@120", "b.py@3:4000"])
def test_a_repository_file_that_the_judge_asked_for_is_an_ingredient(
    tmp_path: Path, file: str
) -> None:
    """R44: another file with the same name is another question, one that was not read is none."""
    asking = Asking(tmp_path, shown(file), context=with_files(b_py="one", c_py="C"))
    asking.ask()
    asking.context = with_files(b_py="one", c_py="other")
    assert asking.ask().cached == 4
    asking.context = with_files(b_py="two", c_py="C")
    assert asking.ask().cached == 0
    assert asking.ask().cached == 4


def test_a_verdict_on_a_file_that_cannot_be_compared_is_not_kept(tmp_path: Path) -> None:
    asking = Asking(tmp_path, shown("b.py", "strange"))
    asking.ask()
    assert asking.ask().cached == 0


# --- entries -------------------------------------------------------------------------------------


def damaged(text: str) -> Iterator[str]:
    entry = json.loads(text)
    yield ""
    yield text[: len(text) // 2]
    yield "null"
    yield "\0" * len(text)
    yield text.replace('"met"', '"not_met"')
    yield text.replace("said", "sane")
    yield json.dumps({**entry, "digest": "0" * 64})
    yield json.dumps({**entry, "extra": 1})
    yield json.dumps({**entry, "kept": {**entry["kept"], "format": 2}})


@pytest.mark.parametrize("number", range(9))
def test_a_damaged_entry_is_none_and_is_mended(asking: Asking, number: int) -> None:
    paths = sorted(asking.folder.rglob("*.json"))
    for path in paths:
        path.write_text(list(damaged(path.read_text()))[number])
    assert asking.ask().cached == 0
    assert asking.ask().cached == len(ITEMS)


def test_an_entry_under_anothers_name_is_none(asking: Asking) -> None:
    paths = sorted(asking.folder.rglob("*.json"))
    texts = [path.read_text() for path in paths]
    for path, text in zip(paths, [*texts[1:], texts[0]], strict=True):
        path.write_text(text)
    assert asking.ask().cached == 0


def test_an_entry_that_is_no_regular_file_is_none(asking: Asking) -> None:
    first, second, third, _ = sorted(asking.folder.rglob("*.json"))
    third.unlink()
    os.mkfifo(third)
    first.unlink()
    first.symlink_to("nowhere")
    second.unlink()
    second.mkdir()
    judged = asking.ask()
    assert judged.cached == 1
    assert all(verdict.state == "met" for verdict in judged.verdicts)


def test_a_folder_that_cannot_be_written_loses_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "verdicts").write_text("a file stands in the way")
    judged = Asking(tmp_path / "verdicts").ask()
    assert all(verdict.state == "met" for verdict in judged.verdicts)
    (warning,) = judged.warnings
    assert "could not be kept" in warning


def test_nothing_half_written_stays(asking: Asking) -> None:
    names = [path.name for path in asking.folder.rglob("*") if path.is_file()]
    assert len(names) == len(ITEMS)
    assert all(name.endswith(".json") and not name.startswith(".") for name in names)


def test_an_entry_is_what_was_put(tmp_path: Path) -> None:
    folder = VerdictFolder(tmp_path)
    kept = Kept(verdict=verdict_on(ITEMS[0], True, "0.1 \u202e \N{SNOWMAN}", 'a "reason"\n'))
    folder.put("ab" + "c" * 62, kept)
    assert folder.get("ab" + "c" * 62) == kept
    assert folder.get("ab" + "d" * 62) is None
    assert CachePaths(tmp_path).verdicts == tmp_path / "verdicts"


# --- marks ---------------------------------------------------------------------------------------


@dataclass
class Marker(Model):
    """A judge of protocol ``paper``."""

    values: dict[Phase, float | None] = field(default_factory=dict)

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        phases = dict.fromkeys(each.phase for each in items)
        self.asked += phases
        marks = tuple(Mark(phase=p, value=self.values.get(p), reason="said") for p in phases)
        return Judgement(judge=self.name, protocol="paper", marks=marks)


def test_marks_are_kept_by_phase_and_the_whole_reference_is_part_of_the_question(
    tmp_path: Path,
) -> None:
    marker = Marker(values={"design": 0.5, "implementation": None, "conclusion": 1.0})

    def ask(task: ResearchTask = TASK, items: Sequence[RubricItem] = ITEMS) -> Judgement:
        judge = CachedJudge(marker, tmp_path, {}, by_phase=True)
        marker.asked.clear()
        return asyncio.run(judge.judge(items, SUBMISSION, task, CONTEXT))

    ask()
    judged = ask()
    assert marker.asked == ["implementation"]
    assert [mark.value for mark in judged.marks] == [0.5, None, 1.0]
    assert (judged.cached, judged.protocol) == (2, "paper")
    ask(TASK.model_copy(update={"reference": Reference(conclusion="B beats A.")}))
    assert marker.asked == ["design", "implementation", "conclusion"]
    ask(items=ITEMS[1:])
    assert marker.asked == ["design", "implementation"]
    marker.values["implementation"] = 0.25
    ask()
    assert ask().cached == 3


# --- with models ---------------------------------------------------------------------------------


def reply(verdict: str = "met", evidence: str = "learning rate is 0.1") -> str:
    return json.dumps(
        {"verdict": verdict, "evidence": evidence, "reason": "r", "alternative": False}
    )


def mock(answers: Iterator[str], seen: list[GenerateConfig] | None = None) -> ModelJudge:
    def respond(
        messages: list[ChatMessage], tools: object, choice: object, config: GenerateConfig
    ) -> ModelOutput:
        if seen is not None:
            seen.append(config)
        output = ModelOutput.from_content("mockllm/model", next(answers))
        output.usage = ModelUsage(input_tokens=9, output_tokens=1)
        return output

    return ModelJudge(get_model("mockllm/model", custom_outputs=respond, memoize=False))


def test_a_model_judges_verdicts_are_kept_whole(tmp_path: Path) -> None:
    judge = CachedJudge(mock(iter([reply()])), tmp_path, {})
    first, again = (
        asyncio.run(judge.judge(ITEMS[:1], SUBMISSION, TASK, CONTEXT)) for _ in range(2)
    )
    assert first.verdicts == again.verdicts
    assert (first.usage.calls, again.usage.calls, again.cached) == (1, 0, 1)


def script(path: Path, verdict: str) -> None:
    text = reply(verdict, "learning rate" if verdict == "met" else "")
    path.write_text(json.dumps({"replies": [{"when": "", "text": text}]}))


def test_samples_are_new_questions_and_each_is_kept_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "judge.json", "met")

    def ask(samples: int) -> Judgement:
        judging = Judging(judges=("scripted/judge.json",), samples=samples)
        judge = make_judge(judging, cache=tmp_path / "verdicts")
        return asyncio.run(judge.judge(ITEMS[:2], SUBMISSION, TASK, CONTEXT))

    assert (ask(2).usage.calls, ask(2).usage.calls) == (4, 0)
    third = ask(3)
    assert (third.usage.calls, third.cached) == (2, 4)
    assert [vote.sample for vote in third.verdicts[0].votes] == [0, 1, 2]
    assert third.judge == "scripted/judge.json, 3 samples"


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "judge.json", "met")
    judge = make_judge(Judging(judges=("scripted/judge.json",), samples=2))
    for _ in range(2):
        judged = asyncio.run(judge.judge(ITEMS[:1], SUBMISSION, TASK, CONTEXT))
        assert (judged.usage.calls, judged.cached) == (2, 0)


def test_a_model_that_is_a_file_is_known_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    judging = Judging(judges=("scripted/judge.json",))
    states = []
    for verdict in ("met", "not_met", "met"):
        script(tmp_path / "judge.json", verdict)
        judge = make_judge(judging, cache=tmp_path / "verdicts")
        judged = asyncio.run(judge.judge(ITEMS[:1], SUBMISSION, TASK, CONTEXT))
        states.append((judged.verdicts[0].state, judged.cached))
    assert states == [("met", 0), ("not_met", 0), ("met", 1)]


def test_a_panel_of_models_and_baseline_with_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "a.json", "met")
    script(tmp_path / "b.json", "not_met")
    names = ("baseline", "scripted/a.json", "scripted/b.json")
    judge = make_judge(Judging(judges=names), cache=tmp_path / "verdicts")
    for cached in (0, 2):
        judged = asyncio.run(judge.judge(ITEMS[:1], SUBMISSION, TASK, CONTEXT))
        (verdict,) = judged.verdicts
        assert (verdict.state, judged.cached) == ("met", cached)
        assert [vote.judge for vote in verdict.votes] == list(names)
        assert [vote.state for vote in verdict.votes] == ["met", "met", "not_met"]


def test_judges_never_take_answers_from_inspects_own_cache(tmp_path: Path) -> None:
    """Else all samples of a model would be one answer when an evaluation caches generations."""
    seen: list[GenerateConfig] = []
    judge = mock(iter([reply()] * 2), seen)
    asyncio.run(judge.judge(ITEMS[:1], SUBMISSION, TASK))
    assert [config.cache for config in seen] == [False]
    assert [config.seed for config in seen] == [None]


def test_an_unknown_provider_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        model_member("nosuchprovider/x", Judging(judges=("nosuchprovider/x",)), tmp_path)


def test_a_panel_by_protocol_paper_marks_and_keeps_its_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, percent in (("a", 20), ("b", 60)):
        replies = [
            {"when": '"correct"', "text": json.dumps({"correct": True, "reason": "r"})},
            {"when": "", "text": json.dumps({"matched": [], "percent": percent, "reason": "r"})},
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps({"replies": replies}))
    judging = Judging(judges=("scripted/a.json", "scripted/b.json"), protocol="paper", samples=2)
    judge = make_judge(judging, cache=tmp_path / "verdicts")
    for calls, cached in ((12, 0), (0, 12)):
        judged = asyncio.run(judge.judge(ITEMS, SUBMISSION, TASK, CONTEXT))
        assert [mark.value for mark in judged.marks] == [pytest.approx(0.4)] * 2 + [1.0]
        assert (judged.usage.calls, judged.cached, judged.verdicts) == (calls, cached, ())
        assert judged.protocol == "paper"
        assert len(judged.prompt_digest) == 64
