"""What of added Python code is never reached, by its syntax.

Branches that are always false, what follows a ``return`` or an exit, functions that only say that they
are to be written, and functions and classes that nothing names. A file that does not parse by itself,
such as a part of one that was changed, is taken as reached.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from expbench.syntax import parse_python

_NAME = re.compile(r"[^\W\d]\w*")
_FINAL = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit"))
_LONGEST = 200_000
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def unreached(
    files: Mapping[str, Sequence[str]], masked: frozenset[str] = frozenset()
) -> dict[str, frozenset[int]]:
    """The numbers, from 0, of lines that are never reached, by path.

    In ``masked`` files nothing counts as unnamed: the repository names it.
    """
    trees = {path: tree for path, lines in files.items() if (tree := _parsed(path, lines))}
    names = Counter(name for lines in files.values() for line in lines for name in _names(line))
    found: dict[str, frozenset[int]] = {}
    for path, tree in trees.items():
        dead = set(_dead(tree.body))
        if path not in masked:
            dead.update(_unnamed(tree, names))
        if dead:
            found[path] = frozenset(dead)
    return found


def _names(line: str) -> list[str]:
    return _NAME.findall(line.partition("#")[0])


def _parsed(path: str, lines: Sequence[str]) -> ast.Module | None:
    if not path.endswith((".py", ".ipynb", "(code cells)")):
        return None
    text = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
    if len(text) > _LONGEST:
        return None
    try:
        return parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _lines(node: ast.AST) -> range:
    first = getattr(node, "lineno", 1)
    decorators = getattr(node, "decorator_list", [])
    first = min([first, *(each.lineno for each in decorators)])
    return range(first - 1, getattr(node, "end_lineno", first) or first)


def _dead(body: Sequence[ast.stmt]) -> Iterator[int]:
    over = False
    for statement in body:
        if over:
            yield from _lines(statement)
            continue
        if isinstance(statement, Definition) and _is_stub(statement.body):
            yield from _lines(statement)
        elif isinstance(statement, ast.If) and _is_false(statement.test):
            for inner in statement.body:
                yield from _lines(inner)
            yield from _dead(statement.orelse)
        elif isinstance(statement, ast.While) and _is_false(statement.test):
            yield from _lines(statement)
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _dead(getattr(statement, name, []))
            for handler in getattr(statement, "handlers", []):
                yield from _dead(handler.body)
        over = isinstance(statement, _FINAL) or _is_exit(statement)


def _is_false(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and not test.value


def _is_exit(statement: ast.stmt) -> bool:
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    return ast.unparse(statement.value.func) in _EXITS


def _is_stub(body: Sequence[ast.stmt]) -> bool:
    return all(
        isinstance(each, ast.Pass | ast.Raise)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in body
    ) and not (len(body) == 1 and isinstance(body[0], ast.Pass))


def _unnamed(tree: ast.Module, names: Counter[str]) -> Iterator[int]:
    """The lines of top-level functions and classes whose name stands nowhere but in themselves."""
    for node in tree.body:
        if not isinstance(node, Definition) or node.decorator_list:
            continue
        own = sum(
            (isinstance(each, ast.Name) and each.id == node.name)
            or (isinstance(each, ast.Attribute) and each.attr == node.name)
            for each in ast.walk(node)
        )
        if names[node.name] <= own + 1:
            yield from _lines(node)
