"""What each run of a board was, as rows of facts with one cell for each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from expbench.board.contenders import Spend
from expbench.board.measures import Standing
from expbench.report.facts import limit_facts
from expbench.report.page import equation
from expbench.runs import Manifest


@dataclass(frozen=True)
class FactRow:
    """A fact of every run, several lines in a cell. ``differs``: not all runs have the same."""

    name: str
    cells: tuple[tuple[str, ...], ...]
    differs: bool


def fact_rows(standings: Sequence[Standing]) -> tuple[FactRow, ...]:
    """The facts, for the runs in their order."""
    found = []
    for name, look in _FACTS:
        cells = tuple(look(each) for each in standings)
        found.append(FactRow(name, cells, len(set(cells)) > 1))
    return tuple(found)


def spend_text(spend: Spend) -> tuple[str, ...]:
    """What a run spent, by who asked; a line each."""
    lines = []
    for each in spend.stages:
        cost = f"{each.dollars:.2f} dollars" if each.requests > each.unpriced else "price not known"
        some = f" and {each.unpriced} requests without a known price" if each.unpriced else ""
        tokens = f"{each.input_tokens + each.output_tokens:,} tokens"
        lines.append(f"{each.stage}: {cost}{some}, {each.requests:,} requests, {tokens}")
    return tuple(lines) or ("no requests to models",)


def _manifest(look: Callable[[Manifest], str]) -> Callable[[Standing], tuple[str, ...]]:
    return lambda each: (look(each.contender.run.manifest) or "–",)


def _versions(each: Standing) -> tuple[str, ...]:
    versions = each.contender.run.manifest.versions
    return tuple(f"{name}: {version}" for name, version in versions.items()) or ("–",)


def _limits(each: Standing) -> tuple[str, ...]:
    manifest = each.contender.run.manifest
    facts = limit_facts(manifest.limits, ())
    return tuple(f"{f.name}: {f.demanded}" for f in facts if f.demanded != "not demanded")


def _not_held(each: Standing) -> tuple[str, ...]:
    manifest = each.contender.run.manifest
    facts = limit_facts(manifest.limits, each.outcomes)
    found = (
        f"{fact.name}: {way}"
        for fact in facts
        if fact.demanded != "not demanded"
        for way in fact.enforced
        if ": not enforced" in way
    )
    return tuple(found) or ("none",)


def _requests(manifest: Manifest) -> str:
    asked = (
        f"{name.replace('_', ' ')} {value:g}" for name, value in manifest.policy.requests if value
    )
    return ", ".join(asked)


_FACTS: tuple[tuple[str, Callable[[Standing], tuple[str, ...]]], ...] = (
    ("Agent", _manifest(lambda m: m.agent)),
    ("Model", _manifest(lambda m: m.model or "none")),
    ("Judge", _manifest(lambda m: m.judge)),
    ("Judge-eval", lambda each: (each.contender.judge_eval or "not known",)),
    ("Monitor's model", _manifest(lambda m: m.monitor_model or "none")),
    ("Claims' model", _manifest(lambda m: m.claims_model or "none")),
    ("Suite", _manifest(lambda m: f"{m.suite}, version {m.suite_version}")),
    ("Data", _manifest(lambda m: m.data_version)),
    ("Errata", _manifest(lambda m: m.errata)),
    ("Mask, hints, reveal", _manifest(lambda m: f"{m.mask}, {m.hints}, {m.reveal}")),
    ("Planned", _manifest(lambda m: f"{len(m.tasks)} tasks, {m.epochs} epoch(s)")),
    ("Attempts", lambda each: (equation(each.summary),)),
    ("Sandbox", _manifest(lambda m: f"{m.sandbox} {m.image}".strip())),
    ("Network, GPUs", _manifest(lambda m: f"{m.policy.network}, {m.policy.gpus}")),
    ("Limits", _limits),
    ("Limits not held", _not_held),
    ("Promised", _manifest(_requests)),
    ("Spend", lambda each: spend_text(each.contender.spend)),
    ("Versions", _versions),
    ("Created", _manifest(lambda m: m.created)),
)  # fmt: skip
