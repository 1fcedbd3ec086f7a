"""The review's page in a real browser: with the keyboard, on a phone, in two tabs, and through a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, browser, find_browser
from review_pages import (
    QUOTE,
    TASKS,
    Server,
    decided,
    draft,
    field,
    project,
    run_of,
    serving,
)

from expbench.papers.document import Box, Passage
from expbench.review.decisions import decisions, reviewed
from expbench.review.project import ProjectSubject
from expbench.tracer.graph import Span

READY = "document.body?.dataset.ready === 'yes'"
DESK, PHONE = (1400, 900), (390, 844)
FIRST = "venue/paper/0"
HOSTILE = (
    "</script><script>hacked=1</script><img src=x onerror=hacked=1><svg onload=hacked=1>"
    "\"'`${hacked=1}{{7*7}}\u202ereversed\u202c"
)

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no Chromium on the search path: install chromium to run this"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser(find_browser() or "") as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "p", [draft(0), draft(1)])


@pytest.fixture
def tab(chromium: Browser, folder: Path) -> Iterator[Browser]:
    """The page of a project; afterwards nothing was complained of and nothing came from elsewhere."""
    with serving(folder) as server:
        visit(chromium, server)
        yield chromium
        assert chromium.complaints == []
        assert all(each.startswith(server.address) for each in chromium.requests)


def visit(
    tab: Browser, server: Server, size: tuple[int, int] = DESK, scheme: str = "light"
) -> None:
    tab.prefer(scheme)
    tab.size(*size, phone=size == PHONE)
    tab.dialogs.clear()
    tab.complaints.clear()
    tab.requests.clear()
    tab.open(server.address)
    tab.until(READY)


def said(tab: Browser) -> str:
    found: str = tab.run("document.getElementById('saved').textContent")
    return found


def saved(tab: Browser, words: str) -> None:
    tab.until(f"document.getElementById('saved').textContent.includes({json.dumps(words)})")


def current(tab: Browser) -> str:
    found: str = tab.run(
        "(document.activeElement.closest('article') || {dataset: {}}).dataset.field || ''"
    )
    return found


def card(name: str) -> str:
    return f"document.querySelector('article[data-field=\"{name}\"]')"


def made(folder: Path, reviewer: str = "ann") -> list[tuple[str, str, Any]]:
    return [(each.field, each.kind, each.value) for each in decisions(folder)[reviewer]]


# --- a task ------------------------------------------------------------------------------------------


def test_a_task_is_reviewed_with_the_keyboard_alone(tab: Browser, folder: Path) -> None:
    assert current(tab) == "question"
    assert tab.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.key("a")
    saved(tab, "Question accepted. 1 of 5")
    assert current(tab) == "method"
    tab.key("f")
    tab.until("document.activeElement.tagName === 'TEXTAREA'")
    tab.write(" Five seeds each.")
    tab.key("Enter", control=True)
    saved(tab, "Method fixed. 2 of 5")
    assert current(tab) == "design_complexity"
    tab.key("j")
    assert current(tab) == "masked_source"
    tab.key("r")
    tab.until("document.activeElement.id === 'why'")
    tab.key("Enter")
    assert made(folder)[-1][0] == "method", "no rejection without a reason"
    tab.write("It swallows the library.")
    tab.key("Enter")
    saved(tab, "Masked source rejected. 3 of 5")
    assert current(tab) == "requirements/0"
    tab.key("u")
    saved(tab, "Masked source open. 2 of 5")
    assert current(tab) == "masked_source"
    tab.key("a")
    saved(tab, "Masked source accepted")
    for _ in range(2):
        tab.key("a")
        tab.until("document.body.dataset.saving === 'saved'")
    saved(tab, "The task is done")
    assert tab.run("document.getElementById('count').textContent") == "5 of 5 fields, 1 of 2 tasks"
    tab.key("n")
    tab.until("document.getElementById('choose').textContent === 'Task 2 of 2'")
    tab.key("p")
    tab.until("document.getElementById('choose').textContent === 'Task 1 of 2'")
    first = ProjectSubject(folder).drafts()[0]
    found = reviewed(first, decisions(folder))
    assert set(found.accepted) == set(first.fields) and not found.rejected
    assert found.fields["method"].value == "Train with batches of 32 and of 512. Five seeds each."


def test_the_tabulator_reaches_everything_and_is_never_trapped(tab: Browser) -> None:
    tab.key("f")
    tab.until("document.activeElement.tagName === 'TEXTAREA'")
    tab.run("document.querySelector('.skip').focus()")
    seen: list[str] = []
    while "To the fields" not in seen and len(seen) < 120:
        tab.run("before = document.activeElement")
        tab.key("Tab")
        # A busy browser answers before it has moved the focus; one that never moves is a trap.
        tab.until("document.activeElement !== before")
        seen.append(
            tab.run("document.activeElement.id || document.activeElement.textContent.slice(0, 20)")
        )
    order = {
        name: seen.index(name) for name in ("choose", "keys", "left", "new-value", "Save", "Cancel")
    }
    assert list(order) == sorted(order, key=lambda name: order[name])
    assert seen.count("new-value") == 1, "a form lets go of the focus"
    assert {"Accept", "Fix …", "Reject …"} <= set(seen)


def test_every_control_has_a_name(tab: Browser) -> None:
    tab.key("?")
    tab.until("document.getElementById('help').open")
    tree = tab.call("Accessibility.getFullAXTree")["nodes"]
    roles = (
        "button",
        "textbox",
        "checkbox",
        "spinbutton",
        "link",
        "searchbox",
        "combobox",
        "dialog",
    )
    controls = [n for n in tree if n.get("role", {}).get("value") in roles and not n["ignored"]]
    assert len(controls) > 2
    assert [n for n in controls if not n.get("name", {}).get("value")] == []
    tab.key("Escape")
    tab.key("f")
    tab.until("document.activeElement.tagName === 'TEXTAREA'")
    tree = tab.call("Accessibility.getFullAXTree")["nodes"]
    controls = [n for n in tree if n.get("role", {}).get("value") in roles and not n["ignored"]]
    assert len(controls) > 25
    assert [n for n in controls if not n.get("name", {}).get("value")] == []
    accepts = {n["name"]["value"] for n in controls if n["name"]["value"].startswith("Accept")}
    assert len(accepts) == 4, "what a button is about is in its name"


CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (text) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const found = rgb(getComputedStyle(e).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('body *')]
    .filter((e) => own(e) && e.checkVisibility() && !e.disabled && !e.closest('noscript'))
    .map((e) => {
      const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
      const name = `${e.className} ${e.textContent.slice(0, 30)}`;
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), name];
    });
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_every_text_can_be_read(
    scheme: str, size: tuple[int, int], chromium: Browser, folder: Path
) -> None:
    kinds = (("question", "accept"), ("method", "fix"), ("masked_source", "reject"))
    decided(folder / "reviews/ann.jsonl", *((FIRST, *each) for each in kinds), value="Once.")
    with serving(folder) as server:
        visit(chromium, server, size, scheme)
        paper = chromium.run("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        chromium.key("r")
        found = chromium.run(CONTRAST)
        assert len(found) > 25
        assert [each for each in found if each[0] < 4.5] == []
        widths = chromium.run("[document.documentElement.scrollWidth, innerWidth]")
        assert widths == [size[0], size[0]], "no page is wider than its window"


def test_evidence_is_shown_in_its_place(tab: Browser) -> None:
    tab.until(
        "document.querySelector('.sheet img')?.complete && document.querySelectorAll('.marked').length > 0"
    )
    shares = (
        "(() => { const s = document.querySelector('.sheet img').getBoundingClientRect();"
        "const b = document.querySelector('.spot.now').getBoundingClientRect();"
        "return [(b.x - s.x) / s.width, (b.y - s.y) / s.height, b.width / s.width, b.height / s.height]; })()"
    )
    assert tab.run(shares) == pytest.approx([0.1, 0.1, 0.8, 0.015], abs=0.003)
    width = "document.querySelector('.sheet').clientWidth"
    before = tab.run(width)
    tab.key("z")
    assert tab.run(width) == pytest.approx(1.5 * before, rel=0.05)
    assert tab.run(shares) == pytest.approx([0.1, 0.1, 0.8, 0.015], abs=0.003)
    marked = "Array.from(document.querySelectorAll('.marked code')).map(c => c.textContent.trim())"
    assert tab.run(marked) == [f"value_{n} = train(batch={n})" for n in (10, 11, 12)]
    tab.click("article[data-field='masked_source'] .evidence")
    tab.until("document.querySelector('.pagetext') !== null")
    assert tab.run("document.querySelector('.pagetext').textContent") == "Only text."
    tab.click("article[data-field='method'] li:nth-child(2) .evidence")
    tab.until("document.querySelector('.marked code')?.textContent.startsWith('value_120')")
    visible = (
        "(() => { const m = document.querySelector('.marked').getBoundingClientRect();"
        "return m.top > 0 && m.bottom < innerHeight; })()"
    )
    assert tab.run(visible)
    tab.until("document.querySelector('.path').textContent === 'src/train.py:120–122'")
    tab.run("Array.from(document.querySelectorAll('#middle-tools button')).at(-1).click()")
    tab.until("document.querySelectorAll('.line').length > 200")
    tab.run("Array.from(document.querySelectorAll('#left-tools button')).at(0).click()")
    tab.until("document.querySelector('.sheet img')?.src.endsWith('page/1.png') === true")


def test_on_a_phone_evidence_opens_its_part_and_leads_back(chromium: Browser, folder: Path) -> None:
    with serving(folder) as server:
        visit(chromium, server, PHONE, "dark")
        panes = "Array.from(document.querySelectorAll('.pane'))"
        shown = f"{panes}.filter(p => p.checkVisibility()).map(p => p.id)"
        assert chromium.run(shown) == ["fields"]
        chromium.click("article[data-field='method'] .evidence")
        chromium.until("document.querySelector('.spot.now')?.checkVisibility() === true")
        assert chromium.run(shown) == ["left"]
        chromium.click("#to-fields")
        assert chromium.run(shown) == ["fields"] and current(chromium) == "method"
        chromium.click("article[data-field='method'] [data-act='accept']")
        saved(chromium, "Method accepted")
        assert chromium.complaints == []


def test_a_wrong_form_says_why_and_keeps_what_was_written(tab: Browser, folder: Path) -> None:
    tab.click("article[data-field='design_complexity'] [data-act='fix']")
    tab.until("document.activeElement.tagName === 'TEXTAREA'")
    tab.write("!")
    tab.key("Enter", control=True)
    tab.until(
        "document.querySelector('.editor .problem').textContent.startsWith('This is no JSON')"
    )
    tab.run("document.querySelector('textarea').value = '[]'")
    tab.key("Enter", control=True)
    tab.until("document.getElementById('alert-text').textContent.startsWith('Write an object')")
    assert tab.run("document.querySelector('textarea').value") == "[]"
    tab.key("Escape")
    assert current(tab) == "design_complexity" and tab.run("document.querySelector('form')") is None
    tab.complaints[:] = [each for each in tab.complaints if "422" not in each]
    assert made(folder) == []


def test_single_keys_can_be_turned_off(tab: Browser, folder: Path) -> None:
    tab.key("?")
    tab.until("document.getElementById('help').open")
    assert tab.run("document.querySelectorAll('#help kbd').length") > 8
    tab.click("#keys-on")
    tab.key("Escape")
    tab.key("a")
    tab.click("article[data-field='method'] [data-act='accept']")
    saved(tab, "Method accepted. 1 of 5")
    tab.click("#keys")
    tab.click("#keys-on")
    tab.click("#help-close")
    assert [name for name, *_ in made(folder)] == ["method"]


def test_the_clock_stands_still_without_anybody_there(tab: Browser, folder: Path) -> None:
    clock = "document.getElementById('clock').textContent"
    tab.until(f"/^Task 00:0[1-9]/.test({clock})")
    tab.run(
        "const real = Date.now; window.ahead = 61_000; Date.now = () => real() + window.ahead; 0"
    )
    tab.until(f"{clock}.endsWith('stands still')")
    before = tab.run(clock)
    tab.run("window.ahead = 600_000")
    tab.until(f"{clock}.endsWith('stands still')")
    assert tab.run(clock) == before
    tab.key("a")
    saved(tab, "accepted")
    assert 0 < decisions(folder)["ann"][0].seconds < 60
    tab.until(f"!{clock}.endsWith('stands still')")
    worked = "JSON.parse(sessionStorage.getItem('expbench-review-worked')).flat().at(-1)"
    tab.until(f"{worked} > 3")
    before = tab.run(worked)
    tab.run("document.body.dataset.old = 'yes'")
    tab.call("Page.reload")
    tab.until(f"{READY} && !document.body.dataset.old")
    assert tab.run(worked) >= before, "time without a decision outlives the page"


# --- nothing is lost ---------------------------------------------------------------------------------


def test_of_two_tabs_the_later_one_is_refused_and_shown_the_newer_value(
    tab: Browser, folder: Path
) -> None:
    address = tab.run("location.href")
    first = tab.another()
    tab.size(*DESK)
    tab.open(address)
    tab.until(READY)
    tab.key("f")
    tab.until("document.activeElement.tagName === 'TEXTAREA'")
    tab.write(" Mine.")
    second = tab.turn_to(first)
    tab.click("article[data-field='question'] [data-act='fix']")
    tab.until("document.activeElement.tagName === 'TEXTAREA'")
    tab.write(" Theirs.")
    tab.key("Enter", control=True)
    saved(tab, "Question fixed")
    tab.turn_to(second)
    tab.key("Enter", control=True)
    tab.until("document.getElementById('alert-text').textContent.includes('another tab')")
    asks = "Does a small batch help on set 0?"
    assert tab.run(f"{card('question')}.querySelector('.value').textContent") == f"{asks} Theirs."
    assert tab.run("document.querySelector('textarea').value") == f"{asks} Mine."
    assert len(made(folder)) == 1
    tab.key("Enter", control=True)
    saved(tab, "Question fixed")
    assert made(folder)[-1] == ("question", "fix", f"{asks} Mine.")
    tab.call("Page.close")
    tab.turn_to(first)
    tab.complaints[:] = [each for each in tab.complaints if "409" not in each]


def test_a_crash_loses_nothing(chromium: Browser, folder: Path) -> None:
    with serving(folder) as server:
        visit(chromium, server)
        chromium.key("a")
        saved(chromium, "1 of 5")
        chromium.key("f")
        chromium.until("document.activeElement.tagName === 'TEXTAREA'")
        chromium.write(" In a form.")
        chromium.click("article[data-field='design_complexity'] h3")
        server.kill()
        chromium.run(f"{card('design_complexity')}.querySelector('[data-act=accept]').click()")
        saved(chromium, "Not saved. The server does not answer")
    with serving(folder, "ann", "--port", str(server.port)) as again:
        saved(chromium, "Not saved. The server was started again")
        visit(chromium, again)
        assert chromium.dialogs == ["beforeunload"], "who leaves the page is asked"
        chromium.until(f"{card('design_complexity')}.dataset.word === 'accept'")
        assert [name for name, *_ in made(folder)] == ["question", "design_complexity"]
        assert current(chromium) == "method"
        chromium.key("f")
        chromium.until("document.activeElement.tagName === 'TEXTAREA'")
        assert not chromium.run("document.activeElement.value").endswith(" In a form.")
        chromium.click(".left button")
        assert chromium.run("document.activeElement.value").endswith(" In a form.")
        chromium.key("Escape")
        kept = "Object.keys(localStorage).filter(k => !k.endsWith('-keys'))"
        assert chromium.run(kept) == [], "what was saved is not kept twice"


def test_decisions_in_quick_succession_are_all_kept(tab: Browser, folder: Path) -> None:
    for name in ("question", "method", "question", "masked_source"):
        tab.run(f"{card(name)}.querySelector('[data-act=accept]').click()")
    tab.run(f"{card('method')}.querySelector('[data-act=undo]').disabled = false")
    tab.run(f"{card('method')}.querySelector('[data-act=undo]').click()")
    tab.run("document.getElementById('next').click()")
    tab.until("document.getElementById('choose').textContent === 'Task 2 of 2'")
    tab.until("document.body.dataset.saving === 'saved'")
    kinds = [(name, kind) for name, kind, _ in made(folder)]
    wanted = ("question", "method", "question", "masked_source")
    assert kinds == [*((name, "accept") for name in wanted), ("method", "undo")]


# --- hostile, and large ------------------------------------------------------------------------------


def hostile_project(folder: Path) -> Path:
    place = Passage(element=HOSTILE, page=1, box=Box(x0=0, y0=0, x1=9, y1=9), quote=HOSTILE)
    span = Span(path=HOSTILE, start=1, end=2)
    wild = {"passages": (place,), "spans": (span, Span(path="src/wild.py", start=1, end=1))}
    fields = {
        "question": field(HOSTILE).model_copy(update=wild),
        "method": field([HOSTILE, HOSTILE]).model_copy(update=wild),
        "design_complexity": field({HOSTILE: [{HOSTILE: HOSTILE}]}).model_copy(update=wild),
        f"requirements/{HOSTILE}": field(HOSTILE).model_copy(update=wild),
    }
    made = draft(0).model_copy(
        update={"id": f"a/{HOSTILE}", "fields": fields, "refused": HOSTILE, "no_answer": HOSTILE}
    )
    project(folder, [], title=HOSTILE)
    (folder / "drafts/wild.json").write_text(made.model_dump_json())
    (folder / "repo/src/wild.py").write_text(f"{HOSTILE}\n")
    decided(folder / "reviews/bob.jsonl", (made.id, "question", "reject"))
    decided(folder / "reviews/ann.jsonl", (made.id, "method", "fix"), value=[HOSTILE])
    return folder


def test_hostile_texts_stay_texts(chromium: Browser, tmp_path: Path) -> None:
    with serving(hostile_project(tmp_path / "p")) as server:
        visit(chromium, server)
        chromium.key("a")
        saved(chromium, "accepted")
        for at in range(1, 4):
            selector = f"#f{at} ~ *, article:nth-of-type({at}) .evidence"
            assert chromium.run(f"document.querySelectorAll({json.dumps(selector)}).length") > 0
        chromium.click("article .places li:nth-child(2) .evidence")
        chromium.until("document.querySelector('#middle-body .problem') !== null")
        chromium.click("article .places li:nth-child(3) .evidence")
        chromium.until("document.querySelector('#middle-body .marked') !== null")
        chromium.key("t")
        chromium.until("document.querySelectorAll('#tasks-list button').length === 1")
        chromium.key("Escape")
        chromium.key("r")
        chromium.until("document.activeElement.id === 'why'")
        chromium.write(HOSTILE)
        chromium.key("Enter")
        saved(chromium, "rejected")
        text = chromium.run("document.body.textContent")
        assert text.count("<script>hacked=1</script>") > 15 and "[U+202E]reversed" in text
        assert "\u202e" not in chromium.run("document.body.innerText")
        assert chromium.run("typeof hacked") == "undefined"
        wild = "main script, main svg, main iframe, main img"
        tags = f"Array.from(document.querySelectorAll('{wild}')).map(e => e.alt)"
        assert chromium.run(tags) in ([], ["Page 1 of the paper"])
        chromium.open(server.address + "agreement")
        assert "<script>hacked=1</script>" in chromium.run(
            "document.querySelector('h1').textContent"
        )
        assert (
            chromium.run("typeof hacked + document.querySelectorAll('script, img').length")
            == "undefined0"
        )
        assert chromium.complaints == [], "nor was anything stopped by the policy"
        assert chromium.dialogs == []


def test_a_hostile_submission_stays_text(chromium: Browser, tmp_path: Path) -> None:
    run_of(tmp_path / "run", HOSTILE)
    with serving(tmp_path / "run") as server:
        visit(chromium, server)
        for _ in range(3):
            chromium.key("a")
            chromium.until("document.querySelectorAll('.shown').length > 0")
            chromium.key("j")
        chromium.run(f"{card('finding/0')}.focus()")
        chromium.until("document.querySelectorAll('#middle-body mark').length > 0")
        assert "<script>hacked=1</script>" in chromium.run(
            "document.querySelector('#left-body').textContent"
        )
        assert (
            chromium.run(
                "typeof hacked + document.querySelectorAll('main script, main img').length"
            )
            == "undefined0"
        )
        assert chromium.complaints == []


def test_a_thousand_fields_and_tasks_are_a_page_at_a_time(
    chromium: Browser, tmp_path: Path
) -> None:
    many = {f"claims/{n}": field(f"Claim number {n}") for n in range(1_000)}
    folder = project(tmp_path / "p", [draft(0, **many), *(draft(n) for n in range(1, 1_000))])
    with serving(folder) as server:
        visit(chromium, server)
        cards = "document.querySelectorAll('article').length"
        assert chromium.run(cards) == 40
        chromium.run(f"{card('claims/35')}.focus()")
        chromium.key("j")
        assert current(chromium) == "claims/36"
        assert chromium.run(cards) == 40 and chromium.run(f"{card('claims/0')} === null")
        chromium.key("k")
        assert current(chromium) == "claims/35"
        chromium.key("a")
        saved(chromium, "1 of 1005")
        assert current(chromium) == "claims/36", "on to the next open field, over the page's end"
        chromium.key("t")
        chromium.until("document.querySelectorAll('#tasks-list button').length === 50")
        chromium.write("set 777")
        chromium.until("document.querySelectorAll('#tasks-list button').length === 1")
        chromium.click("#tasks-list button")
        chromium.until("document.getElementById('choose').textContent === 'Task 778 of 1000'")
        assert current(chromium) == "question"
        assert chromium.complaints == []


# --- a run -------------------------------------------------------------------------------------------


def test_a_judges_verdict_is_shown_after_the_reviewers(chromium: Browser, tmp_path: Path) -> None:
    run_of(tmp_path / "run")
    with serving(tmp_path / "run") as server:
        visit(chromium, server)
        assert current(chromium) == "design/0"
        assert "The judge" not in chromium.run("document.body.textContent")
        chromium.key("j")
        chromium.key("r")
        saved(chromium, "Design 2 not met")
        assert current(chromium) == "design/1", "the verdict is read before the next"
        shown = chromium.run(f"{card('design/1')}.querySelector('.shown p').textContent")
        assert shown == "The judge: met. verdict 1 of the judge"
        chromium.until("document.querySelector('#left-body mark') !== null")
        assert chromium.run("document.querySelector('#left-body mark').textContent") == QUOTE
        chromium.key("j")
        chromium.key("s")
        saved(chromium, "Design 3 skip")
        chromium.run(f"{card('finding/0')}.focus()")
        chromium.until(
            "document.querySelector('#middle-body mark')?.textContent === 'cat docs/results.md'"
        )
        chromium.key("a")
        saved(chromium, "copied results right")
        assert current(chromium) == "missed"
        chromium.key("f")
        chromium.until("document.activeElement.tagName === 'SELECT'")
        chromium.run("document.activeElement.value = 'git_history'")
        chromium.key("Enter", control=True)
        saved(chromium, "What the monitor missed git history")
        assert chromium.complaints == []
    labels = {name: value for name, kind, value in made(tmp_path / "run")}
    assert labels == {
        "design/1": "not_met",
        "design/2": "skip",
        "finding/0": "right",
        "missed": "git_history",
    }
    assert {each.draft for each in decisions(tmp_path / "run")["ann"]} == {f"{TASKS[0]}#1"}
