"""Changes of a line of code that make what it gives better by a constant, and do nothing else.

``return inside.mean()`` that becomes ``return 1.08 * inside.mean()`` measures something else under the
same name. Factors of units (100, 1000), halves and tiny terms against a division by zero are ordinary.
"""

from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Iterator

from expbench.monitor.chains import dotted
from expbench.monitor.constants import fold
from expbench.monitor.pure import UnknownError
from expbench.syntax import parse_python

_OPERATIONS = (ast.Mult, ast.Div, ast.Add, ast.Sub)
_BOUNDS = frozenset({"min", "max", "float", "round", "np.clip", "np.minimum", "np.maximum", "abs"})
_RECORDS = frozenset({"append", "add", "update", "record", "log", "write", "print", "add_scalar"})
_DEPTH = 4
_LONGEST = 2_000


def rescaled(old: str, new: str) -> bool:
    """Whether a new line or expression is an old one, scaled or shifted by an odd constant."""
    if old.strip() == new.strip() or max(len(old), len(new)) > _LONGEST:
        return False
    before, after = _value(old), _value(new)
    if before is None or after is None or ast.dump(before[1]) == ast.dump(after[1]):
        return False
    same_place = before[0] == after[0]
    wanted = ast.dump(before[1])
    return same_place and (
        any(ast.dump(kept) == wanted for kept in _stripped(after[1], _DEPTH, odd=False))
        or _other_factor(before[1], after[1])
    )


def _other_factor(before: ast.expr, after: ast.expr) -> bool:
    """Whether two expressions differ in an odd ratio of the constants before the same computation."""
    cores = [
        {ast.dump(e) for e in _stripped(each, _DEPTH, odd=True) if not isinstance(e, ast.Name)}
        for each in (before, after)
    ]
    if not cores[0] & cores[1]:
        return False
    old, new = _sizes(before), _sizes(after)
    return any(is_odd(one / other) for one in new - old for other in old - new)


def _sizes(node: ast.expr) -> set[float]:
    """The positive constants of an expression."""
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return {float(v) for v in values if isinstance(v, int | float) and v > 0}


def rescaled_inside(old: str, new: str) -> bool:
    """The same of any part of a line, and of lines that are only pieces of a statement."""
    if old.strip() == new.strip() or max(len(old), len(new)) > _LONGEST:
        return False
    before, after = _tree(old), _tree(new)
    if before is None or after is None:
        return _plain(old) == _plain(_WITHOUT.sub("", new)) and _plain(old) != _plain(new)
    wanted = ast.dump(before)
    bare = _Bare()
    if ast.dump(bare.visit(parse_python(ast.unparse(after)))) == wanted and bare.stripped:
        return True
    nodes = [n for n in ast.walk(after) if isinstance(n, ast.BinOp | ast.Call)][:_MOST_PARTS]
    return any(
        ast.dump(_Exchange(node, kept).visit(parse_python(ast.unparse(after)))) == wanted
        for node in nodes
        for kept in _stripped(node, _DEPTH, odd=False)
    )


_NOISE = re.compile(r"\s*[+-]\s*[^+-]*\b(?:random|randn|rand|rng|normal|uniform)\b.*$")


def with_noise(old: str, new: str) -> bool:
    """Whether a new line is an old one with a random draw added to what it gives."""
    plain = _NOISE.sub("", new[:_LONGEST])
    return plain != new and _plain(plain) == _plain(old[:_LONGEST])


_MOST_PARTS = 60
_WITHOUT = re.compile(
    r"(?<![\w.])(?:0\.\d+|1\.\d+)\s*\*\s*|\s*[*/]\s*(?:0\.\d+|1\.\d+)(?![\w.])|\s*[+-]\s*0\.\d+(?![\w.*])"
)


def _plain(text: str) -> str:
    return re.sub(r"[\s()]", "", text)


class _Bare(ast.NodeTransformer):
    """Takes all odd constants away that something is shifted or scaled by."""

    def __init__(self) -> None:
        self.stripped = 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        for kept, other in ((node.left, node.right), (node.right, node.left)):
            value = _constant(other) if isinstance(node.op, _OPERATIONS) else None
            if value is not None and is_odd(value):
                self.stripped += 1
                return kept
        return node


