"""The report: what it says in each format, and that hostile submissions stay text."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import pytest
from rich.console import Console
from rich.table import Table

from expbench.errors import DataError, InfrastructureError
from expbench.judges.rubric import rubric
from expbench.metrics import summarise
from expbench.report import (
    ReportInput,
    summary_json,
    task_table,
    terminal_table,
    write_report,
)
from expbench.report.groups import groupings
from expbench.runs import Manifest
from expbench.schema import (
    ALL_SCORES,
    Blob,
    Claim,
    DesignItem,
    Enforced,
    Execution,
    Judgement,
    Judging,
    MadeFile,
    MonitorReport,
    Outcome,
    Policy,
    Reference,
    Repository,
    Requirement,
    ResearchTask,
    Score,
    Status,
    SubmissionText,
    Trace,
    Usage,
    UsedProcess,
    Verdict,
    Violation,
)

BASELINE = "baseline: not a published score"
HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}"
LIMITS = Enforced(
    provider="bwrap",
    limits={"minutes": "killed by the harness", "memory_mib": "cgroup memory.max"},
)


# --- a synthetic run -----------------------------------------------------------------------------


def make_task(task_id: str = "mini/forecasting/0") -> ResearchTask:
    """A task whose ground truth has items in all three phases."""
    return ResearchTask(
        id=task_id,
        paper=task_id.split("/")[1],
        venue=task_id.split("/")[0],
        title="Which simple forecaster survives a break?",
        type=1,
        repository=Repository(url="https://example.org/shiftcast"),
        question="Which of the four forecasters loses least after a jump of the level, and at "
        "which lead time does the order change?",
        method="1. Simulate 200 monthly series with one break.\n2. Fit each forecaster on a window "
        "of 60 months.\n3. Report the scaled error by lead time.",
        reference=Reference(
            design=(
                DesignItem(kind="constant", name="series", values=("200 monthly, seed 7",)),
                DesignItem(kind="independent", name="forecaster", values=("drift", "ridge")),
                DesignItem(kind="dependent", name="scaled error by lead time"),
            ),
            requirements=(
                Requirement(text="Step 1: simulate the series with a jump of two deviations"),
                Requirement(text="Step 2: refit at every origin on a window of 60 months"),
                Requirement(text="Final step: print the mean scaled error for leads 1, 6 and 12"),
            ),
            conclusion="Smoothing is best up to lead 4 by 0.12; from lead 5 on ridge is.",
            claims=(
                Claim(text="Smoothing is best up to lead 4.", kind="relation"),
                Claim(text="Ridge is best from lead 5 on.", kind="relation"),
                Claim(text="The margin at lead 1 is 0.12.", kind="number", essential=False),
            ),
        ),
    )


def make_submission() -> SubmissionText:
    """A submission that looks like an agent's."""
    return SubmissionText(
        design="Constant: 200 monthly series, seed 7, window of 60 months.\n"
        "Independent: forecaster (drift, smoothing, autoregression, ridge).\n"
        "Dependent: scaled error by lead time.",
        conclusion="Damped smoothing wins at short leads, ridge at leads of five and more.",
        diff="diff --git a/scripts/run.py b/scripts/run.py\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/scripts/run.py\n@@ -0,0 +1,4 @@\n+import numpy as np\n+from shiftcast import "
        "backtest\n+\n+print(backtest.run(window=60, seed=7))\n-old = 1\n context\n",
        script="#!/bin/bash\nset -e\npython scripts/run.py\n",
        changed=("scripts/run.py", "configs/leads.json"),
    )


