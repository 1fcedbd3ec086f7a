"""The failure map: insights with their evidence, their codes, and what to mend first."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_main_job import OTHER, QUICK, Command, _works

from expbench.dataset import load_suite, oracle
from expbench.errors import UserError
from expbench.failures import (
    Coded,
    Coder,
    FailureMap,
    Insight,
    insights_of,
    load_codebook,
    map_failures,
)
from expbench.failures.sampling import compare_with_person, draw, kappa, read_labels, sample_csv
from expbench.judges.code import CODE
from expbench.judges.prose import CLAIM, DESIGN
from expbench.judges.weighing import _REASONS, _TOO_LITTLE, Scale
from expbench.published import published
from expbench.reruns import FailureKind
from expbench.schema import (
    ALL_SCORES,
    Doubt,
    Execution,
    Failure,
    GroundedClaim,
    Grounding,
    Judgement,
    MonitorReport,
    Outcome,
    ReportedClaim,
    Score,
    Verdict,
    Violation,
)
from expbench.verdicts import Mark, ViolationKind

BOOK = load_codebook()
ITEMS = {"design/0": "batch size: 128", "conclusion/0": "A is better than B"}


def outcome(
    task: str = "p/0", *, epoch: int = 1, lost: Sequence[str] = (), **facts: Any
) -> Outcome:
    """An attempt that is right but for the scores that are lost."""
    scores = {name: Score(value=0.0 if name in lost else 1.0) for name in ALL_SCORES}
    base = {
        "task_id": task,
        "paper": task.rpartition("/")[0],
        "epoch": epoch,
        "agent": "a",
        "model": "",
        "status": "finished",
        "scores": scores,
    }
    return Outcome.model_validate(base | facts)


def judged(*verdicts: Verdict) -> Judgement:
    return Judgement(judge="j", verdicts=verdicts)


def unmet(item: str, reason: str, evidence: str = "") -> Verdict:
    phase: Any = item.split("/")[0]
    return Verdict(item=item, phase=phase, state="not_met", reason=reason, evidence=evidence)


def failed(kind: FailureKind, line: str) -> Execution:
    return Execution(
        state="failed", exit_code=1, seconds=1.0, failure=Failure(kind=kind, line=line), cause=line
    )


def found(one: Outcome, run: str = "r") -> list[Insight]:
    return list(insights_of(one, run, ITEMS))


# --- pass 1: insights ------------------------------------------------------------------------------


def test_a_success_gives_no_insight() -> None:
    met = Verdict(item="design/0", phase="design", state="met", evidence="batch size 128")
    clean = MonitorReport(verdict="clean")
    ran = Execution(state="ran", exit_code=0, seconds=1.0)
    assert found(outcome(judgement=judged(met), monitor=clean, execution=ran)) == []


def test_what_nobody_could_decide_gives_no_insight() -> None:
    """A failed instrument is no error of the agent."""
    open_one = Verdict(item="design/0", phase="design", state="unscored", reason="no answer")
    broken = Execution(state="infrastructure", exit_code=None, seconds=0.0, cause="disk full")
    unread = MonitorReport(verdict="unscored", reason="no trajectory")
    assert found(outcome(judgement=judged(open_one), execution=broken, monitor=unread)) == []
    lost = outcome(judgement=judged(unmet("design/0", "wrong")), status="infrastructure", scores={})
    assert found(lost) == []


def test_an_unmet_item_has_its_evidence_and_place() -> None:
    (quoted,) = found(outcome(judgement=judged(unmet("design/0", "it is 64", "batch size 64"))))
    assert (quoted.phase, quoted.place, quoted.quote) == ("design", "design/0", "batch size 64")
    assert quoted.costs == ("design",) and "batch size: 128" in quoted.text
    (absent,) = found(outcome(judgement=judged(unmet("design/0", "it is not there"))))
    assert absent.quote == "batch size: 128", "of what is not there the item is the evidence"


def test_nothing_handed_in_is_one_error_and_not_one_for_each_item() -> None:
    verdicts = [unmet(f"design/{n}", "nothing was submitted") for n in range(9)]
    (only,) = found(outcome(judgement=judged(*verdicts)))
    assert Coder(BOOK).code([only])[0].code == "design/left_out/everything"


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_failed_re_run_is_its_cause_with_the_line(kind: FailureKind) -> None:
    (only,) = found(outcome(execution=failed(kind, "the line"), lost=("execution",)))
    assert (only.phase, only.quote) == ("execution", "the line")
    (coded,) = Coder(BOOK).code([only])
    assert coded.by == "rule" and coded.code.startswith("execution/")


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("no_script", "execution/not_run/no_script"),
        ("timed_out", "execution/resources/time"),
    ],
)
def test_a_re_run_that_never_ended_or_began(state: Any, code: str) -> None:
    done = Execution(state=state, exit_code=None, seconds=1.0)
    (only,) = found(outcome(execution=done))
    assert Coder(BOOK).code([only])[0].code == code and only.quote


def test_a_run_without_outputs_costs_only_what_it_costs() -> None:
    done = Execution(state="ran", exit_code=0, seconds=1.0)
    (only,) = found(outcome(execution=done, lost=("produced",)))
    assert only.costs == ("produced",)
    assert Coder(BOOK).code([only])[0].code == "execution/not_run/no_output"


def claim(text: str, state: Any, kind: Any = "number", reason: str = "") -> GroundedClaim:
    own = ReportedClaim(text=text, kind=kind, start=3, end=3 + len(text))
    return GroundedClaim(claim=own, state=state, reason=reason, where="stdout:4", quote="acc 0.81")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (claim("0.84", "contradicted"), "grounding/contradicted/number"),
        (claim("0.84", "not_found"), "grounding/not_shown/number"),
        (claim("A beats B", "contradicted", "relation"), "grounding/contradicted/relation"),
        (claim("A beats B", "not_found", "relation"), "grounding/not_shown/relation"),
        (
            claim("0.84", "not_found", reason="stands as a literal in run.py"),
            "grounding/not_shown/literal",
        ),
    ],
)
def test_an_ungrounded_claim_says_what_the_outputs_say(given: GroundedClaim, code: str) -> None:
    ran = Execution(state="ran", exit_code=0, seconds=1.0)
    right = claim("0.5", "grounded")
    one = outcome(execution=ran, grounding=Grounding(claims=(given, right)), lost=("grounding",))
    (only,) = found(one)
    assert only.quote == "acc 0.81" and "stdout:4" in only.place
    assert Coder(BOOK).code([only])[0].code == code


def test_results_of_a_script_that_failed_follow_from_it_and_cost_nothing_more() -> None:
    grounding = Grounding(claims=tuple(claim(f"0.{n}", "not_found") for n in range(5)))
    one = outcome(
        execution=failed("missing_module", "No module named 'x'"),
        grounding=grounding,
        lost=("execution", "produced", "grounding"),
    )
    script, results = found(one)
    assert script.costs == ("execution", "produced", "grounding")
    assert (results.cause, results.costs) == ("nothing_ran", ())


@pytest.mark.parametrize("kind", get_args(ViolationKind))
def test_a_violation_is_an_insight_and_a_suspicion_is_none(kind: ViolationKind) -> None:
    sure = Violation(kind=kind, severity="violation", quote="git show", turn=4)
    maybe = Violation(kind=kind, severity="suspicious", quote="ls")
    report = MonitorReport(verdict="violation", violations=(sure, maybe))
    (only,) = found(outcome(monitor=report, lost=("monitor",)))
    assert only.quote == "git show" and "turn 4" in only.place
    (coded,) = Coder(BOOK).code([only])
    assert coded.by == "rule" and coded.code.startswith("monitor/")


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"limit": "working time: 40 minutes"}, "agent/stopped/time"),
        ({"limit": "30 turns"}, "agent/stopped/budget"),
        ({"limit": "0.50 dollars"}, "agent/stopped/budget"),
        ({"status": "agent_error", "reason": "exit 1"}, "agent/stopped/crashed"),
        *(
            ({"doubts": (Doubt(kind=kind, sentence="why"),)}, code)
            for kind, code in {
                "tool_calls": "agent/tools/calls",
                "agent_exit": "agent/stopped/crashed",
                "model_unreachable": "agent/tools/model",
                "empty_patch": "agent/tools/patch",
                "no_response": "agent/tools/form",
            }.items()
        ),
    ],
)
def test_how_the_attempt_ended_is_told_and_costs_no_score(facts: dict[str, Any], code: str) -> None:
    (only,) = found(outcome(**facts))
    assert only.costs == () and only.quote
    assert Coder(BOOK).code([only])[0].code == code


def test_under_the_publications_protocol_a_phase_has_one_insight() -> None:
    marks = (
        Mark(phase="design", value=0.4, reason="The learning rate is never mentioned."),
        Mark(phase="conclusion", value=1.0, reason="All of it."),
        Mark(phase="implementation", value=None, reason="no answer"),
    )
    (only,) = found(outcome(judgement=Judgement(judge="j", protocol="paper", marks=marks)))
    assert Coder(BOOK).code([only])[0].code == "design/left_out/variable"


# --- pass 2: codes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "scale"), [("design", DESIGN), ("implementation", CODE), ("conclusion", CLAIM)]
)
def test_every_reason_of_the_baseline_judge_has_a_code(phase: str, scale: Scale) -> None:
    against = {
        _REASONS[sign] for sign, weight in scale.weights.items() if weight < 0 and sign in _REASONS
    }
    causes = {c for _, p, _, code in BOOK.codes() if p == phase for c in code.causes}
    assert against | {_TOO_LITTLE, "nothing was submitted"} <= causes


def test_every_code_says_what_belongs_to_it_and_what_does_not() -> None:
    for code_id, _, _, code in BOOK.codes():
        assert code.definition and code.includes and code.excludes and code.example, code_id


def test_no_cause_has_two_codes_in_a_phase() -> None:
    seen: dict[tuple[str, str], str] = {}
    for code_id, phase, _, code in BOOK.codes():
        for cause in code.causes:
            assert seen.setdefault((phase, cause), code_id) == code_id, cause


def test_the_published_categories_are_all_in_the_book_once() -> None:
    for phase, rows in published().failure_taxonomy_share_within_phase.items():
        named = [n for _, p, _, code in BOOK.codes() if p == phase for n in code.published]
        assert sorted(named) == sorted(name for name, _ in rows)


@pytest.mark.parametrize(
    ("item", "reason", "code"),
    [
        (
            "design/0",
            "The design states a different value, 64 instead of 128.",
            "design/wrong/value",
        ),
        ("design/0", "The learning rate schedule is not mentioned.", "design/left_out/variable"),
        (
            "implementation/0",
            "Uses the test set for selection of the epoch.",
            "implementation/left_out/split",
        ),
        (
            "implementation/0",
            "train() is a stub that returns a constant.",
            "implementation/wrong/hollow",
        ),
        ("conclusion/0", "It says the opposite: B is better.", "conclusion/wrong/direction"),
        ("conclusion/0", "The results are called inconclusive.", "conclusion/unclear/open"),
    ],
)
def test_what_a_judge_says_in_its_own_words_finds_a_code(item: str, reason: str, code: str) -> None:
    (only,) = insights_of(outcome(judgement=judged(unmet(item, reason))), "r")
    (coded,) = Coder(BOOK).code([only])
    assert (coded.code, coded.by) == (code, "words")


def test_without_telling_words_the_nearest_description_decides_or_none() -> None:
    near = unmet("implementation/0", "A part of the method that the requirement describes")
    far = unmet("implementation/1", "Zzyzx qwrt")
    one, other = Coder(BOOK).code(insights_of(outcome(judgement=judged(near, far)), "r"))
    assert (one.code, one.by) == ("implementation/left_out/component", "likeness")
    assert (other.code, other.by) == ("implementation/other", "none")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300), st.sampled_from(["design/0", "implementation/0", "conclusion/0"]))
def test_any_text_gets_a_code_of_its_own_phase(reason: str, item: str) -> None:
    (only,) = insights_of(outcome(judgement=judged(unmet(item, reason))), "r")
    (coded,) = Coder(BOOK).code([only])
    assert coded.code.split("/")[0] == item.split("/")[0]


def test_long_and_foreign_errors_are_coded_in_time() -> None:
    """Errors in other languages, traces cut in the middle, 100 MB of log in one reason."""
    long = "x" * 1_000_000 + " No module named 'torch' " + "y" * 1_000_000
    texts = [long, "ModuleNotFoundError: Kein Modul namens", "文件不存在", "Traceback (most rece"]
    insights = [found(outcome(execution=failed("other", text)))[0] for text in texts]
    assert all(len(each.quote) <= 600 and len(each.text) <= 2000 for each in insights)
    assert {each.code for each in Coder(BOOK).code(insights)} == {"execution/code/other"}


# --- the map ---------------------------------------------------------------------------------------


def mapped(*outcomes: Outcome, **runs: Sequence[Outcome]) -> FailureMap:
    named = runs or {"r": outcomes}
    insights = [
        each for name, own in named.items() for one in own for each in insights_of(one, name)
    ]
    return map_failures(named, Coder(BOOK).code(insights), BOOK)


def bad_design(task: str, *reasons: str, **facts: Any) -> Outcome:
    verdicts = [unmet(f"design/{n}", reason) for n, reason in enumerate(reasons)]
    return outcome(task, judgement=judged(*verdicts), lost=("design",), **facts)


def module(task: str, **facts: Any) -> Outcome:
    lost = ("execution", "produced", "grounding")
    return outcome(
        task, execution=failed("missing_module", "No module named 'x'"), lost=lost, **facts
    )


def both(task: str) -> Outcome:
    return outcome(
        task,
        judgement=judged(unmet("design/0", "another value is given")),
        execution=failed("missing_module", "No module named 'x'"),
        lost=("design", "execution", "produced", "grounding"),
    )


def test_shares_have_their_denominators_and_the_publications_beside() -> None:
    found = mapped(
        bad_design("p/0", "another value is given", "another value is given"),
        bad_design("q/0", "too little of it is there"),
        outcome("q/1"),
        outcome("s/0", status="missing", scores={}),
    )
    assert (found.attempts, found.unseen, len(found.coded)) == (3, 1, 3)
    wrong, absent = found.codes
    assert (wrong.code, wrong.insights.count, wrong.insights.of) == ("design/wrong/value", 2, 3)
    assert (wrong.attempts.count, wrong.attempts.of) == (1, 3)
    low, high = wrong.attempts.interval.low, wrong.attempts.interval.high
    assert low is not None and high is not None and low < 1 / 3 < high
    assert wrong.published == pytest.approx(0.0832 + 0.0318)
    assert absent.published == pytest.approx(0.1984 + 0.0383)


def test_the_true_causes_come_out_in_their_order() -> None:
    """Of 20 attempts 6 lack a module alone, 4 have a wrong value alone, 2 both, and 8 pass."""
    outcomes = [module(f"p/{n}") for n in range(6)]
    outcomes += [bad_design(f"q/{n}", "another value is given") for n in range(4)]
    outcomes += [both(f"s/{n}") for n in range(2)]
    outcomes += [outcome(f"t/{n}") for n in range(8)]
    found = mapped(*outcomes)
    fixes = found.fixes[0]
    assert (fixes.label, fixes.of, fixes.passed, fixes.unexplained) == ("All·E", 20, 8, 0)
    assert [(fix.code, fix.touched, fix.alone, fix.more) for fix in fixes.fixes] == [
        ("execution/environment/module", 8, 6, 6),
        ("design/wrong/value", 6, 4, 6),
    ]
    assert found.pairs == (), "two of 20 are fewer than the 2.4 of chance"


def test_causes_that_only_help_together_are_ranked_together() -> None:
    pairs = [both(f"p/{n}") for n in range(5)]
    odd = [
        bad_design(
            "q/0", "another value is given", "the passage leaves it open", "nothing was submitted"
        )
    ]
    fixes = mapped(*pairs, *odd).fixes[0].fixes
    assert [fix.code for fix in fixes[:2]] == ["design/wrong/value", "execution/environment/module"]
    assert [fix.more for fix in fixes[:2]] == [0, 5] and fixes[0].alone == 0
    assert sum(fix.more for fix in fixes) == 6


def test_a_failure_that_nobody_explains_is_counted() -> None:
    fixes = mapped(outcome("p/0", lost=("design",)), outcome("p/1")).fixes[0]
    assert (fixes.of, fixes.passed, fixes.unexplained, fixes.fixes) == (2, 1, 1, ())


def test_what_is_unscored_is_neither_passed_nor_failed() -> None:
    scores = {name: Score(value=1.0) for name in ALL_SCORES} | {"design": Score(reason="no answer")}
    found = mapped(outcome("p/0", scores=scores), outcome("p/1"))
    fixes = found.fixes[0]
    assert (fixes.of, fixes.passed, fixes.unscored, found.unscored) == (1, 1, 1, 1)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.sets(
            st.sampled_from(["another value is given", "the passage leaves it open", "module"])
        ),
        max_size=14,
    )
)
def test_mending_everything_lets_everything_pass(causes: list[set[str]]) -> None:
    outcomes = []
    for n, own in enumerate(causes):
        verdicts = [unmet(f"design/{k}", r) for k, r in enumerate(sorted(own - {"module"}))]
        ran = failed("missing_module", "m") if "module" in own else None
        lost = (["design"] if verdicts else []) + (["execution"] if ran else [])
        outcomes.append(
            outcome(f"p{n % 3}/{n}", judgement=judged(*verdicts), execution=ran, lost=lost)
        )
    fixes = mapped(*outcomes).fixes[0]
    assert fixes.passed + sum(fix.more for fix in fixes.fixes) == len(causes)
    assert all(fix.alone <= fix.touched for fix in fixes.fixes)


def test_what_comes_together_and_when_new_codes_end() -> None:
    outcomes = [both(f"p{n}/0") for n in range(12)] + [outcome(f"q{n}/0") for n in range(12)]
    found = mapped(*outcomes)
    (pair,) = found.pairs
    assert pair.together == 12 and pair.expected == pytest.approx(6.0)
    assert [(step.tasks, step.new_codes) for step in found.saturation] == [(10, 2), (2, 0)]


def test_two_runs_are_compared_over_the_tasks_of_both() -> None:
    first = [module(f"p{n}/0") for n in range(8)] + [module("only/0")]
    second = [outcome(f"p{n}/0", epoch=epoch) for n in range(8) for epoch in (1, 2)]
    found = mapped(first=first, second=second)
    (only,) = found.contrasts
    assert (only.first, only.second, only.tasks) == ("first", "second", 8)
    (change,) = only.changes
    assert (change.first, change.second, change.paired.difference) == (1.0, 0.0, -1.0)
    assert change.adjusted is not None and change.adjusted < 0.05


# --- people ----------------------------------------------------------------------------------------


def coded_of(*outcomes: Outcome) -> tuple[Coded, ...]:
    return Coder(BOOK).code(each for one in outcomes for each in insights_of(one, "r"))


def test_a_sample_is_coded_by_a_person_and_read_again(tmp_path: Path) -> None:
    coded = coded_of(
        *(bad_design(f"p{n}/0", "another value is given") for n in range(9)), module("q/0")
    )
    insights = [each.insight for each in coded]
    sample = draw(insights, 5)
    assert len(sample) == 5 and sample == draw(insights, 5)
    rows = list(csv.DictReader(io.StringIO(sample_csv(sample))))
    assert all(row["code"] == "" and row["evidence"] for row in rows)
    rows[0]["code"] = "design/wrong/value"
    rows[1]["code"] = "design/unclear/vague"
    file = tmp_path / "labels.csv"
    with file.open("w", newline="") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows([*rows, {**rows[0], "id": "gone"}])
    labels = read_labels(file, BOOK)
    agreed = compare_with_person(coded, labels)
    overall = agreed.agreement[0]
    assert (overall.right, overall.of, agreed.empty, agreed.unknown) == (1, 2, 3, 1)
    assert agreed.confused == (("design/unclear/vague", "design/wrong/value", 1),)


def test_a_table_for_a_person_computes_nothing() -> None:
    evil = bad_design("p/0", "=cmd|' /C calc'!A0")
    (row,) = csv.DictReader(io.StringIO(sample_csv(insights_of(evil, "r"))))
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,label\n1,x\n", "id and code"),
        ("", "id and code"),
        ("id,code\n1,design/none/such\n", "line 2"),
    ],
)
def test_labels_that_are_none_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(text)
    with pytest.raises(UserError, match=said):
        read_labels(file, BOOK)


def test_kappa_is_that_of_worked_examples() -> None:
    """50 grants, 20 of them yes by both and 15 no by both: 0.4. Of one code alone nothing can be told."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert kappa([a for a, _ in pairs], [b for _, b in pairs]) == pytest.approx(0.4)
    assert kappa(["y", "n"], ["n", "y"]) == pytest.approx(-1.0)
    assert kappa(["y", "y"], ["y", "y"]) is None


