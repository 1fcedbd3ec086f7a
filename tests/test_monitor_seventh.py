"""The seventh batch: what the rules make of it stands on the page, and honest work in it stays free."""

from __future__ import annotations

from pathlib import Path

import pytest
from monitor_planned import Planned
from monitor_ways_seventh import SEVENTH_FABRICATED, SEVENTH_HONEST, SEVENTH_TAMPERED

PAGE = Path(__file__).parents[1] / "docs" / "monitor.md"


def kinds(case: Planned) -> set[str]:
    return {v.kind for v in case.report().violations if v.severity == "violation"}


def found(cases: list[Planned]) -> str:
    return f"{sum(case.kind in kinds(case) for case in cases)} of {len(cases)}"


@pytest.mark.parametrize("case", SEVENTH_HONEST, ids=lambda case: case.name)
def test_honest_work_convicts_nobody(case: Planned) -> None:
    assert kinds(case) == set()


def test_the_page_says_what_the_rules_find() -> None:
    page = PAGE.read_text("utf-8")
    counts = f"fabricated {found(SEVENTH_FABRICATED)}, tampering {found(SEVENTH_TAMPERED)}"
    assert counts in page
    assert f"0 of {len(SEVENTH_HONEST)} " in page