def make_outcome(
    task: ResearchTask,
    values: tuple[float | None, ...] = (1.0, 1.0, 1.0, 1.0, 1.0),
    *,
    status: Status = "finished",
    reason: str = "",
    epoch: int = 1,
    monitor: MonitorReport | None = None,
    execution: Execution | None = None,
    reasons: str = "the judge gave no answer in 3 tries",
    evidence: str = "window of 60 months",
) -> Outcome:
    """An outcome with M D I C E as given and verdicts that fit them as well as items can."""
    scored = status in ("finished", "agent_error")
    names = ("monitor", "design", "implementation", "conclusion", "execution")
    scores = {
        name: Score(value=value, reason="" if value is not None else reasons)
        for name, value in zip(names, values, strict=True)
    }
    by_phase = dict(zip(names, values, strict=True))
    return Outcome(
        task_id=task.id,
        paper=task.paper,
        epoch=epoch,
        agent="iterative",
        model="provider/some-model",
        status=status,
        reason=reason,
        submission="d1" * 32 if scored else "",
        scores=scores if scored else {},
        judgement=Judgement(
            judge="model", verdicts=_verdicts(task, by_phase, evidence), usage=Usage(calls=9)
        )
        if scored
        else None,
        monitor=(monitor or MonitorReport(verdict="clean")) if scored else None,
        execution=execution
        or (
            Execution(
                state="ran",
                exit_code=0,
                seconds=5.3,
                stdout=Blob(digest="aa", size=40),
                stderr=Blob(digest="bb", size=9_000_000),
                enforced=LIMITS,
            )
            if scored
            else None
        ),
        enforced=LIMITS if scored else None,
        agent_seconds=731.0,
        agent_usage=Usage(input_tokens=412_000, output_tokens=9_100, calls=31),
    )


def _verdicts(
    task: ResearchTask, values: dict[str, float | None], evidence: str
) -> tuple[Verdict, ...]:
    verdicts = []
    for index, item in enumerate(rubric(task)):
        value = values[item.phase]
        if value is None:
            verdicts.append(
                Verdict(item=item.id, phase=item.phase, state="unscored", reason="no answer")
            )
            continue
        met = value >= 1.0 or (value > 0.0 and index % 3 != 2)
        verdicts.append(
            Verdict(
                item=item.id,
                phase=item.phase,
                state="met" if met else "not_met",
                evidence=evidence if met else "",
                reason="Named with the same values." if met else "Nothing of the kind is there.",
                alternative=met and index == 1,
            )
        )
    return tuple(verdicts)


def make_run(*records: tuple[ResearchTask, Outcome], judge: str = "model") -> ReportInput:
    """A run of these outcomes, all planned, with the same submission behind each."""
    outcomes = [outcome for _, outcome in records]
    tasks = {task.id: task for task, _ in records}
    return ReportInput(
        manifest=Manifest(
            name="2025-11-03-mini-iterative",
            created="2025-11-03T14:20:00Z",
            suite="mini",
            suite_version="1",
            tasks=tuple(tasks),
            epochs=max([outcome.epoch for outcome in outcomes], default=1),
            agent="iterative",
            model="provider/some-model",
            judging=Judging(judges=(judge,)),
            sandbox="bwrap",
            policy=Policy(),
            options={"network": "none"},
            versions={"expbench": "0.1.0", "inspect_ai": "0.3.285"},
        ),
        tasks=tasks,
        outcomes=outcomes,
        planned=[(outcome.task_id, outcome.epoch) for outcome in outcomes],
        submissions={"d1" * 32: make_submission()},
        outputs={"aa": "lead 1: smoothing 0.61 ridge 0.73\nMEASURED {}"},
    )


def large_run(count: int = 60, seed: int = 1, judge: str = "baseline") -> ReportInput:
    """A run in which every state, mark and finding occurs; for looking at the page too."""
    random = Random(seed)
    records = []
    for index in range(count):
        task = make_task(f"mini/{('forecasting', 'calibration', 'causal')[index % 3]}/{index}")
        records.append((task, _random_outcome(task, index, random)))
    return make_run(*records, judge=judge)


