"""The report in a real browser: used with mouse and keyboard, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Browser, browser, find_browser
from test_report import HOSTILE, hostile_run, large_run, make_submission, written

from expbench.report import ReportInput, page

DESK, PHONE = (1280, 900), (390, 844)
ROWS = "Array.from(document.querySelectorAll('#task-table tbody tr')).filter(r => !r.hidden)"
OPENED = "Array.from(document.querySelectorAll('details.task[open]')).map(d => d.id)"

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no Chromium on the search path: install chromium to run this"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser(find_browser() or "") as found:
        yield found


@pytest.fixture(params=["plain", "packed"])
def report(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report with every state in it, as it is and as it would be if it were large."""
    if request.param == "packed":
        monkeypatch.setattr(page, "_PLAIN", 0)
    return report_of(large_run(), tmp_path)


def report_of(run: ReportInput, folder: Path) -> Path:
    written(run, folder)
    return folder / "report" / "index.html"


@pytest.fixture
def tab(chromium: Browser, report: Path) -> Iterator[Browser]:
    """The report in a fresh window; afterwards nothing was complained of and nothing was loaded."""
    yield from opened(chromium, report)


def opened(chromium: Browser, report: Path, size: tuple[int, int] = DESK) -> Iterator[Browser]:
    chromium.prefer("light")
    chromium.size(*size, phone=size == PHONE)
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.open(report)
    yield chromium
    assert chromium.run("document.title") != ""
    assert chromium.complaints == []
    assert chromium.requests == [report.as_uri()]


def names(tab: Browser) -> list[str]:
    found: list[str] = tab.run(f"{ROWS}.map(r => r.querySelector('a').textContent)")
    return found


def focused(tab: Browser) -> str:
    """What has the focus: its id, or that of the attempt around it."""
    found: str = tab.run(
        "document.activeElement.id || (document.activeElement.closest('details.task') || {}).id "
        "|| document.activeElement.hash || ''"
    )
    return found


def test_columns_are_sorted_both_ways(tab: Browser) -> None:
    before = names(tab)
    assert before[:3] == ["mini/calibration/1", "mini/calibration/4", "mini/calibration/7"]
    design = "th.mdice:nth-child(3) button"
    tab.click(f"#task-table {design}")
    orders = tab.run(f"{ROWS}.map(r => Number(r.cells[2].dataset.order))")
    assert orders == sorted(orders) and len(set(orders)) > 3
    tab.click(f"#task-table {design}")
    assert tab.run(f"{ROWS}.map(r => Number(r.cells[2].dataset.order))") == sorted(orders)[::-1]
    assert tab.run("document.querySelectorAll('th[aria-sort]').length") == 1
    assert sorted(names(tab)) == sorted(before)


def test_rows_are_searched_and_picked(tab: Browser) -> None:
    tab.key("/")
    assert focused(tab) == "filter"
    tab.type("copied causal")
    copied = names(tab)
    assert 0 < len(copied) < 10 and all("causal" in name for name in copied)
    assert tab.run("document.getElementById('shown').textContent") == f"{len(copied)} of 60 shown"
    tab.key("Escape")
    assert len(names(tab)) == 60 and focused(tab) == ""
    tab.run(
        "(() => { const s = document.getElementById('show'); s.value = 'infrastructure';"
        "s.dispatchEvent(new Event('input')); })()"
    )
    states = set(tab.run(f"{ROWS}.map(r => r.cells[7].textContent)"))
    assert states == {"infrastructure", "missing"}


def test_a_search_reaches_the_attempts_texts_where_it_is_asked_to(tab: Browser) -> None:
    tab.key("/")
    tab.type("damped")
    assert names(tab) == []
    tab.click("#deep")
    tab.until(f"{ROWS}.length > 40")
    tab.click("#deep")
    tab.until(f"{ROWS}.length === 0")


