"""What was run and how it was limited, as names with values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from expbench.runs import Manifest
from expbench.schema import Enforced, Limits, Outcome

_LIMIT_NAMES = {
    "minutes": ("Working time of the agent, wall clock of the re-run", "min"),
    "wall_minutes": ("Wall clock of the agent", "min"),
    "turns": ("Answers of the agent's model", ""),
    "tokens": ("Tokens of the agent's model", ""),
    "dollars": ("Cost of the agent's model", "dollars"),
    "cpus": ("Processors", ""),
    "memory_mib": ("Memory", "MiB"),
    "processes": ("Processes", ""),
    "disk_mib": ("Growth of the workspace", "MiB"),
    "files": ("Files added", ""),
    "file_mib": ("Largest file", "MiB"),
    "output_mib": ("Output kept", "MiB"),
}


_HARNESS = {
    "wall_minutes": "the harness, by its clock",
    "turns": "the harness, before every request",
    "tokens": "the harness, before every request",
    "dollars": "the harness, before every request",
}
"""What no sandbox holds."""


@dataclass(frozen=True)
class Fact:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True)
class LimitFact:
    """A limit: what was demanded, and each way in which it was enforced."""

    name: str
    demanded: str
    enforced: tuple[str, ...]


def run_facts(manifest: Manifest) -> tuple[Fact, ...]:
    """The manifest in words, without its limits."""
    facts = [
        Fact("Run", manifest.name),
        Fact("Created", manifest.created),
        Fact("Suite", f"{manifest.suite}, version {manifest.suite_version}"),
        Fact("Planned", f"{len(manifest.tasks)} tasks, {manifest.epochs} epoch(s)"),
        Fact("Agent", manifest.agent),
        Fact("Model", manifest.model or "none"),
        Fact("Judge", manifest.judge),
        Fact("Sandbox", manifest.sandbox),
    ]
    if manifest.dollars is not None:
        facts.append(Fact("Cap of the run", f"{manifest.dollars:g} dollars, all models together"))
    options = [Fact(f"Option {name}", value) for name, value in manifest.options.items()]
    versions = [Fact(f"Version of {name}", value) for name, value in manifest.versions.items()]
    return (*facts, *options, *versions)


def limit_facts(limits: Limits, outcomes: Sequence[Outcome]) -> tuple[LimitFact, ...]:
    """Every limit that was demanded or enforced, with the number of sandboxes that enforced it."""
    records = Counter(map(_Held.of, _enforced(outcomes)))
    values = limits.model_dump() | {"wall_minutes": limits.agent_wall_minutes}
    demanded = {name: _demanded(name, value) for name, value in values.items()}
    names = dict.fromkeys(
        [*demanded, *(name for record in records for name in dict(record.limits))]
    )
    return tuple(
        LimitFact(
            name=_LIMIT_NAMES[name][0] if name in _LIMIT_NAMES else name.replace("_", " "),
            demanded=demanded.get(name, "not demanded"),
            enforced=_ways(name, records) if name not in _HARNESS else _harness(name, values[name]),
        )
        for name in names
    )


def _harness(name: str, value: float | None) -> tuple[str, ...]:
    return (_HARNESS[name] if value is not None else "not needed",)


class _Held(NamedTuple):
    """How a sandbox enforced limits, and why it did not: most sandboxes of a run are alike in it."""

    provider: str
    limits: tuple[tuple[str, str], ...]
    missing: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, record: Enforced) -> Self:
        return cls(record.provider, tuple(record.limits.items()), tuple(record.missing.items()))

    def way(self, name: str) -> str:
        """What became of one limit."""
        if how := dict(self.limits).get(name):
            return f"{self.provider}: {how}"
        why = dict(self.missing).get(name)
        return f"{self.provider}: not enforced, {why}" if why else f"{self.provider}: not enforced"


def _ways(name: str, records: Counter[_Held]) -> tuple[str, ...]:
    ways: Counter[str] = Counter()
    for record, count in records.items():
        ways[record.way(name)] += count
    return tuple(f"{way} ({count} of {records.total()})" for way, count in ways.most_common())


def _enforced(outcomes: Iterable[Outcome]) -> Iterable[Enforced]:
    for outcome in outcomes:
        if outcome.enforced is not None:
            yield outcome.enforced
        if outcome.execution is not None and outcome.execution.enforced is not None:
            yield outcome.execution.enforced


def _demanded(name: str, value: float | None) -> str:
    if value is None:
        return "not demanded"
    unit = _LIMIT_NAMES[name][1] if name in _LIMIT_NAMES else ""
    return f"{value:g} {unit}".strip()
