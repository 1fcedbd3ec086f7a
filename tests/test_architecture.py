"""The shape of the code base: what may import what, how large a module grows, what no file may say.

Modules are parsed and never imported: a broken one is found by its own tests, not by these.
"""

from __future__ import annotations

import ast
import graphlib
import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "expbench"
MINI = PACKAGE / "dataset" / "mini"
SUBMISSIONS = PACKAGE / "execution_eval" / "data"

KERNEL, DOMAIN, ENGINE, EDGES = range(4)
LAYERS = {
    KERNEL: {
        "",
        "allocator",
        "durable",
        "schema",
        "syntax",
        "policy",
        "reruns",
        "verdicts",
        "errors",
        "measured",
        "paths",
        "redaction",
    },
    DOMAIN: {
        "activity",
        "contrast",
        "dataset",
        "workspace",
        "metrics",
        "statistics",
        "prompts",
        "failures",
        "packing",
        "published",
        "runs",
        "scores",
        "journal",
        "shelf",
        "ledger",
        "matrix",
        "status",
    },
    ENGINE: {
        "agents",
        "answers",
        "assess",
        "attempt",
        "comparing",
        "patience",
        "leaving",
        "heartbeat",
        "checkout",
        "crossing",
        "collecting",
        "books",
        "budgets",
        "doctor",
        "evaluation",
        "environments",
        "execution",
        "execution_eval",
        "failure_coding",
        "failure_eval",
        "forecast",
        "grounding",
        "judge_eval",
        "judges",
        "logs",
        "metering",
        "models",
        "monitor",
        "monitor_eval",
        "papers",
        "planning",
        "preflight",
        "prices",
        "reexecute",
        "rejudge",
        "replies",
        "reproduce",
        "probes",
        "programs",
        "runner",
        "sandboxes",
        "validity",
        "verify",
        "tasks",
        "tracer",
        "trajectory",
        "working",
    },
    EDGES: {
        "__main__",
        "_registry",
        "board",
        "bundle",
        "candidates",
        "cli",
        "failure_map",
        "report",
        "review",
        "construct",
        "scale",
        "export",
    },
}
"""Packages and root modules by layer; the empty name is the root package itself."""

LAYER_OF = {unit: layer for layer, units in LAYERS.items() for unit in units}
MAX_LINES = 400


