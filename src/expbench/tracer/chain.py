"""``trace_chain``: from a task's source and usage to the graph of its steps. No model, nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from expbench.tracer.assemble import assemble
from expbench.tracer.dispatch import Names
from expbench.tracer.follow_config import visit_config
from expbench.tracer.follow_python import settle, visit_import, visit_python, visit_unit
from expbench.tracer.follow_shell import follow_commands, visit_make, visit_script
from expbench.tracer.graph import Trace
from expbench.tracer.imports import Library
from expbench.tracer.prose import commands_in, imports_in, paths_in
from expbench.tracer.surroundings import around, visit_document, visit_text
from expbench.tracer.tree import Tree
from expbench.tracer.walk import Place, Walk, kind_of_file

_FOLDER = 20
"""Files of a folder that the usage names which are gone to."""
USAGE = Place("text", "")
"""Where the usage's own commands stand."""


def trace_chain(root: Path, source: Sequence[str], usage: str = "", question: str = "") -> Trace:
    """Follow the scripts that answer a question through everything that they run, import and read.

    Args:
        root: the repository. Nothing of it is executed, and nothing outside it is read.
        source: its files that are run, relative to it; patterns are allowed.
        usage: how they are run, in words and commands.
        question: what the chain is to answer; steps and files are ranked by it.

    Raises:
        NotADirectoryError: ``root`` is no folder.
    """
    if not root.is_dir():
        raise NotADirectoryError(str(root))
    tree = Tree(root)
    walk = Walk(tree, Library(tree), Names(tree))
    given, lost = _given(tree, source)
    for path in given:
        if path.endswith((".py", ".ipynb")):
            walk.library.roots.setdefault(path.rpartition("/")[0])
    _usage(walk, usage)
    for path in given:
        walk.go(Place(kind_of_file(path), path), 0.0, "given as source", given=True)
    walk.run(_visit)
    for _ in range(6):
        if not walk.waiting:
            break
        settle(walk)
        walk.run(_visit)
    around(walk, lost)
    walk.run(_visit)
    return assemble(walk, tuple(source), usage, question)


def _given(tree: Tree, source: Sequence[str]) -> tuple[list[str], bool]:
    """The source's files, and whether some are not there."""
    found: dict[str, None] = {}
    lost = False
    for name in source:
        path = tree.resolve(name)
        if path is not None:
            if path != name.removeprefix("/workspace/").removeprefix("./"):
                tree.note(f"{name[:200]} is not there; {path} was taken for it.")
            found.setdefault(path)
            continue
        wanted = name.removeprefix("/workspace/").removeprefix("./").rstrip("/")
        matching = tree.matching(wanted) if "*" in wanted else []
        if wanted in tree.folders:
            matching = [
                p for p in tree.below(wanted) if p.endswith((".py", ".sh", ".ipynb", ".yaml"))
            ][:60]
        if not matching:
            lost = True
            tree.note(f"{name[:200]} is not in the repository.")
        found.update(dict.fromkeys(matching))
    return list(found), lost


def _usage(walk: Walk, usage: str) -> None:
    """The usage's commands are followed as a script would be; other files that it names are reached."""
    if not usage:
        return
    walk.pieces.setdefault(USAGE, [])
    walk.distances[USAGE] = -1.0
    follow_commands(walk, USAGE, -1.0, commands_in(usage[:200_000]))
    for imported in imports_in(usage):
        meant = walk.library.imported(imported, "", [])
        if meant is not None:
            place = Place("unit" if meant[1] else "python", meant[0], meant[1] or "import")
            walk.go(place, 1.0, "imported in the usage", named=True)
    for name in paths_in(usage):
        path = walk.tree.resolve(name)
        folder = name.removeprefix("workspace/").removeprefix("./").strip("/")
        if path is None and folder in walk.tree.folders:
            inside = [p for p in walk.tree.below(folder) if p.endswith((".py", ".sh", ".yaml"))]
            for each in inside[:_FOLDER]:
                walk.go(Place(kind_of_file(each), each), 2.0, f"in {folder}, which the usage names")
        if path is not None:
            walk.go(Place(kind_of_file(path), path), 0.5, "named in the usage", named=True)


def _visit(walk: Walk, place: Place, distance: float) -> None:
    if place.kind == "script":
        visit_script(walk, place, distance)
    elif place.kind == "make":
        visit_make(walk, place, distance)
    elif place.kind == "python":
        (visit_import if place.name == "import" else visit_python)(walk, place, distance)
    elif place.kind == "unit":
        visit_unit(walk, place, distance)
    elif place.kind == "config":
        visit_config(walk, place, distance)
    elif place.kind == "document":
        visit_document(walk, place, distance)
    else:
        visit_text(walk, place)
