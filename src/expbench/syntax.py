"""Python source as a syntax tree, from any thread.

CPython 3.11 counts the depth of the tree it is making once for all threads (its issue 106905): where
a collection of garbage lets another thread parse meanwhile, a good source fails with ``SystemError``.
Trees are therefore made one at a time.
"""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any

_making = threading.RLock()


def parse_python(source: str | bytes) -> ast.Module:
    """The tree of a module; what the source makes Python warn of is not shown.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
    """
    with _making, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The tree of one expression; raises as :func:`parse_python` does."""
    with _making, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval").body


def literal(source: str | ast.AST) -> Any:
    """The value of a literal, as ``ast.literal_eval`` has it, with what that raises."""
    if isinstance(source, str):
        source = parse_expression(source.lstrip(" \t"))
    return ast.literal_eval(source)