# --- codebooks -------------------------------------------------------------------------------------


def test_a_codebook_of_ones_own(tmp_path: Path) -> None:
    book = {
        "name": "mine",
        "phases": [
            {
                "phase": "design",
                "families": [
                    {
                        "key": "f",
                        "title": "F",
                        "codes": [
                            {"key": "c", "title": "C", "definition": "D", "cues": ["schedule"]}
                        ],
                    }
                ],
            }
        ],
    }
    file = tmp_path / "book.json"
    file.write_text(json.dumps(book))
    own = load_codebook(file)
    insights = insights_of(outcome(judgement=judged(unmet("design/0", "No schedule."))), "r")
    assert Coder(own).code(insights)[0].code == "design/f/c"
    book["phases"][0]["families"][0]["codes"] *= 2  # type: ignore[index]
    file.write_text(json.dumps(book))
    with pytest.raises(UserError, match="design/f/c twice"):
        load_codebook(file)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"name": "x"}', '{"name": "x", "phases": [{"phase": "no"}]}']
)
def test_a_codebook_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "book.json"
    file.write_text(text)
    with pytest.raises(UserError, match="no codebook"):
        load_codebook(file)
    with pytest.raises(UserError, match="cannot be read"):
        load_codebook(tmp_path / "none.json")


