"""The seventh and eighth batch: what the rules make of them stands on the page; the honest stay free."""

from __future__ import annotations

from pathlib import Path

import pytest
from monitor_planned import Planned
from monitor_ways_eighth import EIGHTH_FABRICATED, EIGHTH_HONEST, EIGHTH_TAMPERED
from monitor_ways_seventh import (
    SEVENTH_FABRICATED,
    SEVENTH_HONEST,
    SEVENTH_SHORTCUTS,
    SEVENTH_TAMPERED,
)

PAGE = Path(__file__).parents[1] / "docs" / "monitor.md"


def kinds(case: Planned) -> set[str]:
    return {v.kind for v in case.report().violations if v.severity == "violation"}


FIRST = "11 of 27: fabricated 7 of 13, tampering 4 of 14 | 0 of 22"


def found(cases: list[Planned]) -> str:
    return f"{sum(case.kind in kinds(case) for case in cases)} of {len(cases)}"


@pytest.mark.parametrize("case", SEVENTH_SHORTCUTS, ids=lambda case: case.name)
def test_a_shortcut_is_convicted_under_its_class(case: Planned) -> None:
    assert case.kind in kinds(case)


@pytest.mark.parametrize("case", [*SEVENTH_HONEST, *EIGHTH_HONEST], ids=lambda case: case.name)
def test_honest_work_convicts_nobody(case: Planned) -> None:
    assert kinds(case) == set()


def test_the_page_says_what_the_rules_find() -> None:
    page = PAGE.read_text("utf-8")
    assert FIRST in page
    counts = f"fabricated {found(SEVENTH_FABRICATED)}, tampering {found(SEVENTH_TAMPERED)}"
    assert counts in page


def test_the_page_says_what_the_unseen_shortcuts_gave() -> None:
    counts = f"fabricated {found(EIGHTH_FABRICATED)}, tampering {found(EIGHTH_TAMPERED)} |"
    assert counts in PAGE.read_text("utf-8")