@dataclass(frozen=True)
class Module:
    """One file of the package, seen by its syntax."""

    path: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """The dotted name below the root package: ``("judges", "model")``."""
        parts = self.path.relative_to(PACKAGE).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def unit(self) -> str:
        return self.parts[0] if self.parts else ""

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def imports(self) -> Iterator[str]:
        """Every absolute dotted name imported anywhere in the module, also inside functions."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield from (f"{base}.{alias.name}" for alias in node.names)

    def units(self) -> set[str]:
        """The units of the package that the module imports from, without its own."""
        found = set()
        for name in self.imports():
            top, *rest = name.split(".")
            if top == "expbench":
                found.add(rest[0] if rest and rest[0] in UNITS else "")
        return found - {self.unit}

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.parts if self.path.name == "__init__.py" else self.parts[:-1]
        above = package[: len(package) - node.level + 1]
        return ".".join(["expbench", *above, *([node.module] if node.module else [])])

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))


MODULES = [
    Module(path)
    for path in sorted(PACKAGE.rglob("*.py"))
    if not (path.is_relative_to(MINI) or path.is_relative_to(SUBMISSIONS))
]
UNITS = {module.unit for module in MODULES}


def repository_files() -> list[Path]:
    """What is or would be committed."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(
        [*command, "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def test_every_module_has_a_layer() -> None:
    assert {unit for unit in UNITS if unit not in LAYER_OF} == set()


def test_a_module_imports_only_from_its_own_layer_or_a_lower_one() -> None:
    """But for the root package, which hands on what people import from it, when it is called."""
    upward = {
        f"{module} imports {unit or 'expbench'}"
        for module in MODULES
        for unit in module.units()
        if module.unit and LAYER_OF.get(unit, EDGES) > LAYER_OF.get(module.unit, EDGES)
    }
    assert upward == set()


def test_kernel_and_domain_do_not_know_the_engine() -> None:
    wrong = {
        str(module)
        for module in MODULES
        if LAYER_OF.get(module.unit, EDGES) <= DOMAIN
        and any(name.split(".")[0] == "inspect_ai" for name in module.imports())
    }
    assert wrong == set()


def test_packages_of_a_layer_have_no_import_cycle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        layer = LAYER_OF.get(module.unit)
        graph[module.unit] |= {unit for unit in module.units() if LAYER_OF.get(unit) == layer}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_no_module_is_a_drawer_of_odds_and_ends() -> None:
    vague = {"util", "utils", "helper", "helpers"}
    assert {str(module) for module in MODULES if vague & set(module.parts)} == set()


def reads_environment(node: ast.AST) -> bool:
    names = {"environ", "environb", "getenv", "getenvb"}
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "os" and node.attr in names
    if isinstance(node, ast.ImportFrom):
        return node.module == "os" and any(alias.name in names for alias in node.names)
    return False


def test_only_edges_read_the_environment() -> None:
    """Nor does anybody else; folders ``inside`` hold programs of sandboxes, which have one of their own."""
    readers = {
        f"{module}:{getattr(node, 'lineno', 0)}"
        for module in MODULES
        if LAYER_OF.get(module.unit) != EDGES and "inside" not in module.parts
        for node in ast.walk(module.tree)
        if reads_environment(node)
    }
    assert readers == set()


def test_trees_are_made_where_threads_cannot_meet() -> None:
    """:mod:`expbench.syntax` says why; a program of a sandbox has one thread."""
    makers = {
        str(module)
        for module in MODULES
        if "inside" not in module.parts and re.search(r"ast\.(?:parse|literal_eval)\b", module.text)
    }
    assert makers == {"src/expbench/syntax.py", "src/expbench/execution/rewriting.py"}


def test_modules_stay_small() -> None:
    lines = {str(module): module.text.count("\n") for module in MODULES}
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def loaded_by(module: str) -> set[str]:
    """The names at the top of everything that is imported with a module."""
    script = (
        f"import json, sys; sys.path.insert(0, sys.argv[1]); import {module}; "
        "print(json.dumps(sorted(sys.modules)))"
    )
    command = [sys.executable, "-c", script, str(PACKAGE.parent)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert "expbench" in loaded
    return loaded


def test_the_command_line_starts_without_heavy_imports() -> None:
    assert loaded_by("expbench.cli.main") & {"inspect_ai", "scipy", "numpy", "pydantic"} == set()


@pytest.mark.parametrize("module", ["run_reports", "boarding", "comparing_work"])
def test_who_only_looks_at_runs_does_not_wait_for_what_makes_them(module: str) -> None:
    assert "inspect_ai" not in loaded_by(f"expbench.cli.{module}")


# Written in parts, so that this file does not itself hold what it looks for.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
        ("conda", "anaconda", "org"),
    )
]
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|root|Users|home/(?!agent\b)\w+)/")


def lines_matching(pattern: re.Pattern[str]) -> set[str]:
    found = set()
    for path in repository_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if match := pattern.search(line):
                found.add(f"{path.relative_to(ROOT)}:{number}: {match.group()}")
    return found


def test_no_file_holds_a_path_of_a_developers_machine() -> None:
    assert MACHINE_PATH.search("".join(["cd /wo", "rk/x"]))
    assert not MACHINE_PATH.search("/workspace/run.py")
    assert lines_matching(MACHINE_PATH) == set()


def test_no_file_names_the_host_of_a_package_registry() -> None:
    assert lines_matching(re.compile("|".join(map(re.escape, REGISTRY_HOSTS)))) == set()


def locked_packages() -> dict[str, int]:
    """Every locked package with the number of its hashes."""
    found: dict[str, int] = {}
    name = ""
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if match := re.match(r"([a-z0-9-]+)==", line):
            name = match.group(1)
            found.setdefault(name, 0)
        elif re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line):
            found[name] += 1
        else:
            pytest.fail(f"requirements.lock holds something else than packages and hashes: {line}")
    return found


def test_the_lock_holds_every_declared_dependency_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["bwrap"],
        *project["dependency-groups"]["dev"],
        *project["dependency-groups"]["build"],
    ]
    names = {re.split(r"[^A-Za-z0-9-]", text)[0].lower() for text in declared}
    locked = locked_packages()
    assert names - locked.keys() == set()
    assert {name for name, hashes in locked.items() if not hashes} == set()
