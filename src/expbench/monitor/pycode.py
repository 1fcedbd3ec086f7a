"""What a piece of Python would do, read from its syntax tree: never run, never imported.

:func:`read` gives the shell commands it would start, the addresses it would fetch, the paths it
would open or list, the files it would write, and whether it computes anything at all. Names are followed
through imports, and texts through what :mod:`constants` can work out. Text that does not parse (Python 2, a
notebook's magics, a patch's hunk) falls back to the string literals of its lines, which is coarser
but hides nothing.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from functools import lru_cache

from expbench.monitor.chains import constant_text, dotted, imported, resolved
from expbench.monitor.constants import Known, assigned, fold, grown, walk
from expbench.monitor.known import known_names
from expbench.monitor.programs import named
from expbench.monitor.pure import UnknownError
from expbench.monitor.texts import in_loops, program_of, shell_of, strings_of, text_of
from expbench.syntax import parse_python

_SHELL_CALLS = re.compile(
    r"(?:^|\.)(?:system|popen|Popen|getoutput|getstatusoutput|check_output|check_call|"
    r"spawn[lv]p?e?|exec[lv]p?e?|create_subprocess_(?:shell|exec))$|^subprocess\.\w+$|^pty\.spawn$|\.git\.execute$|"
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
_FOREIGN_PROGRAMS = frozenset({"git", "curl", "wget", "bash", "sh", "find", "grep", "cat"})
_LINE_SHELL = re.compile(r"(?:os\.(?:system|popen)|subprocess\.\w+|check_output|Popen)\s*\(")
_RUNS_CODE = re.compile(r"^(?:exec|eval|compile|builtins\.(?:exec|eval|compile))$|run_cell$")
_READS_ENVIRONMENT = re.compile(r"(?:^|\.)(?:getenv|environ\.get|environ\.setdefault)$")
_LATE_IMPORT = re.compile(r"^__import__$|(?:^|\.)import_module$")
_MOST_FOLDS = 400
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
    nested: tuple[str, ...] = ()
    """Python that it runs from a text."""
    files: dict[str, str] = field(default_factory=dict)
    """Texts that it writes as they stand, by path."""
    environ: tuple[str, ...] = ()
    """Environment variables that it reads, by name."""


def urls(text: str) -> tuple[str, ...]:
    """The web and git addresses of a text, at most 200."""
    return tuple(m[0].rstrip(".,;") for _, m in zip(range(200), _URL.finditer(text), strict=False))


@lru_cache(maxsize=64)
def tree_of(code: str) -> ast.Module | None:
    """The syntax tree, or ``None`` for what this Python cannot parse."""
    try:
        return parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return None


@lru_cache(maxsize=64)
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
    apart = (at for at, text in enumerate(quoted) if text in _FOREIGN_PROGRAMS)
    shells += tuple(" ".join(quoted[at : at + 8]) for at in apart)
    fetches = re.search(r"fetch|http|LWP|open-uri|curl", code[:100_000], re.IGNORECASE)
    return Snippet(
        code, False, shells, urls(code) if fetches else (), tuple(quoted), texts=tuple(quoted)
    )


def _by_tree(code: str, tree: ast.Module, magics: tuple[str, ...]) -> Snippet:
    modules: set[str] = set()
    names: dict[str, ast.expr] = {}
    calls: list[ast.Call] = []
    texts: list[str] = []
    composed: list[ast.expr] = []
    arithmetic = False
    for node in walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Assign):
            names |= {name.id: value for name, value in assigned(node)}
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            arithmetic = arithmetic or isinstance(node.op, _ARITHMETIC)
        if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Call):
            composed.append(node)
    names |= grown(tree, anywhere=True)
    imports = imported(tree)
    known = [(resolved(dotted(call.func), imports), call) for call in calls]
    modules |= {n.partition(".")[0] for n, _ in known if n.partition(".")[0] in imports.values()}
    modules |= _late_imports(calls)
    texts += [t for node in composed[:_MOST_FOLDS] if (t := text_of(node, names))]
    values = known_names(tree, list(walk(tree)), {})
    texts += [t for n in composed[:_MOST_FOLDS] for t in in_loops(n, values)]
    shells = _shells(known, names, values)
    paths = [
        s for n, call in known if _PATH_CALLS.search(n) for s in strings_of(call, names, values)
    ]
    paths += [t for n in composed[:_MOST_FOLDS] if _is_path(n) and (t := text_of(n, names))]
    fetches = bool(modules & _FETCHERS)
    return Snippet(
        source=code,
        shells=tuple(shells) + magics,
        urls=tuple(dict.fromkeys(u for t in texts for u in urls(t))) if fetches else (),
        paths=tuple(dict.fromkeys(paths)),
        writes=tuple(
            s for n, call in known if _writes(n, call) for s in strings_of(call, names)[:1]
        ),
        texts=tuple(dict.fromkeys(text for text in texts if len(text) <= 200))[:600],
        modules=frozenset(modules),
        calls=frozenset(name for name, _ in known),
        computes=arithmetic or bool(shells) or _uses(modules, [name for name, _ in known]),
        nested=tuple(t for n, c in known if _RUNS_CODE.search(n) for t in _code_text(c, names)),
        files=_written(tree, names, imports),
        environ=_environment(tree, known),
    )


def _shells(
    calls: list[tuple[str, ast.Call]], names: dict[str, ast.expr], values: Known
) -> list[str]:
    """The shell texts that calls start."""
    found = [
        text
        for name, call in calls
        if _SHELL_CALLS.search(name)
        for text in shell_of(call, names, values)
    ]
    return found + [text for name, call in calls if (text := program_of(call, name, names))]


_TABLES = named("numpy pandas polars np pd pl")
_SHOWS_TABLES = re.compile(
    r"(?:^|\.)(?:print|open|read\w*|load\w*|genfromtxt|to_(?:string|markdown|csv|dict)|head|items|keys|values|"
    r"sleep|join|format|split\w*|strip|Path|round|str|float|int|len|sorted|enumerate|zip|get|write\w*|"
    r"exists|seed|flush|tolist|set_option|set_printoptions|iterrows|itertuples|rows|dumps?|close)$"
)


def _uses(modules: set[str], calls: list[str]) -> bool:
    """Whether a program uses what could compute: more of a library of tables than to show one."""
    if modules - _IDLE_MODULES - _TABLES:
        return True
    return bool(modules & _TABLES) and not all(map(_SHOWS_TABLES.search, calls))


def _late_imports(calls: list[ast.Call]) -> set[str]:
    """Modules that are imported by a call with their name."""
    found = {
        constant_text(call.args[0]).partition(".")[0]
        for call in calls
        if call.args and _LATE_IMPORT.search(dotted(call.func))
    }
    return found - {""}


def _is_path(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _code_text(call: ast.Call, names: dict[str, ast.expr]) -> list[str]:
    text = text_of(call.args[0], names) if call.args else ""
    return [text] if len(text) > 3 else []


def _environment(tree: ast.AST, calls: list[tuple[str, ast.Call]]) -> tuple[str, ...]:
    """The names of environment variables that are read."""
    found = [
        constant_text(call.args[0])
        for name, call in calls
        if call.args and _READS_ENVIRONMENT.search(name)
    ]
    for node in walk(tree):
        if isinstance(node, ast.Subscript) and dotted(node.value).endswith("environ"):
            if isinstance(node.ctx, ast.Load):
                found.append(constant_text(node.slice))
        elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
            owner = node.comparators[0]
            if dotted(owner).endswith("environ") and isinstance(node.ops[0], ast.In | ast.NotIn):
                found.append(constant_text(node.left))
    return tuple(name for name in dict.fromkeys(found) if name)


def _written(tree: ast.AST, names: dict[str, ast.expr], imports: dict[str, str]) -> dict[str, str]:
    """Files that are filled with constant texts or objects."""
    found: dict[str, str] = {}
    handles: dict[str, str] = {}

    def target(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return handles.get(node.id, "")
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "open":
            mode = constant_text(node.args[1]) if len(node.args) > 1 else ""
            return text_of(node.args[0], names) if mode[:1] in {"w", "a", "x"} else ""
        return ""

    for node in walk(tree):
        if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            handles[node.optional_vars.id] = target(node.context_expr)
        elif isinstance(node, ast.Assign):
            owner = node.targets[0]
            if isinstance(node.value, ast.Call) and isinstance(owner, ast.Name):
                handles[owner.id] = target(node.value)
    for node in walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name, path = resolved(dotted(node.func), imports), ""
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"write_text", "write"}:
            path = target(node.func.value)
            if node.func.attr == "write_text":
                path = text_of(node.func.value, names)
        elif name in {"json.dump", "yaml.dump"} and len(node.args) > 1:
            path = target(node.args[1])
        text = _dumped(node.args[0], names) if path else ""
        if text:
            found[path] = (found.get(path, "") + text)[:100_000]
    return found


def _dumped(node: ast.expr, names: dict[str, ast.expr]) -> str:
    try:
        value = fold(node, names)
        return value if isinstance(value, str) else json.dumps(value)
    except (UnknownError, TypeError, ValueError):
        return ""


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


def _writes(name: str, call: ast.Call) -> bool:
    if name.rpartition(".")[2] in {"write_text", "write_bytes", "savefig", "to_csv", "to_json"}:
        return True
    modes = [a.value for a in call.args[1:2] if isinstance(a, ast.Constant)]
    return name == "open" and any(isinstance(m, str) and m[:1] in {"w", "a", "x"} for m in modes)
