"""What Python expressions are made of."""

from __future__ import annotations

import ast


def is_text(node: ast.expr, depth: int = 8) -> bool:
    """Whether an expression is a text: a literal, an f-string, or one formatted or joined."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add) and depth:
        return is_text(node.left, depth - 1) or (
            isinstance(node.op, ast.Add) and is_text(node.right, depth - 1)
        )
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def returns(function: ast.FunctionDef) -> list[ast.expr]:
    """What a function returns, at most 20 expressions."""
    found = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
    return found[:20]


def parts(node: ast.expr) -> list[ast.expr]:
    """The expressions that a container, text or access is made of."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.JoinedStr):
        return node.values
    if isinstance(node, ast.FormattedValue | ast.Subscript | ast.Starred):
        return [node.value]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        return [node.elt]
    return []


def base(node: ast.expr) -> ast.expr:
    """What an element is taken of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node