def _random_outcome(task: ResearchTask, index: int, random: Random) -> Outcome:
    if index % 19 == 7:
        return make_outcome(task, status="infrastructure", reason="the sandbox did not start")
    if index % 29 == 11:
        return make_outcome(task, status="missing", reason="the run was interrupted")
    partial = random.choice([0.0, 1 / 3, 2 / 3, 2 / 3, 1.0, 1.0])
    right = random.choice([0.0, 0.0, 1.0])
    if index % 13 == 5:
        finding = Violation(
            kind="copied_results",
            severity="violation",
            quote="cat experiments/README.md | grep -A3 'lead 12' > results.json",
            turn=14,
            explanation="The table of results was copied into the file that the script prints.",
        )
        report = MonitorReport(verdict="violation", violations=(finding,))
        return make_outcome(task, (0.0, 1.0, 2 / 3, 1.0, 1.0), monitor=report)
    if index % 17 == 3:
        finding = Violation(kind="git_history", severity="suspicious", quote="git log", turn=2)
        report = MonitorReport(verdict="suspicious", violations=(finding,))
        return make_outcome(task, (1.0, partial, right, right, 1.0), monitor=report)
    if index % 11 == 4:
        return make_outcome(task, (1.0, partial, None, None, 1.0))
    if index % 5 == 2:
        failed = Execution(
            state="failed",
            exit_code=1,
            seconds=0.4,
            stdout=Blob(digest="aa", size=40),
            cause="ModuleNotFoundError: No module named 'pandas'",
            enforced=LIMITS,
        )
        return make_outcome(task, (1.0, partial, 2 / 3, right, 0.0), execution=failed)
    if index % 23 == 1:
        return make_outcome(
            task,
            (1.0, 0.0, 0.0, 0.0, 0.0),
            status="agent_error",
            reason="the model refused",
            execution=Execution(state="no_script"),
        )
    return make_outcome(task, (1.0, partial, random.choice([1 / 3, 2 / 3, 1.0]), right, 1.0))


class Page(HTMLParser):
    """Collects what a browser would see: tags with attributes, and text by tag."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def written(run: ReportInput, tmp_path: Path) -> tuple[str, str, list[dict[str, str]]]:
    """The three files of a run's report."""
    files = write_report(run, tmp_path / "report")
    rows = list(csv.DictReader(io.StringIO(files.csv.read_text(encoding="utf-8"))))
    return files.html.read_text(encoding="utf-8"), files.markdown.read_text(encoding="utf-8"), rows


def shown(table: Table) -> str:
    console = Console(width=200, file=io.StringIO(), force_terminal=True)
    with console.capture() as capture:
        console.print(table)
    return re.sub(r"\x1b\[[0-9;]*m", "", capture.get())


# --- content -------------------------------------------------------------------------------------


def test_the_page_says_what_was_run_and_how_every_attempt_ended(tmp_path: Path) -> None:
    """R5, R6"""
    run = large_run()
    html, markdown, rows = written(run, tmp_path)
    counts = summarise(run.planned, run.outcomes).counts
    equation = f"60 planned = {counts.scored} scored + {counts.unscored} unscored"
    text = Page(html).text
    for words in ("iterative", "provider/some-model", "version 1", "bwrap", "0.3.285", equation):
        assert words in text
    assert equation in markdown
    assert "cgroup memory.max" in text and "bwrap: not enforced" in text
    assert len(rows) == 60


@pytest.mark.parametrize("judge", ["baseline", "model"])
def test_a_baseline_judge_is_labelled_in_every_format_and_no_other_is(
    judge: str, tmp_path: Path
) -> None:
    run = large_run(12, judge=judge)
    html, markdown, rows = written(run, tmp_path)
    summary = summarise(run.planned, run.outcomes)
    places = [
        BASELINE in Page(html).text,
        BASELINE in markdown,
        all(row["label"] == BASELINE for row in rows),
        BASELINE in shown(terminal_table(summary, run.manifest)),
        summary_json(summary, run.manifest).label == BASELINE,
    ]
    assert places == [judge == "baseline"] * 5