def test_an_attempt_opens_from_its_row_and_shows_evidence_in_its_place(tab: Browser) -> None:
    right = f"{ROWS}.find(r => Number(r.cells[2].dataset.order) === 1)"
    anchor = tab.run(f"{right}.querySelector('a').hash.slice(1)")
    tab.click(f"a[href='#{anchor}']")
    tab.until(f"document.activeElement.closest('#{anchor}[open]') !== null")
    assert tab.run(OPENED) == [anchor]
    tab.until(f"document.querySelectorAll('#{anchor} blockquote a').length > 0")
    tab.click(f"#{anchor} blockquote a")
    tab.until("document.querySelector('mark.now') !== null")
    assert tab.run("document.querySelector('mark.now').textContent") == "window of 60 months"
    tab.click(f"#{anchor} a.ref")
    tab.until("location.hash.endsWith('-D1')")


def test_the_keyboard_walks_through_the_attempts_in_the_tables_order(tab: Browser) -> None:
    tab.click("#task-table th:nth-child(1) button")
    tab.click("#task-table th:nth-child(1) button")
    order = tab.run(f"{ROWS}.map(r => r.querySelector('a').hash.slice(1))")
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        tab.key(key)
        tab.until(f"document.activeElement.closest('#{order[at]}') !== null")
        assert tab.run(OPENED) == [order[at]]
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.run(outline) == "solid", "the focus is seen"
    tab.key("Escape")
    assert tab.run(OPENED) == [] and focused(tab) == f"#{order[1]}"
    tab.key("k")
    tab.until(f"document.activeElement.closest('#{order[0]}') !== null")


def test_dark_is_the_systems_choice_and_then_the_readers(tab: Browser) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = tab.run(paper)
    tab.click("#theme")
    dark = tab.run(paper)
    assert light == "rgb(255, 255, 255)" and dark != light
    assert tab.run("document.getElementById('theme').getAttribute('aria-pressed')") == "true"
    tab.key("d")
    assert tab.run(paper) == light
    tab.run("delete document.documentElement.dataset.theme")
    tab.prefer("dark")
    assert tab.run(paper) == dark


def test_no_page_of_a_phone_is_wider_than_the_phone(chromium: Browser, report: Path) -> None:
    for tab in opened(chromium, report, PHONE):
        tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        tab.until("document.querySelectorAll('[data-packed]').length === 0")
        tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        widths = tab.run("[document.documentElement.scrollWidth, innerWidth]")
        assert widths == [PHONE[0], PHONE[0]]
        assert tab.run("document.querySelector('.tasks td').offsetWidth") > 300, "a row is a card"


def test_every_figure_has_its_table_and_every_text_can_be_read(tab: Browser) -> None:
    drawings = "Array.from(document.querySelectorAll('figure svg[role=img]'))"
    assert tab.run(f"{drawings}.length") == 5
    assert tab.run(f"{drawings}.every(s => s.closest('section').querySelector('table') !== null)")
    assert tab.run(f"{drawings}.every(s => s.getAttribute('aria-label').length > 20)")


@pytest.mark.parametrize("report", ["plain", "packed"], indirect=True)
def test_a_hostile_submission_runs_nothing(chromium: Browser, report: Path, tmp_path: Path) -> None:
    """R10: also where the attempt's page was compressed."""
    wild = report_of(hostile_run(HOSTILE), tmp_path / "wild")
    for tab in opened(chromium, wild):
        tab.key("j")
        tab.until("document.querySelector('#a1 .items') !== null")
        assert tab.run("document.querySelectorAll('main script, main img').length") == 0
        assert tab.run("document.querySelector('#a1').textContent.split('alert(1)').length") > 8


def test_a_large_page_holds_everything_in_less_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join(f"+value_{n} = model.fit(seed={n})" for n in range(2_000))
    diff = "diff --git a/x.py b/x.py\n+++ b/x.py\n@@ -0,0 +1,2000 @@\n" + text
    submission = make_submission().model_copy(update={"diff": diff})
    run = replace(large_run(300), submissions={"d1" * 32: submission})
    html = report_of(run, tmp_path).read_text("utf-8")
    assert len(html) < 300 * len(diff) / 2
    assert "value_1999" not in html and 'data-packed="' in html
