"""A run's data for other programs: tables, data frames, CSV, Parquet, and their documented schema."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from test_compare import TASKS, run_of
from typer.testing import CliRunner

import expbench
from expbench.cli.main import app
from expbench.errors import NotFoundError, PrerequisiteError
from expbench.export import TABLES, RunTables
from expbench.export.rows import ROWS
from expbench.ledger import Request, Tokens, open_ledger
from expbench.metrics import METRICS, summarise
from expbench.runs import Run, load
from expbench.schema import (
    Blob,
    Execution,
    GroundedClaim,
    Grounding,
    Judgement,
    Mark,
    MonitorReport,
    ReportedClaim,
    Verdict,
    Vote,
)

HOSTILE = '=HYPERLINK("x")\x1b[31m\u202e,"\nend'


def run_with_everything(folder: Path) -> Run:
    """A run with verdicts, a mark, claims, requests, a conviction, an unscored and missing attempts."""
    values = {(task, 1): (1.0, 0.5, 1.0, float(i % 2), 1.0) for i, task in enumerate(TASKS[:12])}
    values[TASKS[3], 1] = (1.0, None, 1.0, 1.0, None)  # type: ignore[assignment]
    run = run_of(folder, values)
    full = run.outcomes[TASKS[0], 1].model_copy(
        update={
            "judgement": Judgement(
                judge="some/judge",
                verdicts=(
                    Verdict(
                        item="design/0",
                        phase="design",
                        state="met",
                        evidence=HOSTILE,
                        votes=(Vote(judge="a", state="met"), Vote(judge="b", state="not_met")),
                    ),
                    Verdict(item="design/1", phase="design", state="unscored", reason="no answer"),
                ),
                marks=(Mark(phase="conclusion", value=0.25),),
            ),
            "grounding": Grounding(
                claims=(
                    GroundedClaim(
                        claim=ReportedClaim(
                            text="F1 is 0.7", kind="number", start=0, end=9, value=0.7, metric="F1"
                        ),
                        state="grounded",
                        where="stdout:3",
                    ),
                    GroundedClaim(
                        claim=ReportedClaim(
                            text="A beats B", kind="relation", start=9, end=18, sides=("A", "B")
                        ),
                        state="not_found",
                    ),
                )
            ),
            "execution": Execution(
                state="ran", exit_code=0, seconds=2.5, stdout=Blob(digest="d", size=1)
            ),
        }
    )
    guilty = run.outcomes[TASKS[1], 1].model_copy(
        update={"monitor": MonitorReport(verdict="violation")}
    )
    for outcome in (full, guilty):
        run.add(outcome)
    ledger = open_ledger(run.paths.ledger)
    asked = {"stage": "agent", "task": TASKS[0], "epoch": 1, "model": "m", "time": "2026-01-01"}
    tokens = Tokens(input=10, cache_read=5, output=7, reasoning=3)
    ledger.add(Request(**asked, tokens=tokens, dollars=0.25, price="p"))
    ledger.add(Request(**asked, trial=2, error="timed out", at_most=1.5))
    return load(folder)


@pytest.fixture
def tables(tmp_path: Path) -> RunTables:
    run_with_everything(tmp_path / "one")
    return expbench.load(tmp_path / "one")


def test_three_lines_give_columns_of_every_planned_attempt(tables: RunTables) -> None:
    columns = tables.outcomes.columns
    assert columns["task_id"] == list(TASKS)
    assert columns["status"] == ["finished"] * 12 + ["missing"] * 6
    assert columns["monitor_verdict"][1] == "violation"
    assert (columns["conclusion_raw"][1], columns["conclusion"][1]) == (1.0, 0.0)
    assert (columns["convicted"][1], columns["execution"][1]) == (True, None)
    assert (columns["design"][3], columns["design_reason"][3]) == (None, "no answer")
    assert (columns["execution_state"][0], columns["execution_seconds"][0]) == ("ran", 2.5)
    assert all(len(each) == len(tables.outcomes) for each in columns.values())


def test_items_claims_and_usage_are_what_the_run_recorded(tables: RunTables) -> None:
    items, claims, usage = (t.columns for t in (tables.items, tables.claims, tables.usage))
    assert items["item"] == ["design/0", "design/1", ""]
    assert items["state"] == ["met", "unscored", ""]
    assert (items["mark"], items["votes"]) == ([None, None, 0.25], [2, None, None])
    assert items["votes_met"] == [1, None, None]
    assert (claims["number"], claims["state"]) == ([1, 2], ["grounded", "not_found"])
    assert (claims["value"], claims["sides"]) == ([0.7, None], ["", "A; B"])
    assert (usage["input"], usage["output"]) == ([10, None], [7, None])
    assert (usage["dollars"], usage["at_most"]) == ([0.25, None], [None, 1.5])
    assert usage["error"] == ["", "timed out"]


def test_metrics_can_be_made_again_from_the_outcomes(tmp_path: Path) -> None:
    run = run_with_everything(tmp_path / "one")
    columns = expbench.load(tmp_path / "one").outcomes.columns
    summary = summarise(run.planned, run.ordered())
    for definition in METRICS:
        if definition.key not in columns or definition.over == "executed":
            continue
        known = [float(value) for value in columns[definition.key] if value is not None]
        metric = summary.metric(definition.key)
        assert len(known) == metric.n
        assert fmean(known) == pytest.approx(metric.value)
    checked = [
        v
        for v, e in zip(columns["all_execution"], columns["execution"], strict=True)
        if e is not None
    ]
    assert fmean(map(float, filter(lambda v: v is not None, checked))) == pytest.approx(
        summary.metric("all_execution").value
    )


def test_no_recorded_field_is_lost_for_want_of_a_column(tmp_path: Path) -> None:
    run = run_with_everything(tmp_path / "one")
    for name, rows in ROWS.items():
        found = {column for row in rows(run) for column in row}
        assert found, name
        assert found <= {column.name for column in TABLES[name]}


def test_values_have_the_types_of_their_columns(tables: RunTables) -> None:
    kinds: dict[str, Any] = {"text": str, "integer": int, "number": (int, float), "boolean": bool}
    for table in tables.every:
        for column in table.schema:
            for value in table.columns[column.name]:
                assert value is None or isinstance(value, kinds[column.type]), column
                assert not (isinstance(value, bool) and column.type != "boolean"), column


def test_csv_reads_back_and_runs_no_formula(tables: RunTables) -> None:
    rows = list(csv.DictReader(io.StringIO(tables.items.csv().decode())))
    assert [row["item"] for row in rows] == ["design/0", "design/1", ""]
    assert rows[0]["evidence"] == '\'=HYPERLINK("x")␛[31m[U+202E],"\nend'
    assert (rows[0]["alternative"], rows[2]["alternative"]) == ("false", "")
    outcomes = list(csv.DictReader(io.StringIO(tables.outcomes.csv().decode())))
    assert [row["task_id"] for row in outcomes] == list(TASKS)
    assert [row["design"] for row in outcomes[:4]] == ["0.5", "0.0", "0.5", ""]


def test_the_command_writes_four_files_and_says_how_many_rows(tmp_path: Path) -> None:
    run_with_everything(tmp_path / "one")
    words = ["export", str(tmp_path / "one"), "--out", str(tmp_path / "tables")]
    shown = CliRunner().invoke(app, [*words, "--json"])
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.output)
    assert found["rows"] == {"outcomes": 18, "items": 3, "claims": 2, "usage": 2}
    assert [Path(file).name for file in found["files"]] == [f"{name}.csv" for name in TABLES]
    assert all(Path(file).is_file() for file in found["files"])
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0
    assert "outcomes.csv: 18 rows" in again.output


def test_what_cannot_be_done_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_with_everything(tmp_path / "one")
    (tmp_path / "file").write_text("")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    for words, said in (
        (["--format", "xls"], "choose csv or parquet"),
        (["--format", "parquet"], "extra `data`"),
        (["--out", str(tmp_path / "file")], "choose another folder"),
    ):
        done = CliRunner().invoke(app, ["export", str(tmp_path / "one"), *words])
        assert (done.exit_code, len(done.output.splitlines())) == (2, 1), done.output
        assert said in done.output
    with pytest.raises(PrerequisiteError, match="pandas"):
        expbench.load(tmp_path / "one").outcomes.frame()
    with pytest.raises(NotFoundError, match="holds no run"):
        expbench.load(str(tmp_path / "nothing"))


def test_data_frames_have_types_that_can_be_missing(tables: RunTables) -> None:
    pandas = pytest.importorskip("pandas")
    frame = tables.outcomes.frame()
    assert list(frame.columns) == list(tables.outcomes.columns)
    assert (str(frame["epoch"].dtype), str(frame["design"].dtype)) == ("Int64", "Float64")
    assert frame["design"].isna().sum() == 7
    assert bool(frame["convicted"].iloc[1])
    empty = expbench.export.Table.of("usage", []).frame()
    assert isinstance(empty, pandas.DataFrame)
    assert (len(empty), str(empty["dollars"].dtype)) == (0, "Float64")


def test_parquet_reads_back_as_it_was(tables: RunTables) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for table in tables.every:
        read = parquet.read_table(io.BytesIO(table.parquet()))
        assert read.to_pydict() == table.columns
        assert read.column_names == [column.name for column in table.schema]


def test_the_page_on_data_has_every_column_with_its_type_and_meaning() -> None:
    page = (Path(__file__).parents[1] / "docs" / "data.md").read_text("utf-8")
    for name, columns in TABLES.items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", section, re.M)
        assert rows == [(c.name, c.type, c.meaning) for c in columns], name