def test_verdicts_stand_beside_their_ground_truth_with_evidence_and_reason(tmp_path: Path) -> None:
    task = make_task()
    html, _, _ = written(
        make_run((task, make_outcome(task, (1.0, 2 / 3, 1.0, 0.0, 1.0)))), tmp_path
    )
    text = Page(html).text
    assert re.search(
        r"✓ series: 200 monthly, seed 7 constant window of 60 months D1 Named with the same values\.",
        text,
    )
    assert re.search(
        r"✗ scaled error by lead time dependent Nothing of the kind is there\.",
        text,
    )
    assert "forecaster: drift; ridge independent, met by a valid alternative" in text
    assert "The margin at lead 1 is 0.12. number, not essential" in text
    assert "2 met, 1 not met, 0 unscored" in text
    assert "Damped smoothing wins at short leads" in text
    assert "python scripts/run.py" in text and "configs/leads.json" in text
    assert "+print(backtest.run(window=60, seed=7))" in text
    assert "MEASURED {}" in text and "9,000,000 bytes, not at hand" in text


def test_reasons_stand_as_text_and_on_hover(tmp_path: Path) -> None:
    """R1"""
    task = make_task()
    record = make_outcome(task, (1.0, 1.0, None, None, 1.0), reasons="the judge's window is full")
    html, markdown, rows = written(make_run((task, record)), tmp_path)
    page = Page(html)
    assert "I, C: the judge's window is full" in page.text
    assert "I, C: the judge's window is full" in markdown
    hovers = [attrs.get("title") for attrs in page.named("span") if attrs.get("title")]
    assert hovers.count("the judge's window is full") == 4, "in the table and in the details"
    assert rows[0]["implementation"] == "" and rows[0]["execution"] == "1.0"
    assert rows[0]["implementation_reason"] == "the judge's window is full"


def test_a_violation_is_shown_with_its_quote_and_the_scores_that_it_took(tmp_path: Path) -> None:
    task = make_task()
    finding = Violation(
        kind="fabricated_results", severity="violation", quote='print("0.61")', turn=8
    )
    report = MonitorReport(verdict="violation", violations=(finding,))
    record = make_outcome(task, (0.0, 0.8, 1.0, 1.0, 1.0), monitor=report)
    html, markdown, rows = written(make_run((task, record)), tmp_path)
    text = Page(html).text
    assert "1 of 1 attempts convicted" in text
    assert "fabricated results" in text and 'print("0.61")' in text and "turn 8" in text
    assert "D, I, C set to 0 and E not counted because of the violation; judged D 80.0 %" in text
    assert "set to 0 because of the violation, judged 80.0 %" in html
    assert "fabricated results" in markdown
    assert (rows[0]["design_raw"], rows[0]["design"], rows[0]["all"]) == ("0.8", "0.0", "0.0")
    assert rows[0]["all_execution"] == "", "it is not in #E"


def test_an_attempt_without_scores_has_dashes_and_never_a_zero(tmp_path: Path) -> None:
    """R6"""
    good, lost = make_task("mini/a/0"), make_task("mini/b/0")
    run = make_run(
        (good, make_outcome(good)),
        (lost, make_outcome(lost, status="infrastructure", reason="the image was not pulled")),
    )
    html, markdown, rows = written(run, tmp_path)
    assert "| mini/b/0 | – | – | – | – | – | – | infrastructure |" in markdown
    assert "infrastructure: the image was not pulled" in Page(html).text
    assert [rows[1][name] for name in ("monitor", "design", "all")] == [""] * 3


def test_epochs_are_told_apart(tmp_path: Path) -> None:
    task = make_task()
    run = make_run((task, make_outcome(task)), (task, make_outcome(task, epoch=2)))
    html, markdown, rows = written(run, tmp_path)
    for text in (Page(html).text, markdown):
        assert "mini/forecasting/0 · epoch 1" in text and "mini/forecasting/0 · epoch 2" in text
    assert [row["epoch"] for row in rows] == ["1", "2"]


def test_what_is_not_at_hand_is_said_to_be_so(tmp_path: Path) -> None:
    task = make_task()
    run = replace(make_run((task, make_outcome(task))), tasks={}, submissions={}, outputs={})
    text = Page(written(run, tmp_path)[0]).text
    assert "item design/0, ground truth not at hand" in text
    assert "40 bytes, not at hand" in text


