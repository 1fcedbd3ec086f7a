"""The walk along a chain: what is visited, nearest first, what leads there, and what is found on the way.

A *place* is what is visited: a script with its arguments, a definition of a Python file, a configuration.
Followers (``follow_*.py``) say what a place holds and where it leads.
"""

from __future__ import annotations

import heapq
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from expbench.tracer.blocks import Piece
from expbench.tracer.dispatch import Names
from expbench.tracer.imports import Library
from expbench.tracer.tree import Tree

Kind = Literal["script", "make", "python", "unit", "config", "document", "text"]
Leading = Literal["runs", "imports", "calls", "configures", "dispatches"]

CONFIGURES = (
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".gin",
    ".ini",
    ".cfg",
    ".py",
    ".conf",
    ".txt",
    ".ipynb",
    ".sh",
    ".md",
    ".csv",
    ".jsonl",
)
_RUNS = (".py", ".ipynb")

MOST_PLACES = 6_000
MOST_FILES = 400


@dataclass(frozen=True)
class Place:
    """What is visited. ``folder`` is the working directory, ``name`` a definition or make target."""

    kind: Kind
    path: str
    name: str = ""
    arguments: tuple[str, ...] = ()
    folder: str = ""


@dataclass(frozen=True)
class Link:
    """A place leads to another, from a line of the file."""

    source: Place
    line: int
    target: Place
    kind: Leading


@dataclass
class FileFact:
    """How near a file is; ``given`` files are the task's source, ``named`` ones stand in the usage."""

    distance: float
    why: str
    leading: Leading | None
    given: bool = False
    named: bool = False
    links: int = 0


@dataclass
class Walk:
    """The state of one trace."""

    tree: Tree
    library: Library
    names: Names
    pieces: dict[Place, list[Piece]] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    files: dict[str, FileFact] = field(default_factory=dict)
    distances: dict[Place, float] = field(default_factory=dict)
    values: dict[str, dict[str, None]] = field(default_factory=dict)
    """Options and configuration keys with the texts that they are given anywhere on the chain."""
    waiting: list[tuple[str, Place, int]] = field(default_factory=list)
    """Modules imported by a name that is known only in part, where, and in which line."""
    _queue: list[tuple[float, int, Place]] = field(default_factory=list)
    _count: int = 0

    def go(
        self,
        place: Place,
        distance: float,
        why: str,
        source: Place | None = None,
        line: int = 0,
        kind: Leading | None = None,
        given: bool = False,
        named: bool = False,
    ) -> None:
        """Come to a place; it is visited in its turn, once."""
        if place.path:
            fact = self.files.get(place.path)
            if fact is None:
                if len(self.files) >= MOST_FILES:
                    self.tree.note(
                        f"More than {MOST_FILES} files are reached; the farthest were left out."
                    )
                    return
                fact = self.files[place.path] = FileFact(distance, why, kind)
                if place.path.endswith(".py"):
                    self._packages(place.path, distance + 2)
            elif distance < fact.distance:
                fact.distance, fact.why, fact.leading = distance, why, kind
            fact.given |= given
            fact.named |= named
            fact.links += source is None or source.path != place.path
        if source is not None and kind is not None and source != place:
            self.links.append(Link(source, line, place, kind))
        if distance < self.distances.get(place, 1e9):
            self.distances[place] = distance
            self._count += 1
            heapq.heappush(self._queue, (distance, self._count, place))

    def _packages(self, path: str, distance: float) -> None:
        """The packages that a module lies in run with it; what they import is followed where it is used."""
        folder = posixpath.dirname(path)
        while folder and f"{folder}/__init__.py" in self.tree:
            package = f"{folder}/__init__.py"
            self.files.setdefault(package, FileFact(distance, f"the package of {path}", "imports"))
            folder = posixpath.dirname(folder)

    def run(self, visit: Callable[[Walk, Place, float], None]) -> None:
        """Visit every place, the nearest first."""
        while self._queue:
            distance, _, place = heapq.heappop(self._queue)
            if place in self.pieces:
                continue
            if len(self.pieces) >= MOST_PLACES:
                self.tree.note(
                    f"More than {MOST_PLACES} places are reached; the farthest were left out."
                )
                return
            self.pieces[place] = []
            visit(self, place, distance)

    def value(self, name: str, value: str) -> None:
        """An option or configuration key is given this text."""
        if value and len(value) < 300:
            key = name.lstrip("-+~").rpartition(".")[2].replace("-", "_")
            self.values.setdefault(key, {}).setdefault(value)


def folders(place: Place) -> list[str]:
    """Where a name at a place is looked for: the working directory, the root, the file's own folders."""
    own = posixpath.dirname(place.path)
    found = [place.folder, "", own]
    while own:
        own = posixpath.dirname(own)
        found.append(own)
    return list(dict.fromkeys(found))


def spread(values: Sequence[str]) -> list[str]:
    """Words in a list of values: ``a,b`` and ``[a, b]`` are several."""
    words = [word for value in values for word in value.strip("[]() ").replace(",", " ").split()]
    return [word.strip("'\"") for word in words][:40]


def kind_of_file(path: str) -> Kind:
    """How a file is visited, by its name."""
    if path.endswith(_RUNS):
        return "python"
    if path.endswith((".sh", ".bash", ".slurm", ".sbatch", ".pbs", ".zsh")):
        return "script"
    if path.lower().endswith((".md", ".rst")):
        return "document"
    return "config" if path.endswith(CONFIGURES) else "text"
