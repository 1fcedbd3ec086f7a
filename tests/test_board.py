"""Several runs on one page: who may be ranked with whom, every number, hostile names, and the files."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from test_compare import TASKS, run_of, steady
from typer.testing import CliRunner

from expbench.board import Contender, TaskFacts, build, record, write_board
from expbench.board.scatter import on_front, scatter
from expbench.cli.main import app
from expbench.contrast import compare
from expbench.errors import NotFoundError, UserError
from expbench.ledger import Request, Tokens, open_ledger
from expbench.metrics import METRICS, Definition, measure, seen
from expbench.published import NOTE
from expbench.runs import Run, load
from expbench.schema import Limits, MonitorReport, Outcome, Policy, Usage
from expbench.scores import load_scores
from expbench.statistics.pairs import holm

HOSTILE = "</td><script>alert(1)</script>\x1b[31m\u202e{{ 7*7 }}"
FACTS = {
    task: TaskFacts(
        task_id=task,
        paper=task.rpartition("/")[0],
        category=("vision", "language")[n % 2],
        type=(1, 2)[n % 3 == 0],
        tier=("lite", "clean")[n % 2],
    )
    for n, task in enumerate(TASKS)
}


def command(*words: str | Path, cache: Path | None = None) -> Any:
    environment = {"COLUMNS": "250", **({"XDG_CACHE_HOME": str(cache)} if cache else {})}
    return CliRunner().invoke(app, ["report", *map(str, words)], env=environment)


def costing(run: Run, dollars: float, minutes: float) -> Run:
    """The run with what every attempt took."""
    for outcome in list(run.outcomes.values()):
        usage = Usage(calls=1, input_tokens=10, output_tokens=5, dollars=dollars)
        took = {"agent_usage": usage, "agent_seconds": 60 * minutes}
        run.add(outcome.model_copy(update=took))
    return run


def three(folder: Path) -> list[Run]:
    """A weak cheap run, a good dear one, and one that is dear and weak."""
    some = {(t, 1): (1.0, 0.5, 1.0, float(i % 2), 1.0) for i, t in enumerate(TASKS)}
    all_right = {(t, 1): (1.0, 1.0, 1.0, 1.0, 1.0) for t in TASKS[:12]}
    all_right |= {(t, 1): (1.0, 1.0, 1.0, 1.0, 0.0) for t in TASKS[12:17]}
    all_right[TASKS[17], 1] = (1.0, None, 1.0, 1.0, 1.0)  # type: ignore[assignment]
    return [
        costing(run_of(folder / "cheap", some, agent="small"), 0.1, 2),
        costing(run_of(folder / "good", all_right, agent="large"), 2.0, 9),
        costing(run_of(folder / "dear", steady(), agent="old"), 5.0, 30),
    ]


def contenders(runs: list[Run]) -> list[Contender]:
    return [Contender(load_scores(run.paths.root), facts=FACTS) for run in runs]


class Texts(HTMLParser):
    """The text of a page, and every tag in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


# --- who may be ranked with whom ---------------------------------------------------------------------


def test_runs_that_were_made_alike_are_one_set_and_the_best_stands_first(tmp_path: Path) -> None:
    found = record(build(contenders(three(tmp_path))))
    (one,) = found.sets
    assert (one.runs, one.unlike) == (("good", "cheap", "dear"), ())
    assert [pair.run for pair in one.pairs] == ["good", "dear"]
    assert {pair.against for pair in one.pairs} == {"cheap"}