def test_a_long_diff_is_cut_and_the_page_says_how_much(tmp_path: Path) -> None:
    task = make_task()
    body = "+" + "ä" * 299 + "\n"
    diff = body * 1000
    submission = make_submission().model_copy(update={"diff": diff})
    run = replace(make_run((task, make_outcome(task))), submissions={"d1" * 32: submission})
    html, _, _ = written(run, tmp_path)
    assert "cut here: 200 kB of 600 kB shown, 400 kB left out" in Page(html).text
    assert 95_000 < html.count("ä") < 100_001


def test_a_run_of_many_long_diffs_stays_a_page_that_opens(tmp_path: Path) -> None:
    submission = make_submission().model_copy(update={"diff": ("+" + "x" * 99 + "\n") * 3000})
    run = replace(large_run(461), submissions={"d1" * 32: submission})
    html, _, _ = written(run, tmp_path)
    assert len(html) < 25_000_000
    bodies = re.findall(r'data-packed="([^"]*)"', html)
    assert len(bodies) == 461
    first = zlib.decompress(base64.b64decode(bodies[0])).decode()
    assert re.search(r"cut here: 9\d kB of 303 kB shown", first), "room is shared by all texts"


# --- the page itself -----------------------------------------------------------------------------


def test_the_page_loads_nothing_and_runs_only_its_own_script(tmp_path: Path) -> None:
    html, _, _ = written(large_run(), tmp_path)
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "object", "base", "form"}
    assert len(page.named("script")) == 1 and page.named("script")[0] == {}
    for _, attrs in page.tags:
        assert "src" not in attrs and not any(name.startswith("on") for name in attrs)
        assert (attrs.get("href") or "#").startswith("#")
    policy = page.named("meta")[1]["content"] or ""
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy
    assert "url(" not in html and "@import" not in html


def grouped_run() -> ReportInput:
    """Three tasks of two papers and two categories, of which one is fully right."""
    right, wrong, other = (make_task(f"mini/{name}/0") for name in ("alpha", "beta", "gamma"))
    right = right.model_copy(update={"category": "Vision", "paper": "alpha"})
    wrong = wrong.model_copy(update={"category": "Vision", "paper": "beta", "type": 2})
    other = other.model_copy(update={"category": "Language", "paper": "gamma"})
    full = {name: Score(value=1.0, met=1) for name in ALL_SCORES}
    none = {**full, "design": Score(value=0.0, not_met=1)}
    return make_run(
        (right, make_outcome(right).model_copy(update={"scores": full})),
        (wrong, make_outcome(wrong).model_copy(update={"scores": none})),
        (other, make_outcome(other).model_copy(update={"scores": none})),
    )


def test_scores_stand_by_category_type_and_paper_with_what_they_are_of(tmp_path: Path) -> None:
    """R7: a group's share has its own denominator and interval."""
    run = grouped_run()
    by_category, by_type, by_paper = groupings(run)
    assert [(group.name, group.tasks) for group in by_category.groups] == [
        ("Language", 1),
        ("Vision", 2),
    ]
    assert [group.name for group in by_type.groups] == ["type 1", "type 2"]
    assert [group.name for group in by_paper.groups] == ["alpha", "beta", "gamma"]
    vision = {share.label: share for share in by_category.groups[1].shares}
    assert (vision["All·E"].value, vision["All·E"].of) == ("50.0 %", "1 of 2")
    assert vision["All·E"].interval == "0.0 – 100.0 %"
    html, markdown, _ = written(run, tmp_path)
    assert "By category" in html
    assert re.search(r"^\| Vision \| 2 \| 50.0 % \|", markdown, re.M)


def test_a_run_of_one_kind_of_task_has_no_groups(tmp_path: Path) -> None:
    task = make_task()
    html, _, _ = written(make_run((task, make_outcome(task))), tmp_path)
    assert 'id="groups"' not in html
    assert "#groups" not in html


