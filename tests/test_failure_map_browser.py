"""The failure map in a real browser: on a desk, on a phone, by keyboard, and through to the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, browser, find_browser
from test_failures import needs_sandbox
from test_main_job import QUICK, Command

pytestmark = [
    pytest.mark.skipif(
        find_browser() is None, reason="no Chromium on the search path: install chromium"
    ),
    needs_sandbox,
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The map of two real runs: of nobody, and of a cheat."""
    command = Command(tmp_path_factory.mktemp("map"))
    for agent in ("null", "cheat:hardcode"):
        out = f"runs/{agent.partition(':')[0]}"
        command("run", "--agent", agent, "--task", QUICK, "--out", out)
    command("failures", "runs/null", "runs/cheat", "--out", "map")
    return command.folder / "map" / "index.html"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser(find_browser() or "") as found:
        yield found


@pytest.fixture
def tab(chromium: Browser, page: Path) -> Iterator[Browser]:
    chromium.prefer("light")
    chromium.size(1280, 900)
    chromium.complaints.clear()
    chromium.open(page)
    yield chromium
    assert chromium.complaints == []


def open_first(tab: Browser) -> str:
    """Follow the first cause of the list to its row; the row's name."""
    tab.click("#first tbody a")
    tab.until("location.hash.startsWith('#c-')")
    row = str(tab.run("location.hash"))
    tab.click(f"{row} > summary")
    tab.until(f"document.querySelector('{row}').open")
    return row


def test_a_cause_leads_to_its_evidence_in_the_report(tab: Browser) -> None:
    row = open_first(tab)
    place = str(tab.run(f"document.querySelector('{row} .evidence a').hash"))
    tab.click(f"{row} .evidence a")
    tab.until("location.pathname.endsWith('/report/index.html')")
    tab.until(f"!!document.getElementById({place[1:]!r})")
    attempt = place[1:].partition("-")[0]
    tab.until(f"document.getElementById({attempt!r}).open")
    seen = f"document.getElementById({place[1:]!r}).getBoundingClientRect()"
    tab.until(f"{seen}.height > 0 && {seen}.top >= 0 && {seen}.top < innerHeight")


def test_the_map_is_used_by_keyboard(tab: Browser) -> None:
    tab.key("Tab")
    tab.until("document.activeElement !== document.body")
    assert tab.run("document.activeElement.className") == "skip"
    tab.run("document.querySelector('details.code > summary').focus()")
    tab.key("Enter")
    tab.until("document.querySelector('details.code').open")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_stands_out_at_the_side(tab: Browser, scheme: str) -> None:
    tab.prefer(scheme)
    tab.size(390, 844, phone=True)
    tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert tab.run("document.documentElement.scrollWidth") == 390
    assert tab.run("innerWidth") == 390
    colours = tab.run(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    light = [sum(map(int, text[4:-1].split(","))) > 384 for text in colours]
    assert light == [scheme == "dark", scheme == "light"]
