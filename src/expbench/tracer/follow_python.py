"""Python: from a script that is run to the definitions that it uses, wherever they are."""

from __future__ import annotations

import ast
import posixpath
import re

from expbench.tracer.blocks import Piece, pieces
from expbench.tracer.choosing import by_name
from expbench.tracer.follow_config import follow_values, hydra, is_config
from expbench.tracer.follow_shell import follow_commands, go_run
from expbench.tracer.kinds import values_of
from expbench.tracer.modules import DEFINITIONS, Module
from expbench.tracer.shell import Command, read_script
from expbench.tracer.uses import Uses, uses_of
from expbench.tracer.walk import Place, Walk, folders, kind_of_file

_HANDED_ON = 60
"""Definitions up to which all of a module may be meant where it is used as a value."""
_NEAR, _FAR, _IMPORTED, _GUESSED = 0.2, 1.0, 2.0, 1.6
_FILLED = 12
"""Files that a name with a part that is filled in is taken for."""
_CONFIGS = (".yaml", ".yml", ".json", ".toml", ".gin")
_FILE = re.compile(r"[\w./{}-]*\w\.(?:py|sh|ya?ml|json|toml|gin|ipynb|ini|txt)$")


def visit_python(walk: Walk, place: Place, distance: float) -> None:
    """A script or module as a whole: what runs when it does; of a given file also all that it defines."""
    module = walk.library.module(place.path)
    if module is None:
        return
    walk.library.roots.setdefault(posixpath.dirname(place.path))
    walk.pieces[place] += _rough(module)
    if module.imports:
        first, last = module.imports[0], module.imports[-1]
        end = module.line(min(last.end_lineno or 1, (first.lineno or 1) + 60))
        walk.pieces[place].append(
            Piece("other", module.line(first.lineno), end, "imports", {}, "imports")
        )
    walk.pieces[place] += pieces(module, module.body)
    _bases(walk, place, distance, module)
    _follow(walk, place, distance, module, uses_of(module.body))
    if module.notebook is not None:
        for line, text in module.notebook.shell:
            commands = [Command(c.words, line, line, c.sets) for c in read_script(text).commands]
            walk.pieces[place].append(Piece("command", line, line, text[:100], {}, text))
            follow_commands(walk, place, distance, commands)
    fact = walk.files[place.path]
    if fact.given or fact.named or module.main:
        for name in module.defined:
            walk.go(
                Place("unit", place.path, name, folder=place.folder),
                distance + _NEAR,
                fact.why,
                place,
                0,
                "calls",
            )
    _imports(walk, place, distance, module)
    if is_config(module):
        follow_values(walk, place, distance, values_of(module.body, 200))


def _imports(walk: Walk, place: Place, distance: float, module: Module) -> None:
    """All that a module imports is reached, whether it is used or not."""
    for imported in [*module.imported.values(), *module.stars]:
        path = walk.library.file(imported, place.path)
        meant = (
            walk.library.imported(imported, place.path, [])
            if imported.name not in ("", "*")
            else None
        )
        for each in dict.fromkeys([path, meant[0] if meant else None]):
            if each is not None and not each.endswith("/"):
                _file_only(walk, place, each, distance + _IMPORTED, imported.module)


def _file_only(walk: Walk, place: Place, path: str, distance: float, name: str) -> None:
    """An imported file is reached though nothing of it may be used."""
    walk.go(
        Place("python", path, "import", folder=place.folder),
        distance,
        f"imported as {name or '.'} by {place.path}",
        place,
        0,
        "imports",
    )


def visit_import(walk: Walk, place: Place, distance: float) -> None:
    """A module that is imported: its top-level statements run, its definitions only where they are used."""
    module = walk.library.module(place.path)
    if module is None:
        return
    if distance < 9:
        _imports(walk, place, distance, module)
    plain = [
        s
        for s in module.body
        if not isinstance(s, ast.If | ast.Try) and s.end_lineno and s.end_lineno - s.lineno < 60
    ]
    walk.pieces[place] += pieces(module, plain)
    _follow(
        walk,
        place,
        distance + _NEAR,
        module,
        uses_of([s for s in plain if isinstance(s, ast.Expr | ast.Assign)]),
    )


