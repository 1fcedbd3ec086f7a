"""How much longer a re-run takes when it is looked at: four kinds of work, with and without each tracer.

    python benchmarks/tracing.py [--tries N] [--size X]

Each kind of work runs in one sandbox, in turns without and with a tracer, and the fastest of each
is compared. Wall-clock time is what a limit is about; processor time says the same on a busy machine.
``strace-files`` is strace where no Python tells of files; what is chosen by itself is ``python``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from measuring import Part, Ratio, Table

from expbench.execution.pyhook import PythonTracer
from expbench.execution.strace import StraceTracer
from expbench.execution.tracing import TOO_SLOW
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.session import Completed, Session

_SECONDS = 300.0

TRACERS: dict[str, Callable[[], PythonTracer | StraceTracer]] = {
    "python": PythonTracer,
    "strace": StraceTracer,
    "strace-files": partial(StraceTracer, files=True),
}

COMPUTE = """\
import numpy as np
rng = np.random.default_rng(0)
a = rng.random((300, 300))
for _ in range({n}):
    a = a @ a.T
    a /= np.abs(a).max()
print(a.sum())
"""
FILES = """\
import json, os
os.makedirs("many", exist_ok=True)
for n in range({n}):
    with open(f"many/{{n}}.json", "w") as file:
        json.dump({{"run": n, "scores": [n / 7] * 50}}, file)
total = 0.0
for n in range({n}):
    with open(f"many/{{n}}.json") as file:
        total += sum(json.load(file)["scores"])
print(total)
"""
LOOPS = """\
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

print([fib(n) for n in range({n})][-1])
"""
SHORT = "for n in $(seq {n}); do /bin/true; done\n"
PIPE = "for n in $(seq {n}); do seq 60000 | grep 7 | sort -r | awk '{{s += $1}} END {{print s}}'; done\n"
STARTS = "for n in $(seq {n}); do python -c 'import json, numpy'; done\n"


@dataclass(frozen=True)
class Work:
    """One kind of work: its text, and what the commands are that run it."""

    name: str
    text: str
    amount: int
    python: bool = False

    def files(self, size: float) -> dict[str, str]:
        text = self.text.format(n=max(1, round(self.amount * size)))
        return {"work.py": text} if self.python else {"work.sh": text}

    @property
    def command(self) -> list[str]:
        return ["python", "work.py"] if self.python else ["bash", "work.sh"]


WORKS = (
    Work("numpy computes", COMPUTE, 400, python=True),
    Work("many small files", FILES, 4000, python=True),
    Work("many short processes", SHORT, 600),
    Work("a shell pipeline", PIPE, 20),
    Work("Python loops and calls", LOOPS, 27, python=True),
    Work("many starts of Python", STARTS, 10),
)


def measured(host: SandboxHost, work: Work, kind: str, tries: int, size: float) -> list[float]:
    """Wall-clock and processor seconds without and with a tracer."""
    folder = host.folder()
    try:
        for name, text in work.files(size).items():
            (folder / name).write_text(text)
        with host.start(folder) as session:
            return _measured(session, work, kind, tries)
    finally:
        host.discard(folder)


def _measured(session: Session, work: Work, kind: str, tries: int) -> list[float]:
    tracer = TRACERS[kind]()
    tracer.prepare(session)
    if tracer.failed:
        raise SystemExit(f"{kind}: {tracer.failed}")
    wrapped, variables = tracer.wrap(work.command), tracer.environment()
    plain: list[Completed] = []
    traced: list[Completed] = []
    for _ in range(tries):
        plain.append(_run(session, work.command, {}))
        traced.append(_run(session, wrapped, variables))
    return [
        min(done.seconds for done in plain),
        min(done.seconds for done in traced),
        min(done.cpu_seconds or 0.0 for done in plain),
        min(done.cpu_seconds or 0.0 for done in traced),
    ]


def _run(session: Session, command: Sequence[str], variables: dict[str, str]) -> Completed:
    done = session.run(command, env=variables, timeout=_SECONDS)
    if done.exit_code != 0:
        raise SystemExit(f"{command}: {done.error or done.stderr.decode(errors='replace')}")
    return done


def part(kind: str, host: SandboxHost, tries: int, size: float) -> Part:
    """All kinds of work under one tracer."""
    found = {work.name: measured(host, work, kind, tries, size) for work in WORKS}
    ratios = [
        Ratio(name, traced / plain, TOO_SLOW, "times as long")
        for name, (plain, traced, _, _) in found.items()
    ]
    rows = tuple(
        (name, *(f"{value:.3f}" for value in values), f"{values[3] / max(values[2], 0.001):.2f}")
        for name, values in found.items()
    )
    columns = ("work", "wall s", "traced", "processor s", "traced", "ratio")
    return Part(kind, ratios, [Table("Seconds, the fastest of some runs", columns, rows)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=7)
    parser.add_argument("--size", type=float, default=1.0, help="how much of each work is done")
    parser.add_argument("--tracer", choices=tuple(TRACERS), action="append")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="expbench-tracing-") as folder:
        host = SandboxHost(CachePaths(Path(folder)))
        for kind in chosen.tracer or TRACERS:
            print(part(kind, host, chosen.tries, chosen.size).text(), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
