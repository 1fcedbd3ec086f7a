"""How much the harness adds: against bare Inspect, with many tasks, in memory, to a 40-minute task.

    python benchmarks/harness.py                 # all parts
    python benchmarks/harness.py --part speed    # speed, many, memory

*speed*: the tasks of suite mini with the react agent and a scripted model, ``expbench run`` against the
same samples in bare Inspect with a bare bwrap sandbox (``harness_bare.py``), both as commands from start
to end, in turn, the best of several rounds. *many*: 210 attempts at ``--max-samples 50``. *memory*: 1,000
attempts with trajectories of 5 MB; resident memory of the harness after the first 100 and at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import Part, Ratio, Table

from expbench.agents.fakes import shipped_tree
from expbench.dataset import load_suite
from expbench.sandboxes.bubblewrap import find

SCRIPT = """\
#!/bin/bash
python -c 'print("sum of squares", sum(i * i for i in range(300000)))' | tee results.txt
"""
TURNS = [
    "ls; git status --short | head",
    "find . -name '*.py' | head -20; wc -l $(find . -name '*.py' | head -20)",
    f"cat > reproduce_exp_bench.sh <<'EOF'\n{SCRIPT}EOF\nbash reproduce_exp_bench.sh",
    """echo '{"design": "One sum of squares.", "conclusion": "The sum is 8.99995e15."}' > response.json""",
]
FORTY_MINUTES = 2400.0
TALKER = '''\
async def talk(task, workspace):
    """Five megabytes of thoughts, of which no two are equal."""
    for number in range(50):
        workspace.say(f"{task.task_id} {number} " + "thinking hard about it " * 4500)
    await workspace.write("reproduce_exp_bench.sh", "echo done > done.txt")
    await workspace.write("response.json", '{"design": "d", "conclusion": "c"}')
'''


def model_script(folder: Path) -> Path:
    """The scripted model's file: four commands, then the end."""
    turns = [{"calls": [{"tool": "bash", "arguments": {"command": each}}]} for each in TURNS]
    turns.append({"calls": [{"tool": "submit", "arguments": {"answer": "done"}}]})
    path = folder / "model.json"
    path.write_text(json.dumps({"turns": turns}))
    return path


def environment(folder: Path) -> dict[str, str]:
    """Of a command that may find nothing of this user's, but the bwrap that we use too."""
    path = f"{Path(find()).parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), "COLUMNS": "200"}


def seconds_of(argv: list[str], folder: Path) -> float:
    """How long a command takes, which must succeed."""
    started = time.perf_counter()
    done = subprocess.run(
        argv, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{argv}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return time.perf_counter() - started


def expbench(*words: str) -> list[str]:
    return [sys.executable, "-m", "expbench", *words]


def outcomes(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "outcomes.jsonl").read_text().splitlines()]


