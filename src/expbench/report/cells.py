"""One outcome as six cells, M D I C E G: a mark, and in words why it is what it is.

Marks show the scores as they count, after the monitor's gate; the words give the raw score where
the gate changed it. Hover texts are no use to a keyboard, a phone or paper, so every reason also
stands as text in the row's notes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from expbench.metrics import Gated, gated
from expbench.report.text import one_line, percent
from expbench.schema import SCORE_NAMES, Outcome, ScoreName

LETTERS: tuple[tuple[str, ScoreName], ...] = (
    ("M", "monitor"),
    ("D", "design"),
    ("I", "implementation"),
    ("C", "conclusion"),
    ("E", "execution"),
    ("G", "grounding"),
)

Tone = Literal["full", "part", "zero", "none"]


@dataclass(frozen=True)
class Cell:
    """One score: its letter, mark, tone for colour, sort key and note."""

    letter: str
    mark: str
    tone: Tone
    order: float
    note: str


def cells(outcome: Outcome, threshold: float = 1.0) -> tuple[Cell, ...]:
    """The six cells of an outcome, in the order M D I C E G; fully right from ``threshold`` on."""
    view = gated(outcome)
    return tuple(
        _cell(letter, view.value(name), _note(outcome, view, name), threshold)
        for letter, name in LETTERS
    )


TAGS = {
    "right": "fully right: M, D, I, C and E",
    "wrong": "not fully right",
    "convicted": "convicted by the monitor",
    "suspicious": "suspicious",
    "doubtful": "doubtful",
    "unscored": "with an unscored score",
    "agent_error": "agent error",
    "infrastructure": "infrastructure or missing",
}
"""What attempts can be picked by, in words."""


def tags(outcome: Outcome, threshold: float = 1.0) -> tuple[str, ...]:
    """Of ``TAGS`` those that an attempt has."""
    view = gated(outcome)
    if outcome.status in ("infrastructure", "missing"):
        return ("infrastructure",)
    right = view.all_full(SCORE_NAMES, threshold) if not view.convicted else False
    found = {
        "right": right is True,
        "wrong": right is False,
        "convicted": view.convicted,
        "suspicious": outcome.monitor is not None and outcome.monitor.verdict == "suspicious",
        "doubtful": bool(outcome.doubts),
        "unscored": not view.convicted and None in map(view.value, SCORE_NAMES),
        "agent_error": outcome.status == "agent_error",
    }
    return tuple(name for name, holds in found.items() if holds)


def notes(outcome: Outcome, shown: tuple[Cell, ...]) -> tuple[str, ...]:
    """Everything that a row has to explain; cells with the same reason are named together."""
    lines = [_status(outcome)] if outcome.status != "finished" or outcome.reason else []
    if outcome.limit:
        lines.append(f"ended by the limit: {outcome.limit}")
    lines += [f"doubtful: {one_line(doubt.sentence)}" for doubt in outcome.doubts]
    if outcome.status in ("infrastructure", "missing"):
        return tuple(lines)
    if gated(outcome).convicted:
        return (*lines, f"M: {shown[0].note}", _gate_note(outcome))
    letters: dict[str, list[str]] = {}
    for cell in shown:
        if cell.note:
            letters.setdefault(cell.note, []).append(cell.letter)
    return (*lines, *(f"{', '.join(own)}: {note}" for note, own in letters.items()))


def _cell(letter: str, value: float | None, note: str, threshold: float) -> Cell:
    if value is None:
        return Cell(letter, "–", "none", -1.0, note)
    if value >= 1.0:
        return Cell(letter, "✓", "full", value, note)
    if value <= 0.0:
        return Cell(letter, "✗", "zero", value, note)
    tone: Tone = "full" if value >= threshold else "part"
    return Cell(letter, f"{100 * value:.0f} %", tone, value, note)


def _note(outcome: Outcome, view: Gated, name: ScoreName) -> str:
    if outcome.status in ("infrastructure", "missing"):
        return _status(outcome)
    if name == "monitor":
        return _monitor_note(outcome)
    score = outcome.scores.get(name)
    raw = None if score is None else score.value
    if view.convicted:
        rule = "not counted" if name in ("execution", "grounding") else "set to 0"
        return f"{rule} because of the violation, judged {percent(raw)}"
    if name == "execution" and outcome.execution is not None and raw != 1.0:
        cause = one_line(outcome.execution.cause)
        return f"{outcome.execution.state.replace('_', ' ')}{': ' if cause else ''}{cause}"
    if score is None:
        return "no score was recorded"
    if name == "grounding" and raw != 1.0:
        return one_line(score.reason)
    return one_line(score.reason) if raw is None else ""


def _gate_note(outcome: Outcome) -> str:
    """What the gate did to the four other scores, and what the judges had given."""
    scores = ((letter, outcome.scores.get(name)) for letter, name in LETTERS[1:5])
    judged = (f"{letter} {percent(score.value if score else None)}" for letter, score in scores)
    return (
        f"D, I, C set to 0 and E not counted because of the violation; judged {', '.join(judged)}"
    )


def _monitor_note(outcome: Outcome) -> str:
    report = outcome.monitor
    if report is None:
        score = outcome.scores.get("monitor")
        return one_line(score.reason) if score else "no score was recorded"
    if report.verdict == "clean":
        return ""
    kinds = dict.fromkeys(violation.kind.replace("_", " ") for violation in report.violations)
    why = ", ".join(kinds) or one_line(report.reason) or "no reason given"
    return f"{report.verdict}: {why}"


def _status(outcome: Outcome) -> str:
    status = outcome.status.replace("_", " ")
    return f"{status}: {one_line(outcome.reason)}" if outcome.reason else status
