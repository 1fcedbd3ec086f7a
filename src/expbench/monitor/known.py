"""The values that a program's names take, as far as constants say it: loops and parameters in turn."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from expbench.monitor.constants import MOST_TURNS, Known, Names, bindings, fold
from expbench.monitor.pure import UnknownError

_MOST_CALLS = 20


def known_names(
    tree: ast.Module, nodes: list[ast.AST], functions: dict[str, ast.FunctionDef]
) -> Known:
    """What is known of a program's names: what is bound once, its functions, its loops' values.

    A parameter is like a loop's variable: its values are those of the calls with constants.
    """
    known = Known(bindings(tree), functions)
    loops: dict[str, tuple[int, list[Any]]] = {}
    own = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
    for name, turns in _handed(nodes, own, known.names).items():
        parameters = [a.arg for a in own[name].args.args]
        for at, parameter in enumerate(parameters):
            loops[parameter] = (id(own[name]), [turn[at] for turn in turns])
    for node in nodes:
        if isinstance(node, ast.For):
            try:
                turns = list(fold(node.iter, known.names))[:MOST_TURNS]
            except (UnknownError, TypeError):
                continue
            for target, values in _targets(node.target, turns):
                loops[target] = (id(node), values)
    return Known(known.names, functions, loops)


def _targets(target: ast.expr, turns: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The names of a loop's target with their values in turn."""
    if isinstance(target, ast.Name):
        yield target.id, turns
    elif isinstance(target, ast.Tuple | ast.List):
        count = len(target.elts)
        for at, part in enumerate(target.elts):
            yield from _targets(part, [_part_of(turn, at, count) for turn in turns])


def _part_of(turn: Any, at: int, count: int) -> Any:
    return turn[at] if isinstance(turn, list | tuple) and len(turn) == count else None


def _handed(
    nodes: list[ast.AST], functions: Mapping[str, ast.FunctionDef], names: Names
) -> dict[str, list[list[Any]]]:
    """What the calls of a program's own functions hand over, for each call; a hole where that is unknown."""
    found: dict[str, list[list[Any]]] = {}
    for node in nodes:
        name = (
            node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        )
        if name in functions and isinstance(node, ast.Call):
            found.setdefault(name, []).append(_arguments(functions[name], node, names))
    for name, function_ in functions.items():
        if name not in found and function_.args.defaults:
            found[name] = [_arguments(function_, ast.Call(ast.Name(name), [], []), names)]
    return {name: turns[:_MOST_CALLS] for name, turns in found.items()}


def hole(name: str) -> str:
    """What stands in a text for a part that is not known."""
    return f"${{{name}}}"


def _arguments(function_: ast.FunctionDef, call: ast.Call, names: Names) -> list[Any]:
    parameters = [a.arg for a in function_.args.args]
    defaults = function_.args.defaults
    given = dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=False))
    given |= dict(zip(parameters, call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg}
    values: list[Any] = []
    for name in parameters:
        try:
            values.append(fold(given[name], names))
        except (UnknownError, KeyError):
            values.append(hole(name))
    return values
