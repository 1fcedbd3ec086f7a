"""What stands behind a report's numbers: rules, epochs, thresholds, spreads, effort, quotations."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from test_report import (
    HOSTILE,
    Page,
    grouped_run,
    large_run,
    make_outcome,
    make_run,
    make_submission,
    make_task,
    written,
)
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.ledger import Request, Tokens
from expbench.metrics import details, share_interval, summarise
from expbench.published import NOTE, published
from expbench.report import Correction, ReportInput, spent_by_stage
from expbench.report.curves import HEIGHT, curve_figure
from expbench.report.effort import effort_line, efforts
from expbench.report.groups import groupings
from expbench.report.quoting import Quoted, quoted
from expbench.report.spread import BINS, spreads
from expbench.report.text import Cut, fair_limit, percent
from expbench.schema import (
    Blob,
    Execution,
    GroundedClaim,
    Grounding,
    MadeFile,
    Outcome,
    ReportedClaim,
    Usage,
)

SECTION = r'<section id="{}".*?</section>'


def section(html: str, name: str) -> str:
    found = re.search(SECTION.format(name), html, re.S)
    assert found is not None
    return found[0]


def rows_of(markdown: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its two head lines."""
    below = markdown.split(f"\n## {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", below, re.M)
    assert table is not None
    return [line.strip("|").split("|") for line in table[0].splitlines()[2:]]


# --- thresholds ----------------------------------------------------------------------------------


def test_a_threshold_moves_every_output(tmp_path: Path) -> None:
    task = make_task()
    run = make_run((task, make_outcome(task, (1.0, 0.8, 0.7, 1.0, 1.0))))
    _, strict, rows = written(run, tmp_path / "strict")
    html, mild, mild_rows = written(replace(run, threshold=0.7), tmp_path / "mild")
    assert "| All | M, D, I and C | 0.0 %" in strict
    assert "| All | M, D, I and C | 100.0 %" in mild
    assert (rows[0]["all"], mild_rows[0]["all"]) == ("0.0", "1.0")
    assert "A score is fully right from 70 % on." in mild
    assert "a score is fully right from 70 % on" in Page(html).text
    cells = [s for s in Page(html).named("span") if s.get("class") == "mark full"]
    assert len(cells) > len([s for s in Page(html).named("span") if s.get("class") == "mark part"])


