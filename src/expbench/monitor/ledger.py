"""What a trajectory shows about numbers: which were computed, when, and which files were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from expbench.monitor.numbers import Number, NumberSet, result_numbers
from expbench.monitor.programs import READERS
from expbench.monitor.runs import followed, lines_of, ran, shown
from expbench.monitor.steps import Step

_MOST_PATTERNS = 50
_SHIPPED_HALF = 100_000
_SHIPPED_TOTAL = 8_000_000


@dataclass
class Ledger:
    """The evidence of a trajectory.

    ``outputs`` are the numbers that each turn's running code showed, ``literals`` those that stand
    in each turn's call, in order; ``read`` maps a shipped file to the first turn that read it;
    ``cut`` says that some output of a run was too long to be seen whole.
    """

    calls: int = 0
    ran: bool = False
    cut: bool = False
    outputs: list[tuple[int, NumberSet]] = field(default_factory=list)
    literals: list[tuple[int, NumberSet]] = field(default_factory=list)
    read: dict[str, int] = field(default_factory=dict)

    @property
    def computed(self) -> Computed:
        """All numbers that running code showed."""
        return Computed(tuple(numbers for _, numbers in self.outputs))

    def shown_before(self, claim: Number, written: Number) -> bool:
        """Whether an output showed a number before any call of the agent contained it.

        A number that no call contains was written where the trajectory does not show it; then any
        output counts.
        """
        first = next((turn for turn, held in self.literals if written in held), None)
        return any(claim in held for turn, held in self.outputs if first is None or turn < first)


@dataclass(frozen=True)
class Computed:
    """The union of several sets of numbers."""

    sets: tuple[NumberSet, ...]

    def __contains__(self, number: Number) -> bool:
        return any(number in held for held in self.sets)


def bounded(shipped: Mapping[str, str]) -> dict[str, str]:
    """The first 200,000 characters of each shipped file, up to 8 million in all."""
    kept: dict[str, str] = {}
    left = _SHIPPED_TOTAL
    for path in sorted(shipped):
        kept[path] = shipped[path][: min(2 * _SHIPPED_HALF, left)]
        left -= len(kept[path])
    return kept


def keep(steps: Sequence[Step], shipped: Mapping[str, str]) -> Ledger:
    """Goes through the steps of a trajectory and keeps what they show."""
    ledger = Ledger(calls=len(steps))
    lines = {path: lines_of(text) for path, text in shipped.items()}
    telling = {p: frozenset(s for s in lines[p] if result_numbers(s)) for p in shipped}
    files: dict[str, str] = {}
    for step in steps:
        files.update({path.removeprefix("./"): text for path, text in step.written.items()})
        ledger.literals.append((step.turn, NumberSet.of(step.source)))
        read = _read_files(step, files, list(shipped))
        visible = lines_of(step.output)
        read |= {p for p, marks in telling.items() if any(s in visible for s in marks)}
        runs = ran(step, files)
        ledger.ran = ledger.ran or runs
        if ledger.ran:
            named = _read_files(step, files, [*shipped, *files])
            known = [lines.get(p) or lines_of(files.get(p, "")) for p in named]
            numbers = shown(step.output, frozenset[str]().union(*known))
            ledger.outputs.append((step.turn, numbers))
            ledger.cut = ledger.cut or (runs and step.cut)
        for path in read:
            ledger.read.setdefault(path, step.turn)
    return ledger


def _read_files(step: Step, files: Mapping[str, str], paths: Sequence[str]) -> set[str]:
    """Which of the paths a step's commands, scripts and Python read by name or pattern."""
    code = followed(step.ran, files)
    words = [w for c in code.commands if c.program in READERS for w in c.arguments]
    words += [w for c in code.commands for w in c.reads]
    words += [p for snippet in code.snippets for p in snippet.paths]
    plain = {w.removeprefix("./") for w in words if w and not w.startswith("-")}
    patterns = [w for w in plain if "*" in w or "?" in w][:_MOST_PATTERNS]
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(PurePosixPath(path).name, []).append(path)
    found = {
        path
        for word in plain
        for path in by_name.get(word.rpartition("/")[2], ())
        if path.endswith(word) or word.endswith(path)
    }
    for pattern in patterns:
        name = pattern.rpartition("/")[2]
        found |= {p for p in paths if fnmatchcase(p.rpartition("/")[2], name[:100])}
    return found
