"""What of a submission stands in a prompt, and what a judge may quote.

A deliverable is shown whole where it fits. Else it is indexed: the changes by file and hunk, the
script and prose by passage, each cut further where it is long. One question then sees the list of
all changed files and those parts that are nearest to its items, and :class:`~expbench.schema.Shown`
records which they were. The script comes first, since what it does not run is not done.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest

from expbench.judges.excerpt import (
    GAP,
    Piece,
    filled,
    index_words,
    pieces,
    ranking,
    tokens_in,
)
from expbench.judges.filelist import listed
from expbench.judges.visible import on_one_line, visible
from expbench.schema import SCRIPT_NAME, Phase, RubricItem, Shown, SubmissionText

_LIST_SHARE = 4
"""At most one part in this many of the budget goes to the list of changed files."""
_SCRIPT_SHARE = 4
"""The same for the script, which is preferred up to that."""
_CODE_WEIGHT = 0.4
"""What a word counts that only the authors' code has, beside one of the item itself."""
_SCRIPT = "[The reproduce script]"
_CHANGES = "[The changes]"
_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@")
_FAKE_VERDICT = re.compile(
    r"\{[^{}]*\\{0,4}[\"']verdict\\{0,4}[\"']\s*:\s*\\{0,4}[\"'](?:not_)?met\b[^{}]*\}?",
    re.IGNORECASE,
)
_FEWEST = 3


@dataclass(frozen=True)
class Part:
    """One piece of a deliverable; ``head`` stands before it where its file was not shown yet."""

    name: str
    text: str
    file: str = ""
    head: str = ""
    mark: str = ""
    """The line that a diff has before its hunk."""
    joint: str | None = None
    """What joins it to the part before, when that is the same passage."""


@dataclass(frozen=True)
class Showing:
    """What one prompt shows.

    ``passages`` are the pieces of it that the submission has in one go, ``parts`` their names, and
    ``of`` how many there are in all.
    """

    text: str
    passages: tuple[str, ...]
    parts: tuple[str, ...]
    of: int

    @property
    def cut(self) -> bool:
        return len(self.parts) < self.of

    def has(self, evidence: str) -> bool:
        """Whether ``evidence`` is a passage of it, spaces and a diff's margin apart.

        Headers, names of files and marks are none, and neither is what imitates a verdict.
        """
        wanted = _folded(visible(evidence))
        if sum(map(str.isalnum, wanted)) < 1 or len(wanted) < _FEWEST:
            return False
        return any(wanted in view for passage in self.passages for view in _views(passage))

    def with_more(self, more: Showing) -> Showing:
        """Both together, for evidence and record; the text stays."""
        parts = tuple(dict.fromkeys((*self.parts, *more.parts)))
        return Showing(self.text, (*self.passages, *more.passages), parts, self.of)

    def record(self, files: Sequence[str] = ()) -> Shown | None:
        """What to write down: nothing when all of the submission and nothing else was shown."""
        if not self.cut and not files:
            return None
        return Shown(parts=self.parts, of=self.of, files=tuple(files))


def _views(passage: str) -> Iterator[str]:
    """The passage as it stands, without a diff's margin, and as it is after the change."""
    clean = _FAKE_VERDICT.sub("\n\0\n", passage)
    lines = clean.split("\n")
    bare = [(line[:1], line[1:] if line[:1] in ("+", "-", " ") else line) for line in lines]
    yield _folded(clean)
    yield _folded("\n".join(line for _, line in bare))
    yield _folded("\n".join(line for margin, line in bare if margin != "-"))


