"""What stands around a chain: READMEs that tell how its scripts are used, and how it is installed."""

from __future__ import annotations

import posixpath

from expbench.tracer.blocks import Piece
from expbench.tracer.follow_shell import follow_commands
from expbench.tracer.prose import commands_in, is_command
from expbench.tracer.walk import MOST_FILES, Kind, Place, Walk, kind_of_file

_DISTANCE = 3.0
_INSTALLS = (
    "requirements.txt",
    "environment.yml",
    "environment.yaml",
    "setup.py",
    "setup.sh",
    "install.sh",
)
_READ = 200_000


def around(walk: Walk, lost: bool) -> None:
    """Go to READMEs beside the given files and in the root, and to what the root is installed by.

    Args:
        lost: files of the source are not there; then the root's README is followed as a script is.
    """
    beside = {"", *(posixpath.dirname(path) for path, fact in walk.files.items() if fact.given)}
    for path in list(walk.tree.sizes):
        folder, name = posixpath.split(path)
        if folder not in beside or len(walk.files) >= MOST_FILES:
            continue
        if name.lower().startswith("readme") and name.lower().endswith((".md", ".rst", ".txt")):
            followed = "followed" if lost and not folder else ""
            walk.go(Place("document", path, followed), _DISTANCE, "tells how the scripts are used")
        elif not folder and name in _INSTALLS:
            kind: Kind = "text" if name.endswith((".txt", ".yml", ".yaml")) else kind_of_file(name)
            walk.go(
                Place(kind, path, "import" if kind == "python" else ""),
                _DISTANCE,
                "says how it is installed",
            )


def visit_document(walk: Walk, place: Place, distance: float) -> None:
    """A README's commands."""
    text = walk.tree.read(place.path)
    commands = commands_in(text[:_READ]) if text else []
    for command in commands:
        words = " ".join(command.words)
        if is_command(words):
            piece = Piece("command", command.start, command.end, words[:100], {}, words)
            walk.pieces[place].append(piece)
    if place.name == "followed":
        walk.tree.note(
            f"Files of the source are missing; the commands of {place.path} were followed."
        )
        follow_commands(walk, place, distance, commands)


def visit_text(walk: Walk, place: Place) -> None:
    """A list of requirements is one step."""
    if posixpath.basename(place.path).startswith("requirements"):
        text = walk.tree.read(place.path) or ""
        lines = text.rstrip("\n").split("\n")
        if 0 < len(lines) <= 200:
            words = " ".join(lines)[:1_500]
            walk.pieces[place].append(Piece("config", 1, len(lines), "requirements", {}, words))
