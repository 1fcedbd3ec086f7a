"""Shell scripts, makefiles and the commands in a text: what they run, with which options."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from expbench.tracer.blocks import Piece
from expbench.tracer.commands import options, started, told
from expbench.tracer.graph import StepKind
from expbench.tracer.makefile import recipes
from expbench.tracer.shell import Command, Script, read_script
from expbench.tracer.walk import CONFIGURES, Leading, Place, Walk, folders, kind_of_file, spread

_LONGEST = 400_000
"""Characters of a script that are read."""


def visit_script(walk: Walk, place: Place, distance: float) -> None:
    """A shell script: its settings, loops and commands."""
    text = walk.tree.read(place.path)
    if text is None:
        return
    where = folders(place)
    script = read_script(
        text[:_LONGEST],
        place.arguments,
        posixpath.dirname(place.path),
        lambda pattern: walk.tree.matching(pattern, where) or (pattern,),
    )
    if script.truncated or len(text) > _LONGEST:
        walk.tree.note(f"{place.path} has more commands than are followed.")
    walk.pieces[place] += _pieces(script)
    follow_commands(walk, place, distance, script.commands)


def visit_make(walk: Walk, place: Place, distance: float) -> None:
    """A makefile's target and what it needs."""
    for recipe in recipes(walk.tree.read(place.path) or "", place.name):
        walk.pieces[place].append(
            Piece(
                "command",
                recipe.start,
                recipe.end,
                f"make {recipe.target}",
                {},
                " ".join(c for _, c in recipe.commands),
            )
        )
        for line, text in recipe.commands:
            commands = [Command(c.words, line, line, c.sets) for c in read_script(text).commands]
            follow_commands(walk, place, distance, commands)


def follow_commands(walk: Walk, place: Place, distance: float, commands: Sequence[Command]) -> None:
    """Go where commands lead; ``cd`` and ``PYTHONPATH`` count for those that follow."""
    folder = place.folder
    for command in commands:
        for name, value in command.sets.items():
            if name == "PYTHONPATH":
                for part in value.split(":"):
                    root = (
                        posixpath.normpath(posixpath.join(folder, part.strip("\"'")))
                        if "$" not in part
                        else ""
                    )
                    if root in walk.tree.folders:
                        walk.library.roots.setdefault(root)
            walk.value(name, value)
            _files(walk, place, distance, [value], command.start, folder)
        if not command.words:
            continue
        if command.words[0] == "cd":
            folder = _entered(walk, folder, place, command.words)
            continue
        where = list(dict.fromkeys([folder, *folders(place)]))
        begun = started(command.words, walk.tree, where)
        for each in begun:
            why = (
                f"run by {place.path}:{command.start}"
                if place.path
                else "run by the usage's command"
            )
            go_run(
                walk,
                place,
                distance,
                each.path,
                each.arguments,
                folder,
                command.start,
                why,
                each.target,
            )
        given = begun[0].arguments if begun else command.words[1:]
        for name, value in options(given).items():
            walk.value(name, value)
        if not begun and command.words[0].rpartition("/")[2] in (
            "python",
            "python3",
            "torchrun",
            "accelerate",
            "deepspeed",
            "bash",
            "sh",
        ):
            _unfollowed(walk, place, command)
        _files(walk, place, distance, given, command.start, folder)


def _unfollowed(walk: Walk, place: Place, command: Command) -> None:
    wanted = next((w for w in command.words[1:] if w.endswith((".py", ".sh", ".ipynb"))), "")
    if wanted and place.path:
        walk.tree.note(
            f"{place.path}:{command.start} runs {wanted[:120]}, which the repository does not have."
        )


