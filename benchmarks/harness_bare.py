"""The reference of ``harness.py``: the same samples in bare Inspect, with one bwrap for each command.

It does what an evaluation cannot do without, in the plainest way: a copy of the files for each attempt,
the agent's loop, ``git diff``, and the script once more on a fresh copy. It hides nothing, proves
nothing, judges nothing and keeps nothing but Inspect's log. The agent, its tools, the scripted model and
what is asked of Inspect (one log, no display, no control server) are the harness's own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from anyio import to_thread
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.tool import bash, python
from inspect_ai.util import (
    ExecResult,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentSpec,
    sandbox,
    sandboxenv,
)

from expbench.agents.editor import edit_file


def bwrap(folder: Path, argv: list[str], text: str = "", timeout: int | None = None) -> Any:
    """One command in namespaces of its own, over one folder."""
    command = [
        shutil.which("bwrap") or "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
    ]
    command += [
        "--bind",
        str(folder),
        "/mnt",
        "--chdir",
        "/mnt",
        "--unshare-all",
        "--die-with-parent",
    ]
    return subprocess.run(
        [*command, *argv],
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/tmp"},
    )


@sandboxenv(name="bare")
class Bare(SandboxEnvironment):
    """A folder, and bwrap for each command."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bare-"))

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        box = cls()
        await to_thread.run_sync(box.fill, Path(str(metadata["files"])))
        return {"default": box}

    def fill(self, files: Path) -> None:
        shutil.copytree(files, self.folder, dirs_exist_ok=True)
        for words in ("init -q", "add -A", "-c user.name=a -c user.email=a commit -qm base"):
            subprocess.run(["git", "-C", self.folder, *words.split()], check=True)

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for box in environments.values():
            assert isinstance(box, Bare)
            shutil.rmtree(box.folder)

    async def exec(self, cmd: list[str], input: Any = None, **others: Any) -> ExecResult[str]:  # noqa: A002
        text = input.decode() if isinstance(input, bytes) else input or ""
        done = await to_thread.run_sync(bwrap, self.folder, cmd, text, others.get("timeout"))
        return ExecResult(done.returncode == 0, done.returncode, done.stdout, done.stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        (self.folder / file).write_bytes(data)

    async def read_file(self, file: str, text: bool = True) -> Any:
        data = (self.folder / file).read_bytes()
        return data.decode() if text else data


@scorer(metrics=[mean()])
def runs_again() -> Scorer:
    """Whether the script runs on a fresh copy with the agent's diff."""

    def again(folder: Path, files: Path) -> int:
        git = ["git", "-C", str(folder)]
        subprocess.run([*git, "add", "-A"], check=True)
        patch = subprocess.run(
            [*git, "diff", "--cached", "--binary"], capture_output=True, check=True
        )
        with tempfile.TemporaryDirectory() as fresh:
            shutil.copytree(files, fresh, dirs_exist_ok=True)
            subprocess.run(["git", "apply", "-"], input=patch.stdout, cwd=fresh, check=True)
            return int(bwrap(Path(fresh), ["bash", "reproduce_exp_bench.sh"]).returncode)

    async def score(state: TaskState, target: Target) -> Score:
        box = sandbox().as_type(Bare)
        files = Path(str(state.metadata["files"]))
        return Score(value=float(await to_thread.run_sync(again, box.folder, files) == 0))

    return score


def main(plan: dict[str, Any]) -> None:
    """Evaluate what ``plan`` names: samples, model, epochs, max_samples, logs."""
    samples = [
        Sample(id=each["id"], input=each["prompt"], metadata={"files": each["files"]})
        for each in plan["samples"]
    ]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=react(tools=[bash(timeout=600), python(timeout=600), edit_file()]),
        scorer=runs_again(),
        sandbox=SandboxEnvironmentSpec("bare"),
    )
    logs = inspect_eval(
        task,
        model=plan["model"],
        epochs=plan["epochs"],
        max_samples=plan["max_samples"],
        max_sandboxes=plan["max_samples"],
        log_dir=plan["logs"],
        log_header_only=True,
        log_level="error",
        ctl_server=False,
        display="none",
    )
    assert logs[0].status == "success", logs[0].error
    assert logs[0].results and logs[0].results.scores[0].metrics["mean"].value == 1.0


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