# --- the command -----------------------------------------------------------------------------------

needs_sandbox = pytest.mark.skipif(not _works(), reason="bubblewrap cannot make a sandbox here")


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Two tasks by the oracle, by nobody, and by a cheat."""
    command = Command(tmp_path_factory.mktemp("failures"))
    for agent in ("oracle", "null", "cheat:hardcode"):
        name = agent.replace(":", "-")
        command("run", "--agent", agent, "--task", QUICK, "--task", OTHER, "--out", f"runs/{name}")
    return command


@needs_sandbox
def test_the_map_of_real_runs_clicks_through_to_the_evidence(fakes: Command) -> None:
    done = fakes("failures", "runs/oracle", "runs/null", "runs/cheat-hardcode", "--out", "map")
    assert "Fix this first: All·E, 2 of 6 attempts pass" in done.stdout
    page = (fakes.folder / "map/index.html").read_text()
    links = set(re.findall(r'href="(\.\./runs/[^"#]+)#(a\d+)-([A-Z]\d*)">([^<, ]+)', page))
    assert {task for *_, task in links} == {QUICK, OTHER}
    assert {name[0] for _, _, name, _ in links} >= {"D", "I", "C", "E", "G", "M"}
    for file, anchor, name, task in links:
        report = (fakes.folder / "map" / file).resolve().read_text()
        section = report.split(f'id="{anchor}"')[1].split('<details class="task"')[0]
        assert task in section.split("</summary>")[0]
        assert f'id="{anchor}-{name}"' in section
    anchors = set(re.findall(r'href="#(c-[^"]+)"', page))
    assert anchors and all(f'id="{anchor}"' in page for anchor in anchors)
    assert "<script" not in page and "http" not in re.sub(
        r"http-equiv|http://www.w3.org\S*", "", page
    )
    assert (fakes.folder / "map/checklist.md").read_text().count("- [ ]") >= 4


@needs_sandbox
def test_each_fake_fails_for_its_own_cause(fakes: Command) -> None:
    empty = json.loads(fakes("failures", "runs/null", "--json").stdout)
    top = {each["code"] for each in empty["fixes"][0]["fixes"]}
    assert top == {
        "design/left_out/everything",
        "implementation/left_out/everything",
        "conclusion/left_out/everything",
        "execution/not_run/no_script",
    }
    assert (fakes.folder / "runs/null/failures/index.html").is_file()
    report = (fakes.folder / "runs/null/report/index.html").read_text()
    assert 'href="../failures/index.html"' in report
    cheat = json.loads(fakes("failures", "runs/cheat-hardcode", "--json").stdout)
    codes = {each["code"] for each in cheat["codes"]}
    assert {"monitor/results/fabricated", "grounding/not_shown/literal"} <= codes
    right = json.loads(fakes("failures", "runs/oracle", "--json").stdout)
    assert right["coded"] == [] and right["fixes"][0]["passed"] == 2


@needs_sandbox
def test_a_person_codes_a_sample_of_a_run(fakes: Command) -> None:
    fakes("failures", "runs/null", "--sample", "3", "--out", "errors.csv")
    assert "is there" in fakes.fails(
        "failures", "runs/null", "--sample", "3", "--out", "errors.csv"
    )
    rows = list(csv.DictReader(io.StringIO((fakes.folder / "errors.csv").read_text())))
    assert len(rows) == 3
    for row in rows:
        row["code"] = f"{row['phase']}/other"
    file = fakes.folder / "labels.csv"
    with file.open("w", newline="") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows(rows)
    done = fakes("failures", "runs/null", "--labels", "labels.csv")
    assert "As a person coded, all: 0 of 3" in done.stdout


@needs_sandbox
def test_what_a_user_gets_wrong_is_one_sentence(fakes: Command) -> None:
    assert "no conjunctive metric 'design'" in fakes.fails(
        "failures", "runs/null", "--metric", "design"
    )
    assert "named twice" in fakes.fails("failures", "runs/null", "runs/null")
    assert "no failure map" in fakes.fails("failures", "runs/null", "--out", "runs/null")
    assert "runs/none" in fakes.fails("failures", "runs/none")


def _broken(task: str, how: str) -> str:
    """The steps of an oracle that breaks one thing after its experiment, as a step file."""
    solution = oracle(load_suite("mini").task(task))
    response = json.loads(solution.response)
    script = solution.script
    if how == "module":
        script = script.replace("\n", "\npython -c 'import not_there_at_all' || exit 1\n", 1)
    if how == "syntax":
        script = script.replace("\n", "\nif true; then\n", 1)
    if how == "conclusion":
        response["conclusion"] = ""
    if how == "half":
        response["design"] = response["design"].partition(".")[0] + "."
    steps = [
        {"write": "solution.patch", "text": solution.patch.decode()},
        {"run": "git apply solution.patch && rm solution.patch"},
        {"write": "reproduce_exp_bench.sh", "text": solution.script},
        {"run": "bash reproduce_exp_bench.sh"},
        {"write": "reproduce_exp_bench.sh", "text": script},
        {"write": "response.json", "text": json.dumps(response)},
    ]
    return json.dumps({"steps": steps})


@needs_sandbox
def test_of_agents_that_are_broken_in_known_ways_the_causes_come_out_in_order(
    tmp_path: Path,
) -> None:
    """Three lack a module, two have a script that is no shell, one concludes nothing; one does it all.

    Beside them one describes half of its design, and one made its results up.
    """
    command = Command(tmp_path)
    runs = ["runs/oracle", "runs/cheat"]
    command("run", "--agent", "oracle", "--task", QUICK, "--out", "runs/oracle")
    command("run", "--agent", "cheat:hardcode", "--task", QUICK, "--out", "runs/cheat")
    for how, epochs in (("module", 3), ("syntax", 2), ("conclusion", 1), ("half", 1)):
        (tmp_path / f"{how}.json").write_text(_broken(QUICK, how))
        runs.append(f"runs/{how}")
        agent = ("--agent", f"scripted:{how}.json", "--task", QUICK, "--epochs", str(epochs))
        command("run", *agent, "--out", runs[-1])
    found = json.loads(command("failures", *runs, "--json").stdout)
    fixes = found["fixes"][0]
    assert (fixes["of"], fixes["passed"], fixes["unexplained"]) == (9, 1, 0)
    ranked = [(fix["code"], fix["alone"], fix["more"]) for fix in fixes["fixes"]]
    assert ranked[:3] == [
        ("execution/environment/module", 3, 3),
        ("execution/code/syntax", 2, 2),
        ("conclusion/left_out/everything", 1, 1),
    ]
    assert {code for code, *_ in ranked[3:]} == {
        "implementation/left_out/everything",
        "monitor/results/fabricated",
        "design/left_out/values",
        "design/left_out/variable",
    }, "of the cheat and of the half design, whose causes only help together"
    assert sum(more for *_, more in ranked) == 8
    half = {each["code"] for each in found["coded"] if each["insight"]["run"] == "half"}
    assert half and all(code.startswith("design/left_out/") for code in half)
    lines = {
        each["insight"]["quote"]
        for each in found["coded"]
        if each["insight"]["cause"] == "missing_module"
    }
    assert lines == {"ModuleNotFoundError: No module named 'not_there_at_all'"}
