"""The workspace's Python sources rewritten so that every number that they compute comes out different.

Runs inside the sandbox, alone, in Python 3.9 or newer. What a call gives back and what a division yields
goes through ``other``: floats and arrays of them are changed by a few per cent, arrays of whole numbers are
turned round by a third. Literals, what is read from a file and what is parsed from text stay, so a result
that is printed or copied stays too, and one that is computed does not.
"""
# ruff: noqa: PTH103, PTH118, PTH123

from __future__ import annotations

import ast
import json
import os
import re
import stat
import sys
from typing import Any

FILES, BYTES = 3000, 1_000_000
"""Sources that are rewritten, and the largest one."""

NAME = "_expbench_other"
_PASSED = {".git", "node_modules", "site-packages", "dist-packages", "__pycache__", ".venv", "venv"}
_READING = {
    "float int complex round str format bool get pop getattr setdefault read readline readlines "
    "load loads safe_load full_load loadtxt genfromtxt fromstring literal_eval getenv "
    "time perf_counter monotonic process_time clock sleep now today fromtimestamp strip split "
    "parse_args add_argument abs min max next copy deepcopy print"
}
_EXEMPT = frozenset(" ".join(_READING).split())
_READS = re.compile(r"^(?:read|load|parse|get)_|_from_(?:file|json|csv)$")
_INLINE = re.compile(
    r"\bpython[\d.]*[ \t]+(?:-[A-Za-z]+[ \t]+)*-\w*c\b|\b(?:nbconvert|papermill)\b|\.ipynb\b"
)
_HEREDOC = re.compile(
    r"^[^\n#]*\bpython[\d.]*\b[^\n]*<<-?[ \t]*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)[^\n]*\n"
    r"(?P<body>.*?)^[ \t]*(?P=end)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_OTHER = '''\
"""Numbers a little different from those that were computed."""
import sys

_FACTOR = 1.0317
_told = False


def other(thing):
    kind = type(thing)
    if kind is float:
        return _tell(thing * _FACTOR)
    if kind in (int, str, bool, type(None)):
        return thing
    if kind is dict:
        for key in [key for key, value in list(thing.items())[:1000] if _real(value)]:
            thing[key] = other(thing[key])
        return thing
    if kind in (list, tuple):
        few = 0 < len(thing) <= 10000 and any(_real(each) for each in thing)
        return kind(other(each) if _real(each) else each for each in thing) if few else thing
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(thing, (numpy.ndarray, numpy.generic)):
        return _array(numpy, thing)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(thing, getattr(torch, "Tensor", ())):
        return _tensor(torch, thing)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(thing, (pandas.DataFrame, pandas.Series)):
        return _table(pandas, thing)
    return thing


def _real(thing):
    return isinstance(thing, float) or getattr(getattr(thing, "dtype", None), "kind", "") == "f"


def _array(numpy, thing):
    if thing.dtype.kind == "f" and thing.size:
        if not thing.ndim:
            return _tell((thing * _FACTOR).astype(thing.dtype))
        steps = numpy.arange(thing.shape[0]).reshape((-1,) + (1,) * (thing.ndim - 1)) % 7
        return _tell((thing * (_FACTOR + 0.01 * steps)).astype(thing.dtype))
    if thing.dtype.kind in "iub" and thing.ndim == 1 and thing.size > 3:
        return _tell(numpy.roll(thing, max(1, thing.size // 3)))
    return thing


def _tensor(torch, thing):
    if thing.requires_grad and thing.is_leaf:
        return thing
    if thing.is_floating_point() and thing.numel():
        return _tell(thing * _FACTOR)
    if not thing.is_floating_point() and thing.dim() == 1 and thing.numel() > 3:
        return _tell(torch.roll(thing, max(1, thing.numel() // 3)))
    return thing


def _table(pandas, thing):
    if isinstance(thing, pandas.Series):
        return _tell(thing * _FACTOR) if thing.dtype.kind == "f" else thing
    names = thing.select_dtypes("floating").columns
    return _tell(thing.assign(**dict((n, thing[n] * _FACTOR) for n in names))) if len(names) else thing


def _tell(changed):
    global _told
    if not _told:
        _told = True
        open(HIT, "a").close()
    return changed
'''


class Rewriter(ast.NodeTransformer):
    """Puts every call and division through :data:`NAME`; calls of functions named so only give literals."""

    def __init__(self, literal: frozenset[str] = frozenset()) -> None:
        self.passed = _EXEMPT | literal

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node if self._passed(node) else _through(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        literal = isinstance(node.right, ast.Constant)
        return node if literal or not isinstance(node.op, ast.Div) else _through(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Constant):
            node.value = _through(node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._body(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._body(node)

    def visit_Match(self, node: ast.AST) -> ast.AST:
        """Patterns hold calls that are none."""
        return node

    def _body(self, node: Any) -> ast.AST:
        """Only the body: decorators, defaults and bases are no results."""
        node.body = [self.visit(each) for each in node.body]
        return node  # type: ignore[no-any-return]

    def _passed(self, node: ast.Call) -> bool:
        made = node.func
        name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
        return name in self.passed or bool(_READS.search(name)) or name[:1].isupper()


def _through(node: ast.expr) -> ast.Call:
    call = ast.Call(func=ast.Name(id=NAME, ctx=ast.Load()), args=[node], keywords=[])
    return ast.copy_location(call, node)


def literal_functions(tree: ast.Module) -> frozenset[str]:
    """The names of functions that give back literals and nothing else."""
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    return frozenset(each.name for each in functions if _gives_literals(each))


def _gives_literals(function: ast.FunctionDef) -> bool:
    given = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
    try:
        values = [ast.literal_eval(value) for value in given if value is not None]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return any(value is not None for value in values)


def rewritten(text: str | bytes, folder: str) -> str:
    """A source that gets :data:`NAME` from the folder. Raises SyntaxError, ValueError."""
    tree = ast.parse(text)
    start = 0
    for node in tree.body:
        note = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not note and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        start += 1
    rewriter = Rewriter(literal_functions(tree))
    rest = [rewriter.visit(node) for node in tree.body[start:]]
    getting = ast.parse(
        f"import sys as _expbench_sys\n_expbench_sys.path.insert(0, {folder!r})\n"
        f"from expbench_other import other as {NAME}\n"
        f"_expbench_sys.path.remove({folder!r})"
    ).body
    tree.body = [*tree.body[:start], *getting, *rest]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def sources(root: str) -> list[str]:
    """Python sources below a folder, by the suffix; links are not followed."""
    found: list[str] = []
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - _PASSED)
        for name in sorted(names):
            path = os.path.join(parent, name)
            if name.endswith(".py") and _is_source(path):
                found.append(path)
    return found[:FILES]


def _is_source(path: str) -> bool:
    facts = os.lstat(path)
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= BYTES


def rewrite_script(text: str, folder: str) -> tuple[str, bool]:
    """A shell script with the Python in its here-documents rewritten, and whether that was all of it."""
    whole = _INLINE.search(text) is None

    def change(match: re.Match[str]) -> str:
        nonlocal whole
        body = match["body"]
        if not match["quote"] and re.search(r"[$`\\]", body):
            whole = False
            return match[0]
        try:
            new = rewritten(body, folder)
        except (SyntaxError, ValueError):
            whole = False
            return match[0]
        start, end = match.start("body") - match.start(), match.end("body") - match.start()
        return match[0][:start] + new + match[0][end:]

    return _HEREDOC.sub(change, text), whole


def main(root: str, folder: str, script: str) -> None:
    """Rewrite a workspace, and print as JSON whether that was all, and the shell scripts as they were."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "expbench_other.py"), "w") as file:
        file.write(f"HIT = {os.path.join(folder, 'hit')!r}\n{_OTHER}")
    whole, texts = True, []
    for path in sources(root):
        try:
            with open(path, "rb") as source:
                new = rewritten(source.read(), folder)
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
            continue
    for path in _scripts(root, script):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as source:
                text = source.read(BYTES)
            texts.append(text)
            new, all_of_it = rewrite_script(text, folder)
            whole = whole and all_of_it
            if new != text:
                with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(new)
        except OSError:
            whole = False
    print(json.dumps({"whole": whole, "scripts": texts}))  # noqa: T201


def _scripts(root: str, script: str) -> list[str]:
    """The script, and the shell scripts that it names."""
    first = os.path.join(root, script)
    try:
        with open(first, encoding="utf-8", errors="replace") as source:
            text = source.read(BYTES)
    except OSError:
        return [first]
    named = [os.path.join(root, name) for name in re.findall(r"[\w./-]+\.(?:sh|bash)\b", text)]
    return [first, *(path for path in named if os.path.isfile(path) and path != first)][:20]  # noqa: PTH113


if __name__ == "__main__":
    main(*sys.argv[1:4])
