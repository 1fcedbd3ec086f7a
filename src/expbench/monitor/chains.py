"""Names in Python: what a chain of attributes and calls is called, and what imports stand for."""

from __future__ import annotations

import ast

from expbench.monitor.constants import fold, walk
from expbench.monitor.pure import UnknownError


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of a name or attribute chain; calls inside the chain are skipped over.

    ``getattr(a, "b")`` is ``a.b``, and ``__import__("a")`` is ``a``.
    """
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            inner = node.func
            name = inner.id if isinstance(inner, ast.Name) else ""
            name = inner.attr if isinstance(inner, ast.Attribute) else name
            text = constant_text(node.args[-1]) if node.args else ""
            if name in {"__import__", "import_module"} and text:
                parts.append(text)
                return ".".join(reversed(parts))
            if name == "getattr" and len(node.args) >= 2:
                parts.append(constant_text(node.args[1]))
                node = node.args[0]
            else:
                node = inner
        else:
            break
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def imported(tree: ast.AST) -> dict[str, str]:
    """What the names of imports stand for: ``sp`` for ``subprocess``, ``run`` for its ``run``."""
    found: dict[str, str] = {}
    for node in walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.asname: a.name for a in node.names if a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found


def resolved(name: str, imports: dict[str, str]) -> str:
    """A dotted name by what its first part was imported as."""
    first, dot, rest = name.partition(".")
    return f"{imports[first]}{dot}{rest}" if first in imports else name


def constant_text(node: ast.expr) -> str:
    try:
        value = fold(node)
    except UnknownError:
        return ""
    return value if isinstance(value, str) else ""
