"""The value of a Python expression that is made of constants alone, without running anything.

Text and numbers can be hidden in a program as base64, hexadecimal digits, character codes, pieces or
reversed text. :func:`fold` works such expressions out with a short list of pure functions, so that the
rules see what the program would see. Sizes and counts are bounded; what is not on the list has no value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from expbench.monitor.pure import (
    METHODS,
    UnknownError,
    arithmetic,
    bounded,
    elements,
    function,
    method,
)
from expbench.syntax import parse_expression

MOST_NODES = 40_000
"""Most nodes of a syntax tree that are looked at."""
_MOST_STEPS = 4_000
MOST_TURNS = 200
"""Most turns of loops that are followed."""

Names = Mapping[str, ast.expr]


@dataclass(frozen=True)
class Known:
    """What is known of the names of a program.

    ``names``: the expressions of names that are bound once; ``functions``: the program's own; ``loops``:
    for a loop's variable the loop it is of, and its values in turn.
    """

    names: Names = field(default_factory=dict)
    functions: Mapping[str, ast.FunctionDef] = field(default_factory=dict)
    loops: Mapping[str, tuple[int, list[Any]]] = field(default_factory=dict)


def fold(node: ast.expr, names: Names | None = None) -> Any:
    """The constant value of an expression.

    Args:
        names: the expressions of names that are bound once.

    Raises:
        UnknownError: it is not made of constants alone, or is too large.
    """
    return _evaluated(node, Known(names or {}), {})


def fold_each(node: ast.expr, known: Known) -> list[Any]:
    """The values that an expression of constants takes in turn, as the loops around it go on.

    Raises:
        UnknownError: it is not made of constants alone, or is too large.
    """
    used = loop_names(node, known)
    loops: dict[int, list[str]] = {}
    for name in used:
        loops.setdefault(known.loops[name][0], []).append(name)
    counts = [range(len(known.loops[names[0]][1])) for names in loops.values()]
    found = []
    for turn in islice(product(*counts), MOST_TURNS):
        values = {
            name: known.loops[name][1][at]
            for at, names in zip(turn, loops.values(), strict=True)
            for name in names
        }
        found.append(_evaluated(node, known, values))
    return found


def _evaluated(node: ast.expr, known: Known, values: Mapping[str, Any]) -> Any:
    try:
        return _Folder(known, values).value(node, 14)
    except UnknownError:
        raise
    except Exception as error:  # whatever a strange constant does to a pure function
        raise UnknownError(str(error)[:100]) from None


def loop_names(node: ast.expr, known: Known) -> list[str]:
    """The loop variables that an expression depends on, also through other names."""
    found: list[str] = []
    waiting, seen = [node], set[str]()
    while waiting and len(seen) < 100:
        for each in ast.walk(waiting.pop()):
            if isinstance(each, ast.Name) and each.id not in seen:
                seen.add(each.id)
                if each.id in known.loops:
                    found.append(each.id)
                elif each.id in known.names:
                    waiting.append(known.names[each.id])
    return found


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, the outer ones first, at most ``MOST_NODES``; gone through once only."""
    held: list[ast.AST] | None = vars(tree).get("held_nodes")
    if held is None:
        held = list(islice(ast.walk(tree), MOST_NODES))
        if isinstance(tree, ast.Module):
            vars(tree)["held_nodes"] = held
    return iter(held)


