"""What is chosen by its name: a registered definition, a class, or ``package.module.name``."""

from __future__ import annotations

import re

from expbench.tracer.modules import Imported
from expbench.tracer.walk import Place, Walk


def by_name(walk: Walk, place: Place, distance: float, word: str, line: int) -> bool:
    """Go to the definition that a name chooses; whether there is one."""
    found = walk.names.find(word, place.path)
    if found is None and re.fullmatch(r"\w[\w.]*\.\w+", word):
        module, _, name = word.rpartition(".")
        found = walk.library.imported(Imported(module, 0, name), place.path, [])
        if found is None or not found[1]:
            found = walk.names.find(name, place.path) or found
    if found is None or found == (place.path, place.name):
        return False
    path, name = found
    target = Place("unit" if name else "python", path, name or "import", folder=place.folder)
    where = f"{place.path}:{line}" if line else place.path or "the usage"
    walk.go(target, distance, f"{word} is chosen by its name in {where}", place, line, "dispatches")
    return True
