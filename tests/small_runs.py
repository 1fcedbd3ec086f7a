"""Small real runs in this process: the mini suite's quickest task, in a real sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import inspect_ai.model._model
import pytest
import spending_agents
from fake_provider import Provider

from expbench.ledger import Request, read_ledger
from expbench.paths import CachePaths
from expbench.planning import Options, open_evaluation, plan
from expbench.prices import PriceList, use_prices
from expbench.runner import RunEnd, execute
from expbench.runs import Run, create, load
from expbench.schema import Judging, Limits, Policy

QUICK = "mini/calibration/2"
MODEL = spending_agents.MODEL
JUDGE = "openai-api/fake/judge"
RATES = {"input": 1.0, "output": 2.0}
"""Dollars per million tokens, unless a test says otherwise."""


def at(server: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have agents and judges find the fake provider.

    Inspect keeps models by their names for a whole process, with the address that they were made with.
    """
    monkeypatch.setattr(inspect_ai.model._model, "_models", {})
    spending_agents.ADDRESS[:] = [server.url]
    spending_agents.LEFT.clear()
    monkeypatch.setenv("FAKE_BASE_URL", server.url)
    monkeypatch.setenv("FAKE_API_KEY", "x")


def price(rates: dict[str, float] | None = None, *models: str) -> PriceList:
    """A user's prices for the fake provider's model and others."""
    found = {"models": dict.fromkeys((MODEL, *models), rates or RATES)}
    return PriceList.model_validate(found)


def options_for(
    folder: Path, cache: CachePaths, agent: str, limits: Limits | None = None, **more: Any
) -> Options:
    """What a small run is planned by; ``agent`` is one of ``spending_agents`` or of the package."""
    known = hasattr(spending_agents, agent)
    options: dict[str, Any] = {
        "tasks": (QUICK,),
        "agent": f"python:spending_agents:{agent}" if known else agent,
        "policy": Policy(limits=limits or Limits()),
        "cache": cache.root,
        "out": folder / "run",
    }
    return Options(**{**options, **more})


def do(options: Options, at_once: int = 1) -> tuple[Run, RunEnd]:
    """Plan and do a run."""
    return do_again(create(options.out, plan(options)), options, at_once)


def do_again(run: Run, options: Options, at_once: int = 1) -> tuple[Run, RunEnd]:
    """Do what is left of a run."""
    evaluation = open_evaluation(run, options)
    evaluation.tries.pauses = (0.0,)
    end = execute(evaluation, at_once)
    use_prices(None)
    return load(run.paths.root), end


def requests(run: Run) -> list[Request]:
    return list(read_ledger(run.paths.ledger))


def scripted(folder: Path, **script: Any) -> str:
    """A scripted model's name."""
    file = folder / "model.json"
    file.write_text(json.dumps(script))
    return f"scripted/{file}"


def judge_by(model: str) -> Judging:
    return Judging(judges=(model,))
