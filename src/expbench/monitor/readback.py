"""Programs that show what stands in a file, whatever else they do.

Values are followed from where a file is read, through what takes texts and numbers apart, to what is
printed. A program that shows such values and no other ones has computed nothing that can be seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from expbench.monitor.chains import dotted
from expbench.monitor.constants import assigned, walk
from expbench.monitor.expressions import returns
from expbench.monitor.pycode import tree_of

_PASSES = 5
_READS = re.compile(r"(?:^|\.)(?:open|Path|PurePath|loads?|read\w*|safe_load|loadtxt|genfromtxt)$")
_TAKES_APART = re.compile(
    r"(?:^|\.)(?:read\w*|loads?|safe_load|split\w*|strip|lstrip|rstrip|find\w*|search|match|fullmatch|group\w*|"
    r"float|int|str|round|list|dict|tuple|zip|enumerate|sorted|map|filter|items|values|keys|get|"
    r"iterrows|itertuples|to_\w+|loc|iloc|head|tail|tolist|item|format|join|replace|lower|upper|"
    r"decode|open|Path|next|iter|reversed|splitlines|DictReader|reader|literal_eval)$"
)
_SHOWS = re.compile(r"^(?:print|pprint|display)$|\.(?:write|writelines|info|dump|writerow)$")


def shows_only_read(code: str, paths: Sequence[str]) -> bool:
    """Whether a program shows values of certain files, and nothing that it has computed."""
    tree = tree_of(code)
    if tree is None:
        return False
    names = {path.rpartition("/")[2] for path in paths}
    read: set[str] = set()
    for _ in range(_PASSES):
        before = len(read)
        for node in walk(tree):
            _bind(node, read, names)
        if len(read) == before:
            break
    parts = [
        part
        for node in walk(tree)
        if isinstance(node, ast.Call) and _SHOWS.search(dotted(node.func))
        for argument in node.args
        for part in _pieces(argument)
    ]
    return bool(parts) and all(_is_read(part, read, names) for part in parts)


def _bind(node: ast.AST, read: set[str], names: set[str]) -> None:
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.For | ast.comprehension):
        pairs.append((node.target, node.iter))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        pairs.append((node.optional_vars, node.context_expr))
    elif isinstance(node, ast.Assign):
        pairs += [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.FunctionDef) and any(_is_read(v, read, names) for v in returns(node)):
        read.add(node.name)
    pairs += assigned(node)
    for target, value in pairs:
        if _is_read(value, read, names):
            read |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def _is_read(node: ast.expr, read: set[str], names: set[str]) -> bool:
    """Whether a value is what a file holds, or a piece of it."""
    if isinstance(node, ast.Name):
        return node.id in read
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
        named = any(isinstance(t, str) and t.rpartition("/")[2] in names for t in texts)
        if name in read or (named and _READS.search(name)):
            return True
        if not _TAKES_APART.search(name):
            return False
        inner = [*node.args]
        if isinstance(node.func, ast.Attribute):
            inner.append(node.func.value)
        return any(_is_read(each, read, names) for each in inner)
    if isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        return _is_read(node.value, read, names)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _is_read(node.elt, read, names)
    if isinstance(node, ast.DictComp):
        return _is_read(node.value, read, names)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(_is_read(each, read, names) for each in node.elts)
    return False


def _pieces(node: ast.expr) -> list[ast.expr]:
    """The values in an argument of an output statement, without its constant texts."""
    if isinstance(node, ast.JoinedStr):
        return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    return [] if isinstance(node, ast.Constant) else [node]