@pytest.mark.parametrize(
    ("more", "kind", "field"),
    [
        (
            {"policy": Policy(limits=Limits(memory_mib=4096))},
            "resources",
            "policy.limits.memory_mib",
        ),
        ({"data_version": "other"}, "data", "data_version"),
        ({"mask": "paper"}, "mask", "mask"),
        ({"tasks": TASKS[:9]}, "data", "tasks"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_was_not_alike_is_named_and_never_in_one_table(
    more: dict[str, Any], kind: str, field: str, tmp_path: Path
) -> None:
    """R32"""
    runs = three(tmp_path)
    tasks = more.get("tasks", TASKS)
    runs.append(run_of(tmp_path / "apart", steady(1.0, tasks), **more))
    board = build(contenders(runs), "best")
    first, second = record(board).sets
    assert (first.runs, second.runs) == (("good", "cheap", "dear"), ("apart",))
    assert [(each.kind, each.field) for each in second.unlike] == [(kind, field)]
    assert second.pairs == ()
    page = write_board(board, tmp_path / "board").html.read_text()
    for table in re.findall(r"<table class=\"board sortable\">.*?</table>", page, re.S):
        names = {name for name in ("good", "apart") if f'<th scope="row">{name}<' in table}
        assert len(names) == 1
    text = Texts(page).text
    assert "Not comparable with set 1." in text
    assert field in text


def test_sets_do_not_depend_on_who_comes_between(tmp_path: Path) -> None:
    odd = {"mask": "paper"}
    names = [("a", {}), ("b", odd), ("c", {}), ("d", odd)]
    runs = [run_of(tmp_path / name, steady(), **more) for name, more in names]
    assert [each.runs for each in record(build(contenders(runs))).sets] == [("a", "c"), ("b", "d")]


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / each / "same", steady(), agent=each) for each in "abc"]
    board = build(contenders(runs))
    assert [each.label for each in board.standings] == ["same", "same (2)", "same (3)"]
    files = write_board(board, tmp_path / "board")
    rows = list(csv.DictReader(files.csv.open()))
    assert {row["run"] for row in rows} == {"same", "same (2)", "same (3)"}


# --- numbers -------------------------------------------------------------------------------------------


def test_scores_are_those_of_each_run_alone(tmp_path: Path) -> None:
    runs = three(tmp_path)
    by_name = {each.label: each for each in record(build(contenders(runs))).runs}
    for run in runs:
        own = by_name[run.manifest.name].summary
        alone = {d.key: measure(d, seen(run.ordered())) for d in METRICS}
        assert {each.key: each for each in own.metrics} == alone
    good = by_name["good"].summary
    assert good.metric("design").unscored == 1
    assert good.counts.planned == 18 == good.counts.total


def test_reading_for_scores_gives_what_a_whole_reading_gives(tmp_path: Path) -> None:
    run = three(tmp_path)[1]
    convicted = run.outcomes[TASKS[0], 1].model_copy(
        update={"monitor": MonitorReport(verdict="violation")}
    )
    run.add(convicted)
    light, whole = load_scores(run.paths.root), load(run.paths.root)
    assert light.planned == whole.planned
    for one, other in zip(light.ordered(), whole.ordered(), strict=True):
        kept = {"scores", "monitor", "status", "agent_usage", "agent_seconds", "task_id", "epoch"}
        assert one.model_dump(include=kept) == other.model_dump(include=kept)
    torn = run.paths.journal
    torn.write_bytes(torn.read_bytes() + b'{"outcome":{"task_id":')
    assert load_scores(run.paths.root).ordered() == light.ordered()
    torn.write_bytes(torn.read_bytes() + b"\n")
    with pytest.raises(UserError, match=r"journal\.jsonl, line \d+ is damaged"):
        load_scores(run.paths.root)


def test_differences_are_those_of_compare_and_p_is_adjusted_for_the_whole_table(
    tmp_path: Path,
) -> None:
    runs = three(tmp_path)
    (found,) = record(build(contenders(runs))).sets
    raw = [c.paired.p for pair in found.pairs for c in pair.metrics if c.paired.p is not None]
    shown = [c.p_holm for pair in found.pairs for c in pair.metrics if c.paired.p is not None]
    assert shown == holm([p for p in raw if p is not None])
    for pair in found.pairs:
        other = next(run for run in runs if run.manifest.name == pair.run)
        alone = {c.key: c.paired for c in compare(runs[0], other).metrics}
        assert {c.key: c.paired for c in pair.metrics}.items() <= alone.items()


def test_the_reference_can_be_the_best_or_a_run_by_its_name(tmp_path: Path) -> None:
    made = contenders(three(tmp_path))
    assert record(build(made, "best")).sets[0].pairs[0].against == "good"
    assert record(build(made, "dear")).sets[0].pairs[0].against == "dear"
    with pytest.raises(NotFoundError, match="choose one of first, best, cheap, good, dear"):
        build(made, "nobody")


def test_time_and_cost_are_of_attempts_and_what_is_not_known_is_counted(tmp_path: Path) -> None:
    runs = three(tmp_path)
    unpriced = runs[0].outcomes[TASKS[0], 1].model_copy(update={"agent_usage": Usage(calls=3)})
    runs[0].add(unpriced)
    by_name = {each.label: each for each in record(build(contenders(runs))).runs}
    cheap = by_name["cheap"]
    assert (cheap.dollars.value, cheap.dollars.n, cheap.dollars.unknown) == (
        pytest.approx(0.1),
        17,
        1,
    )
    assert (cheap.minutes.value, cheap.minutes.n) == (pytest.approx(2.0), 18)


def test_spend_is_of_all_requests_by_stage(tmp_path: Path) -> None:
    runs = three(tmp_path)
    ledger = open_ledger(runs[0].paths.ledger)
    facts: dict[str, Any] = {"task": TASKS[0], "epoch": 1, "model": "m", "time": "t"}
    tokens = Tokens(input=10, cache_read=5, output=3)
    for more in (
        {"stage": "agent", "tokens": tokens, "dollars": 0.5},
        {"stage": "agent", "error": "no answer"},
        {"stage": "judge", "tokens": tokens},
    ):
        ledger.add(Request(**facts, **more))
    shown = json.loads(
        command(*(run.paths.root for run in runs), "--json", "--out", tmp_path / "b").output
    )
    agent, judge = next(each for each in shown["runs"] if each["label"] == "cheap")["spend"][
        "stages"
    ]
    assert (agent["requests"], agent["failed"], agent["dollars"], agent["unpriced"]) == (
        2,
        1,
        0.5,
        0,
    )
    assert (agent["input_tokens"], agent["output_tokens"]) == (15, 3)
    assert (judge["stage"], judge["dollars"], judge["unpriced"]) == ("judge", 0.0, 1)


def test_groups_and_tasks_are_counted_within_each_run(tmp_path: Path) -> None:
    (division,) = build(contenders(three(tmp_path))).divisions
    titles = {each.title: each for each in division.groupings}
    assert list(titles) == ["category", "type", "tier", "paper"]
    vision = titles["category"].groups[1]
    assert (vision.name, vision.tasks) == ("vision", 9)
    good = division.standings[0]
    own = [o for o in good.outcomes if FACTS[o.task_id].category == "vision"]
    design: Definition = next(d for d in METRICS if d.key == "design")
    assert vision.metrics[1][0] == measure(design, seen(own))
    row = next(each for each in division.rows if each.task_id == TASKS[17])
    design_cell = row.cells[0].passed[0]
    assert (design_cell.letter, design_cell.right, design_cell.scored) == ("D", 0, 0)
    assert row.cells[0].passed[3].right == 1


def test_the_threshold_is_one_for_all_numbers(tmp_path: Path) -> None:
    board = build(contenders(three(tmp_path)), threshold=0.5)
    (division,) = board.divisions
    cheap = next(each for each in division.standings if each.label == "cheap")
    assert cheap.summary.metric("design_full").value == 1.0
    place = division.standings.index(cheap)
    assert all(row.cells[place].passed[0].right for row in division.rows)


# --- figures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "scores", "front"),
    [
        ((1, 2, 3), (0.1, 0.5, 0.4), [True, True, False]),
        ((1, 1, 1), (0.2, 0.2, 0.1), [True, True, False]),
        ((2, 1), (0.5, 0.5), [False, True]),
        ((1,), (0.0,), [True]),
    ],
)
def test_the_front_has_what_nothing_else_beats(
    costs: tuple[float, ...], scores: tuple[float, ...], front: list[bool]
) -> None:
    assert on_front(costs, scores) == front