def speed(folder: Path, rounds: int, epochs: int, slots: int) -> Part:
    """Wall time against bare Inspect; what is neither agent nor re-run, against 40 minutes."""
    model = f"scripted/{model_script(folder)}"
    plan = {
        "samples": [
            {"id": task.id, "prompt": task.question, "files": str(shipped_tree(task))}
            for task in load_suite("mini").tasks
        ],
        "model": model,
        "epochs": epochs,
        "max_samples": slots,
        "logs": str(folder / "bare-logs"),
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    bare = [
        sys.executable,
        str(Path(__file__).with_name("harness_bare.py")),
        str(folder / "plan.json"),
    ]
    tasks = len(load_suite("mini").tasks) * epochs
    common = ("--suite", "mini", "--agent", "react", "--model", model, "--epochs", str(epochs))
    ours, theirs = [], []
    seconds_of(expbench("run", *common[:-1], "1", "--out", "warm"), folder)
    for number in range(rounds):
        name = f"run{number}"
        run = expbench("run", *common, "--max-samples", str(slots), "--out", name)
        ours.append(seconds_of(run, folder))
        theirs.append(seconds_of(bare, folder))
    best = ours.index(min(ours))
    done = outcomes(folder / f"run{best}")
    agents = sum(each["agent_seconds"] for each in done)
    again = sum(each["execution"]["seconds"] for each in done)
    added = (ours[best] * slots - agents - again) / tasks
    return Part(
        "Speed",
        [
            Ratio(f"{tasks} attempts, {slots} at once", min(ours) / min(theirs), 1.25),
            Ratio("added to a task of 40 minutes", added / FORTY_MINUTES, 0.02, "of the task"),
        ],
        [
            Table(
                "Seconds of wall time",
                ("", "all", "a task"),
                tuple(
                    (name, f"{value:.1f}", f"{value / tasks:.2f}")
                    for name, value in (("expbench", min(ours)), ("bare", min(theirs)))
                ),
            )
        ],
        [
            f"of {ours[best] * slots:.1f} s of {slots} slots: agents {agents:.1f} s, re-runs {again:.1f} s",
            f"all rounds: expbench {_list(ours)}, bare {_list(theirs)}",
        ],
    )


def many(folder: Path, attempts: int, slots: int) -> Part:
    """Many at once: how many failed for reasons of infrastructure."""
    epochs = -(-attempts // len(load_suite("mini").tasks))
    common = ("--suite", "mini", "--agent", "react", "--model", f"scripted/{model_script(folder)}")
    sized = ("--epochs", str(epochs), "--max-samples", str(slots), "--out", "many")
    seconds = seconds_of(expbench("run", *common, *sized), folder)
    done = outcomes(folder / "many")
    failed = [each for each in done if each["status"] != "finished" or _unscored(each)]
    for each in failed[:5]:
        print(each["task_id"], each["status"], each["reason"], file=sys.stderr)
    return Part(
        "Many",
        [Ratio(f"of {len(done)} attempts at {slots} at once failed", len(failed), 0, "attempts")],
        notes=[f"{seconds:.0f} s, {seconds / len(done):.2f} s an attempt"],
    )


def _unscored(outcome: dict[str, Any]) -> bool:
    return outcome["execution"]["state"] == "infrastructure"


def memory(folder: Path, attempts: int) -> Part:
    """Resident memory after the first 100 attempts and at the end."""
    (folder / "talker.py").write_text(TALKER)
    epochs = -(-attempts // len(load_suite("mini").tasks))
    common = ("--suite", "mini", "--agent", f"python:{folder / 'talker.py'}:talk")
    argv = expbench("run", *common, "--epochs", str(epochs), "--out", "memory")
    found: list[tuple[int, float]] = []
    with running(argv, folder) as process:
        while process.poll() is None:
            time.sleep(0.5)
            journal = folder / "memory" / "journal.jsonl"
            count = journal.read_bytes().count(b'{"outcome":') if journal.exists() else 0
            if (resident := _resident(process.pid)) is not None:
                found.append((count, resident))
    if process.returncode:
        sys.exit(f"{argv} ended with {process.returncode}")
    first = max(mib for count, mib in found if count <= 100)
    last = max(mib for count, mib in found if count > 100)
    return Part(
        "Memory",
        [
            Ratio(
                f"after {found[-1][0]} attempts with 5 MB each",
                last / first,
                1.1,
                "of that after 100",
            )
        ],
        notes=[f"{first:.0f} MiB in the first 100, {last:.0f} MiB at most afterwards"],
    )


@contextmanager
def running(argv: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command at work, which is ended with the block."""
    log = (folder / "output.log").open("wb")
    with (
        subprocess.Popen(
            argv, cwd=folder, env=environment(folder), stdout=log, stderr=log
        ) as process,
        log,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()


def _resident(pid: int) -> float | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    kib = [int(line.split()[1]) for line in lines if line.startswith("VmRSS:")]
    return kib[0] / 1024 if kib else None


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", choices=("speed", "many", "memory"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--attempts", type=int, default=1000, help="of part memory")
    given = parser.parse_args()
    parts = {
        "speed": lambda folder: speed(folder, given.rounds, given.epochs, given.slots),
        "many": lambda folder: many(folder, 210, 50),
        "memory": lambda folder: memory(folder, given.attempts),
    }
    for name, part in parts.items():
        if given.part in (None, name):
            with tempfile.TemporaryDirectory(prefix="expbench-harness-") as folder:
                print(part(Path(folder)).text(), flush=True)


if __name__ == "__main__":
    main()
