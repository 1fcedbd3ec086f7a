"""What the agent had, as a judge may see it: the workspace's files, never those that are masked.

A step is often done by calling what the repository offers already. The judge is therefore told the
names of its files, and may ask for some, so that a call into code which is not there is taken for
what it is. Only the workspace is read: a masked file is not in it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from anyio import to_thread

from expbench.judges.asking import fence, had_text
from expbench.judges.base import JudgeContext
from expbench.judges.excerpt import GAP, filled, index_words, joined, pieces, ranking, tokens_in
from expbench.judges.filelist import listed
from expbench.judges.showing import Deliverable, Showing, place, wanted_words
from expbench.judges.visible import on_one_line, visible
from expbench.prompts import load
from expbench.schema import RubricItem
from expbench.workspace import Prepared, Source, read_files
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK

_LARGEST = 2 * 1024**2
"""Bytes of the largest file that is read for a judge."""


def context_of(prepared: Prepared) -> JudgeContext:
    """What the agent of a prepared task had."""
    names = {os.fsdecode(entry.path): entry for entry in prepared.entries}
    source = Source(prepared.git_dir, prepared.commit)

    def read(path: str) -> str | None:
        entry = names.get(path)
        if entry is None or entry.mode in (SYMLINK, SUBMODULE) or entry.size > _LARGEST:
            return None
        text = read_files(source, [path]).get(path)
        return None if text is None or "\0" in text else text

    return JudgeContext(masked=prepared.removed, files=tuple(names), read=read)


@dataclass(frozen=True)
class Answer:
    """What one request got: the message, the names of what was given, and more of the submission."""

    text: str
    files: tuple[str, ...]
    more: Showing | None = None


@dataclass(frozen=True)
class Library:
    """Hands out files of one task's workspace, and of the changes what a judge was not shown.

    ``room`` is how many tokens one request may bring.
    """

    context: JudgeContext
    deliverable: Deliverable
    room: int
    _texts: dict[str, str | None] = field(default_factory=dict, repr=False)

    def had(self, room: int) -> str:
        """What is said of the workspace in every question, in about ``room`` tokens."""
        masked = listed(self.context.masked, room // 4) if self.context.masked else "(none)"
        files = listed(self.context.files, room) if self.context.files else "(not known)"
        return had_text(masked, files)

    async def answer(
        self, paths: Sequence[str], items: Sequence[RubricItem], showing: Showing
    ) -> Answer:
        """The files that were asked for, or why one cannot be had, as data between fences."""
        names = tuple(dict.fromkeys(map(_plain, paths)))
        room = self.room // len(names)
        texts: list[str] = []
        given: list[str] = []
        more: Showing | None = None
        for name in names:
            said, own, changes = await self._one(name, items, room, showing.cut)
            texts.append(said)
            given += own
            if changes is not None:
                more = changes if more is None else more.with_more(changes)
        body = "\n\n".join(texts)
        mark = fence(self.deliverable.text, body)
        return Answer(load("judge_files").fill(fence=mark, files=body), tuple(given), more)

    async def _one(
        self, name: str, items: Sequence[RubricItem], room: int, cut: bool
    ) -> tuple[str, list[str], Showing | None]:
        label = on_one_line(name)
        changed = label in self.deliverable.changed
        here = name in self._files and name not in self._masked
        said: list[str] = []
        changes = None
        if cut:
            part = room // 2 if here else room
            changes = await to_thread.run_sync(self.deliverable.file, label, items, part)
        if changes is not None:
            text = changes.text if changes.parts else "(too long to be shown)"
            said.append(f"[{label}, of the submitted changes]\n{text}")
        given: list[str] = []
        if here:
            found = await self._read(name)
            if found is None:
                said.append(f"[{label}] is in the workspace but is no text that can be shown.")
            else:
                shown, given = _part(label, found, items, room // 2 if changes else room)
                before = ", before the changes" if changed else ""
                said.append(f"[{label}{before}]\n{shown}")
        else:
            masked = name in self._masked
            why = "is masked: the agent did not have it" if masked else "was not in the workspace"
            also = "; what is new of it stands among the changes" if changed else ""
            said.append(f"[{label}] {why}{also}.")
        return "\n\n".join(said), given, changes

    async def _read(self, name: str) -> str | None:
        if name not in self._texts:
            text = await to_thread.run_sync(self.context.read, name)
            self._texts[name] = None if text is None else visible(text)
        return self._texts[name]

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self.context.files)

    @cached_property
    def _masked(self) -> frozenset[str]:
        return frozenset(self.context.masked)


def _plain(path: str) -> str:
    return path.strip().removeprefix("/workspace/").removeprefix("./")


def _part(label: str, text: str, items: Sequence[RubricItem], room: int) -> tuple[str, list[str]]:
    """A file in about ``room`` tokens, and the names of what is shown of it."""
    if tokens_in(text) <= room:
        return text, [label]
    parts = pieces(text, max(20, min(500, room // 4)))
    wanted: dict[str, float] = {}
    for item in items:
        wanted |= wanted_words(item)
    order = ranking([index_words(part.text) for part in parts], wanted)
    kept = filled(order, [tokens_in(part.text) + 4 for part in parts], room)
    names = [f"{label}@{place(parts[at], parts[at].line + 1)}" for at in kept]
    return f"{joined(parts, kept)}\n{GAP} (a part of the file)", names
