"""Configurations: what they fix, the files that they begin from, and the definitions that they choose."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Mapping, Sequence

from expbench.tracer.blocks import WHOLE, Piece
from expbench.tracer.choosing import by_name
from expbench.tracer.commands import told
from expbench.tracer.modules import Module
from expbench.tracer.outline import outline
from expbench.tracer.walk import Place, Walk, folders, kind_of_file

_LONGEST_DATA = 400_000
"""Characters above which a JSON or text file is data: it is reached, and not read."""
_MOST_BLOCKS = 120
_CHOOSES = re.compile(
    r"(?i)(?:^|[._])(?:type|_target_|target|name|model|arch|core_method|class|class_path|cls|backbone|dataset|method|fusion_method|optimizer|\w*_name|\w*_class|\w*_type)$"
)
_FILE = re.compile(r"[\w./-]*\w\.(?:py|ya?ml|json|toml|gin|ini|sh)$")


def is_config(module: Module) -> bool:
    """Whether a Python file is a configuration: assignments, and nothing that is defined or called."""
    plain = [s for s in module.body if isinstance(s, ast.Assign)]
    functions = [
        s
        for found in module.defined.values()
        for s in found
        if not isinstance(s, ast.Assign | ast.Expr | ast.AugAssign)
    ]
    return "_base_" in module.defined or (len(plain) >= 3 and not functions and not module.main)


def visit_config(walk: Walk, place: Place, distance: float) -> None:
    """A file of settings: its blocks with their values, and where they lead."""
    if walk.tree.sizes.get(place.path, 0) > _LONGEST_DATA:
        walk.tree.note(f"{place.path} is taken for data and was not read.")
        return
    text = walk.tree.read(place.path)
    if text is None or place.path.endswith((".csv", ".jsonl", ".txt")):
        return
    values: dict[str, str] = {}
    blocks = outline(text)
    if len(blocks) > _MOST_BLOCKS:
        walk.tree.note(f"{place.path} is taken for data after its first {_MOST_BLOCKS} blocks.")
    for block in blocks[:_MOST_BLOCKS]:
        if block.end - block.start >= WHOLE:
            block.end = block.start
        label = f"{block.name}"[:100]
        walk.pieces[place].append(
            Piece(
                "config",
                block.start,
                block.end,
                label,
                told(block.values),
                " ".join([block.name, *block.values, *block.values.values()])[:1_500],
            )
        )
        values.update(block.values)
    _defaults(walk, place, distance, text)
    follow_values(walk, place, distance, values)


def follow_values(walk: Walk, place: Place, distance: float, values: Mapping[str, str]) -> None:
    """Go to files that the values name, and to what they choose by name."""
    for key, value in list(values.items())[:600]:
        walk.value(key, value)
        if _FILE.match(value):
            path = walk.tree.resolve(value, folders(place))
            if path is not None and path != place.path:
                kind = kind_of_file(path)
                walk.go(
                    Place(kind, path, folder=place.folder),
                    distance + 1,
                    f"named in {place.path}",
                    place,
                    0,
                    "configures",
                )
        elif (_CHOOSES.search(key) or "(" in value or "." in value) and re.fullmatch(
            r"[A-Za-z][\w.:-]{2,120}", value
        ):
            by_name(walk, place, distance + 1, value, 0)


def _defaults(walk: Walk, place: Place, distance: float, text: str) -> None:
    """Hydra's ``defaults`` list, and ``base``/``include`` keys of other tools."""
    own = posixpath.dirname(place.path)
    match = re.search(r"^defaults:[ \t]*\n((?:[ \t]*(?:-.*|#.*)?\n?)*)", text, re.MULTILINE)
    for line in (match[1].split("\n") if match else ())[:60]:
        item = (
            re.sub(r"\s#.*", "", line)
            .strip()
            .lstrip("- ")
            .replace("override ", "")
            .replace("optional ", "")
            .strip()
        )
        group, _, name = item.partition(":")
        group = group.split("@")[0].strip().strip("'\"")
        for choice in [part.strip(" '\"[]") for part in name.split(",")] or [""]:
            ending = "/".join(part for part in (group, choice) if part)
            for base in (own, posixpath.dirname(own)):
                for suffix in (".yaml", ".yml", ""):
                    path = posixpath.normpath(posixpath.join(base, ending.lstrip("/") + suffix))
                    if ending and path in walk.tree and path != place.path:
                        walk.go(
                            Place("config", path, folder=place.folder),
                            distance + 1,
                            f"a default of {place.path}",
                            place,
                            0,
                            "configures",
                        )
                        break


def hydra(walk: Walk, place: Place, distance: float, statements: Sequence[ast.stmt]) -> None:
    """``@hydra.main(config_path, config_name)``, ``initialize``, and the groups that options choose."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                given = {
                    k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)
                }
                if "config_name" in given or "config_path" in given:
                    _hydra(
                        walk,
                        place,
                        distance,
                        {k: str(v) for k, v in given.items() if k and v is not None},
                        node.lineno,
                    )


def _hydra(walk: Walk, place: Place, distance: float, given: Mapping[str, str], line: int) -> None:
    folder = posixpath.normpath(
        posixpath.join(posixpath.dirname(place.path), given.get("config_path", ""))
    )
    folder = "" if folder == "." else folder
    names = [given.get("config_name", ""), *walk.values.get("config_name", ())]
    for name in names:
        for path in (f"{folder}/{name}.yaml".lstrip("/"), f"{folder}/{name}".lstrip("/")):
            if name and path in walk.tree:
                walk.go(
                    Place("config", path, folder=place.folder),
                    distance + 1,
                    f"hydra's configuration of {place.path}",
                    place,
                    line,
                    "configures",
                )
    for key, values in list(walk.values.items()):
        for value in values:
            path = f"{folder}/{key}/{value}.yaml".lstrip("/")
            if path in walk.tree:
                walk.go(
                    Place("config", path, folder=place.folder),
                    distance + 1,
                    f"{key}={value} is chosen",
                    place,
                    line,
                    "configures",
                )
