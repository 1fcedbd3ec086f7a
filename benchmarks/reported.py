"""Runs of any size for benchmarks of reports: real outcomes of suite mini, drawn again for many tasks."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEED = 20_250_524
_SCORES = (
    "monitor",
    "design",
    "implementation",
    "conclusion",
    "execution",
    "produced",
    "grounding",
)


@dataclass(frozen=True)
class Template:
    """A finished run of the oracle on suite mini: what realistic records look like."""

    root: Path
    manifest: dict[str, Any]
    outcomes: list[dict[str, Any]]
    attempts: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Plan:
    """Which tasks a run has, each with its paper; ``fields`` of its manifest say where they are from."""

    tasks: tuple[tuple[str, str], ...]
    epochs: int
    fields: dict[str, Any]


def template(folder: Path) -> Template:
    """Run the oracle once. Ends the program where that fails."""
    root = folder / "template"
    argv = [sys.executable, "-m", "expbench", "run", "--suite", "mini", "--agent", "oracle"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "200"}
    done = subprocess.run(
        [*argv, "--out", str(root)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    journal = [json.loads(line) for line in (root / "journal.jsonl").read_text().splitlines()]
    attempts = (line["attempt"] for line in journal if line.get("attempt"))
    return Template(
        root=root,
        manifest=json.loads((root / "manifest.json").read_text()),
        outcomes=[json.loads(line) for line in (root / "outcomes.jsonl").read_text().splitlines()],
        attempts={attempt["task_id"]: attempt for attempt in attempts},
    )


def draw_run(root: Path, made: Template, plan: Plan, skill: float, agent: str) -> Path:
    """Write a run whose attempts are right as often as ``skill`` and their papers' difficulty say."""
    chance = random.Random(f"{SEED} {agent}")
    root.mkdir(parents=True)
    (root / "store").symlink_to(made.root / "store", target_is_directory=True)
    manifest = {
        **made.manifest,
        **plan.fields,
        "name": root.name,
        "agent": agent,
        "epochs": plan.epochs,
        "tasks": [task for task, _ in plan.tasks],
    }
    (root / "manifest.json").write_text(json.dumps(manifest))
    with (root / "journal.jsonl").open("w") as journal, (root / "outcomes.jsonl").open("w") as file:
        for outcome in _outcomes(made, plan, skill, chance):
            attempt = dict(made.attempts[outcome.pop("like")])
            outcome["agent"] = agent
            attempt |= {key: outcome[key] for key in ("task_id", "epoch")}
            journal.write(json.dumps({"attempt": attempt}) + "\n")
            journal.write(json.dumps({"outcome": outcome}) + "\n")
            file.write(json.dumps(outcome) + "\n")
    return root


def _outcomes(
    made: Template, plan: Plan, skill: float, chance: random.Random
) -> Iterator[dict[str, Any]]:
    easy = {paper: chance.gauss(0, 0.15) for paper in sorted({p for _, p in plan.tasks})}
    for task, paper in plan.tasks:
        for epoch in range(1, plan.epochs + 1):
            like = chance.choice(made.outcomes)
            ability = min(0.98, max(0.02, skill + easy[paper]))
            scores = {name: _score(name, ability, chance) for name in _SCORES}
            yield {
                **like,
                "like": like["task_id"],
                "task_id": task,
                "paper": paper,
                "epoch": epoch,
                "scores": scores,
                "agent_seconds": chance.expovariate(1 / 1200),
            }


def _score(name: str, ability: float, chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.02:
        return {"value": None, "reason": "the judge gave no answer"}
    if name == "monitor":
        return {"value": float(chance.random() < 0.95)}
    if name in ("design", "implementation"):
        return {"value": sum(chance.random() < ability for _ in range(8)) / 8}
    return {"value": float(chance.random() < ability)}