def _entered(walk: Walk, folder: str, place: Place, words: Sequence[str]) -> str:
    target = words[1] if len(words) > 1 else ""
    if target.startswith("/workspace"):
        folder, target = "", target.removeprefix("/workspace").lstrip("/")
    if "dirname" in target or "BASH_SOURCE" in target:
        return posixpath.dirname(place.path)
    for base in (folder, "", posixpath.dirname(place.path)):
        joined = posixpath.normpath(posixpath.join(base, target)) if target else ""
        joined = "" if joined == "." or joined.startswith("..") else joined
        if joined in walk.tree.folders or joined == "":
            return joined
    tail = posixpath.basename(target.rstrip("/"))
    return min(
        (f for f in walk.tree.folders if posixpath.basename(f) == tail), key=len, default=folder
    )


def go_run(
    walk: Walk,
    place: Place,
    distance: float,
    path: str,
    arguments: Sequence[str],
    folder: str,
    line: int,
    why: str,
    target: str = "",
) -> None:
    """Go to a file that is run."""
    kind = kind_of_file(path)
    if target or posixpath.basename(path).lower() in ("makefile", "gnumakefile"):
        kind = "make"
    new = Place(kind, path, target, tuple(arguments)[:200] if kind == "script" else (), folder)
    if kind == "python":
        walk.library.roots.setdefault(posixpath.dirname(path))
    walk.go(new, distance + 1, why, place, line, "runs", named=not place.path)


def _files(
    walk: Walk, place: Place, distance: float, words: Sequence[str], line: int, folder: str
) -> None:
    """Files of the repository that a command's words name."""
    for word in spread(words):
        word = word.rpartition("=")[2].strip("'\"")
        if not word.endswith(CONFIGURES) or "://" in word:
            continue
        path = walk.tree.resolve(word, [folder, *folders(place)])
        if path is not None and path != place.path:
            kind: Leading = "runs" if path.endswith(".sh") else "configures"
            walk.go(
                _place(path, folder),
                distance + 1,
                f"given to a command in {place.path or 'the usage'}",
                place,
                line,
                kind,
                named=not place.path,
            )


def _place(path: str, folder: str) -> Place:
    return Place(kind_of_file(path), path, folder=folder)


def _pieces(script: Script) -> list[Piece]:
    """Settings that follow each other are one step; so is each command, and each loop as a whole."""
    found: dict[tuple[int, int], Piece] = {}
    run: list[Command] = []
    for command in [*script.commands, Command(("",), 10**9, 10**9)]:
        if not command.words and (not run or command.start - run[-1].end <= 2) and len(run) < 20:
            run.append(command)
            continue
        if run:
            values = {name: value for each in run for name, value in each.sets.items()}
            found.setdefault(
                (run[0].start, run[-1].end),
                Piece(
                    "options",
                    run[0].start,
                    run[-1].end,
                    "set " + ", ".join(list(values)[:6]),
                    told(values),
                    " ".join(values),
                ),
            )
        run = [] if command.words else [command]
        if command.words and command.start < 10**9:
            words = " ".join(command.words)
            values = {**command.sets, **options(command.words)}
            key = (command.start, command.end)
            if key in found and found[key].kind in ("command", "other"):
                for name, value in values.items():
                    old = found[key].values.get(name)
                    if old is not None and value not in old.split(" | "):
                        found[key].values[name] = f"{old} | {value}"[:160]
            else:
                found[key] = Piece(
                    _kind(command),
                    command.start,
                    command.end,
                    words[:100],
                    told(values),
                    words[:1_500],
                )
    for loop in script.loops:
        label = f"{loop.kind} {loop.name}".strip()
        found.setdefault(
            (loop.start, loop.end),
            Piece(
                "loop",
                loop.start,
                loop.end,
                label[:100],
                {loop.name: " ".join(loop.values)[:160]} if loop.values else {},
                label,
            ),
        )
    return sorted(found.values(), key=lambda piece: (piece.start, -piece.end))


_IDLE = frozenset(
    (
        "echo",
        "wait",
        "sleep",
        "mkdir",
        "cd",
        "rm",
        "printf",
        "date",
        "set",
        "exit",
        "shift",
        "ulimit",
        "touch",
    )
)


def _kind(command: Command) -> StepKind:
    return "other" if command.words[0] in _IDLE else "command"
