"""What a piece of Python uses: names with their attributes, methods, strings, imports in it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from expbench.tracer.modules import Imported, imports_of

_MOST_NODES = 60_000


@dataclass
class Uses:
    """Each with the first line where it stands.

    ``names`` are dotted as written (``utils.load``); ``methods`` are what is called on something unknown;
    ``dynamic`` the beginnings of module names that are imported by name; ``commands`` what goes to a shell.
    """

    names: dict[str, int] = field(default_factory=dict)
    methods: dict[str, int] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)
    imports: list[tuple[str, Imported, int]] = field(default_factory=list)
    dynamic: dict[str, int] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    picks: bool = False
    """Whether something is chosen by its name at run time (``getattr``, ``globals``, a registry)."""


_FILES = (".yaml", ".yml", ".json", ".toml", ".gin", ".sh", ".py")
_IMPORTERS = frozenset({"import_module", "__import__", "import_file", "load_module"})
_SHELLS = frozenset(
    {"system", "popen", "run", "call", "check_call", "check_output", "Popen", "execute"}
)
_PICKERS = frozenset(
    {
        "getattr",
        "globals",
        "locals",
        "eval",
        "exec",
        "build_from_cfg",
        "instantiate",
        "get_obj_from_str",
        "make",
        "create",
        "resolve",
    }
)


def uses_of(statements: Sequence[ast.AST]) -> Uses:
    """Collect what the statements use, in their order."""
    uses = Uses()
    pending: list[ast.AST] = list(reversed(statements))
    inner: set[int] = set()
    starts: dict[str, str] = {}
    count = 0
    while pending and count < _MOST_NODES:
        node = pending.pop()
        count += 1
        if isinstance(node, ast.Attribute):
            chain = _chain(node)
            if chain and id(node) not in inner:
                uses.names.setdefault(chain, node.lineno)
                part: ast.AST = node
                while isinstance(part, ast.Attribute):
                    part = part.value
                    inner.add(id(part))
            elif not chain and id(node) not in inner:
                uses.methods.setdefault(node.attr, node.lineno)
        elif isinstance(node, ast.Name):
            if id(node) not in inner and isinstance(node.ctx, ast.Load):
                uses.names.setdefault(node.id, node.lineno)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and 1 < len(node.value) <= 400:
                uses.strings.setdefault(node.value, node.lineno)
        elif isinstance(node, ast.JoinedStr):
            _pattern(uses, node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            _joined(uses, _divided(node), node.lineno)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            uses.imports += [(name, what, node.lineno) for name, what in imports_of(node)]
        elif isinstance(node, ast.Call):
            _call(node, uses, starts)
        elif isinstance(node, ast.Assign) and (start := _start(node.value)):
            starts.update((t.id, start) for t in node.targets if isinstance(t, ast.Name))
        pending += reversed(list(children(node)))
    return uses


def children(node: ast.AST) -> Iterator[ast.AST]:
    """What ``ast.iter_child_nodes`` gives, in half its time."""
    for value in vars(node).values():
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (each for each in value if isinstance(each, ast.AST))


def _chain(node: ast.Attribute) -> str:
    parts = [node.attr]
    value = node.value
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    return ".".join([value.id, *reversed(parts)]) if isinstance(value, ast.Name) else ""


def _call(node: ast.Call, uses: Uses, starts: Mapping[str, str]) -> None:
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    if called in _IMPORTERS and node.args:
        named = node.args[0]
        known = starts.get(named.id, "") if isinstance(named, ast.Name) else _start(named)
        uses.dynamic.setdefault(known, node.lineno)
    elif called in ("join", "joinpath"):
        joined = [each.value for each in node.args if isinstance(each, ast.Constant)]
        _joined(uses, [each for each in joined if isinstance(each, str)], node.lineno)
    elif called in _PICKERS or called.startswith(
        ("build", "get_", "make_", "create_", "load_", "init_")
    ):
        uses.picks = True
    if called in _SHELLS and node.args and (command := _words(node.args[0])):
        uses.commands.setdefault(command, node.lineno)


def _joined(uses: Uses, parts: Sequence[str], line: int) -> None:
    """A path that is put together of literals, as one text."""
    if len(parts) > 1 and sum(map(len, parts)) < 300:
        uses.strings.setdefault("/".join(part.strip("/") for part in parts), line)


def _divided(node: ast.BinOp) -> list[str]:
    """The literal parts of ``folder / "a" / "b"``, from the left."""
    parts: list[str] = []
    part: ast.AST = node
    while isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div) and len(parts) < 20:
        if isinstance(part.right, ast.Constant) and isinstance(part.right.value, str):
            parts.append(part.right.value)
        elif isinstance(part.right, ast.JoinedStr):
            parts.append(_starred(part.right))
        part = part.left
    return parts[::-1]


def _pattern(uses: Uses, node: ast.JoinedStr) -> None:
    """A file's name with a part that is filled in, as a pattern."""
    pattern = _starred(node)
    if "*" in pattern and len(pattern) > 6 and pattern.endswith(_FILES):
        uses.strings.setdefault(pattern.removeprefix("*/"), node.lineno)


def _starred(node: ast.JoinedStr) -> str:
    parts = (str(p.value) if isinstance(p, ast.Constant) else "*" for p in node.values)
    return "".join(parts)[:300]


def _start(node: ast.AST) -> str:
    """The literal text that a string begins with."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return _start(node.values[0]) if node.values else ""
    if isinstance(node, ast.BinOp):
        return _start(node.left)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("format", "join")
    ):
        return _start(node.func.value).partition("{")[0]
    return ""


def _words(node: ast.AST) -> str:
    """A command as far as it is literal; parts that are not are left as ``$_``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _words(part) if isinstance(part, ast.Constant) else "$_" for part in node.values
        )
    if isinstance(node, ast.BinOp):
        return _words(node.left) + (_words(node.right) if isinstance(node.op, ast.Add) else "")
    if isinstance(node, ast.List | ast.Tuple):
        return " ".join(_words(part) or "$_" for part in node.elts)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
    ):
        return _words(node.func.value)
    return "$_"


def decorators(node: ast.AST) -> Iterable[str]:
    """The dotted names of a definition's decorators."""
    for each in getattr(node, "decorator_list", ()):
        target = each.func if isinstance(each, ast.Call) else each
        yield _chain(target) if isinstance(target, ast.Attribute) else getattr(target, "id", "")