@pytest.mark.parametrize("threshold", ["0", "1.5", "-1", "nan"])
def test_a_threshold_that_is_no_share_is_refused(threshold: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--threshold", threshold])
    assert done.exit_code == 2
    assert "--threshold is a share above 0 and up to 1" in done.output


def test_the_curve_is_drawn_to_scale_and_its_table_has_every_share(tmp_path: Path) -> None:
    run = large_run()
    found = details(run.outcomes).curves
    figure = curve_figure(found, 0.9)
    assert {row.label for row in figure.rows} == {curve.label for curve in found}
    assert len(figure.lines) == 6 and figure.at == pytest.approx(0.8 * 420)
    by_label = {curve.label: curve for curve in found}
    for line in figure.lines:
        values = [point.value or 0.0 for point in by_label[line.label].points]
        assert [HEIGHT - y for _, y in line.points] == pytest.approx([HEIGHT * v for v in values])
    heights = sorted(line.text_y for line in figure.lines)
    assert all(b - a >= 17.9 for a, b in pairwise(heights))
    assert heights[0] >= 0 and heights[-1] <= HEIGHT
    html, markdown, _ = written(run, tmp_path)
    assert section(html, "threshold").count("<polyline") == 6
    cells = rows_of(markdown, "How much hangs on “fully right”")
    assert [row[0].strip() for row in cells] == [curve.label for curve in found]
    assert f" {percent(found[0].points[0].value)} (" in cells[0][1]


# --- spreads -------------------------------------------------------------------------------------


def scored(*values: float | None) -> list[Outcome]:
    tasks = [make_task(f"mini/p/{n}") for n in range(len(values))]
    return [make_outcome(t, (1.0, v, 1.0, 1.0, 1.0)) for t, v in zip(tasks, values, strict=True)]


def test_every_scored_attempt_is_in_one_step_of_the_spread() -> None:
    design, _ = spreads(scored(0.0, 0.1, 0.1 + 0.2, 0.31, 0.99, 1.0, 1.0, None))
    counts = {column.step: column.count for column in design.columns if column.count}
    assert counts == {
        "0 %": 1,
        "0 – 10 %": 1,
        "20 – 30 %": 1,
        "30 – 40 %": 1,
        "90 – 100 %": 1,
        "100 %": 2,
    }
    assert (design.scored, design.unscored) == (7, 1)
    heights = {column.step: column.height for column in design.columns}
    assert heights["100 %"] == 2 * heights["0 %"] and heights["10 – 20 %"] == 0


def test_a_spread_has_its_table(tmp_path: Path) -> None:
    html, markdown, _ = written(large_run(), tmp_path)
    part = section(html, "spread")
    assert part.count("<svg") == 2 and part.count('<tr><th scope="row">') == len(BINS) + 1
    rows = rows_of(markdown, "How D and I are spread")
    assert sum(int(row[1]) for row in rows) == 60


# --- rules, epochs, the publication --------------------------------------------------------------


def test_every_metric_stands_by_every_rule_with_icc(tmp_path: Path) -> None:
    run = large_run()
    html, markdown, _ = written(run, tmp_path)
    rows = rows_of(markdown, "By every rule of what a metric is of")
    summary = summarise(run.planned, run.outcomes)
    assert len(rows) == len(summary.metrics) + len(summary.collapse) - 1
    planned = next(
        each
        for each in details(run.outcomes).denominators
        if (each.key, each.over) == ("all", "planned")
    )
    (row,) = [row for row in rows if row[0].strip() == "All"]
    assert f"{percent(planned.value)} ({planned.successes} of 60;" in row[1]
    assert [cell.count("\\*") for cell in row[1:5]] == [0, 1, 0, 0]
    assert planned.icc is not None and row[5].strip() == f"{summary.metric('all').icc:.2f}"
    assert "By every rule of what a metric is of" in section(html, "scores")


def test_several_epochs_are_shown_as_pass_at_k(tmp_path: Path) -> None:
    task, other = make_task("mini/a/0"), make_task("mini/b/0")
    wrong = (1.0, 0.0, 1.0, 1.0, 1.0)
    once = make_run((task, make_outcome(task)))
    run = make_run(
        (task, make_outcome(task)),
        (task, make_outcome(task, wrong, epoch=2)),
        (other, make_outcome(other)),
        (other, make_outcome(other, epoch=2)),
    )
    html, markdown, _ = written(run, tmp_path / "twice")
    rows = {row[0].strip(): row for row in rows_of(markdown, "Several attempts at a task")}
    assert rows["All"][1].strip() == "75.0 % (2 tasks)"
    assert rows["All"][2].strip() == "100.0 % / 50.0 % (2 tasks)"
    assert "pass@2 / pass^2" in Page(html).text
    assert "Several attempts" not in written(once, tmp_path / "once")[1]


def test_the_question_stands_once_for_all_epochs(tmp_path: Path) -> None:
    task = make_task()
    run = make_run(*((task, make_outcome(task, epoch=epoch)) for epoch in (1, 2, 3)))
    html, _, _ = written(run, tmp_path)
    assert html.count(task.question) == 1
    assert html.count('<a href="#a1">first attempt</a>') == 2


def test_published_numbers_never_stand_without_what_they_are_not(tmp_path: Path) -> None:
    run = grouped_run()
    html, markdown, _ = written(run, tmp_path)
    (part,) = re.findall(r'<details class="more" id="published">.*?</details>', html, re.S)
    text = Page(part).text
    assert text.count(NOTE) == 2, "in the line that opens it, and beside the table"
    for row in published().overall:
        assert f"{row.agent} with {row.model}" in text
    assert "0.5 % 2 of 420 0.1 – 1.7 %" in text
    assert "this run" in text and "33.3 % 1 of 3" in text
    assert NOTE in markdown
    rows = rows_of(markdown, "Beside the publication's numbers")
    assert rows[0][2].strip() == "this run"
    assert rows[1][9].strip() == "0.5 % (2 of 420; 0.1 – 1.7 %)"
    assert rows[1][3].strip() == "18.4 %", "a mean has no count, and no interval is made up for it"


def test_tasks_of_the_release_are_grouped_by_tier_and_those_of_mini_are_not() -> None:
    run = grouped_run()
    assert "tier" not in [grouping.title for grouping in groupings(run)]
    tasks = {
        name: task.model_copy(update={"venue": "iclr2024", "type": kind})
        for (name, task), kind in zip(run.tasks.items(), (1, 3, 3), strict=True)
    }
    (tiers,) = [g for g in groupings(replace(run, tasks=tasks)) if g.title == "tier"]
    assert {group.name: group.tasks for group in tiers.groups}["no-setup"] == 2


def test_scores_without_the_judges_errors_are_a_line_beside_the_scores(tmp_path: Path) -> None:
    corrected = Correction(
        key="design",
        label="D",
        attempts=9,
        reported=0.45,
        value=0.5,
        interval=share_interval([0.0, 1.0], ["a", "b"]),
        judged_on="shipped",
    )
    html, markdown, _ = written(replace(large_run(6), corrected=(corrected,)), tmp_path)
    said = "D without the judge's errors on set shipped: about 50.0 %"
    assert said in Page(section(html, "scores")).text
    assert said in markdown


# --- time and cost -------------------------------------------------------------------------------


def request(stage: str, dollars: float | None, **more: object) -> Request:
    return Request.model_validate(
        {
            "stage": stage,
            "task": "mini/a/0",
            "epoch": 1,
            "model": "m",
            "tokens": Tokens(input=100, output=10),
            "dollars": dollars,
            "time": "2026-01-01T00:00:00Z",
            **more,
        }
    )


def test_time_and_cost_are_of_each_part_with_median_and_total() -> None:
    outcomes = scored(1.0, 1.0, 0.0)
    outcomes = [
        each.model_copy(
            update={
                "agent_seconds": time,
                "agent_usage": Usage(input_tokens=100, output_tokens=10, calls=1, dollars=cost),
            }
        )
        for each, time, cost in zip(outcomes, (10.0, 20.0, 60.0), (0.1, 0.2, 0.6), strict=True)
    ]
    # The ledger has a fourth call of the agent: of a try that failed.
    ledger = [request("agent", each) for each in (0.1, 0.2, 0.6, 0.7)]
    ledger += [request("judge", 0.01), request("judge", None, error="no answer")]
    rows = efforts(outcomes, spent_by_stage(ledger))
    by_name = {row.name: row for row in rows}
    agent = by_name["Agent"]
    assert (agent.median_time, agent.total_time) == ("20.0 s", "90.0 s")
    assert (agent.calls, agent.median_dollars, agent.total_dollars) == (4, "$0.2000", "$1.60")
    assert by_name["Judge"].calls == 1
    assert by_name["All models"].total_dollars == "$1.61"
    assert by_name["Re-run of the script"].median_time == "5.3 s"
    assert effort_line(rows).endswith("5 calls of models cost $1.61.")


def test_an_unknown_price_is_said_to_be_unknown(tmp_path: Path) -> None:
    run = large_run(6)
    html, markdown, _ = written(run, tmp_path)
    assert "not known" in rows_of(markdown, "Time and cost")[0][7]
    assert "calls of models have no known price." in Page(html).text


# --- quotations in their place -------------------------------------------------------------------

DIFF = """diff --git a/x.py b/x.py
+++ b/x.py
@@ -1,3 +1,4 @@
 import numpy
-seed = 1
+seed = 7
+model  =  fit(
+    window=60,
+)
"""


def marked(text: Quoted) -> dict[str, str]:
    """What is marked for each item."""
    found: dict[str, str] = {}
    for _, pieces in text.blocks:
        for piece in pieces:
            for name in piece.names:
                found[name] = found.get(name, "") + piece.text
    assert "".join(p.text for _, pieces in text.blocks for p in pieces) == text.text
    return found


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ("+seed = 7", "+seed = 7"),
        ("seed = 7", "seed = 7"),
        ("model = fit(\n    window=60,", "model  =  fit(\n+    window=60,"),
        ("model = fit( window=60, )", "model  =  fit(\n+    window=60,\n+)"),
        ("seed = 8", None),
        ("fit window", None),
        ("", None),
        ("+", None),
    ],
)
def test_evidence_is_found_as_it_stands_or_over_spaces_and_margins(
    evidence: str, expected: str | None
) -> None:
    assert marked(quoted(Cut(DIFF), {"I1": evidence})).get("I1") == expected


