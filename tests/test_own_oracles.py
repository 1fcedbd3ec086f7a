"""Oracle solutions beside a task file of one's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from construct_papers import MINI

from expbench.dataset import load_suite, oracle
from expbench.errors import DataError, NotFoundError
from expbench.schema import ResearchTask

PAPER = "calibration"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the mini suite's first paper as a paper of one's own, and two of its solutions."""
    folder = tmp_path / "own" / PAPER
    folder.mkdir(parents=True)
    content = json.loads((MINI / PAPER / f"{PAPER}_complete_final.json").read_text("utf-8"))
    content["repository"] = {"url": "https://example.invalid/a/b", "commit": "0" * 40}
    (folder / f"{PAPER}_complete_final.json").write_text(json.dumps(content), "utf-8")
    for index in ("0", "1"):
        shutil.copytree(MINI / PAPER / "oracle" / index, folder / "oracle" / index)
    return tmp_path


def test_a_solution_beside_the_file_is_the_tasks_oracle(data: Path) -> None:
    suite = load_suite("expbench", data)
    known = (MINI / PAPER / "oracle" / "1" / "solution.patch").read_bytes()
    assert oracle(suite.task(f"own/{PAPER}/1")).patch == known
    with pytest.raises(NotFoundError, match="has no oracle solution"):
        oracle(suite.task(f"own/{PAPER}/2"))


def test_where_a_solution_lies_is_no_part_of_the_task(data: Path, tmp_path: Path) -> None:
    with_solutions = load_suite("expbench", data)
    task = with_solutions.task(f"own/{PAPER}/0")
    assert "solution" not in json.loads(task.model_dump_json())
    assert ResearchTask.model_validate_json(task.model_dump_json()).solution == ""
    shutil.rmtree(data / "own" / PAPER / "oracle")
    assert load_suite("expbench", data).version == with_solutions.version


def test_half_a_solution_is_told(data: Path) -> None:
    (data / "own" / PAPER / "oracle" / "0" / "reproduce_exp_bench.sh").unlink()
    suite = load_suite("expbench", data)
    with pytest.raises(DataError, match="is no whole oracle solution"):
        oracle(suite.task(f"own/{PAPER}/0"))
