"""``--dynamic``: a traced run in a real sandbox says which of a chain's files really ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from tracer_repos import traced, write
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.reruns import Trace as Seen
from expbench.reruns import UsedFile
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits
from expbench.tracer.chain import trace_chain
from expbench.tracer.dynamic import Ran, command_of, run_traced, with_ran

FILES = {
    "run.sh": "python main.py --kind small\n",
    "main.py": (
        "import importlib, json, sys\n\n"
        "settings = json.load(open('settings.json'))\n"
        "kind = 'kinds.' + sys.argv[2]\n"
        "print(importlib.import_module(kind).SIZE, file=open('out.txt', 'w'))\n"
        "if settings['extra']:\n"
        "    import extra\n"
    ),
    "settings.json": '{\n "extra": false\n}\n',
    "extra.py": "print('extra')\n",
    "kinds/small.py": "SIZE = 1\n",
    "kinds/large.py": "SIZE = 2\n",
}


def test_a_run_in_the_sandbox_marks_the_steps_of_files_that_ran(
    tmp_path: Path, host: SandboxHost
) -> None:
    root = write(tmp_path, FILES)
    before = sorted(root.rglob("*"))
    ran = run_traced(root, "bash run.sh", host, Limits(minutes=1))
    assert ran.exit_code == 0
    trace = with_ran(trace_chain(root, ["run.sh"]), ran)
    state = {step.span.path: step.ran for step in trace.steps}
    assert (state["main.py"], state["kinds/small.py"], state["settings.json"]) == (True, True, True)
    assert state["extra.py"] is False
    assert any("ended with 0" in note for note in trace.notes)
    assert sorted(root.rglob("*")) == before, "the repository stays as it was"


def test_a_run_that_fails_says_how(tmp_path: Path, host: SandboxHost) -> None:
    root = write(
        tmp_path, {"main.py": "import part\n\nraise SystemExit('no data')\n", "part.py": "A = 1\n"}
    )
    trace = with_ran(
        trace_chain(root, ["main.py"]), run_traced(root, "python main.py", host, Limits(minutes=1))
    )
    assert any("ended with 1" in note for note in trace.notes)
    assert any("no data" in note for note in trace.notes)
    assert {step.ran for step in trace.steps} == {True}


def test_the_command_runs_what_it_is_told(tmp_path: Path, host: SandboxHost) -> None:
    root = str(write(tmp_path / "repo", FILES))
    words = [
        "construct",
        "trace",
        "--repo",
        root,
        "--source",
        "main.py",
        "--dynamic",
        "--limit-minutes",
        "1",
    ]
    shown = CliRunner().invoke(
        app,
        [*words, "--command", "python main.py --kind large"],
        env={"COLUMNS": "220", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert shown.exit_code == 0, shown.output
    assert "`python main.py --kind large` ended with 0" in shown.output
    assert "yes" in shown.output


def test_where_nothing_was_seen_nothing_is_known(tmp_path: Path) -> None:
    trace = traced(tmp_path, FILES, "run.sh")
    told = with_ran(trace, Ran("bash run.sh", 0, 1.0, Seen(by="none", reason="no tracer"), ""))
    assert {step.ran for step in told.steps} == {None}
    assert any("no tracer" in note for note in told.notes)


def test_files_that_the_trace_missed_are_told(tmp_path: Path) -> None:
    files = tuple(
        UsedFile(path=p, origin="repository", use="executed") for p in ("main.py", "hidden.py")
    )
    told = with_ran(
        traced(tmp_path, FILES, "run.sh"), Ran("x", None, 60.0, Seen(by="python", files=files), "")
    )
    assert any("hidden.py" in note and "does not lead to" in note for note in told.notes)
    assert any("had not ended" in note for note in told.notes)
    assert {s.ran for s in told.steps if s.span.path == "run.sh"} == {None}


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (("a.sh", "b c.py"), "bash a.sh && python 'b c.py'"),
        (("a.yaml", "b.ipynb"), ""),
    ],
)
def test_scripts_are_run_in_their_order(source: tuple[str, ...], command: str) -> None:
    assert command_of(source) == command