def _folded(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class Deliverable:
    """What was handed in for one phase, ready to be shown in part; made once for a submission."""

    phase: Phase
    submission: SubmissionText = field(repr=False)

    @cached_property
    def text(self) -> str:
        """All of it."""
        each = self.submission
        if self.phase == "design":
            return visible(each.design)
        if self.phase == "conclusion":
            return visible(each.conclusion)
        return f"{_SCRIPT}\n{visible(each.script)}\n{_CHANGES}\n{visible(each.diff)}"

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """All of it as parts, in order."""
        if self.phase != "implementation":
            return tuple(_of_text(self.text, self.phase))
        script = _of_text(visible(self.submission.script), SCRIPT_NAME, _SCRIPT)
        return tuple(_numbered([*script, *_of_diff(visible(self.submission.diff))]))

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """The names of all changed files."""
        named = map(on_one_line, self.submission.changed)
        return tuple(dict.fromkeys((*named, *(part.file for part in self.parts if part.file))))

    @cached_property
    def _script(self) -> list[int]:
        named = f"{SCRIPT_NAME}@"
        return [at for at, p in enumerate(self.parts) if not p.file and p.name.startswith(named)]

    @cached_property
    def _size(self) -> int:
        return tokens_in(self.text)

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [index_words(f"{part.file}\n{part.text}") for part in self.parts]

    @cached_property
    def _costs(self) -> list[int]:
        around = tokens_in(f"\n{GAP}\n")
        return [around + sum(map(tokens_in, (p.head, p.mark, p.name, p.text))) for p in self.parts]

    def show(self, items: Sequence[RubricItem], budget: int) -> Showing:
        """About ``budget`` tokens of it at most, those nearest to the items."""
        every = range(len(self.parts))
        if self._size <= budget:
            return self._showing(self.text, list(every))
        listing = ""
        if self.phase == "implementation":
            files = listed(self.changed, budget // _LIST_SHARE)
            listing = f"[All changed files]\n{files}\n[A part of the script and the changes]\n"
        room = budget - tokens_in(listing)
        first = filled(self._script, self._costs, budget // _SCRIPT_SHARE)
        kept = filled([*first, *self._nearest(items)], self._costs, room)
        return self._showing(listing + self._joined(kept), kept)

    def file(self, path: str, items: Sequence[RubricItem], room: int) -> Showing | None:
        """About ``room`` tokens of one changed file's hunks; None where it has none."""
        own = {at for at, part in enumerate(self.parts) if part.file == path}
        if not own:
            return None
        kept = filled([at for at in self._nearest(items) if at in own], self._costs, room)
        return self._showing(self._joined(kept), kept)

    def _nearest(self, items: Sequence[RubricItem]) -> list[int]:
        """The parts, each item's nearest ones first in turn."""
        ranks = [ranking(self._words, wanted_words(item)) for item in items]
        turns = zip_longest(*ranks)
        return list(dict.fromkeys(at for turn in turns for at in turn if at is not None))

    def _showing(self, text: str, kept: Sequence[int]) -> Showing:
        return Showing(
            text,
            tuple(self._passages(kept)),
            tuple(self.parts[at].name for at in kept),
            len(self.parts),
        )

    def _passages(self, kept: Sequence[int]) -> Iterator[str]:
        text, last = "", -2
        for at in kept:
            part = self.parts[at]
            if at == last + 1 and part.joint is not None:
                text += part.joint + part.text
            else:
                if text:
                    yield text
                text = part.text
            last = at
        if text:
            yield text

    def _joined(self, kept: Sequence[int]) -> str:
        lines: list[str] = []
        last = -1
        file = "\0"
        for at in kept:
            part = self.parts[at]
            if at == last + 1 and part.joint is not None and lines:
                lines[-1] += part.joint + part.text
            else:
                if at != last + 1:
                    lines.append(f"{GAP} {part.name}")
                lines += filter(None, (part.head if part.file != file else "", part.mark))
                lines.append(part.text)
            file, last = part.file, at
        if last + 1 < len(self.parts):
            lines.append(GAP)
        return "\n".join(lines)


def wanted_words(item: RubricItem) -> Mapping[str, float]:
    """What to look for, weighted: the item's own words more than those of the authors' code."""
    return dict.fromkeys(index_words(item.code), _CODE_WEIGHT) | dict.fromkeys(
        index_words(item.text), 1.0
    )


def _numbered(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts with names of their own: no honest diff names a line twice, but any text may come."""
    seen = Counter[str]()
    for part in parts:
        seen[part.name] += 1
        times = seen[part.name]
        yield part if times == 1 else replace(part, name=f"{part.name}#{times}")


def _of_text(text: str, name: str, head: str = "") -> Iterator[Part]:
    for piece in pieces(text):
        joint = None if (piece.line, piece.column) == (0, 0) else piece.joint
        yield Part(f"{name}@{place(piece, piece.line + 1)}", piece.text, "", head, "", joint)
        head = ""


def _of_diff(diff: str) -> Iterator[Part]:
    """The parts of a unified diff; what is no hunk of a file is a part without a file."""
    for section in _sections(diff):
        hunks = [at for at, line in enumerate(section) if line.startswith("@@ ")]
        head = section[: hunks[0]] if hunks else section
        path = _path(head)
        if not hunks:
            for piece in pieces("\n".join(head)):
                yield Part(f"{path or 'changes'}@{place(piece, piece.line)}", piece.text, path)
            continue
        for start, end in zip(hunks, [*hunks[1:], len(section)], strict=True):
            yield from _of_hunk(path, "\n".join(head), section[start], section[start + 1 : end])


def _sections(diff: str) -> Iterator[list[str]]:
    """The lines of each file of a diff; lines that can be of no file's diff are their own."""
    section: list[str] = []
    in_hunk = False
    for line in diff.split("\n"):
        stray = in_hunk and line[:1] not in ("+", "-", " ", "\\", "@", "")
        if line.startswith("diff --git ") or stray:
            if any(section):
                yield section
            section, in_hunk = [], False
        in_hunk = in_hunk or line.startswith("@@ ")
        section.append(line)
    if any(section):
        yield section


def _path(head: Sequence[str]) -> str:
    """A file's name as its header has it, after the change where it is still there."""
    for prefix, side in (("+++ ", "b/"), ("--- ", "a/")):
        for line in head:
            name = line.removeprefix(prefix).strip().strip('"')
            if line.startswith(prefix) and name != "/dev/null":
                return name.removeprefix(side)
    first = head[0] if head else ""
    if not first.startswith("diff --git "):
        return ""
    return first.rpartition(" b/")[2].strip('"') or first.removeprefix("diff --git ")


def _of_hunk(path: str, head: str, mark: str, lines: Sequence[str]) -> Iterator[Part]:
    """A hunk's parts, named by the line of the changed file, or of the old one (negative)."""
    starts = _HUNK.match(mark)
    old, new = (int(starts["old"]), int(starts["new"])) if starts else (0, 0)
    places: list[int] = []
    for line in lines:
        places.append(-old if line.startswith("-") else new)
        old += not line.startswith(("+", "\\"))
        new += not line.startswith(("-", "\\"))
    places = places or [new]
    for piece in pieces("\n".join(lines)):
        first = piece.line == piece.column == 0
        yield Part(
            f"{path}@{place(piece, places[piece.line])}",
            piece.text,
            path,
            head,
            mark if first else "",
            None if first else piece.joint,
        )


def place(piece: Piece, line: int) -> str:
    """Where a piece starts, as names of parts say it: the line, and the column within a long one."""
    return f"{line}:{piece.column}" if piece.column else f"{line}"
