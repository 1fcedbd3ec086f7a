"""The page of several runs in a real browser: sorted, filtered, and read on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import browser, find_browser
from test_board import contenders, three

from expbench.board import build, write_board


@pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")
def test_the_page_can_be_sorted_filtered_and_read_on_a_phone(tmp_path: Path) -> None:
    board = build(contenders(three(tmp_path)), with_published=True)
    page = write_board(board, tmp_path / "board").html
    with browser(str(find_browser())) as shown:
        shown.size(1280, 900)
        shown.open(page)
        first = "document.querySelector('table.sortable tbody th').firstChild.textContent"
        assert shown.run(first) == "good"
        shown.click("table.sortable thead th:first-child button")
        assert shown.run(first) == "cheap"
        chosen = "[...document.querySelectorAll('#figures-1 .chosen')].map(e => e.dataset.metric)"
        assert shown.run(chosen) == ["all_execution"] * 2
        shown.click("input.filter")
        shown.type("p3")
        assert shown.run("document.getElementById('shown-1').textContent") == "3 of 18 tasks shown"
        shown.size(390, 844, phone=True)
        assert shown.run("document.documentElement.scrollWidth") <= 390
        assert shown.complaints == []
        assert all(url.startswith("file:") for url in shown.requests)
