"""``expbench construct`` on the command line: what it says before it works, and when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from construct_papers import PAPERS, Script, document_of, repository, tasks_of
from typer.testing import CliRunner, Result

from expbench.cli.main import app
from expbench.prices import use_prices

PAPER = "calibration"
DOCUMENT = document_of(PAPER)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project by the command line, its paper read."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    clone = repository(PAPER, tmp_path)
    words = ["--pdf", str(PAPERS / f"{PAPER}.pdf"), "--repo", str(clone), "--budget", "5"]
    made = construct("new", str(tmp_path / "p"), *words)
    assert made.exit_code == 0, made.output
    place = tmp_path / "p" / "paper" / "document.json"
    place.write_text(DOCUMENT.model_dump_json(), "utf-8")
    return tmp_path / "p"


def construct(*words: str) -> Result:
    return CliRunner().invoke(app, ["construct", *words])


def rates(script: Script, dollars: float) -> list[str]:
    """Options that give a scripted model a price for a million tokens."""
    file = script.file.with_name("prices.json")
    models = {script.model: {"input": dollars, "output": dollars}}
    file.write_text(json.dumps({"models": models}), "utf-8")
    return ["--prices", str(file)]


def test_an_estimate_comes_first_and_a_budget_is_the_projects(folder: Path) -> None:
    script = Script(folder.parent / "model.json")
    script.extraction(DOCUMENT, tasks_of(PAPER))
    model = ["--model", script.model]
    try:
        unknown = construct("extract", str(folder), *model)
        assert unknown.exit_code == 2
        assert "the price of" in unknown.stderr
        cheap = construct("extract", str(folder), *model, *rates(script, 1.0), "--estimate")
        assert cheap.exit_code == 0
        assert "Estimate of extract" in cheap.output
        assert "dollars" in cheap.output
        dear = construct("extract", str(folder), *model, *rates(script, 100_000.0))
        assert dear.exit_code == 2
        assert "the budget of 5 dollars is spent" in dear.stderr
        more = [*rates(script, 100_000.0), "--budget", "100000"]
        done = construct("extract", str(folder), *model, *more)
        assert done.exit_code == 0, done.stderr
        assert "Estimate of extract" in done.output
        status = construct("status", str(folder), "--json")
    finally:
        use_prices(None)
    shown = json.loads(status.stdout)
    assert [each["next"] for each in shown["drafts"]] == ["locate", "locate"]
    (cost,) = shown["cost"]["costs"]
    assert cost["dollars"] > 5
    assert "| extract |" in (folder / "out" / "cost.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["extract", "PROJECT"], "add --model provider/name"),
        (["export", "PROJECT"], "No draft of"),
        (["export", "PROJECT", "--format", "xml"], "--format is tasks or release"),
        (["status", "PROJECT/nowhere"], "is no construction project"),
        (["write", "PROJECT", "--again", "q07"], "There is no refused draft 'q07'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words: list[str], sentence: str, folder: Path) -> None:
    done = construct(*[word.replace("PROJECT", str(folder)) for word in words])
    assert done.exit_code == 2
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_stage_with_nothing_left_asks_no_model(folder: Path) -> None:
    for stage in ("locate", "write", "trace", "verify"):
        done = construct(stage, str(folder))
        assert done.exit_code == 0, done.stderr
        assert "Nothing was left to do" in done.output
