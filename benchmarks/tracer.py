"""The static tracer against the release's requirements, over real repositories.

Every type 1 task with a source and requirements is traced at its pinned commit. Papers are split in two
halves by the hash of their id: the tracer was tuned on one and only measured on the other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tracer_trees import trees

from expbench.dataset.errata import apply_errata
from expbench.dataset.release import load_release
from expbench.schema import ResearchTask
from expbench.tracer.chain import trace_chain
from expbench.tracer.graph import Step, Trace

COVERED = 0.5
"""Share of a cited range's lines that must lie in steps' spans."""
TIGHT = 0.5
"""Intersection over union of a cited range with one single step, from which that step is the cited one."""
GENEROUS = 5
"""For each cited range, so many of the best ranked steps are looked at for the ranked coverage."""


@dataclass
class Half:
    """Counts over the tasks of one half."""

    tasks: int = 0
    absent: int = 0
    """Files that a task cites, masks or gives as source and the commit does not have."""
    absent_tasks: int = 0
    files: list[bool] = field(default_factory=list)
    ranges: list[bool] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    """Ranges of all cited files, those that are not reached or not there included."""
    tight: list[bool] = field(default_factory=list)
    ranked: list[bool] = field(default_factory=list)
    masks: list[bool] = field(default_factory=list)
    file_precision: list[float] = field(default_factory=list)
    mask_precision: list[float] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)


def main() -> int:
    """Trace every task and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of clones, OWNER+NAME")
    parser.add_argument("--data", type=Path, required=True, help="the released data set")
    parser.add_argument(
        "--work", type=Path, help="where trees are kept [default: a temporary folder]"
    )
    parser.add_argument("--task", action="append", help="only this task; several possible")
    parser.add_argument("--misses", choices=("development", "held out"), help="name what is missed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tasks = [
        task
        for task in apply_errata(load_release(options.data))
        if task.type == 1 and task.reference.source and task.reference.requirements
        if not options.task or task.id in options.task
    ]
    halves: dict[str, Half] = {"development": Half(), "held out": Half()}
    without: dict[str, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for task, tree in trees(tasks, options.mirror, options.work or Path(scratch)):
            if isinstance(tree, str):
                without[tree].append(task.id)
                continue
            print(task.id, file=sys.stderr)
            measure(halves[half_of(task)], task, tree)
    rows = {name: summary([half]) for name, half in halves.items()}
    rows["all"] = summary(list(halves.values()))
    if options.json:
        print(json.dumps({"rows": rows, "not measured": without}, indent=1))
        return 0
    show(rows)
    for reason, names in without.items():
        print(f"\nNot measured, {reason}: {', '.join(names)}.")
    if options.misses:
        print("\n" + "\n".join(halves[options.misses].misses))
    return 0


def half_of(task: ResearchTask) -> str:
    """The half that a task's paper is in."""
    even = hashlib.sha256(task.paper.encode()).digest()[0] % 2 == 0
    return "development" if even else "held out"


def measure(half: Half, task: ResearchTask, tree: Path) -> None:
    """Trace one task and count what of its reference is found."""
    start, work = time.perf_counter(), time.process_time()
    trace = trace_chain(tree, task.reference.source, task.reference.usage, task.question)
    half.seconds.append(time.perf_counter() - start)
    half.work.append(time.process_time() - work)
    half.tasks += 1
    ranges = {
        (citation.path, lines)
        for requirement in task.reference.requirements
        for citation in requirement.citations
        for lines in citation.ranges
    }
    named = {c.path for requirement in task.reference.requirements for c in requirement.citations}
    absent = {p for p in named | {*task.mask, *task.reference.source} if not (tree / p).is_file()}
    half.absent += len(absent)
    half.absent_tasks += bool(absent)
    cited, masked = sorted(named - absent), sorted(set(task.mask) - absent)
    reached = [each.path for each in trace.files]
    _share(half.files, half, task, "file", cited, set(reached))
    _share(half.masks, half, task, "mask", masked, set(trace.mask))
    if cited:
        half.file_precision.append(_precision(reached, cited))
    if masked:
        half.mask_precision.append(_precision(trace.mask, masked))
    _ranges(half, task, tree, trace, sorted(ranges))
    half.spans += [step.span.end - step.span.start + 1 for step in trace.steps]
    half.shares += list(_shares(tree, trace))
    half.steps.append(len(trace.steps))
    half.reached.append(len(reached))


def _share(
    found: list[bool],
    half: Half,
    task: ResearchTask,
    what: str,
    wanted: Sequence[str],
    had: set[str],
) -> None:
    for path in wanted:
        found.append(path in had)
        if path not in had:
            half.misses.append(f"{task.id}: {what} {path}")


def _precision(ranked: Sequence[str], wanted: Sequence[str]) -> float:
    """The share of the first files that are wanted, as many as are wanted."""
    return len(set(ranked[: len(wanted)]) & set(wanted)) / len(wanted)


def _ranges(
    half: Half,
    task: ResearchTask,
    tree: Path,
    trace: Trace,
    ranges: Sequence[tuple[str, tuple[int, int]]],
) -> None:
    steps: dict[str, list[Step]] = defaultdict(list)
    for step in trace.steps:
        steps[step.span.path].append(step)
    every = {path: _lines(found) for path, found in steps.items()}
    best = sorted(trace.steps, key=lambda step: -step.relevance)[: GENEROUS * len(ranges)]
    first: dict[str, set[int]] = defaultdict(set)
    for step in best:
        first[step.span.path] |= _lines([step])
    for path, (low, high) in ranges:
        length = _length(tree / path)
        lines = set(range(low, min(high, length) + 1))
        covered = bool(lines) and len(lines & every.get(path, set())) >= COVERED * len(lines)
        half.whole.append(covered)
        if not lines:
            continue
        half.ranges.append(covered)
        half.tight.append(any(_overlap(step, lines) >= TIGHT for step in steps.get(path, ())))
        half.ranked.append(len(lines & first[path]) >= COVERED * len(lines))
        if not covered:
            half.misses.append(f"{task.id}: lines {path}:{low}-{high}")


def _lines(steps: Sequence[Step]) -> set[int]:
    return {line for step in steps for line in range(step.span.start, step.span.end + 1)}


def _overlap(step: Step, lines: set[int]) -> float:
    own = _lines([step])
    return len(own & lines) / len(own | lines)


def _length(file: Path) -> int:
    return file.read_bytes().count(b"\n") + 1 if file.is_file() else 0


def _shares(tree: Path, trace: Trace) -> Iterator[float]:
    """Of each file that has steps, the share of its lines that is in spans."""
    spans: dict[str, set[int]] = defaultdict(set)
    for step in trace.steps:
        spans[step.span.path] |= _lines([step])
    for path, lines in spans.items():
        yield len(lines) / max(1, _length(tree / path))


def summary(halves: Sequence[Half]) -> dict[str, str]:
    """The table's cells, by what they say."""

    def share(name: str) -> str:
        found = [value for half in halves for value in getattr(half, name)]
        return f"{sum(found)}/{len(found)} = {sum(found) / max(1, len(found)):.3f}"

    def mean(name: str) -> str:
        found = [value for half in halves for value in getattr(half, name)]
        return f"{sum(found) / max(1, len(found)):.3f} (n={len(found)})"

    def middle(name: str, digits: int = 0) -> str:
        found = [value for half in halves for value in getattr(half, name)]
        return f"{median(found):.{digits}f}, at most {max(found):.{digits}f}" if found else "-"

    return {
        "tasks": str(sum(half.tasks for half in halves)),
        "tasks that name files which are not there (files)": (
            f"{sum(half.absent_tasks for half in halves)} ({sum(half.absent for half in halves)})"
        ),
        "cited files reached": share("files"),
        "cited ranges covered": share("ranges"),
        "the same, of all ranges, absent files included": share("whole"),
        f"cited ranges that are one step (IoU >= {TIGHT})": share("tight"),
        f"cited ranges covered by the best {GENEROUS} steps for each range": share("ranked"),
        "masked files found": share("masks"),
        "precision of cited files": mean("file_precision"),
        "precision of masked files": mean("mask_precision"),
        "lines of a step, median": middle("spans"),
        "share of a stepped file's lines in spans, median": middle("shares", 2),
        "steps of a trace, median": middle("steps"),
        "files of a trace, median": middle("reached"),
        "seconds, median": middle("seconds", 2),
        "seconds of a processor, median": middle("work", 2),
    }


def show(rows: dict[str, dict[str, str]]) -> None:
    """Print the table as Markdown."""
    names = list(rows)
    print(f"| | {' | '.join(names)} |")
    print("|---" * (len(names) + 1) + "|")
    for measure_name in rows[names[0]]:
        print(f"| {measure_name} | {' | '.join(rows[name][measure_name] for name in names)} |")


if __name__ == "__main__":
    raise SystemExit(main())
