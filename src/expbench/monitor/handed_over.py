"""What a command hands over to the Python that it starts: its arguments and its environment.

``python get.py arxiv.org 2401.01234`` fetches what neither the program nor the command says alone. So the
program is read with what it was given: ``sys.argv``, the attributes of a parser's result, and variables of
the environment become constants.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from expbench.monitor.chains import constant_text, dotted, imported, resolved
from expbench.syntax import parse_python

_ASKS = re.compile(r"\b(?:argv|parse_args|parse_known_args|environ|getenv)\b")
_LONGEST = 50_000
_MOST_WORDS = 50


def with_given(code: str, arguments: Sequence[str], variables: Mapping[str, str]) -> str:
    """The program with what it is given in the place of where it asks; itself where it asks for nothing.

    Args:
        arguments: ``sys.argv``, the program's own name first.
        variables: the shell's variables, as far as they are known.
    """
    if len(code) > _LONGEST or not _ASKS.search(code):
        return code
    try:
        tree = parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    words = list(arguments[:_MOST_WORDS])
    visitor = _Given(tree, words, variables)
    changed = visitor.visit(tree)
    return ast.unparse(ast.fix_missing_locations(changed)) if visitor.used else code


class _Given(ast.NodeTransformer):
    """Puts constants in the place of what asks for them."""

    def __init__(self, tree: ast.Module, words: list[str], variables: Mapping[str, str]) -> None:
        self.words, self.variables, self.used = words, variables, False
        self.imports = imported(tree)
        self.options = _options(tree, words[1:])
        self.results = {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and _parses(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def _name(self, node: ast.expr) -> str:
        return resolved(dotted(node), self.imports)

    def _constant(self, node: ast.expr, value: str | None) -> ast.expr:
        if value is None:
            return node
        self.used = True
        return ast.copy_location(ast.Constant(value), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return self._argv(node) or self._constant(node, self._option(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._argv(node) or node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        name = self._name(node.value)
        self.generic_visit(node)
        if name == "os.environ" and isinstance(node.ctx, ast.Load):
            return self._constant(node, self.variables.get(constant_text(node.slice)))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self._name(node.func)
        self.generic_visit(node)
        if name in {"os.getenv", "os.environ.get"} and node.args:
            return self._constant(node, self.variables.get(constant_text(node.args[0])))
        return node

    def _argv(self, node: ast.expr) -> ast.expr | None:
        loaded = isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load)
        if not loaded or self._name(node) != "sys.argv" or len(self.words) < 2:
            return None
        self.used = True
        return ast.copy_location(ast.List([ast.Constant(w) for w in self.words], ast.Load()), node)

    def _option(self, node: ast.Attribute) -> str | None:
        whole = isinstance(node.value, ast.Name) and node.value.id in self.results
        return self.options.get(node.attr) if whole or _parses(node.value) else None


def _parses(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).endswith(".parse_args")


def _options(tree: ast.Module, words: Sequence[str]) -> dict[str, str]:
    """The values of a parser's arguments, by their names."""
    places: list[str] = []
    flags: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func).endswith(".add_argument"):
            names = [t for t in map(constant_text, node.args) if t]
            own = next((n for n in names if n.startswith("--")), names[0] if names else "")
            dest = next((constant_text(k.value) for k in node.keywords if k.arg == "dest"), "")
            dest = dest or own.lstrip("-").replace("-", "_")
            if own.startswith("-"):
                flags |= dict.fromkeys(names, dest)
            elif dest:
                places.append(dest)
    found: dict[str, str] = {}
    at = 0
    while at < len(words):
        name, equals, value = words[at].partition("=")
        if name in flags and not equals:
            at += 1
            value = words[at] if at < len(words) else ""
        if name in flags:
            found[flags[name]] = value
        elif not words[at].startswith("-") and places:
            found[places.pop(0)] = words[at]
        at += 1
    return found
