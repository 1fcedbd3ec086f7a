"""What was seen of one run, from wherever it was seen, and the trace that it makes.

Everything here is told by what ran in the sandbox, or stands in a command line there: hostile data. Paths
and commands are cut, counts are bounded, and what makes no sense is passed over.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from expbench.execution.tracer import Observed, Scene
from expbench.monitor.programs import FOREIGN, SHELLS
from expbench.schema import Trace, UsedFile, UsedProcess
from expbench.workspace import View
from expbench.workspace.submission.names import printable

FILES, PROCESSES = 500, 300
"""Files and processes that a trace lists; more are counted."""
_ROOT = -1
_WRITERS = 5000
_COMMAND = 300
_PATH = 1000
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*|ipython3?|octave(?:-cli)?|jupyter|papermill")
_ENVIRONMENT = re.compile(r"(?:^|/)(?:\.?v?env|\.git|__pycache__|site-packages|node_modules)/")
PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?")

Origin = Literal["submission", "repository"]


@dataclass
class Sighted:
    """A process by its id inside the sandbox. ``folder`` is where it was when it was seen last."""

    pid: int
    parent: int = 0
    words: tuple[str, ...] = ()
    folder: str = ""
    cpu_seconds: float | None = None
    exit_code: int | None = None
    told: bool = False
    """Whether it is a Python that told of itself."""
    first: float | None = None
    last: float | None = None
    """When it was seen, in seconds since 1970."""

    def seen_at(self, moment: float) -> None:
        """It was there at this moment."""
        self.first = moment if self.first is None else min(self.first, moment)
        self.last = moment if self.last is None else max(self.last, moment)

    @property
    def command(self) -> str:
        """Its command line in one line of at most 300 characters."""
        return shown(self.words)

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""


@dataclass
class Sightings:
    """All that was seen. ``root`` is the workspace's path inside; paths are relative to it."""

    root: str
    processes: dict[int, Sighted] = field(default_factory=dict)
    runs: dict[str, int | None] = field(default_factory=dict)
    """Files that were executed, with the number of their lines that ran where that was counted."""
    reads: dict[str, None] = field(default_factory=dict)
    writers: dict[str, str] = field(default_factory=dict)
    """Commands by the files that they wrote."""
    spawned: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Commands that processes said to start."""
    planted: list[str] = field(default_factory=list)
    more: int = 0

    def process(self, pid: int) -> Sighted:
        """The process of this id; a new one when it was not seen before."""
        return self.processes.setdefault(pid, Sighted(pid))

    def ran(self, path: str, lines: int | None = None) -> None:
        """A file was executed, and so many of its lines by one process."""
        before = self.runs.get(path)
        self.runs[path] = lines if before is None else max(before, lines or 0)

    def wrote(self, pid: int, path: str) -> None:
        """A process made or changed a file."""
        if len(self.writers) < _WRITERS:
            self.writers[path] = self.process(pid).command

    def moved(self, pid: int, source: str, target: str) -> None:
        """A file got another name: who wrote it stays known."""
        self.writers[target] = self.writers.pop(source, "") or self.process(pid).command

    def root_is(self, words: Sequence[str]) -> None:
        """The command that was started, of which all others come, also if it was too short to be seen."""
        first = next((each for each in self.processes.values() if each.words == tuple(words)), None)
        if first is None:
            first = Sighted(_ROOT, words=tuple(words))
            self.processes = {_ROOT: first, **self.processes}
        for each in self.processes.values():
            if each is not first and each.parent not in self.processes:
                each.parent = first.pid

    def untold(self) -> list[str]:
        """Python processes that did not tell of themselves, by their commands."""
        seen = (each for each in self.processes.values() if PYTHON.fullmatch(each.program))
        return [each.command for each in seen if not each.told]

    def observed(
        self,
        by: Literal["strace", "python"],
        reason: str,
        scene: Scene,
        overhead: float | None = None,
    ) -> Observed:
        """The trace, and who wrote which file."""
        self._run_by_command()
        self.ran(scene.script)
        files, more_files = self._files(scene)
        processes, more_processes = self._processes(scene)
        writers = {_shown(path): command for path, command in self.writers.items() if _shown(path)}
        trace = Trace(
            by=by,
            overhead=overhead,
            reason=reason,
            files=files,
            processes=processes,
            more=self.more + more_files + more_processes,
        )
        return Observed(trace, writers)

    def _run_by_command(self) -> None:
        """Scripts that stand on a command line, as shells and other languages are started with them."""
        for process in self.processes.values():
            for word in _scripts(process.words):
                path = inside(self.root, process.folder or self.root, word)
                if path:
                    self.ran(path)

    def _files(self, scene: Scene) -> tuple[tuple[UsedFile, ...], int]:
        found = [
            UsedFile(path=_shown(path), origin=origin, use="executed", lines=lines)
            for path, lines in self.runs.items()
            if (origin := _origin(path, scene, self.writers, executed=True))
        ]
        found += [
            UsedFile(path=_shown(path), origin=origin, use="read")
            for path in self.reads
            if path not in self.runs and (origin := _origin(path, scene, self.writers))
        ]
        return tuple(found[:FILES]), max(0, len(found) - FILES)

    def _processes(self, scene: Scene) -> tuple[tuple[UsedProcess, ...], int]:
        kept = list(self.processes.values())[:PROCESSES]
        place = {process.pid: number for number, process in enumerate(kept)}
        found = [
            UsedProcess(
                command=process.command,
                parent=_before(place.get(process.parent), number),
                cpu_seconds=process.cpu_seconds,
                exit_code=process.exit_code,
                started=scene.since(process.first),
                ended=scene.since(process.last),
            )
            for number, process in enumerate(kept)
        ]
        unseen = self._unseen()
        room = PROCESSES - len(found)
        for pid, words in unseen[:room]:
            found.append(UsedProcess(command=shown(words), parent=place.get(pid)))
        rest = len(self.processes) - len(kept) + max(0, len(unseen) - room)
        return tuple(found), rest

    def _unseen(self) -> list[tuple[int, tuple[str, ...]]]:
        """Commands that were said to be started and were over before anyone looked."""
        seen: dict[tuple[int, str], int] = {}
        for process in self.processes.values():
            key = (process.parent, process.program)
            seen[key] = seen.get(key, 0) + 1
        found = []
        for pid, words in self.spawned:
            key = (pid, words[0].rpartition("/")[2] if words else "")
            if seen.get(key, 0) > 0:
                seen[key] -= 1
            else:
                found.append((pid, words))
        return found


def shown(words: Sequence[str]) -> str:
    """A command line as one printable line of at most 300 characters."""
    line = " ".join(words)[:_COMMAND]
    return "".join(c if c.isprintable() else " " for c in line)


def inside(root: str, folder: str, path: str) -> str:
    """A path relative to the workspace, or nothing for one that is elsewhere."""
    whole = os.path.normpath(f"{folder}/{path}" if not path.startswith("/") else path)
    below = whole[len(root) + 1 :] if whole.startswith(root + "/") else ""
    return "" if _ENVIRONMENT.search(below) else below


def _scripts(words: Sequence[str]) -> list[str]:
    """What of a command line is a program or script that it runs."""
    if not words:
        return []
    program = words[0].rpartition("/")[2]
    interpreter = program in SHELLS | FOREIGN or _INTERPRETER.fullmatch(program)
    found = [words[0]] if "/" in words[0] and not interpreter else []
    if interpreter:
        for word in words[1:]:
            if word in ("-c", "-m", "-e"):
                break
            if not word.startswith("-"):
                found.append(word)
                break
        found += [word for word in words[1:] if word.endswith(".ipynb")]
    return found


def _origin(
    path: str, scene: Scene, written: dict[str, str], executed: bool = False
) -> Origin | None:
    """Where a file is from; ``None`` for what the run made itself, or what is not there.

    Code that the script wrote and then ran was handed in, as a part of the script.
    """
    if not _shown(path) or len(path) > _PATH or ".." in path.split("/"):
        return None
    if path in scene.submitted or path == scene.script:
        return "submission"
    view = scene.session.view
    if _shipped(view, path, path in written):
        return "repository"
    return "submission" if executed and (path in written or _made(view, path)) else None


def _shipped(view: View, path: str, written: bool) -> bool:
    if view.kind == "overlay":
        return any(_is_file(layer / path) for layer in view.lower)
    if view.stats:
        return os.fsencode(path) in view.stats
    return not written and _is_file(view.folder / path)


def _made(view: View, path: str) -> bool:
    return _is_file(view.files / path)


def _is_file(path: Path) -> bool:
    """Whether there is a file or link, which is not followed; none where it cannot be looked."""
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def _shown(path: str) -> str:
    """A path as the records show it; nothing for text that is no path."""
    try:
        return printable(os.fsencode(path))
    except UnicodeEncodeError:
        return ""


def _before(parent: int | None, number: int) -> int | None:
    return parent if parent is not None and parent != number else None