def test_quotations_that_overlap_are_all_found_with_where_they_start_and_end() -> None:
    text = quoted(Cut("one two three four"), {"D1": "one two three", "D2": "two three four"})
    assert marked(text) == {"D1": "one two three", "D2": "two three four"}
    assert [(p.text, p.starts, p.ends) for p in text.pieces] == [
        ("one ", ("D1",), ()),
        ("two three", ("D2",), ("D1",)),
        (" four", (), ("D2",)),
    ]


def test_a_search_for_evidence_that_is_nearly_there_ends_soon() -> None:
    """A hostile diff repeats the words of the evidence, but for the last."""
    text = ("a " * 60_000) + "\n+b"
    assert marked(quoted(Cut(text), {"I1": "a " * 400 + "x"})) == {}
    assert marked(quoted(Cut(text), {"I1": "a " * 400 + "b b"})) == {}


def evidence_run(evidence: str, diff: str) -> ReportInput:
    task = make_task()
    run = make_run((task, make_outcome(task, evidence=evidence)))
    submission = make_submission().model_copy(update={"diff": diff})
    return replace(run, submissions={"d1" * 32: submission})


def test_an_item_links_to_its_evidence_in_the_diff_and_back(tmp_path: Path) -> None:
    html, _, _ = written(evidence_run("seed = 7", DIFF), tmp_path)
    page = Page(html)
    links = [attrs["href"] for attrs in page.named("a")]
    assert "#a1-I1q" in links and "#a1-I1" in links
    assert "a1-I1q" in [attrs["id"] for attrs in page.named("i")]
    assert '<mark data-of="I1 I2 I3">seed = 7</mark>' in html
    assert "<del>-seed = 1\n</del><ins>+" in html