def test_points_are_where_their_numbers_are_and_labels_apart(tmp_path: Path) -> None:
    standings = build(contenders(three(tmp_path))).divisions[0].standings
    found = scatter(standings, "execution", [each.dollars for each in standings])
    assert found is not None
    by_label = {point.label: point for point in found.points}
    assert by_label["cheap"].x < by_label["good"].x < by_label["dear"].x
    assert by_label["cheap"].y == by_label["dear"].y < by_label["good"].y
    assert [by_label[name].front for name in ("cheap", "good", "dear")] == [True, False, False]
    same = scatter(standings, "execution", [standings[0].dollars] * 3)
    assert same is not None
    heights = sorted(point.text_y for point in same.points)
    assert all(b - a >= 12 for a, b in pairwise(heights))


def test_a_run_without_a_price_is_said_not_to_be_drawn(tmp_path: Path) -> None:
    runs = three(tmp_path)
    for outcome in list(runs[2].outcomes.values()):
        runs[2].add(outcome.model_copy(update={"agent_usage": Usage(calls=1)}))
    files = write_board(build(contenders(runs)), tmp_path / "board")
    assert "Not drawn, since one of both is not known: dear." in Texts(files.html.read_text()).text


# --- files ---------------------------------------------------------------------------------------------


def test_every_format_has_every_run(tmp_path: Path) -> None:
    board = build(contenders(three(tmp_path)), with_published=True)
    files = write_board(board, tmp_path / "board")
    rows = list(csv.DictReader(files.csv.open()))
    assert len(rows) == 3 * 18
    assert {(row["run"], row["type"]) for row in rows if row["task_id"] == TASKS[0]} == {
        (name, "2") for name in ("cheap", "good", "dear")
    }
    latex = files.latex.read_text()
    assert [line.split(" & ")[0] for line in latex.splitlines() if "some/model &" in line] == [
        "large",
        "small",
        "old",
    ]
    assert latex.count("OpenHands") == 5
    assert latex.index("old") < latex.index(NOTE) < latex.index("OpenHands")
    assert files.markdown.read_text().count("| All·E |") >= 3
    again = json.loads(files.data.read_text())
    assert again == json.loads(record(board).model_dump_json())