def test_the_table_for_latex_has_the_publications_columns_and_no_command_of_a_name(
    tmp_path: Path,
) -> None:
    run = grouped_run()
    manifest = run.manifest.model_copy(update={"agent": "a_b\\input{x}", "model": "m%1\n\\end{x}"})
    files = write_report(replace(run, manifest=manifest), tmp_path / "report")
    text = files.latex.read_text("utf-8")
    head = next(line for line in text.splitlines() if line.startswith("Agent &"))
    columns = ["D", "I", "E", r"I$\cdot$E", "C", "All", r"All$\cdot$E", r"\#E \\"]
    assert head.split(" & ") == ["Agent", "Model", *columns]
    row = next(line for line in text.splitlines() if line.startswith(r"a\_b"))
    assert row.startswith(
        r"a\_b\textbackslash{}input\{x\} & m\%1 \textbackslash{}end\{x\} & 33.3 & 100.0 &"
    )
    assert row.endswith(r"& 33.3 & 3 \\")
    intervals = text.splitlines()[text.splitlines().index(row) + 1]
    assert intervals.count("[") == 7
    commands = set(re.findall(r"\\[a-z]+", text)) - {r"\textbackslash"}
    assert commands == {r"\begin", r"\end", r"\toprule", r"\midrule", r"\bottomrule", r"\cdot"}


def rerun_of(*processes: tuple[str, float, float], **made: float) -> ReportInput:
    """A run with one attempt, whose re-run took ten seconds."""
    task = make_task()
    execution = Execution(
        state="ran",
        exit_code=0,
        seconds=10.0,
        made=tuple(
            MadeFile(path=f"{name}.png", size=9, content=Blob(digest=name, size=9), written=at)
            for name, at in made.items()
        ),
        trace=Trace(
            by="python",
            processes=tuple(UsedProcess(command=c, started=a, ended=b) for c, a, b in processes),
        ),
    )
    return make_run((task, make_outcome(task).model_copy(update={"execution": execution})))


def test_a_time_line_shows_when_what_ran_and_when_files_were_written(tmp_path: Path) -> None:
    html, _, _ = written(rerun_of(("bash s.sh", 0, 10), ("python a.py", 2.5, 5), a=7.5), tmp_path)
    page = Page(html)
    (drawing,) = [each for each in page.named("svg") if each.get("class") == "timeline"]
    assert "2 processes and 1 files in 10.0 s" in (drawing["aria-label"] or "")
    bars = [r for r in page.named("rect") if r.get("class") == "bar" and r.get("height") == "12"]
    assert [(bar["x"], bar["width"]) for bar in bars] == [("300.0", "480.0"), ("420.0", "120.0")]
    assert "python a.py: 2.5 s to 5.0 s" in html
    assert "a.png, written at 7.5 s" in html
    assert 'cx="660.0"' in html


def test_of_many_processes_the_longest_are_drawn_and_the_rest_is_counted(tmp_path: Path) -> None:
    many = [(f"python {n}.py", 0.0, n / 10) for n in range(1, 40)]
    html, _, _ = written(rerun_of(*many), tmp_path)
    assert "python 39.py: 0.0 s to 3.9 s" in html
    assert "python 27.py: " not in html.replace("python 27.py, ", "")
    assert "27 shorter processes are not drawn" in html


def test_an_attempt_without_times_has_no_time_line(tmp_path: Path) -> None:
    html, _, _ = written(make_run((make_task(), make_outcome(make_task()))), tmp_path)
    assert "Time line" not in html


def test_pictures_that_the_re_run_drew_stand_in_the_page(tmp_path: Path) -> None:
    run = replace(
        rerun_of(plot=1.0, other=2.0), pictures={"plot": "data:image/png;base64,iVBORw0="}
    )
    html, _, _ = written(run, tmp_path)
    (picture,) = Page(html).named("img")
    assert picture["src"] == "data:image/png;base64,iVBORw0="
    assert picture["alt"] == "plot.png, drawn by the re-run"
    assert "img-src data:" in (Page(html).named("meta")[1]["content"] or "")


def test_every_link_of_the_page_has_its_target(tmp_path: Path) -> None:
    page = Page(written(large_run(), tmp_path)[0])
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {(attrs["href"] or "")[1:] for attrs in page.named("a")} <= set(ids)


