"""How long numbers and reports of very many outcomes take, and how much memory.

    python benchmarks/report.py                        # all parts, on suite mini's tasks, many epochs
    EXPBENCH_DATA=DIR python benchmarks/report.py      # on the release's 461 tasks, three epochs

Seven runs of 1,383 attempts each, drawn from real outcomes of suite mini (``reported.py``). *metrics*: all
outcomes read, and every metric by every rule with 10,000 bootstrap draws. *report*: ``expbench report`` of
the seven on one page, and of one alone. *growth*: ten times the runs. *table*: data frames by
``expbench.load`` against Inspect's ``samples_df`` on the logs of one real run.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import Part, Ratio, timed
from reported import Plan, Template, draw_run, template

RUNS = 7
ATTEMPTS = 1383
SECONDS_OF_METRICS, SECONDS_OF_REPORT = 3.0, 15.0
MIB_OF_REPORT, MIB_OF_MEMORY = 25, 500

METRICS_PROGRAM = """
import sys, json
from pathlib import Path
from expbench.metrics import details, summarise
from expbench.metrics.reading import read_scores
for root in map(Path, sys.argv[1:]):
    manifest = json.loads((root / "manifest.json").read_text())
    planned = [(t, e) for t in manifest["tasks"] for e in range(1, manifest["epochs"] + 1)]
    outcomes = read_scores(root / "outcomes.jsonl")
    summarise(planned, outcomes)
    details(outcomes)
"""
OURS = "import sys, expbench; print(len(expbench.load(sys.argv[1]).outcomes.frame()))"
THEIRS = (
    "import sys; from inspect_ai.analysis import samples_df; print(len(samples_df(sys.argv[1])))"
)


def plan_of(made: Template) -> Plan:
    """461 tasks in three epochs where the release is at hand; else mini's in very many."""
    if data := os.environ.get("EXPBENCH_DATA"):
        from expbench.dataset import load_suite
        from expbench.dataset.release import release_id

        suite = load_suite("expbench", Path(data))
        fields = {
            "suite": "expbench",
            "suite_version": suite.version,
            "data_version": release_id(Path(data)),
            "options": {"data": data},
        }
        return Plan(tuple((task.id, task.paper) for task in suite.tasks), 3, fields)
    tasks = tuple((each["task_id"], each["paper"]) for each in made.outcomes)
    return Plan(tasks, -(-ATTEMPTS // len(tasks)), {})


def measured(argv: list[str], folder: Path) -> tuple[float, float]:
    """Seconds and peak MiB of a command, which must succeed."""
    environment = {**os.environ, "HOME": str(folder), "COLUMNS": "200"}
    log = folder / "output.log"
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{argv}\n{log.read_text()[-3000:]}")
    return seconds, used.ru_maxrss / 1024


def metrics(runs: list[Path], folder: Path) -> Part:
    """Reading and measuring all runs in one process, from its start to its end."""
    seconds, mib = measured([sys.executable, "-c", METRICS_PROGRAM, *map(str, runs)], folder)
    return Part(
        "Metrics",
        [
            Ratio(f"{len(runs)} runs read, every metric", seconds, SECONDS_OF_METRICS, "s"),
            Ratio("resident memory", mib, MIB_OF_MEMORY, "MiB"),
        ],
        notes=[f"outcomes: {sum((r / 'outcomes.jsonl').stat().st_size for r in runs) >> 20} MiB"],
    )


def report(runs: list[Path], folder: Path) -> Part:
    """The report of each run, of which the slowest counts, and then the page that links to them."""
    board = folder / "board"
    expbench = [sys.executable, "-m", "expbench", "report"]
    one, alone = max(measured([*expbench, str(run)], folder) for run in runs)
    many, most = measured([*expbench, *map(str, runs), "--out", str(board)], folder)
    pages = {"page of all": board / "index.html", "of one": runs[0] / "report" / "index.html"}
    ratios = [
        Ratio(f"page of {len(runs)} runs", many, SECONDS_OF_REPORT, "s"),
        Ratio("its resident memory", most, MIB_OF_MEMORY, "MiB"),
        Ratio("report of one run, the slowest", one, SECONDS_OF_REPORT, "s"),
        Ratio("its resident memory", alone, MIB_OF_MEMORY, "MiB"),
    ]
    sizes = [
        Ratio(f"{name}: index.html", page.stat().st_size / 1024**2, MIB_OF_REPORT, "MiB")
        for name, page in pages.items()
    ]
    return Part("Report", ratios + sizes)


def growth(made: Template, plan: Plan, folder: Path) -> Part:
    """Metrics and the page for ten times the runs."""
    few = [draw_run(folder / f"few{n}", made, plan, 0.5, f"few{n}") for n in range(2)]
    many = [draw_run(folder / f"many{n}", made, plan, 0.5, f"many{n}") for n in range(20)]
    program = [sys.executable, "-c", METRICS_PROGRAM]
    page = [sys.executable, "-m", "expbench", "report", "--out"]
    for run in (*few, *many):  # the page links to a report that is there, and else makes it
        (run / "report").mkdir()
        (run / "report" / "index.html").touch()
    ratios = []
    for name, argv in (("metrics", program), ("page", [*page, str(folder / "grown")])):
        small, _ = measured([*argv, *map(str, few)], folder)
        large, _ = measured([*argv, *map(str, many)], folder)
        ratios.append(Ratio(f"{name} of 20 runs", large / small, 12.0, "of two runs'"))
    return Part("Growth", ratios)


def table(folder: Path, epochs: int) -> Part:
    """A data frame of one real run, by us and by Inspect, each in a process of its own."""
    argv = ["run", "--suite", "mini", "--agent", "null", "--epochs", str(epochs), "--out", "table"]
    measured([sys.executable, "-m", "expbench", *argv], folder)
    root = folder / "table"
    ours = min(_program(OURS, root, folder) for _ in range(3))
    theirs = min(_program(THEIRS, root / "logs", folder) for _ in range(3))
    return Part(
        "Table",
        [Ratio("expbench.load to a data frame", ours / theirs, 1 / 3, "of samples_df's time")],
        notes=[
            f"{15 * epochs} samples: {ours:.2f} s against {theirs:.2f} s, with start and imports"
        ],
    )


def _program(code: str, place: Path, folder: Path) -> float:
    return measured([sys.executable, "-c", code, str(place)], folder)[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", choices=("metrics", "report", "growth", "table"))
    parser.add_argument("--epochs", type=int, default=20, help="of part table")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="expbench-report-") as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Part]] = {}
        if given.part != "table":
            made = template(folder)
            plan = plan_of(made)
            seconds, runs = timed(
                lambda: [
                    draw_run(folder / f"run{n}", made, plan, 0.1 + 0.1 * n, f"agent{n}")
                    for n in range(RUNS)
                ]
            )
            print(
                f"{RUNS} runs of {len(plan.tasks) * plan.epochs} attempts drawn in {seconds:.0f} s"
            )
            parts = {
                "metrics": lambda: metrics(runs, folder),
                "report": lambda: report(runs, folder),
                "growth": lambda: growth(made, plan, folder),
            }
        parts["table"] = lambda: table(folder, given.epochs)
        for each, part in parts.items():
            if given.part in (None, each):
                print(part().text(), flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