def visit_unit(walk: Walk, place: Place, distance: float) -> None:
    """A definition: its steps and what it uses."""
    module = walk.library.module(place.path)
    if module is None:
        return
    statements = module.defined.get(place.name, [])[:40]
    if (
        any(isinstance(each, DEFINITIONS) for each in statements)
        or all(s not in module.body for s in statements)
        or not any(p.kind == "python" and p.path == place.path for p in walk.pieces)
    ):
        walk.pieces[place] += pieces(module, statements)
    _follow(walk, place, distance, module, uses_of(statements))
    if "config_name" in module.text or "config_path" in module.text:
        hydra(walk, place, distance, statements)
    for piece in walk.pieces[place]:
        for name, value in piece.values.items():
            if len(value) < 80 and not value[:1].isdigit():
                walk.value(name, value)


def _rough(module: Module) -> list[Piece]:
    return [
        Piece(
            "function",
            module.line(a),
            module.line(b),
            name,
            {},
            "\n".join(module.text.split("\n")[a - 1 : b])[:1_500],
        )
        for name, a, b in module.rough
    ]


def _follow(walk: Walk, place: Place, distance: float, module: Module, uses: Uses) -> None:
    local = {name: imported for name, imported, _ in uses.imports}
    for dotted, line in uses.names.items():
        meant = walk.library.meaning(place.path, dotted)
        root, _, rest = dotted.partition(".")
        if meant is None and root in local:
            meant = walk.library.imported(local[root], place.path, rest.split(".") if rest else [])
        if meant is not None:
            _go(walk, place, distance, meant, module.line(line), dotted)
    for name, imported in local.items():
        meant = walk.library.imported(imported, place.path, [])
        if meant is not None:
            _go(walk, place, distance, meant, 0, name)
        elif (
            name == "*"
            and (file := walk.library.file(imported, place.path))
            and not file.endswith("/")
        ):
            _file_only(walk, place, file, distance + _FAR, imported.module)
    for text, line in uses.commands.items():
        commands = [
            Command(c.words, module.line(line), module.line(line), c.sets)
            for c in read_script(text).commands
        ]
        follow_commands(walk, place, distance, commands[:20])
    for text, line in uses.strings.items():
        _string(walk, place, distance, text, module.line(line), uses.picks)
    for text, line in uses.dynamic.items():
        walk.waiting.append((text, place, module.line(line)))


def _go(
    walk: Walk, place: Place, distance: float, meant: tuple[str, str], line: int, dotted: str
) -> None:
    path, name = meant
    if path == place.path:
        if name and name != place.name:
            walk.go(
                Place("unit", path, name, folder=place.folder),
                distance + _NEAR,
                f"calls {name}",
                place,
                line,
                "calls",
            )
    elif name:
        why = (
            f"{dotted} is used in {place.path}:{line}"
            if line
            else f"{dotted} is imported in {place.path}"
        )
        walk.go(
            Place("unit", path, name, folder=place.folder),
            distance + _FAR,
            why,
            place,
            line,
            "calls",
        )
        _file_only(walk, place, path, distance + _IMPORTED, dotted)
    else:
        _file_only(walk, place, path, distance + _FAR, dotted)
        module = walk.library.module(path)
        if "." not in dotted and module is not None and len(module.defined) <= _HANDED_ON:
            for each in module.defined:
                unit = Place("unit", path, each, folder=place.folder)
                walk.go(
                    unit,
                    distance + _GUESSED,
                    f"the module {dotted} is handed on in {place.path}",
                    place,
                    line,
                    "dispatches",
                )