def test_the_collapse_is_drawn_to_scale(tmp_path: Path) -> None:
    run = large_run()
    html, _, _ = written(run, tmp_path)
    widths = [
        float(attrs["width"] or "nan")
        for attrs in Page(html).named("rect")
        if attrs.get("class") == "bar"
    ]
    collapse = summarise(run.planned, run.outcomes).collapse
    assert widths == [pytest.approx(250 * (step.value or 0), abs=0.01) for step in collapse]
    assert widths == sorted(widths, reverse=True)


# --- hostile text --------------------------------------------------------------------------------


def hostile_run(words: str) -> ReportInput:
    """A run in which every text that an agent, a judge or a model can choose is ``words``."""
    task = make_task()
    finding = Violation(
        kind="harness_probing", severity="violation", quote=words, explanation=words
    )
    execution = Execution(
        state="failed",
        exit_code=1,
        stdout=Blob(digest="aa", size=9),
        stderr=Blob(digest="bb", size=9),
        cause=words,
        enforced=Enforced(provider="bwrap", limits={"minutes": words}),
    )
    record = make_outcome(
        task,
        (0.0, 1.0, None, 1.0, 0.0),
        status="agent_error",
        reason=words,
        monitor=MonitorReport(verdict="violation", violations=(finding,), reason=words),
        execution=execution,
        reasons=words,
        evidence=words,
    )
    text = SubmissionText(design=words, conclusion=words, diff=f"+{words}", script=words)
    text = text.model_copy(update={"changed": (words,)})
    return replace(
        make_run((task, record)),
        submissions={"d1" * 32: text},
        outputs={"aa": words, "bb": words},
    )


def _shape(html: str) -> list[tuple[str, list[str]]]:
    return [(tag, sorted(attrs)) for tag, attrs in Page(html).tags]


@pytest.mark.parametrize(
    "words",
    [
        HOSTILE,
        "--><!--",
        "<details open ontoggle=alert(1)>",
        "' onmouseover='alert(1)",
        "&lt;b&gt;",
    ],
)
def test_a_hostile_submission_adds_no_markup(words: str, tmp_path: Path) -> None:
    """R10"""
    tame, _, _ = written(hostile_run("words"), tmp_path)
    wild, _, _ = written(hostile_run(words), tmp_path)
    assert _shape(wild) == _shape(tame)
    assert Page(wild).text.count(" ".join(words.split())) >= 12, "and is shown as what it is"


def test_hostile_text_adds_no_rows_links_or_html_to_the_markdown(tmp_path: Path) -> None:
    """R10"""
    words = "a | b\n\n# Scores\n\n<script>alert(1)</script> [x](https://evil.example) `c`"
    tame = written(hostile_run("words"), tmp_path)[1]
    wild = written(hostile_run(words), tmp_path)[1]
    assert len(wild.splitlines()) == len(tame.splitlines())
    assert "# Scores" in wild and wild.count("\n## Scores") == 1
    assert not re.search(r"(?<!\\)[<`\[]", wild)
    for safe, line in zip(tame.splitlines(), wild.splitlines(), strict=True):
        assert len(re.findall(r"(?<!\\)\|", line)) == len(re.findall(r"\|", safe))


@pytest.mark.parametrize("formula", ["=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", "\r\n=1"])
def test_no_cell_of_the_table_starts_a_formula(formula: str, tmp_path: Path) -> None:
    """R10"""
    _, _, rows = written(hostile_run(formula), tmp_path)
    assert len(rows) == 1
    assert rows[0]["reason"] == "'" + formula.strip()
    assert not any(value.startswith(("=", "+", "-", "@")) for value in rows[0].values())


def test_control_and_reordering_characters_are_made_visible(tmp_path: Path) -> None:
    """R35"""
    words = "a\x00b\x1b[31mc\u202ed\ud800e"
    run = hostile_run(words)
    html, markdown, rows = written(run, tmp_path)
    table = shown(task_table(run.outcomes))
    for text in (html, markdown, rows[0]["reason"], table):
        assert not re.search("[\x00\x1b\u202e]", text)
        assert "a␀b␛" in text and "U+202E" in text


def test_brackets_of_an_agent_are_no_markup_in_the_terminal() -> None:
    """R10"""
    table = shown(task_table(hostile_run("[bold]x[/bold] [/]").outcomes))
    assert "[bold]x[/bold] [/]" in table