def test_published_rows_are_marked_and_have_the_intervals_that_they_imply(tmp_path: Path) -> None:
    board = build(contenders(three(tmp_path)), with_published=True)
    row = next(each for each in record(board).published if each.model == "o3-mini")
    assert (row.note, row.percent["All·E"]) == (NOTE, 0.5)
    implied = row.implied["All·E"]
    assert (implied.successes, implied.n) == (2, 420)
    assert set(row.implied) == {"E", "I·E", "All·E"}
    page = write_board(board, tmp_path / "board").html.read_text()
    table = page[page.index('id="published"') :]
    assert table.count(f"<small>{NOTE}</small>") == 7
    assert "implied: 0.1 – 1.7 %" in table
    assert record(build(contenders(three(tmp_path / "other")))).published == ()


def test_the_page_loads_nothing_and_holds_no_texts_of_attempts(tmp_path: Path) -> None:
    page = write_board(build(contenders(three(tmp_path))), tmp_path / "board").html.read_text()
    assert not [tag for tag, _ in Texts(page).tags if tag in ("link", "img", "iframe", "object")]
    assert len(re.findall(r"<script>", page)) == 1
    assert "default-src 'none'" in page


def test_names_of_agents_models_and_runs_stay_text(tmp_path: Path) -> None:
    run = run_of(tmp_path / "one", steady(), agent=HOSTILE, model=HOSTILE)
    other = run_of(tmp_path / "two", steady(1.0))
    facts = {
        task: each.model_copy(update={"category": HOSTILE + each.category})
        for task, each in FACTS.items()
    }
    made = [Contender(load_scores(run.paths.root), label=HOSTILE, facts=facts)]
    made.append(Contender(load_scores(other.paths.root)))
    files = write_board(build(made), tmp_path / "board")
    page = Texts(files.html.read_text())
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 1
    assert "alert(1)" in page.text and "{{ 7*7 }}" in page.text
    for file in (files.html, files.markdown, files.latex, files.csv):
        assert not set("\x1b\u202e") & set(file.read_text())
    assert "<script>alert" not in files.html.read_text() + files.markdown.read_text()


def test_a_folder_with_something_else_is_not_replaced(tmp_path: Path) -> None:
    board = build(contenders(three(tmp_path)))
    write_board(board, tmp_path / "board")
    write_board(board, tmp_path / "board")
    (tmp_path / "board" / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds something that is no board \('thesis.txt'\)"):
        write_board(board, tmp_path / "board")
    assert (tmp_path / "board" / "thesis.txt").read_text() == "mine"


# --- the command -----------------------------------------------------------------------------------------


def test_the_command_writes_the_page_and_prints_a_table_of_each_set(tmp_path: Path) -> None:
    runs = three(tmp_path)
    run_of(tmp_path / "apart", steady(), mask="paper")
    folders = [run.paths.root for run in runs]
    done = command(*folders, tmp_path / "apart", "--out", tmp_path / "board")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "board" / "index.html").is_file()
    assert "mask: mask (strict against paper)" in done.output
    assert "good minus cheap, All·E: +" in done.output


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    runs = [run.paths.root for run in three(tmp_path)]
    out = ("--out", tmp_path / "b")
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        ((runs[0], runs[0], *out), "is given twice"),
        ((runs[0], tmp_path / "nothing", *out), "holds no run"),
        ((runs[0], runs[1], "--against", "x", *out), "No run here is named 'x'"),
        ((runs[0], "--published"), "are for several runs"),
        ((runs[0], runs[1], "--threshold", "0", *out), "--threshold is a share"),
    ]
    for words, said in cases:
        refused = command(*words)
        assert (refused.exit_code, len(refused.output.splitlines())) == (2, 1), refused.output
        assert said in refused.output
    assert not (tmp_path / "b").exists()


def test_a_report_that_is_there_is_linked_and_one_that_cannot_be_made_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXPBENCH_DATA", raising=False)
    runs = three(tmp_path)
    own = runs[0].paths.report / "index.html"
    own.parent.mkdir()
    own.write_text("own")
    done = command(*(run.paths.root for run in runs), "--out", tmp_path / "board")
    assert done.exit_code == 0, done.output
    page = Texts((tmp_path / "board" / "index.html").read_text())
    links = {
        str(a["href"]) for tag, a in page.tags if tag == "a" and not str(a["href"]).startswith("#")
    }
    assert links == {"../cheap/report/index.html"}
    assert "needs the released data set" in page.text


def test_outcomes_of_two_agents_in_one_run_are_refused(tmp_path: Path) -> None:
    run = three(tmp_path)[0]
    stranger: Outcome = run.outcomes[TASKS[0], 1].model_copy(update={"agent": "other"})
    run.add(stranger)
    refused = command(run.paths.root, tmp_path / "good", "--out", tmp_path / "b")
    assert refused.exit_code == 1
    assert "outcomes of different runs" in refused.output
