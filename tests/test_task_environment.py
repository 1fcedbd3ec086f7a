"""A task's own Python environment, from ``expbench env build`` to the runs that use it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from test_environments import Index
from test_main_job import QUICK, Command

from expbench.errors import PrerequisiteError
from expbench.sandboxes import bubblewrap

TASK = "mini/bandits/0"
SCRIPT = "reproduce_exp_bench.sh"
PLACE = "$(python -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')"


def _works() -> bool:
    try:
        bubblewrap.check()
    except PrerequisiteError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _works(), reason="bubblewrap cannot make a sandbox here")


class Built(Command):
    """The command with an environment of one task, in which stands a numpy that is none."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        index = Index(folder / "wheels")
        index.wheel("numpy", "9.9")
        done = self("env", "build", "--task", TASK, "--wheels", "wheels", "--json")
        (row,) = json.loads(done.stdout)["environments"]
        assert (row["state"], row["tasks"]) == ("built", [TASK]), row
        assert [each["name"] for each in row["packages"]] == ["numpy"]
        self.digest: str = row["digest"]

    @property
    def environment_folder(self) -> Path:
        return self.folder / "cache/expbench/envs/tasks" / self.digest

    def agent(self, *lines: str) -> str:
        text = "".join(f"    {line}\n" for line in lines)
        (self.folder / "mine.py").write_text(f"async def mine(task, workspace):\n{text}")
        return "python:mine.py:mine"

    def attempts(self) -> list[dict[str, Any]]:
        return [entry["attempt"] for entry in self.journal("runs/a") if "attempt" in entry]

    def freed(self, *args: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("env", "gc", *args, "--json").stdout)
        return {row["digest"]: row["state"] for row in found["environments"]}


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path)


def test_the_next_run_of_a_task_has_its_environment_and_shares_no_addition(built: Built) -> None:
    """R16: the agent and the re-run import it; what one agent adds is in its own layer only."""
    agent = built.agent(
        "version = await workspace.run(\"python -c 'import numpy; print(numpy.version)'\")",
        "before = await workspace.run(LOOK)",
        "added = await workspace.run(ADD)",
        "await workspace.write('seen.txt', version.output + before.output + added.output)",
        f"await workspace.write({SCRIPT!r}, SCRIPT)",
    )
    look = f"ls {PLACE} | grep -c mine.py"
    add = f"echo 'here = 1' > {PLACE}/mine.py && python -c 'import mine; print(mine.here)'"
    script = f"python -c 'import numpy; print(numpy.version)'; ! ls {PLACE}/mine.py"
    file = built.folder / "mine.py"
    constants = f"LOOK = {look!r}\nADD = {add!r}\nSCRIPT = {script!r}\n"
    file.write_text(constants + file.read_text())
    tasks = ("--task", TASK, "--task", QUICK)
    built("run", "--agent", agent, *tasks, "--epochs", "2", "--max-samples", "1", "--out", "runs/a")
    for attempt in built.attempts():
        mine = attempt["task_id"] == TASK
        assert attempt["environment"] == (built.digest if mine else "")
        seen = _seen(built, attempt)
        if mine:
            assert seen == ["9.9", "0", "1"], "its numpy, no addition of another's, its own"
        else:
            assert "Read-only file system" in seen[-1], "the common one is read-only"
            assert seen[0].startswith("<module 'numpy.version'")
    for epoch in (1, 2):
        execution = built.outcomes("runs/a")[TASK, epoch]["execution"]
        assert execution["state"] == "ran"
        assert _stored(built, execution["stdout"]) == "9.9\n"
    assert list(built.environment_folder.rglob("mine.py")) == []
    assert not list((built.folder / "cache/expbench/work").iterdir())


def test_a_system_of_ones_own_has_its_own_python_instead(built: Built) -> None:
    """An environment is for this machine's Python; the attempt says that it was not used."""
    if not list(Path("/usr/bin").glob("python3.*[0-9]")):
        pytest.skip("this machine has no Python of its system's")
    agent = built.agent(
        "import_it = await workspace.run('python -c \"import numpy.version as v; print(v)\"')",
        "await workspace.write('seen.txt', import_it.output)",
    )
    built("run", "--agent", agent, "--task", TASK, "--rootfs", "/", "--out", "runs/a")
    (attempt,) = built.attempts()
    assert (attempt["status"], attempt["environment"]) == ("finished", "")
    assert "9.9" not in "".join(_seen(built, attempt))


def test_an_environment_in_use_is_not_freed(built: Built) -> None:
    """R26: neither by its own command nor by the one that frees the whole cache."""
    agent = built.agent("await workspace.run('touch here; sleep 300')")
    process = built.start("run", "--agent", agent, "--task", TASK, "--out", "runs/a")
    try:
        deadline = time.monotonic() + 60
        while not list(built.folder.glob("cache/expbench/work/*/upper/here")):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        assert built.freed() == {built.digest: "in use"}
        built("gc", "--envs", "--repos")
        assert (built.environment_folder / "python").is_dir()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert built.freed("--dry-run") == {built.digest: "freed"}
    assert built.freed() == {built.digest: "freed"}
    assert not built.environment_folder.exists()


def _stored(built: Built, blob: dict[str, Any]) -> str:
    digest = blob["digest"]
    return (built.folder / "runs/a/store" / digest[:2] / digest[2:]).read_text()


def _seen(built: Built, attempt: dict[str, Any]) -> list[str]:
    """The lines of the file in which an agent wrote what it saw."""
    patch = _stored(built, attempt["submission"]["patch"])
    part = patch.partition("+++ b/seen.txt\n")[2].partition("\ndiff --git")[0]
    return [line[1:] for line in part.splitlines() if line.startswith("+")]
