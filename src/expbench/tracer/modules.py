"""A Python file as definitions, imports and top-level statements, whatever state it is in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from expbench.syntax import parse_python
from expbench.tracer.notebook import Notebook, read_notebook
from expbench.tracer.tree import Tree

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_DEEPEST = 60


@dataclass(frozen=True)
class Imported:
    """What a name of a module stands for: a module, or ``name`` of one; ``level`` counts its dots."""

    module: str
    level: int
    name: str = ""


@dataclass
class Module:
    """One Python file or notebook.

    ``defined`` has the top-level statements that give a name its value; ``body`` those that run when the file
    does; ``main`` whether it is made to be run. ``rough`` are definitions by their lines only, where the file
    has no tree.
    """

    path: str
    text: str
    lines: tuple[int, ...] | None = None
    defined: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, Imported] = field(default_factory=dict)
    stars: list[Imported] = field(default_factory=list)
    body: list[ast.stmt] = field(default_factory=list)
    imports: list[ast.stmt] = field(default_factory=list)
    main: bool = False
    rough: list[tuple[str, int, int]] = field(default_factory=list)
    notebook: Notebook | None = None

    def line(self, number: int) -> int:
        """The file's line for a line of the tree: they differ in notebooks."""
        if self.lines is None:
            return number
        return self.lines[min(max(number, 1), len(self.lines)) - 1] if self.lines else 1


def read_module(path: str, tree: Tree) -> Module | None:
    """A file's module; what is wrong with it is noted. ``None`` where it cannot be read at all."""
    text = tree.read(path)
    if text is None:
        return None
    lines: tuple[int, ...] | None = None
    notebook = None
    if path.endswith(".ipynb"):
        try:
            notebook = read_notebook(text)
        except ValueError as error:
            tree.note(f"{path} is no notebook that can be read: {str(error)[:80]}.")
            return None
        text, lines = notebook.source, notebook.lines
    module = Module(path, text, lines, notebook=notebook)
    parsed = _parsed(module, tree)
    if parsed is None:
        module.rough = _rough(text)
    else:
        _sort(module, parsed.body, 0)
    return module


def _parsed(module: Module, tree: Tree) -> ast.Module | None:
    try:
        return parse_python(module.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        first = error
    if len(module.text) < 1_000_000:
        try:
            parsed = parse_python(_as_python3(module.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            pass
        else:
            tree.note(
                f"{module.path} is Python 2; it was read as Python 3 where that means the same."
            )
            return parsed
    where = f" at line {module.line(first.lineno or 1)}" if isinstance(first, SyntaxError) else ""
    tree.note(
        f"{module.path} has no syntax tree{where}; its definitions were taken by their lines."
    )
    return None


_PYTHON2 = (
    (re.compile(r"^(\s*(?:.*?:\s+)?)print\s+>>\s*([\w.]+)\s*,?\s*(.*)$"), r"\1print(\3, file=\2)"),
    (
        re.compile(
            r"^(\s*(?:(?:if|else|elif|for|while|try|except)\b.*?:\s+)?)print\s+(?![=(.])(.*?),?\s*$"
        ),
        r"\1print(\2)",
    ),
    (re.compile(r"^(\s*)print\s*(\(.*?\)\s*%.*)$"), r"\1print(\2)"),
    (re.compile(r"^(\s*)print\s*$"), r"\1print()"),
    (re.compile(r"^(\s*except\s+[^:,]+?|\s*except\s*\([^)]*\))\s*,\s*(\w+)\s*:"), r"\1 as \2:"),
    (re.compile(r"^(\s*)raise\s+([\w.]+)\s*,\s*(.*)$"), r"\1raise \2(\3)"),
    (re.compile(r"^(\s*)exec\s+(?!\()(.*)$"), r"\1exec(\2)"),
    (re.compile(r"\b0(\d+)\b(?!\.)"), r"0o\1"),
    (re.compile(r"\b(\d+)[lL]\b"), r"\1"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"\b[uU][rR](?=[\"'])"), "r"),
    (re.compile(r"`([^`\n]+)`"), r"repr(\1)"),
    (re.compile(r"^(\s*def\s+\w+\(.*?)\((\w+(?:,\s*\w+)*)\)(.*\):)\s*$"), r"\1_\3"),
)


def _as_python3(text: str) -> str:
    """The same lines with the statements of Python 2 that Python 3 has not."""
    lines = []
    for line in text.split("\n"):
        if len(line) < 2_000:
            for pattern, new in _PYTHON2:
                line = pattern.sub(new, line)
        lines.append(line.expandtabs(8) if "\t" in line[: len(line) - len(line.lstrip())] else line)
    return "\n".join(lines)


_HEAD = re.compile(r"^([ \t]*)(?:async\s+)?(?:def|class)\s+(\w+)")


def _rough(text: str) -> list[tuple[str, int, int]]:
    """Definitions by their first lines and indentation."""
    lines = text.split("\n")
    found: list[tuple[str, int, int]] = []
    for number, line in enumerate(lines, 1):
        if match := _HEAD.match(line[:300]):
            end = last = number
            for later in lines[number : number + 400]:
                last += 1
                if later.strip() and len(later) - len(later.lstrip()) <= len(match[1]):
                    break
                end = last if later.strip() else end
            found.append((match[2], number, end))
    return found[:400]


def _sort(module: Module, statements: list[ast.stmt], depth: int) -> None:
    """Put top-level statements where they belong; those below a condition or ``try`` define too."""
    for statement in statements:
        if isinstance(statement, DEFINITIONS):
            module.defined.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            module.imports.append(statement)
            _import(module, statement)
        elif (
            depth < _DEEPEST and isinstance(statement, ast.If | ast.Try) and not _is_main(statement)
        ):
            for part in (
                statement.body,
                statement.orelse,
                *([h.body for h in statement.handlers] if isinstance(statement, ast.Try) else []),
            ):
                _sort(
                    module,
                    [s for s in part if isinstance(s, (*DEFINITIONS, ast.Import, ast.ImportFrom))],
                    depth + 1,
                )
            module.body.append(statement)
        else:
            if _is_main(statement):
                module.main = True
                for inner in ast.walk(statement):
                    if isinstance(inner, ast.Import | ast.ImportFrom):
                        _import(module, inner)
            for name in _targets(statement):
                module.defined.setdefault(name, []).append(statement)
            module.body.append(statement)


def _import(module: Module, statement: ast.Import | ast.ImportFrom) -> None:
    for name, imported in imports_of(statement):
        if name == "*":
            module.stars.append(imported)
        else:
            module.imported.setdefault(name, imported)


def imports_of(statement: ast.Import | ast.ImportFrom) -> list[tuple[str, Imported]]:
    """The names that an import binds and what they stand for."""
    found = []
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            found.append((alias.asname or whole, Imported(whole, 0)))
            if not alias.asname and "." in alias.name:
                found.append((alias.name, Imported(alias.name, 0)))
        else:
            found.append(
                (
                    alias.asname or alias.name,
                    Imported(statement.module or "", statement.level, alias.name),
                )
            )
    return found


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in {
        node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)
    }


def _targets(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    elif (
        isinstance(statement, ast.Expr)
        and isinstance(call := statement.value, ast.Call)
        and isinstance(call.func, ast.Attribute)
    ):
        root = call.func.value
        return (
            [root.id]
            if isinstance(root, ast.Name)
            and call.func.attr.startswith(("add_", "register", "set_", "update"))
            else []
        )
    else:
        return []
    nodes = (node for target in targets for node in ast.walk(target))
    return [node.id for node in nodes if isinstance(node, ast.Name)]