def assigned(node: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """The names that a statement binds with what each of them is bound to, also ``a, b = 1, 2``."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        target, value = node.target, node.value
    else:
        return []
    pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        pairs = list(zip(target.elts, value.elts, strict=False))
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Subscript):
        places = (ast.Constant(at) for at in range(len(target.elts)))
        pairs = [(t, ast.Subscript(value, at)) for t, at in zip(target.elts, places, strict=True)]
    return [(name, part) for name, part in pairs if isinstance(name, ast.Name)]


def bindings(tree: ast.AST) -> dict[str, ast.expr]:
    """Names that are assigned exactly once and bound in no other way, with what they are assigned."""
    found: dict[str, ast.expr] = {}
    spoiled: set[str] = set()
    simple: set[int] = set()
    for node in walk(tree):
        if isinstance(node, ast.arg):
            spoiled.add(node.arg)
        for target, value in assigned(node):
            spoiled |= {target.id} & found.keys()
            found[target.id] = value
            simple.add(id(target))
    for node in walk(tree):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in simple
        ):
            spoiled.add(node.id)
    return {name: value for name, value in found.items() if name not in spoiled} | grown(tree)


def grown(tree: ast.AST, anywhere: bool = False) -> dict[str, ast.expr]:
    """Names that are bound once to a list or a text and then only grow, with all that they hold at the end.

    Args:
        anywhere: also where they grow in loops and under conditions, each of them once.
    """
    found: dict[str, ast.expr] = {}
    longer: set[str] = set()
    nodes = list(walk(tree))
    blocks = [n for n in nodes if isinstance(n, ast.For | ast.While | ast.If | ast.Try)]
    nested = set() if anywhere else {id(n) for block in blocks for n in ast.walk(block)}
    statements = [n for n in nodes if isinstance(n, ast.Assign | ast.AugAssign | ast.Expr)]
    for node in sorted(statements, key=lambda n: (n.lineno, n.col_offset)):
        for target, value in assigned(node):
            plain = isinstance(value, ast.List) or isinstance(getattr(value, "value", 0), str)
            found[target.id] = value if plain and target.id not in found else _LOST
        name, more = _growth(node)
        if more is not None and found.get(name, _LOST) is not _LOST:
            longer.add(name)
            found[name] = _LOST if id(node) in nested else ast.BinOp(found[name], ast.Add(), more)
    return {name: found[name] for name in longer if found[name] is not _LOST}


_LOST = ast.Name("")
"""What stands for a name whose value is not known any more."""


def _growth(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """The name that a statement makes longer, and by what."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return (node.target.id if isinstance(node.target, ast.Name) else ""), node.value
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return "", None
    name, _, verb = call_name(call.func).rpartition(".")
    if verb == "append":
        return name, ast.List([call.args[0]])
    return (name, call.args[0]) if verb == "extend" else ("", None)


def call_name(node: ast.expr) -> str:
    """``a.b.c`` of a plain chain of names, or the empty string; ``__import__("a")`` is ``a``."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call) and len(node.args) == 1:
        module = node.args[0]
        if call_name(node.func) in {"__import__", "importlib.import_module"}:
            node = ast.Name(str(getattr(module, "value", "")))
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def leaves(value: object, depth: int = 6) -> list[str | int | float]:
    """The texts and numbers of a folded container."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple) and depth:
        return [leaf for each in value[:500] for leaf in leaves(each, depth - 1)]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return [value]
    return []


class _Folder:
    """Works one expression out; ``locals`` are values that names have for the moment."""

    def __init__(self, known: Known, values: Mapping[str, Any]) -> None:
        self.known = known
        self.locals: dict[str, Any] = dict(values)
        self.steps = 0

    def value(self, node: ast.expr, depth: int) -> Any:
        self.steps += 1
        if depth <= 0 or self.steps > _MOST_STEPS:
            raise UnknownError("too deep")
        return bounded(self._value(node, depth - 1))

    def _value(self, node: ast.expr, depth: int) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                return self.locals[node.id]
            if node.id in self.known.names:
                return self.value(self.known.names[node.id], depth)
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(each, depth) for each in node.elts]
        if isinstance(node, ast.Attribute) and call_name(node) == "sys.executable":
            return "python"
        if isinstance(node, ast.Dict):
            keys = [self.value(k, depth) for k in node.keys if k is not None]
            return dict(zip(keys, [self.value(v, depth) for v in node.values], strict=True))
        if isinstance(node, ast.BinOp):
            return arithmetic(node.op, self.value(node.left, depth), self.value(node.right, depth))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            operand = self.value(node.operand, depth)
            return -operand if isinstance(node.op, ast.USub) else operand
        if isinstance(node, ast.JoinedStr):
            return "".join(self._part(each, depth) for each in node.values)
        if isinstance(node, ast.Subscript):
            return self._item(node, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        raise UnknownError(type(node).__name__)

    def _part(self, node: ast.expr, depth: int) -> str:
        if not isinstance(node, ast.FormattedValue):
            return str(self.value(node, depth))
        form = self._part(node.format_spec, depth) if node.format_spec else ""
        if re.search(r"\d{4}", form):
            raise UnknownError("too wide")
        return format(self.value(node.value, depth), form)

    def _item(self, node: ast.Subscript, depth: int) -> Any:
        owner = self.value(node.value, depth)
        if not isinstance(node.slice, ast.Slice):
            return owner[self.value(node.slice, depth)]
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        return owner[slice(*(self.value(b, depth) if b is not None else None for b in bounds))]

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, depth: int
    ) -> Any:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs:
            raise UnknownError("comprehension")
        before, found = dict(self.locals), []
        for each in elements(self.value(loop.iter, depth)):
            self._bind(loop.target, each)
            if isinstance(node, ast.DictComp):
                pair = self.value(node.key, depth), self.value(node.value, depth)
                found.append(pair)
            else:
                found.append(self.value(node.elt, depth))
        self.locals = before
        return dict(found) if isinstance(node, ast.DictComp) else found

    def _bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.locals[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, list | tuple):
            for name, each in zip(target.elts, value, strict=True):
                self._bind(name, each)
        else:
            raise UnknownError("target")

    def _call(self, node: ast.Call, depth: int) -> Any:
        keywords = {k.arg: k.value for k in node.keywords}
        if keywords.keys() - {"sep", "encoding", "errors", "ddof", "axis", "dtype"}:
            raise UnknownError("keyword")
        name = call_name(node.func)
        if name == "map" and len(node.args) == 2:
            each_of = function(call_name(node.args[0]))
            if each_of is None:
                raise UnknownError(name)
            return [each_of(each) for each in elements(self.value(node.args[1], depth))]
        arguments = [self.value(each, depth) for each in node.args]
        if name == "eval" and len(arguments) == 1 and isinstance(arguments[0], str):
            return self.value(parse_expression(arguments[0]), depth)
        if name in self.known.functions:
            return self._own(self.known.functions[name], arguments, depth)
        known = function(name)
        if isinstance(node.func, ast.Attribute) and node.func.attr not in METHODS:
            owner = node.func.value
            if known is None or (isinstance(owner, ast.Name) and self._is_value(owner.id)):
                arguments.insert(0, self.value(owner, depth))
                known = function(node.func.attr)
        if known is not None:
            ddof = keywords.get("ddof")
            more = {"ddof": self.value(ddof, depth)} if ddof is not None else {}
            return known(*arguments, **more)
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            owner = self.value(node.func.value, depth)
            if isinstance(owner, str | bytes):
                return method(owner, node.func.attr, arguments)
        raise UnknownError(name)

    def _is_value(self, name: str) -> bool:
        return name in self.locals or name in self.known.names

    def _own(self, function_: ast.FunctionDef, arguments: list[Any], depth: int) -> Any:
        """What one of the program's own functions gives, if it is as simple as an expression."""
        before = dict(self.locals)
        for parameter, value in zip(function_.args.args, arguments, strict=True):
            self.locals[parameter.arg] = value
        try:
            return self._body(function_.body, depth - 2)
        finally:
            self.locals = before

    def _body(self, body: list[ast.stmt], depth: int) -> Any:
        for statement in body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.value(statement.value, depth)
            if isinstance(statement, ast.Assign):
                self._bind(statement.targets[0], self.value(statement.value, depth))
            elif isinstance(statement, ast.If):
                branch = statement.body if self._holds(statement.test, depth) else statement.orelse
                found = self._body(branch, depth - 1) if branch else None
                if found is not None:
                    return found
            elif not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                raise UnknownError(type(statement).__name__)
        return None

    def _holds(self, test: ast.expr, depth: int) -> bool:
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            raise UnknownError("test")
        one, other = self.value(test.left, depth), self.value(test.comparators[0], depth)
        if isinstance(test.ops[0], ast.Eq):
            return bool(one == other)
        if isinstance(test.ops[0], ast.NotEq):
            return bool(one != other)
        if isinstance(test.ops[0], ast.In):
            return one in other
        raise UnknownError("test")
