"""The texts that a Python expression is made of: whole, in turn, or as far as they are known."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator

from expbench.monitor.chains import dotted
from expbench.monitor.constants import Known, fold, fold_each, loop_names
from expbench.monitor.known import hole
from expbench.monitor.pure import UnknownError

Names = dict[str, ast.expr]


def shell_of(call: ast.Call, names: Names, known: Known) -> Iterator[str]:
    """The shell texts that a call starts; a part that is not known is a variable in it."""
    given = {k.arg: k.value for k in call.keywords}
    if "input" in given and (text := text_of(given["input"], names)):
        yield text
    first = call.args[:1] or [given[key] for key in ("args",) if key in given]
    for argument in first:
        yield from in_loops(argument, known)
        value = names.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
        if isinstance(value, ast.List | ast.Tuple):
            yield " ".join(_word(text_of(item, names, holes=True)) for item in value.elts)
        elif text := text_of(value, names, holes=True):
            tail = [
                text_of(other, names) for other in call.args[1:] if isinstance(other, ast.Constant)
            ]
            for other in call.args[1:2]:
                if isinstance(other, ast.List | ast.Tuple):
                    tail += [text_of(item, names) for item in other.elts[1:]]
            yield " ".join([text, *tail])


def program_of(call: ast.Call, name: str, names: Names) -> str:
    """The command that a call of the package ``sh`` starts: ``sh.git("log")``, or nothing."""
    module, _, program = name.rpartition(".")
    if module != "sh" or not program:
        return ""
    return " ".join([program, *(_word(text_of(word, names, holes=True)) for word in call.args)])


def in_loops(argument: ast.expr, known: Known) -> list[str]:
    """The texts that an argument is in turn, where it depends on a loop over constants."""
    if not known.loops or not loop_names(argument, known):
        return []
    try:
        values = fold_each(argument, known)
    except UnknownError:
        return []
    return [
        v if isinstance(v, str) else " ".join(map(_word, v))
        for v in values
        if isinstance(v, str | list)
    ]


def _word(text: object) -> str:
    """A word of a shell text; one with a hole in it stays open, so that it is no plain text."""
    plain = str(text)
    return f'"{plain}"' if "${" in plain and '"' not in plain else shlex.quote(plain)


def strings_of(call: ast.Call, names: Names, known: Known | None = None) -> list[str]:
    """The texts among a call's arguments, and of the path that a method is called on."""
    found = [text_of(argument, names) for argument in call.args]
    if known is not None:
        found += [text for argument in call.args for text in in_loops(argument, known)]
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant):
        found.append(text_of(call.func.value, names))
    return [text for text in found if text]


def text_of(node: ast.expr, names: Names, depth: int = 4, holes: bool = False) -> str:
    """The text of an expression, whole or as far as it is made of constants.

    What a program puts together from constants is worked out; else unknown parts are left out of an
    f-string or a sum, or are a ``hole`` in it.
    """
    try:
        value = fold(node, names)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return shlex.join(value)
        return value if isinstance(value, str) else ""
    except UnknownError:
        pass
    if depth == 0:
        return ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, names, depth - 1, holes) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, names, depth - 1, holes)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        joint = "/" if isinstance(node.op, ast.Div) else ""
        return joint.join(
            text_of(side, names, depth - 1, holes) for side in (node.left, node.right)
        )
    if isinstance(node, ast.Name) and node.id in names:
        return text_of(names[node.id], names, depth - 1, holes)
    if isinstance(node, ast.Attribute) and dotted(node) == "sys.executable":
        return "python"
    if isinstance(node, ast.Call) and dotted(node.func).endswith(("Path", "join", "str")):
        return "/".join(filter(None, (text_of(part, names, depth - 1) for part in node.args)))
    if holes and (name := dotted(node).rpartition(".")[2]):
        return hole(name)
    return ""
