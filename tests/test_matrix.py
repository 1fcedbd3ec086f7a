"""Several agents and models in one command: a folder of runs, gone on with as one."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from test_main_job import Command

from expbench.crossing import folder_name, pairs
from expbench.errors import PrerequisiteError, UserError
from expbench.sandboxes import bubblewrap

TASK = "mini/causal/0"
TURNS = [
    {
        "calls": [
            {"tool": "bash", "arguments": {"command": "echo 'echo 1' > reproduce_exp_bench.sh"}}
        ]
    },
    {"calls": [{"tool": "submit", "arguments": {"answer": "done"}}]},
]
RUNS = ["react+scripted-a.json", "react+scripted-b.json", "null"]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    try:
        bubblewrap.check()
    except PrerequisiteError as error:
        pytest.skip(f"no bubblewrap sandbox on this machine: {error}")
    made = Command(tmp_path_factory.mktemp("matrix"))
    for name in ("a", "b"):
        (made.folder / f"{name}.json").write_text(json.dumps({"turns": TURNS}))
    return made


@pytest.fixture(scope="module")
def done(command: Command) -> Command:
    """Two agents, of which one asks no model, with two models and two epochs."""
    words = ("--agent", "react", "--agent", "null", "--model", "scripted/a.json")
    rest = ("--model", "scripted/b.json", "--task", TASK, "--epochs", "2", "--out", "runs/all")
    found = command("run", *words, *rest)
    assert "mini, 3 runs: 6 tasks, 0 done before" in found.stdout
    assert "[6/6] null: mini/causal/0" in found.stdout
    return command


def test_every_pair_is_a_run_of_its_own(done: Command) -> None:
    folder = done.folder / "runs/all"
    assert json.loads((folder / "matrix.json").read_text())["runs"] == RUNS
    for name in RUNS:
        assert len(done.outcomes(f"runs/all/{name}")) == 2
        assert (folder / name / "report/index.html").is_file()
    found = json.loads(done("report", "runs/all", "--json").stdout)["runs"]
    assert [(each["agent"], each["model"]) for each in found] == [
        ("react", "scripted/a.json"),
        ("react", "scripted/b.json"),
        ("null", ""),
    ]
    one = json.loads(done("report", "runs/all/null", "--json").stdout)
    assert one == found[2]


def test_the_status_of_all_is_shown(done: Command) -> None:
    found = json.loads(done("status", "runs/all", "--json").stdout)["runs"]
    assert [each["run"] for each in found] == RUNS
    assert "null" in done("status", "runs/all").stdout
    assert "--watch shows one run" in done.fails("status", "runs/all", "--watch")


def test_what_is_done_is_not_done_again(done: Command) -> None:
    journals = {name: (done.folder / "runs/all" / name / "journal.jsonl") for name in RUNS}
    sizes = {name: journal.stat().st_size for name, journal in journals.items()}
    assert "6 done before" in done("resume", "runs/all").stdout
    assert {name: journal.stat().st_size for name, journal in journals.items()} == sizes


def test_all_of_it_is_gone_on_with_after_an_interruption(command: Command) -> None:
    """One Ctrl-C stops all of it; a resumption does the rest of every run (R49)."""
    words = ("--agent", "oracle", "--agent", "null", "--task", TASK, "--out", "runs/stopped")
    process = command.start("run", *words)
    journal = command.folder / "runs/stopped/oracle/.pulse.json"
    end = time.monotonic() + 60
    while not journal.exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    # Python ends itself by the signal where the key came in the middle of an exec; to a shell both are 130.
    assert process.returncode in (130, -signal.SIGINT), out + err
    assert "expbench resume runs/stopped" in out + err
    assert "Traceback" not in out + err
    command("resume", "runs/stopped")
    for name in ("oracle", "null"):
        assert [o["status"] for o in command.outcomes(f"runs/stopped/{name}").values()] == [
            "finished"
        ]


def test_a_folder_whose_run_is_gone_is_a_sentence(command: Command, tmp_path: Path) -> None:
    (tmp_path / "matrix.json").write_text('{"created": "2026-01-01", "runs": ["gone"]}')
    assert "gone is missing" in command.fails("resume", str(tmp_path))
    (tmp_path / "matrix.json").write_text('{"runs": 5}')
    assert "is damaged at" in command.fails("resume", str(tmp_path))


def test_what_would_stop_one_run_stops_all_before_any_begins(command: Command) -> None:
    words = ("--agent", "null", "--agent", "react", "--out", "runs/none")
    assert "needs a model" in command.fails("run", *words)
    assert not (command.folder / "runs/none").exists()


def test_an_estimate_is_made_for_each(command: Command) -> None:
    words = ("--agent", "null", "--agent", "oracle", "--task", TASK, "--estimate")
    found = json.loads(command("run", *words, "--json").stdout)["runs"]
    assert [each["run"]["attempts"] for each in found] == [1, 1]


def test_pairs() -> None:
    assert pairs(("oracle", "react"), ("m/a", "m/b")) == (
        ("oracle", ""),
        ("react", "m/a"),
        ("react", "m/b"),
    )
    with pytest.raises(UserError, match="--model m/a is given twice"):
        pairs(("react",), ("m/a", "m/a"))
    assert (
        folder_name("python:my/agent.py:run", "openai/gpt-5")
        == "python-my-agent.py-run+openai-gpt-5"
    )
