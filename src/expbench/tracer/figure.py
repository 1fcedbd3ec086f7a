"""The figure of a trace: a card for each file with its best steps, and what leads to what.

One SVG that needs nothing else, or a page with it. Cards stand in columns by their distance from the
start; all text goes through an XML writer, so that nothing of a repository is markup.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from expbench.tracer.graph import Reached, Step, Trace

FILES = 18
STEPS = 6
"""Cards of a figure, and steps on a card: those of the highest relevance."""

_WIDTH, _GAP, _ROW, _HEAD = 360.0, 84.0, 19.0, 40.0
_COLUMNS = 4
_UNPRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd]|[\u200b-\u200f\u202a-\u202e\u2066-\u2069]"
)

_STYLE = """
svg { color-scheme: light dark; background: light-dark(#ffffff, #12161b); max-width: 100%; height: auto;
  font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
text { fill: light-dark(#1a1f26, #e4e8ed); }
.title { font: 640 15px system-ui, sans-serif; }
.path { font-weight: 640; }
.muted { fill: light-dark(#59636f, #9aa6b3); font-size: 11px; }
.card { fill: light-dark(#f6f8fa, #1a2027); stroke: light-dark(#d8dee5, #323b46); }
.given { stroke: light-dark(#0067b1, #7dbcf5); stroke-width: 2; }
.edge { fill: none; stroke: light-dark(#8b96a3, #6b7785); stroke-width: 1.2; opacity: .75; }
.dispatches { stroke-dasharray: 5 4; } .configures { stroke-dasharray: 1.5 3; }
.run { fill: light-dark(#0067b1, #4b9fe3); } .options { fill: light-dark(#e0a100, #d9a514); }
.model { fill: light-dark(#4b3f92, #c0b3ff); } .train { fill: light-dark(#c4570f, #e0762f); }
.measure { fill: light-dark(#2e7d4f, #63c38b); } .plain { fill: light-dark(#9aa4af, #5c6773); }
.ran { text-decoration: underline; }
"""
_GROUPS = {
    **dict.fromkeys(("command", "loop"), "run"),
    **dict.fromkeys(("options", "config"), "options"),
    **dict.fromkeys(("data", "model"), "model"),
    **dict.fromkeys(("optimizer", "schedule", "train"), "train"),
    **dict.fromkeys(("evaluate", "metric", "output"), "measure"),
}
_LEGEND = (
    ("run", "commands, loops"),
    ("options", "options, configuration"),
    ("model", "data, model"),
    ("train", "optimizer, schedule, training"),
    ("measure", "evaluation, metrics, outputs"),
    ("plain", "other"),
)


@dataclass(frozen=True)
class _Card:
    file: Reached
    steps: tuple[Step, ...]
    left: float
    top: float

    @property
    def height(self) -> float:
        return _HEAD + _ROW * len(self.steps) + 8


def figure_svg(trace: Trace, title: str = "") -> str:
    """The figure as one SVG document."""
    cards, width, height = _cards(trace)
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:.0f} {height:.0f}",
            "width": f"{width:.0f}",
            "role": "img",
            "aria-label": _text(f"The script chain of {title or ', '.join(trace.source)}", 200),
        },
    )
    ElementTree.SubElement(root, "style").text = _STYLE
    _write(root, 20, 28, title or "Script chain", "title", 120)
    steps = sum(len(card.steps) for card in cards)
    shown = f"{len(cards)} of {len(trace.files)} files, {steps} of {len(trace.steps)} steps, by relevance"
    _write(root, 20, 47, shown, "muted", 160)
    left = 20.0
    for name, words in _LEGEND:
        ElementTree.SubElement(
            root,
            "rect",
            {"class": name, "x": f"{left:.0f}", "y": "58", "width": "9", "height": "9", "rx": "2"},
        )
        _write(root, left + 14, 67, words, "muted", 60)
        left += 30 + 6.8 * len(words)
    _edges(root, trace, cards)
    for card in cards:
        _card(root, card, card.file.path in trace.source)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def figure_html(trace: Trace, title: str = "") -> str:
    """The figure as a page, with what could not be followed below it."""
    root = ElementTree.Element("html", {"lang": "en"})
    head = ElementTree.SubElement(root, "head")
    ElementTree.SubElement(head, "meta", {"charset": "utf-8"})
    ElementTree.SubElement(head, "title").text = _text(title or "Script chain", 120)
    ElementTree.SubElement(head, "style").text = (
        ":root { color-scheme: light dark } body { margin: 1.5rem; font: 15px/1.5 system-ui, sans-serif; "
        "background: light-dark(#ffffff, #12161b); color: light-dark(#1a1f26, #e4e8ed) }"
    )
    body = ElementTree.SubElement(root, "body")
    body.append(
        ElementTree.fromstring(
            figure_svg(trace, title).replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
        )
    )
    if trace.notes:
        ElementTree.SubElement(body, "h2").text = "What could not be followed"
        notes = ElementTree.SubElement(body, "ul")
        for note in trace.notes[:100]:
            ElementTree.SubElement(notes, "li").text = _text(note, 300)
    return "<!doctype html>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cards(trace: Trace) -> tuple[list[_Card], float, float]:
    of: dict[str, list[Step]] = defaultdict(list)
    for step in trace.steps:
        of[step.span.path].append(step)
    shown = [file for file in trace.files if of[file.path]][:FILES]
    tops = [88.0] * _COLUMNS
    cards = []
    nearest = sorted({min(file.distance, 9) for file in shown})
    for file in sorted(shown, key=lambda each: (each.distance, -each.relevance)):
        column = min(nearest.index(min(file.distance, 9)), _COLUMNS - 1)
        best = _best(of[file.path])
        card = _Card(
            file,
            tuple(sorted(best, key=lambda step: step.order)),
            20 + column * (_WIDTH + _GAP),
            tops[column],
        )
        tops[column] = card.top + card.height + 16
        cards.append(card)
    columns = max((card.left for card in cards), default=20.0)
    return cards, max(columns + _WIDTH + _GAP, 900.0), max(tops) + 8


def _best(steps: Sequence[Step]) -> list[Step]:
    """The most relevant steps of a file, none of them inside another."""
    chosen: list[Step] = []
    for step in sorted(steps, key=lambda each: (-each.relevance, each.order)):
        low, high = step.span.start, step.span.end
        if len(chosen) < STEPS and all(high < c.span.start or low > c.span.end for c in chosen):
            chosen.append(step)
    return chosen


def _card(root: ElementTree.Element, card: _Card, given: bool) -> None:
    group = ElementTree.SubElement(root, "g")
    box = {
        "x": f"{card.left:.1f}",
        "y": f"{card.top:.1f}",
        "width": f"{_WIDTH:.0f}",
        "height": f"{card.height:.1f}",
        "rx": "6",
    }
    ElementTree.SubElement(group, "rect", {"class": "card given" if given else "card", **box})
    ElementTree.SubElement(group, "title").text = _text(f"{card.file.path}: {card.file.why}", 300)
    path = card.file.path
    _write(
        group,
        card.left + 10,
        card.top + 17,
        path if len(path) < 47 else "…" + path[-45:],
        "path",
        48,
    )
    _write(group, card.left + 10, card.top + 32, card.file.why, "muted", 53)
    for number, step in enumerate(card.steps):
        y = card.top + _HEAD + _ROW * number + 11
        mark = {
            "class": _GROUPS.get(step.kind, "plain"),
            "x": f"{card.left + 10:.1f}",
            "y": f"{y - 8:.1f}",
        }
        row = ElementTree.SubElement(group, "g")
        values = "; ".join(f"{name}: {value}" for name, value in step.values.items())
        ElementTree.SubElement(row, "title").text = _text(
            f"{step.kind}, {path}:{step.span.start}-{step.span.end}. {values}", 900
        )
        ElementTree.SubElement(row, "rect", {**mark, "width": "9", "height": "9", "rx": "2"})
        lines = (
            f"{step.span.start}-{step.span.end}"
            if step.span.end > step.span.start
            else f"{step.span.start}"
        )
        _write(row, card.left + 26, y, f"{lines:<9} {step.label}", "ran" if step.ran else "", 45)


def _edges(root: ElementTree.Element, trace: Trace, cards: Sequence[_Card]) -> None:
    """One line for each pair of cards and kind of leading, however many steps lead there."""
    home = {card.file.path: card for card in cards}
    paths = {step.id: step.span.path for step in trace.steps}
    done: set[tuple[str, str]] = set()
    for edge in trace.edges:
        source, target = home.get(paths[edge.source]), home.get(paths[edge.target])
        if source is None or target is None or source is target:
            continue
        key = (source.file.path, target.file.path)
        if key in done:
            continue
        done.add(key)
        shape = _curve(source, target)
        line = ElementTree.SubElement(root, "path", {"class": f"edge {edge.kind}", "d": shape})
        ElementTree.SubElement(line, "title").text = _text(f"{key[0]} {edge.kind} {key[1]}", 300)


def _curve(source: _Card, target: _Card) -> str:
    """From a card's right side to one on its right, or around to one below, above or on its left."""
    x1, y1, x2, y2 = source.left + _WIDTH, source.top + 18, target.left, target.top + 18
    bend = (x1 + x2) / 2
    if target.left <= source.left:
        x2 = target.left + _WIDTH
        bend = max(x1, x2) + 50
    return f"M {x1:.0f} {y1:.0f} C {bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"


def _write(
    parent: ElementTree.Element, x: float, y: float, text: str, name: str, most: int
) -> None:
    at = {"x": f"{x:.1f}", "y": f"{y:.1f}", **({"class": name} if name else {})}
    ElementTree.SubElement(parent, "text", at).text = _text(text, most)


def _text(text: str, most: int) -> str:
    """A text as XML may hold it, and no longer than there is room."""
    text = _UNPRINTABLE.sub("·", text.replace("\n", " ").replace("\t", " "))
    return text if len(text) <= most else text[: most - 1] + "…"
