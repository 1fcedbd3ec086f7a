"""A trajectory as text that fits into a model's window, turn by turn.

Every turn keeps its number, its head and its tail; what is left out is marked with its size. How much a
turn may keep depends on the trajectory: texts are cut to the largest bound with which the whole fits into
the given number of parts. Parts overlap by a few turns, so that a shortcut over two turns is seen whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.schema import SubmissionText, Turn

BUDGET = 60_000
"""Characters of one part."""
MOST_PARTS = 8
OVERLAP = 3
"""Turns that a part repeats from the one before."""
_BOUNDS = (6_000, 3_000, 1_500, 800, 400, 200, 100)
"""Characters that a turn's command and its output may have each, the largest first."""
_SAID = 600
_MARK = 100

_Shown = tuple[int, str, bool]
"""A turn's number, its text, and whether something of it is left out."""


@dataclass(frozen=True)
class Part:
    """Some consecutive turns as text; ``cut`` says that something of them is left out."""

    text: str
    first: int
    last: int
    cut: bool


def condense(
    trajectory: Sequence[Turn], budget: int = BUDGET, most: int = MOST_PARTS
) -> tuple[Part, ...]:
    """The trajectory in at most ``most`` parts of at most ``budget`` characters.

    A trajectory that does not fit even with the smallest bound loses turns in its middle.
    """
    shown = [(at, turn) for at, turn in enumerate(trajectory) if turn.role != "system"]
    for bound in _BOUNDS:
        texts = [(at, *render(at, turn, bound)) for at, turn in shown]
        parts = _parts(texts, budget)
        if len(parts) <= most:
            return parts
    return _parts(_ends(texts, (budget - _MARK) * most * 3 // 4), budget)[:most]


def _ends(texts: Sequence[_Shown], room: int) -> list[_Shown]:
    """As many turns from both ends as there is room for, with a mark between them."""
    head, tail = 0, len(texts)
    while head < tail:
        at = head if head <= len(texts) - tail else tail - 1
        room -= len(texts[at][1]) + 1
        if room < 0:
            break
        head, tail = (head + 1, tail) if at == head else (head, tail - 1)
    if head >= tail:
        return list(texts)
    first, last = texts[head][0], texts[tail - 1][0]
    mark = (first, f"[turns {first} to {last} are left out]\n", True)
    return [*texts[:head], mark, *texts[tail:]]


def render(at: int, turn: Turn, bound: int) -> tuple[str, bool]:
    """One turn as text, and whether something of it is left out."""
    if turn.role != "tool":
        said, cut = clipped(turn.text, min(bound, _SAID))
        return f"[turn {at}] {turn.role} says:\n{said}\n", cut
    command, one = clipped(turn.command, bound)
    output, other = clipped(turn.text, bound)
    failed = " (failed)" if turn.failed else ""
    text = f"[turn {at}] calls {turn.tool or 'a tool'}{failed}:\n{command}\nand gets:\n{output}\n"
    return text, one or other


def clipped(text: str, bound: int) -> tuple[str, bool]:
    """A text of about ``bound`` characters: its head, a mark, and its tail."""
    if len(text) <= bound:
        return text, False
    head, tail = 2 * bound // 3, bound // 3
    left = len(text) - head - tail
    return f"{text[:head]}\n[… {left} characters left out …]\n{text[-tail:]}", True


def deliverables(submission: SubmissionText, bound: int) -> tuple[str, bool]:
    """What was handed in, as text: the script, the changes, the conclusion."""
    parts, cut = [], False
    for name, text in (
        ("the script for the re-run", submission.script),
        ("the changes", submission.diff),
        ("the conclusion", submission.conclusion),
    ):
        shown, less = clipped(text, bound)
        parts.append(f"[deliverable] {name}:\n{shown}\n")
        cut = cut or less
    return "\n".join(parts), cut


def stands_in(quote: str, text: str) -> bool:
    """Whether a quote is a passage of a text, white space apart."""
    wanted = " ".join(quote.split())
    if len(wanted) < 4 or "characters left out" in wanted:
        return False
    plain = text.replace("\\n", "\n").replace('\\"', '"')
    bare = "\n".join(line[1:] if line[:1] in "+- " else line for line in text.split("\n"))
    return any(wanted in " ".join(each.split()) for each in (text, plain, bare))


def text_of(turn: Turn) -> str:
    """All text of a turn."""
    return f"{turn.command}\n{turn.text}"


def _parts(texts: Sequence[_Shown], budget: int) -> tuple[Part, ...]:
    parts: list[Part] = []
    held: list[_Shown] = []
    fresh = False
    for each in texts:
        if fresh and sum(len(text) for _, text, _ in held) + len(each[1]) > budget:
            parts.append(_part(held))
            held, fresh = _tail(held, budget // 4), False
        held.append(each)
        fresh = True
    if fresh:
        parts.append(_part(held))
    return tuple(parts)


def _tail(held: Sequence[_Shown], room: int) -> list[_Shown]:
    """The last turns of a part that the next one repeats."""
    found: list[_Shown] = []
    for each in reversed(held[-OVERLAP:]):
        room -= len(each[1])
        if room < 0:
            break
        found.insert(0, each)
    return found


def _part(held: Sequence[_Shown]) -> Part:
    text = "\n".join(text for _, text, _ in held)
    return Part(text, held[0][0], held[-1][0], any(cut for _, _, cut in held))