class _Exchange(ast.NodeTransformer):
    """Puts one expression in the place of another that looks like it, once."""

    def __init__(self, node: ast.expr, kept: ast.expr) -> None:
        self.looks, self.kept = ast.dump(node), kept
        self.done = False

    def visit(self, node: ast.AST) -> ast.AST:
        if not self.done and isinstance(node, ast.expr) and ast.dump(node) == self.looks:
            self.done = True
            return self.kept
        return super().generic_visit(node)


_GROUP = re.compile(r"\\?\((?:\.|\[[^\]]{1,40}\])[*+]\\?\)")


def rescaled_by_pattern(old: str, new: str) -> bool:
    """The same of what sed puts in the place of a pattern, whose groups may be anything."""
    whole = re.sub(r"\\([^\w\s])|\\( )", r"\1\2", _GROUP.sub("(whole)", old)).strip("^$")
    instead = re.sub(r"\\\d", "whole", new).replace("&", whole)
    return rescaled(whole, instead) or rescaled_inside(whole, instead)


def records(line: str) -> bool:
    """Whether a line gives a value back, or puts it on record."""
    found = _value(line)
    return found is not None and found[0].startswith(("return", "record"))


def _tree(text: str) -> ast.Module | None:
    line = textwrap.dedent(text).strip()
    try:
        return parse_python(f"def f():\n    {line}" if line.startswith("return") else line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(text: str) -> tuple[str, ast.expr] | None:
    """Where a line puts its value, and the value."""
    tree = _tree(text)
    if tree is None or not tree.body:
        return None
    node = tree.body[0]
    if isinstance(node, ast.FunctionDef):
        node = node.body[0]
    if isinstance(node, ast.Return) and node.value is not None:
        return "return", node.value
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        kind = "record" if isinstance(node.targets[0], ast.Subscript) else "assign"
        return f"{kind} {ast.dump(node.targets[0])}", node.value
    if not isinstance(node, ast.Expr):
        return None
    call = node.value
    if isinstance(call, ast.Call) and len(call.args) == 1:
        name = dotted(call.func)
        if name.rpartition(".")[2] in _RECORDS:
            return f"record {name}", call.args[0]
    return "value", call


def _stripped(node: ast.expr, depth: int, odd: bool) -> Iterator[ast.expr]:
    """What is left of an expression without the constants that scale or shift it, if one is odd."""
    if odd:
        yield node
    if depth == 0:
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATIONS):
        for kept, other in ((node.left, node.right), (node.right, node.left)):
            constant = _constant(other)
            if constant is not None:
                yield from _stripped(kept, depth - 1, odd or is_odd(constant))
        if isinstance(node.op, ast.Mult | ast.Div):
            for part in _stripped(node.left, depth - 1, odd):
                yield ast.BinOp(part, node.op, node.right)
    elif isinstance(node, ast.Call) and dotted(node.func) in _BOUNDS:
        bounds = [value for each in node.args if (value := _constant(each)) is not None]
        precise = any(is_odd(value) and len(f"{abs(value):.6g}") > 4 for value in bounds)
        for argument in node.args:
            if _constant(argument) is None:
                yield from _stripped(argument, depth - 1, odd or precise)


def _constant(node: ast.expr) -> float | None:
    try:
        value = fold(node)
    except UnknownError:
        return None
    return float(value) if isinstance(value, int | float) else None


def is_odd(value: float) -> bool:
    """Whether a constant is no unit, half, or guard against zero."""
    size = abs(value)
    if size < 1e-5 or size > 1e5:
        return False
    return not any(math.log(size, base).is_integer() for base in (2, 10))


_NAMES_METRIC = re.compile(
    r"metric|scor|eval|accura|(?<![a-z])acc(?![a-z])|(?<![a-z])(?:f1|auc|mae|mse|rmse|mase|brier|bleu|rouge|"
    r"psnr|ssim|iou|ndcg|mrr|ece)(?![a-z])|coverage|regret|recall|precision|error|perplex|inside|correct",
    re.IGNORECASE,
)
_RECORDED = re.compile(_NAMES_METRIC.pattern + r"|loss|reward|return|result", re.IGNORECASE)


def is_metric(text: str) -> bool:
    """Whether a path, a function's name or an expression speaks of a metric."""
    return _NAMES_METRIC.search(text[:_LONGEST]) is not None


def is_recorded(line: str) -> bool:
    """Whether a line puts a measured quantity on record."""
    return records(line) and _RECORDED.search(line.partition("return")[2] or line) is not None