def test_hostile_evidence_is_marked_as_text(tmp_path: Path) -> None:
    """R10"""
    html, _, _ = written(evidence_run(HOSTILE, f"+{HOSTILE}\n"), tmp_path)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert len(Page(html).named("mark")) == 1
    assert len(Page(html).named("script")) == 1 and not Page(html).named("img")


def test_a_claim_links_to_its_quotation_in_the_output_at_the_line_that_it_names(
    tmp_path: Path,
) -> None:
    stdout, table = (Blob(digest=sign * 64, size=9) for sign in "ab")
    found = [("stdout:3", "loss 0.5"), ("out/t.csv#a[1]", HOSTILE), ("stdout:9", "nowhere")]
    claims = tuple(
        GroundedClaim(
            claim=ReportedClaim(text=f"claim {n}", kind="number", start=0, end=7),
            state="grounded",
            where=where,
            quote=quote,
        )
        for n, (where, quote) in enumerate(found)
    )
    task = make_task()
    outcome = make_outcome(
        task,
        execution=Execution(
            state="ran",
            exit_code=0,
            seconds=1.0,
            stdout=stdout,
            made=(MadeFile(path="out/t.csv", size=9, content=table),),
        ),
    ).model_copy(update={"grounding": Grounding(claims=claims)})
    texts = {stdout.digest: "loss 0.5\n---\nloss 0.5\n", table.digest: f"x,{HOSTILE}\n"}
    html, _, _ = written(replace(make_run((task, outcome)), outputs=texts), tmp_path)
    page = Page(html)
    assert 'loss 0.5\n---\n<i id="a1-G1q"></i><mark data-of="G1">loss 0.5</mark>' in html
    links = {attrs["href"] for attrs in page.named("a")}
    assert {"#a1-G1q", "#a1-G1", "#a1-G2q", "#a1-G2"} <= links and "#a1-G3q" not in links
    assert {"a1-G1", "a1-G2", "a1-G3"} <= {attrs.get("id") for attrs in page.named("li")}
    assert len(page.named("script")) == 1 and not page.named("img")


def test_an_attempt_links_its_trajectory(tmp_path: Path) -> None:
    task = make_task()
    run = make_run((task, make_outcome(task)))
    html, _, _ = written(run, tmp_path)
    assert "no log of the run has this attempt" in Page(html).text
    address = f'http://127.0.0.1:1/{HOSTILE}"'
    html, _, _ = written(replace(run, viewer={(task.id, 1): address}), tmp_path)
    page = Page(html)
    assert address in {attrs["href"] for attrs in page.named("a")}
    assert "expbench view 2025-11-03-mini-iterative" in page.text


# --- room ----------------------------------------------------------------------------------------


def test_room_is_shared_so_that_short_texts_stay_whole() -> None:
    assert fair_limit([10, 20, 30], room=100, most=50) == 50
    assert fair_limit([10, 1_000, 2_000], room=110, most=500) == 50
    assert fair_limit([1_000] * 4, room=400, most=500) == 100
    assert fair_limit([], room=1, most=7) == 7
