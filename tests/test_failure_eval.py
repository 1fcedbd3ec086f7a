"""How right a coder of failures is: the shipped set, sets of one's own, and what is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.errors import UserError
from expbench.failure_eval import LabelledError, evaluate, load_errors
from expbench.failures import Coder, load_codebook

BOOK = load_codebook()
CODES = {code_id for code_id, *_ in BOOK.codes()}


def test_the_shipped_set_has_every_code_and_phase() -> None:
    labelled = load_errors(BOOK)
    assert len(labelled.errors) >= 300
    assert {each.codes[0] for each in labelled.errors} == CODES
    assert len({each.text for each in labelled.errors}) == len(labelled.errors)
    assert any(not each.text.isascii() for each in labelled.errors), "other languages are there"


def test_the_rule_coder_is_as_good_as_the_page_says() -> None:
    labelled = load_errors(BOOK)
    coded = Coder(BOOK).code(each.insight for each in labelled.errors)
    parts = {part.name: part for part in evaluate("rules", labelled.errors, coded).parts}
    page = (Path(__file__).parent.parent / "docs/failures.md").read_text()
    for batch in ("first", "second", "third"):
        part = parts[f"{batch} batch"]
        assert f"| {batch} batch | {part.right} | {part.of} |" in page
    assert parts["all"].right / parts["all"].of > 0.7


def test_what_is_counted() -> None:
    def error(number: int, *codes: str) -> LabelledError:
        return LabelledError(
            id=str(number), phase="design", text="x", codes=codes, paper=f"p{number % 2}"
        )

    value, vague, gone = "design/wrong/value", "design/unclear/vague", "design/wrong/denied"
    errors = [error(1, value), error(2, value, vague), error(3, gone), error(4, vague)]
    given = Coder(BOOK).code(each.insight for each in errors)
    codes = [(value, "model"), (vague, "model"), (value, "words"), (value, "unanswered")]
    coded = [
        each.model_copy(update={"code": code, "by": by})
        for each, (code, by) in zip(given, codes, strict=True)
    ]
    found = evaluate("c", errors, coded)
    overall = found.parts[0]
    assert (overall.right, overall.of, overall.families, overall.uncoded) == (2, 3, 3, 1)
    assert found.confused == ((gone, value, 1),) and found.wrong == (("3", value),)
    assert {part.name: (part.right, part.of) for part in found.by} == {
        "model": (2, 2),
        "words": (0, 1),
    }
    assert overall.interval.low is not None and overall.interval.low < 2 / 3


def line(**facts: Any) -> str:
    base = {"id": "1", "phase": "design", "text": "x", "codes": ["design/wrong/value"]}
    return json.dumps(base | facts) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no errors"),
        ("{", "line 1"),
        (line(codes=["design/none/such"]), "no code 'design/none/such'"),
        (line(codes=["conclusion/wrong/number"]), "of another phase"),
        (line(codes=[]), "codes"),
        (line(phase="none"), "phase"),
        (line() + line(), "line 2: the id '1' is there twice"),
    ],
)
def test_a_set_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(text)
    with pytest.raises(UserError, match=said):
        load_errors(BOOK, file)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, ["failures-eval", *args])


def test_the_command_prints_tables_and_json(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(line() + line(id="2", cause="another value is given"))
    done = call("--set", "own.jsonl", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (coder,) = found["coders"]
    assert found["errors"] == 2 and coder["parts"][0]["right"] == 1
    assert [part["name"] for part in coder["by"]] == ["none", "rule"]
    assert "| all | 1 | 2 |" in call("--set", "own.jsonl", "--markdown").stdout
    assert "Coder rules" in call("--set", "own.jsonl").stdout
    assert not (tmp_path / "failures-eval.jsonl").exists(), "rules need no journal"


def test_a_set_that_is_not_there_is_one_sentence(call: Callable[..., Any]) -> None:
    done = call("--set", "none.jsonl")
    assert done.exit_code == 2 and done.stderr.startswith("expbench: The set none.jsonl")