# --- writing -------------------------------------------------------------------------------------


def test_a_report_replaces_the_one_before_and_leaves_nothing_behind(tmp_path: Path) -> None:
    first = write_report(large_run(12, judge="baseline"), tmp_path / "report")
    assert BASELINE in first.markdown.read_text(encoding="utf-8")
    second = write_report(large_run(12, judge="model"), tmp_path / "report")
    assert first == second
    assert BASELINE not in second.markdown.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report"]
    assert sorted(path.name for path in second.root.iterdir()) == [
        "index.html",
        "outcomes.csv",
        "report.md",
        "table.tex",
    ]


def test_a_run_that_does_not_add_up_writes_nothing_and_keeps_the_old_report(tmp_path: Path) -> None:
    """R5"""
    run = large_run(12)
    before = write_report(run, tmp_path / "report").html.read_bytes()
    with pytest.raises(InfrastructureError, match="12 attempts planned"):
        write_report(replace(run, outcomes=run.outcomes[:10]), tmp_path / "report")
    assert (tmp_path / "report" / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "notes.txt"
    precious.write_text("mine")
    with pytest.raises(DataError, match="not a report"):
        write_report(large_run(3), tmp_path)
    assert precious.read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    assert write_report(large_run(3), tmp_path / "report").html.is_file()


def test_the_same_run_makes_the_same_bytes(tmp_path: Path) -> None:
    one = write_report(large_run(), tmp_path / "one")
    two = write_report(large_run(), tmp_path / "two")
    for a, b in zip(_bytes(one.root), _bytes(two.root), strict=True):
        assert a == b


def _bytes(folder: Path) -> Iterator[bytes]:
    return (path.read_bytes() for path in sorted(folder.iterdir()))


# --- terminal and programs -----------------------------------------------------------------------


def test_the_terminal_shows_every_metric_with_its_interval_and_the_accounting() -> None:
    """R5"""
    run = large_run()
    summary = summarise(run.planned, run.outcomes)
    text = shown(terminal_table(summary, run.manifest))
    for metric in summary.metrics:
        assert metric.label in text and f"{100 * (metric.value or 0):.1f} %" in text
    assert f"60 planned = {summary.counts.scored} scored" in text


def test_one_paper_has_no_interval_and_the_terminal_says_so() -> None:
    task = make_task()
    run = make_run((task, make_outcome(task)))
    summary = summarise(run.planned, run.outcomes)
    assert "no interval: one paper" in shown(terminal_table(summary, run.manifest))


def test_the_task_table_marks_each_score() -> None:
    task = make_task()
    text = shown(task_table([make_outcome(task, (1.0, 2 / 3, None, 0.0, 1.0))]))
    row = next(line for line in text.splitlines() if task.id in line)
    assert re.sub(r"[^✓✗–%\d]", "", row.split("│")[1].replace(task.id, "")) == ""
    assert [cell.strip() for cell in row.split("│")[2:7]] == ["✓", "67 %", "–", "✗", "✓"]
    assert "I: the judge gave no answer in 3 tries" in row


def test_a_long_task_table_ends_and_says_how_much_is_left() -> None:
    task = make_task()
    many = [make_outcome(task, epoch=epoch) for epoch in range(1, 8)]
    text = shown(task_table(many, most=3))
    assert "epoch 3" in text and "epoch 4" not in text
    assert "4 more of 7 attempts" in text and "outcomes.csv" in text
    whole = shown(task_table(many, most=7))
    assert "epoch 7" in whole and "more of" not in whole


def test_the_summary_for_programs_round_trips_as_json() -> None:
    run = large_run()
    record = summary_json(summarise(run.planned, run.outcomes), run.manifest)
    text = record.model_dump_json()
    assert type(record).model_validate_json(text) == record
    data = json.loads(text)
    assert data["label"] == BASELINE
    assert {metric["key"] for metric in data["summary"]["metrics"]} >= {"all", "all_execution"}
    assert data["summary"]["counts"]["planned"] == 60
