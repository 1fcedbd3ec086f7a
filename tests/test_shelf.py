"""Outcomes on the shelf: what comes out is what went in, and takes little memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from expbench.runs import Manifest, create, load
from expbench.schema import Judging, Outcome, Policy, Score
from expbench.shelf import Shelf


def outcome(task: str = "p/0", epoch: int = 1, value: float = 0.1 + 0.2) -> Outcome:
    return Outcome(
        task_id=task,
        paper="p",
        epoch=epoch,
        agent="ä",
        model="m",
        status="finished",
        scores={"design": Score(value=value, reason="läßt \u2028 nothing out")},
    )


def test_it_is_a_dictionary_of_equal_outcomes_in_order() -> None:
    shelf = Shelf({("b", 1): outcome("b"), ("a", 2): outcome("a", 2)})
    assert shelf["b", 1] == outcome("b")
    assert list(shelf) == [("b", 1), ("a", 2)] and len(shelf) == 2
    shelf["b", 1] = outcome("b", value=0.5)
    assert shelf["b", 1].scores["design"].value == 0.5
    assert list(shelf) == [("b", 1), ("a", 2)]
    assert shelf == {("b", 1): outcome("b", value=0.5), ("a", 2): outcome("a", 2)}
    del shelf["b", 1]
    assert ("b", 1) not in shelf and shelf.get(("b", 1)) is None
    with pytest.raises(KeyError):
        shelf["b", 1]


def test_a_thousand_take_a_tenth_of_their_objects() -> None:
    """Not of two outcomes alike is there more than one, so each is its own."""
    each = json.loads(outcome().model_dump_json())
    each["scores"] = {f"s{n}": {"value": None, "reason": f"no answer {n}"} for n in range(50)}

    def size(number: int, shelf: dict[tuple[str, int], Outcome] | Shelf) -> int:
        tracemalloc.start()
        for epoch in range(1, number + 1):
            made = Outcome.model_validate_json(json.dumps({**each, "epoch": epoch}))
            shelf["p/0", epoch] = made
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return held

    assert size(300, Shelf()) < size(300, {}) / 10


def test_a_run_keeps_its_outcomes_on_one_also_when_it_is_opened_again(tmp_path: Path) -> None:
    manifest = Manifest(
        name="run",
        created="2026-01-01T00:00:00Z",
        suite="mini",
        suite_version="1",
        tasks=("p/0", "p/1"),
        epochs=1,
        agent="ä",
        model="m",
        judging=Judging(),
        sandbox="bwrap",
        policy=Policy(),
    )
    run = create(tmp_path / "run", manifest)
    run.add(outcome("p/1", value=0.25))
    run.write_outcomes()
    for each in (run, load(run.paths.root)):
        assert isinstance(each.outcomes, Shelf)
        assert [found.status for found in each.ordered()] == ["missing", "finished"]
        assert each.outcomes["p/1", 1] == outcome("p/1", value=0.25)
