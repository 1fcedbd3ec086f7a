"""``expbench reproduce``: every score again from what a run stored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_main_job import Command

from expbench.errors import PrerequisiteError
from expbench.sandboxes import bubblewrap
from expbench.schema import ALL_SCORES

TASKS = ("mini/causal/0", "mini/stochopt/1")
VERDICT = {"verdict": "not_met", "evidence": "", "reason": "so it is", "alternative": False}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Two runs: the oracle, judged by the baseline and by a scripted model."""
    try:
        bubblewrap.check()
    except PrerequisiteError as error:
        pytest.skip(f"no bubblewrap sandbox on this machine: {error}")
    command = Command(tmp_path_factory.mktemp("reproduce"))
    chosen = [word for task in TASKS for word in ("--task", task)]
    command("run", "--agent", "oracle", *chosen, "--out", "runs/oracle")
    replies = {"replies": [{"when": ".", "text": json.dumps(VERDICT)}]}
    (command.folder / "judge.json").write_text(json.dumps(replies))
    judged = ("--judge", "scripted/judge.json")
    command("run", "--agent", "oracle", "--task", TASKS[0], *judged, "--out", "runs/judged")
    return command


def copied(done: Command, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the oracle's run in which the journal's entries were changed."""
    folder = done.folder / "runs" / name
    shutil.copytree(done.folder / "runs/oracle", folder)
    journal = folder / "journal.jsonl"
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    for entry in entries:
        change(entry)
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return folder


def test_all_scores_come_out_again(done: Command) -> None:
    before = (done.folder / "runs/oracle/journal.jsonl").read_bytes()
    found = json.loads(done("reproduce", "runs/oracle", "--json").stdout)
    assert (found["attempts"], found["missing"], found["failed"]) == (2, 0, [])
    assert found["differences"] == []
    assert [each["score"] for each in found["scores"]] == list(ALL_SCORES)
    assert {(each["equal"], each["of"], each["how"]) for each in found["scores"]} == {
        (2, 2, "again")
    }
    assert (done.folder / "runs/oracle/journal.jsonl").read_bytes() == before


def test_a_score_that_was_changed_is_named(done: Command) -> None:
    def change(entry: dict[str, Any]) -> None:
        if (entry.get("outcome") or {}).get("task_id") == TASKS[0]:
            entry["outcome"]["scores"]["design"]["value"] = 0.5

    copied(done, "changed", change)
    shown = done("reproduce", "runs/changed", "--task", TASKS[0], code=1).stdout
    assert "Some scores are not what they were." in shown
    row = next(line for line in shown.splitlines() if TASKS[0] in line)
    assert [cell.strip() for cell in row.split("│")[1:6]] == [TASKS[0], "1", "design", "0.5", "1"]


def test_a_submission_that_was_changed_is_not_scored(done: Command) -> None:
    """R44: the store's bytes are what their digests say, or there is no score."""
    folder = copied(done, "spoilt", lambda entry: None)
    attempts = (json.loads(line).get("attempt") for line in (folder / "journal.jsonl").open())
    patches = [
        a["submission"]["patch"]["digest"] for a in attempts if a and a["task_id"] == TASKS[1]
    ]
    path = folder / "store" / patches[0][:2] / patches[0][2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-3] + b"xyz")
    found = json.loads(
        done("reproduce", "runs/spoilt", "--task", TASKS[1], "--json", code=1).stdout
    )
    assert len(found["failed"]) == 1 and "do not fit its name" in found["failed"][0]
    assert all(each["of"] == 0 for each in found["scores"])
    shown = done("reproduce", "runs/spoilt", "--task", TASKS[1], code=1).stdout
    assert "Not every score could be made again" in shown and "Some scores are not" not in shown


def test_what_a_model_said_is_taken_as_recorded(done: Command) -> None:
    """The judge's file is gone: nobody is asked again."""
    (done.folder / "judge.json").rename(done.folder / "elsewhere.json")
    replies = {"replies": [{"when": ".", "text": "no verdict"}]}
    (done.folder / "judge.json").write_text(json.dumps(replies))
    shutil.rmtree(done.folder / "cache/expbench/verdicts")
    found = json.loads(done("reproduce", "runs/judged", "--json").stdout)
    how = {each["score"]: each["how"] for each in found["scores"]}
    assert [name for name, each in how.items() if each == "recorded"] == [
        "design",
        "implementation",
        "conclusion",
    ]
    assert found["differences"] == [] and found["failed"] == []


def test_an_unfinished_one_is_gone_on_with(done: Command) -> None:
    done("reproduce", "runs/oracle", "--task", TASKS[0], "--name", "twice")
    journal = done.folder / "runs/oracle/reproduced/twice/journal.jsonl"
    size = journal.stat().st_size
    again = done("reproduce", "runs/oracle", "--name", "twice")
    assert "1 done before" in again.stderr
    assert journal.stat().st_size == size


def test_what_cannot_be_reproduced_is_a_sentence(done: Command) -> None:
    assert "is not in runs/oracle" in done.fails(
        "reproduce", "runs/oracle", "--task", "mini/none/0"
    )
    assert "holds no run" in done.fails("reproduce", "runs/nothing")
    done("reproduce", "runs/oracle", "--task", TASKS[0], "--name", "part")
    sentence = done.fails("reproduce", "runs/oracle/reproduced/part")
    assert "is a part of" in sentence
