"""What a piece of Python would do, read from its syntax tree: never run, never imported.

:func:`read` gives the shell commands it would start, the addresses it would fetch, the paths it
would open or list, and whether it computes anything at all. Text that does not parse (Python 2, a
notebook's magics, a patch's hunk) falls back to the string literals of its lines, which is coarser
but hides nothing.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from expbench.monitor.programs import named

_SHELL_CALLS = re.compile(
    r"(?:^|\.)(?:system|popen|Popen|getoutput|getstatusoutput|check_output|check_call|"
    r"spawn[lv]p?e?|exec[lv]p?e?|create_subprocess_(?:shell|exec))$|^subprocess\.\w+$|"
    r"^(?:run|call|sh|pexpect\.(?:run|spawn)|get_ipython\.system)$"
)
_PATH_CALLS = re.compile(
    r"(?:^|\.)(?:open|Path|PurePath|glob|iglob|rglob|walk|listdir|scandir|read\w*|load\w*|copy\w*|"
    r"genfromtxt|PdfReader|PdfFileReader|extract_text|exists|isfile|ZipFile|copytree|rename|replace)$"
)
_FETCHERS = named(
    "requests httpx urllib urllib2 urllib3 aiohttp wget gdown selenium playwright mechanize "
    "scrapy feedparser curl_cffi pycurl http"
)
_IDLE_MODULES = named(
    "json sys os time pathlib datetime argparse csv textwrap pprint re io shutil string typing "
    "logging collections warnings random __future__ yaml tabulate rich glob"
)
_URL = re.compile(r"(?:https?|ftp|git|ssh)://[^\s'\"<>\\)\]}]{3,500}|git@[\w.-]+:[^\s'\"]{3,200}")
_QUOTED = re.compile(r"'([^'\n]{1,500})'|\"([^\"\n]{1,500})\"")
_FOREIGN_QUOTED = re.compile(_QUOTED.pattern + r"|`([^`\n]{1,500})`")
_FOREIGN_SHELL = re.compile(r"\s*(?:git|curl|wget|bash|sh|cat|find|grep)\s")
_LINE_SHELL = re.compile(r"(?:os\.(?:system|popen)|subprocess\.\w+|check_output|Popen)\s*\(")
_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult)


@dataclass(frozen=True)
class Snippet:
    """Facts of one piece of Python."""

    source: str
    parsed: bool = True
    shells: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    """Addresses in a piece that has a way to fetch them; otherwise none."""
    paths: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Its short string literals, at most 400."""
    modules: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    computes: bool = True


def urls(text: str) -> tuple[str, ...]:
    """The web and git addresses of a text, at most 200."""
    return tuple(m[0].rstrip(".,;") for _, m in zip(range(200), _URL.finditer(text), strict=False))


def tree_of(code: str) -> ast.Module | None:
    """The syntax tree, or ``None`` for what this Python cannot parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return None


def read(code: str) -> Snippet:
    """The facts of a piece of Python; notebook lines ``!command`` count as shell commands."""
    lines = code.splitlines()
    magics = tuple(s[1:].strip() for s in map(str.strip, lines) if s.startswith("!"))
    kept = "\n".join("" if s.lstrip().startswith(("!", "%")) else s for s in lines)
    tree = tree_of(kept)
    if tree is None:
        return _by_lines(code, magics)
    return _by_tree(code, tree, magics)


def foreign(code: str) -> Snippet:
    """The facts of a one-liner in another language, from its quoted texts alone."""
    quoted = [m[1] or m[2] or m[3] for m in _FOREIGN_QUOTED.finditer(code[:100_000])]
    shells = tuple(text for text in quoted if _FOREIGN_SHELL.match(text))
    fetches = re.search(r"fetch|http|LWP|open-uri|curl", code[:100_000], re.IGNORECASE)
    return Snippet(code, False, shells, urls(code) if fetches else (), tuple(quoted))


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of a name or attribute chain; calls inside the chain are skipped over."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            break
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _by_tree(code: str, tree: ast.Module, magics: tuple[str, ...]) -> Snippet:
    modules: set[str] = set()
    names: dict[str, ast.expr] = {}
    calls: list[ast.Call] = []
    texts: list[str] = []
    arithmetic = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node.value
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            arithmetic = arithmetic or isinstance(node.op, _ARITHMETIC)
    named = [(dotted(call.func), call) for call in calls]
    shells = [s for name, call in named if _SHELL_CALLS.search(name) for s in _shell(call, names)]
    paths = [s for n, call in named if _PATH_CALLS.search(n) for s in _strings(call, names)]
    fetches = bool(modules & _FETCHERS)
    return Snippet(
        source=code,
        shells=tuple(shells) + magics,
        urls=tuple(u for text in texts for u in urls(text)) if fetches else (),
        paths=tuple(paths),
        writes=tuple(s for n, call in named if _writes(n, call) for s in _strings(call, names)[:1]),
        texts=tuple(text for text in texts if len(text) <= 200)[:400],
        modules=frozenset(modules),
        calls=frozenset(name for name, _ in named),
        computes=arithmetic or bool(shells) or bool(modules - _IDLE_MODULES),
    )


def _by_lines(code: str, magics: tuple[str, ...]) -> Snippet:
    shells: list[str] = []
    paths: list[str] = []
    for line in code.splitlines():
        strings = [m[1] or m[2] for m in _QUOTED.finditer(line[:2000])]
        if _LINE_SHELL.search(line):
            shells.append(" ".join(strings))
        elif "open(" in line or "read" in line:
            paths.extend(strings)
    modules = frozenset(re.findall(r"^\s*(?:import|from)\s+(\w+)", code, re.MULTILINE))
    found = urls(code) if modules & _FETCHERS else ()
    return Snippet(code, False, (*shells, *magics), found, tuple(paths), modules=modules)


def _shell(call: ast.Call, names: dict[str, ast.expr]) -> Iterator[str]:
    for argument in call.args[:1]:
        value = names.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
        if isinstance(value, ast.List | ast.Tuple):
            yield shlex.join(_text(item, names) for item in value.elts)
        elif text := _text(value, names):
            tail = [
                _text(other, names) for other in call.args[1:] if isinstance(other, ast.Constant)
            ]
            yield " ".join([text, *tail])


def _strings(call: ast.Call, names: dict[str, ast.expr]) -> list[str]:
    """The texts among a call's arguments, and of the path that a method is called on."""
    found = [_text(argument, names) for argument in call.args]
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant):
        found.append(_text(call.func.value, names))
    return [text for text in found if text]


def _writes(name: str, call: ast.Call) -> bool:
    if name.rpartition(".")[2] in {"write_text", "write_bytes", "savefig", "to_csv", "to_json"}:
        return True
    modes = [a.value for a in call.args[1:2] if isinstance(a, ast.Constant)]
    return name == "open" and any(isinstance(m, str) and m[:1] in {"w", "a", "x"} for m in modes)


def _text(node: ast.expr, names: dict[str, ast.expr], depth: int = 4) -> str:
    """The text of a literal, an f-string, a sum of texts, or a name bound to one of these."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if depth == 0:
        return ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, names, depth - 1) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, names, depth - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        return _text(node.left, names, depth - 1) + _text(node.right, names, depth - 1)
    if isinstance(node, ast.Name) and node.id in names:
        return _text(names[node.id], names, depth - 1)
    if isinstance(node, ast.Call) and dotted(node.func).endswith("split"):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node
        parts = [_text(part, names, depth - 1) for part in (*node.args[:1], owner)]
        return max(parts, key=len)
    return ""