def _string(walk: Walk, place: Place, distance: float, text: str, line: int, picks: bool) -> None:
    """A text in the code may name a file of the repository, a class, or something registered."""
    if "*" in text:
        _filled(walk, place, distance, text, line)
    elif _FILE.match(text) and "{" not in text:
        path = walk.tree.resolve(text, folders(place))
        if path is not None and path != place.path:
            why = f"named in {place.path}:{line}"
            if path.endswith((".py", ".sh", ".ipynb")):
                go_run(walk, place, distance, path, (), place.folder, line, why)
            else:
                walk.go(
                    Place(kind_of_file(path), path, folder=place.folder),
                    distance + _FAR,
                    why,
                    place,
                    line,
                    "configures",
                )
    elif picks and re.fullmatch(r"[A-Za-z][\w./:-]{2,60}", text):
        by_name(walk, place, distance + _GUESSED, text, line)


def _filled(walk: Walk, place: Place, distance: float, pattern: str, line: int) -> None:
    """A file's name is filled in when the program runs: with what the chain gives, else with any."""
    if not pattern.endswith(_CONFIGS):
        return
    found = walk.tree.matching(pattern, folders(place))
    if not found and "/" in pattern:
        found = walk.tree.matching(f"*/{pattern}")
    values = {value for known in walk.values.values() for value in known}
    chosen = [path for path in found if posixpath.splitext(posixpath.basename(path))[0] in values]
    for path in (chosen or found)[:_FILLED]:
        why = f"{pattern} in {place.path}:{line}"
        far = distance + (_FAR if chosen else _IMPORTED)
        target = Place(kind_of_file(path), path, folder=place.folder)
        walk.go(target, far, why, place, line, "configures")


def _bases(walk: Walk, place: Place, distance: float, module: Module) -> None:
    """The files that a configuration written in Python begins from (``_base_``)."""
    for statement in module.defined.get("_base_", ()):
        for text, line in uses_of([statement]).strings.items():
            path = walk.tree.resolve(text, [posixpath.dirname(place.path)])
            if path is not None:
                walk.go(
                    Place("python", path, folder=place.folder),
                    distance + _FAR,
                    f"_base_ of {place.path}",
                    place,
                    module.line(line),
                    "configures",
                )
            else:
                walk.tree.note(
                    f"{place.path} begins from {text[:120]}, which the repository does not have."
                )


def settle(walk: Walk) -> None:
    """Go to modules that are imported by a name, with the values that the chain gives anywhere."""
    values = {value for known in walk.values.values() for value in known}
    while walk.waiting:
        text, place, line = walk.waiting.pop()
        base = text.strip(".").replace(".", "/").strip("/")
        distance = walk.distances.get(place, 1.0) + _FAR
        path = walk.tree.resolve(base + ".py", folders(place)) if base else None
        if path is not None:
            _file_only(walk, place, path, distance, text)
            continue
        folder = (
            next(
                (
                    f"{f}/{base}".strip("/")
                    for f in [*walk.library.roots, *folders(place)]
                    if f"{f}/{base}".strip("/") in walk.tree.folders
                ),
                "",
            )
            if base
            else posixpath.dirname(place.path)
        )
        inside = walk.tree.below(folder, ".py") if folder else []
        chosen = [p for p in inside if posixpath.basename(p)[:-3] in values]
        if inside and not chosen:
            walk.tree.note(
                f"{place.path}:{line} imports a module by a name that is not known; "
                f"all of {folder or '.'} may be meant."
            )
        for path in (chosen or inside)[:40]:
            why = f"imported by its name in {place.path}:{line}"
            target = Place("python", path, "import", folder=place.folder)
            walk.go(target, distance + (0 if chosen else 1), why, place, line, "dispatches")
            module = walk.library.module(path)
            for name in module.defined if module and chosen else ():
                walk.go(
                    Place("unit", path, name, folder=place.folder),
                    distance + _NEAR,
                    why,
                    place,
                    line,
                    "dispatches",
                )
