"""How to make the environment of a task, derived from the repository's own files at the pinned commit.

The files that declare an environment nearest to the task's code win: those in its folders and above them.
Nothing of the repository is run. What the files cannot tell is checked statically and said: an import
that no declared package brings, exact versions that exclude each other, a Python that the pinned
packages do not have, and packages that need CUDA.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Protocol

from expbench.dataset.declared import Declared, Package, declares, read_declared
from expbench.dataset.distributions import (
    ACCELERATED,
    BRINGS,
    canonical,
    distribution,
    numbers,
    python_ceiling,
)
from expbench.dataset.resources import EnvironmentFacts
from expbench.schema import Record, ResearchTask
from expbench.syntax import parse_python

PYTHONS = (12, 11, 10, 9, 8, 7)
"""Minor versions of Python 3 that are tried, the newest first."""
_CUDA_WHEEL = re.compile(r"\+cu(\d+)")


class Files(Protocol):
    """A repository's files at one commit."""

    @property
    def paths(self) -> frozenset[str]: ...

    def read(self, path: str) -> str:
        """A file's text; empty for one that is not at hand."""


class Problem(Record):
    """Something that stands in the way of the environment, and where it shows."""

    kind: str
    text: str
    place: str = ""


class Recipe(Record):
    """An environment. ``install`` are shell commands, to be run in the repository's root."""

    python: str
    python_from: str = ""
    packages: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    base_image: str = ""
    install: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def facts(self) -> EnvironmentFacts:
        """The recipe in short."""
        return EnvironmentFacts(
            python=self.python,
            packages=len(self.packages),
            system=self.system,
            install=self.install,
            files=self.files,
            problems=tuple(problem.text for problem in self.problems),
        )


def recipe(files: Files, task: ResearchTask) -> Recipe:
    """The environment of one task."""
    code = cited_code(files, task)
    chosen = _declaring(files.paths, code)
    declared = Declared()
    for path in chosen:
        read_declared(path, files.read(path), declared)
    packages = list({str(each): each for each in declared.packages}.values())
    imported = dict(_imports(files, code))
    guessed = [] if packages else sorted({distribution(module) for module in imported} - {""})
    python, origin, clash = _python(declared.python, packages)
    problems = [
        *clash,
        *_unread(declared),
        *_conflicts(packages),
        *(_unbrought(imported, packages) if packages else _undeclared(imported)),
        *_cuda(packages, imported),
    ]
    return Recipe(
        python=f"3.{python}",
        python_from=origin,
        packages=tuple(dict.fromkeys(map(str, packages))) or tuple(guessed),
        system=tuple(sorted(set(declared.system))),
        base_image=declared.base_image,
        install=_install(f"3.{python}", chosen, guessed, declared.system),
        files=chosen,
        problems=tuple(problems),
    )


def cited_code(files: Files, task: ResearchTask) -> tuple[str, ...]:
    """The files that a task's ground truth names and the repository has, in order."""
    reference = task.reference
    named = [*reference.source, *task.mask]
    named += [c.path for step in reference.requirements for c in step.citations]
    return tuple(path for path in dict.fromkeys(named) if path in files.paths)


def _declaring(paths: frozenset[str], code: Sequence[str]) -> tuple[str, ...]:
    """Declaring files of the folders above the code, the root's when there is no code."""
    folders = {"."} | {str(parent) for path in code for parent in PurePosixPath(path).parents}
    found = [p for p in paths if declares(p) and str(PurePosixPath(p).parent) in folders]
    main = [
        p for p in found if not re.search(r"docs?[-_./]|[-_](?:ci|dev|docs?|tts|test\w*)\b|lint", p)
    ]
    return tuple(sorted(main, key=lambda path: (path.count("/"), path)))


def _imports(files: Files, code: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(top-level module, ``file:line``) of third-party imports in the named code."""
    own = {part.removesuffix(".py") for path in files.paths for part in PurePosixPath(path).parts}
    for path in code:
        for tree in _trees(path, files.read(path)):
            for node in ast.walk(tree):
                for module in _modules(node):
                    if module not in sys.stdlib_module_names and module not in own:
                        yield module, f"{path}:{getattr(node, 'lineno', 1)}"


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module.partition(".")[0]


def _trees(path: str, text: str) -> Iterator[ast.Module]:
    cells = [text] if path.endswith(".py") else []
    if path.endswith(".ipynb"):
        cells = list(_cells(text))
    for cell in cells:
        try:
            yield parse_python(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def _cells(text: str) -> Iterator[str]:
    try:
        cells = json.loads(text).get("cells", ())
        for cell in cells:
            if cell.get("cell_type") == "code":
                source = "".join(cell.get("source", ()))
                yield re.sub(r"^\s*[!%].*$", "", source, flags=re.M)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return


def _python(
    wanted: Sequence[tuple[str, str]], packages: Sequence[Package]
) -> tuple[int, str, list[Problem]]:
    """(minor version, where it comes from, problems): the newest that all files and pins accept."""
    fits = [minor for minor in PYTHONS if all(accepts(text, minor) for text, _ in wanted)]
    problems = []
    if not fits:
        texts = ", ".join(f"{text} ({path})" for text, path in wanted)
        problems.append(Problem(kind="python", text=f"no Python 3 fits {texts}"))
        fits = list(PYTHONS)
    ceilings = [(python_ceiling(p.name, p.pinned), p) for p in packages if p.pinned]
    limit, package = min(
        ((minor, each) for minor, each in ceilings if minor is not None),
        key=lambda pair: pair[0],
        default=(PYTHONS[1], None),
    )
    origin = f"{package} in {package.file}" if package else ""
    below = [minor for minor in fits if minor <= limit]
    if not below and package:
        text = f"{package} has no wheel for Python 3.{fits[-1]}, which the repository asks for"
        problems.append(Problem(kind="python", text=text, place=package.file))
    declared = ", ".join(dict.fromkeys(f"{text} in {path}" for text, path in wanted))
    return (below or fits[-1:])[0], declared or origin, problems


def accepts(specifier: str, minor: int) -> bool:
    """Whether Python 3.``minor`` satisfies a specifier such as ``>=3.8,<3.12`` or ``==3.9.*``."""
    for part in specifier.split(","):
        match = re.match(r"\s*(~=|[<>=!]=?|===)?\s*v?(\d+(?:\.\d+)*)", part)
        if not match:
            continue
        operator, bound = match[1] or "==", numbers(match[2])
        two, here = bound[:2], (3, minor)
        # A bound on a patch release (<=3.10.4) is met by some release of that minor version.
        patch = len(bound) > 2
        holds = {
            ">=": here >= two,
            ">": here > two or (patch and here == two),
            "<": here < two or (patch and bound[2] > 0 and here == two),
            "<=": here <= two,
            "!=": here != two or patch,
            "~=": here >= two and (len(bound) < 3 or here == two),
        }.get(operator, here[: len(two)] == two)
        if not holds:
            return False
    return True


def _conflicts(packages: Iterable[Package]) -> Iterator[Problem]:
    pins: dict[str, dict[tuple[int, ...], Package]] = {}
    for package in packages:
        if package.pinned:
            pins.setdefault(package.name, {}).setdefault(numbers(package.pinned), package)
    for name, versions in pins.items():
        if len(versions) > 1:
            listed = ", ".join(f"{p.pinned} in {p.file}" for p in versions.values())
            yield Problem(kind="conflict", text=f"{name} is pinned twice: {listed}")


def _unbrought(imported: dict[str, str], packages: Iterable[Package]) -> Iterator[Problem]:
    names = {package.name for package in packages} | {"setuptools"}
    while more := {each for name in names for each in BRINGS.get(name, ())} - names:
        names |= more
    if "opencv-python-headless" in names or "opencv-contrib-python" in names:
        names.add("opencv-python")
    for module, place in sorted(imported.items()):
        if distribution(module) not in names and canonical(module) not in names:
            source = distribution(module) or "no index has it"
            yield Problem(kind="import", text=f"{module} is not declared ({source})", place=place)


def _undeclared(imported: dict[str, str]) -> Iterator[Problem]:
    yield Problem(kind="undeclared", text="the repository declares no packages: taken from imports")
    for module, place in sorted(imported.items()):
        if not distribution(module):
            yield Problem(kind="import", text=f"no index has {module}", place=place)


def _unread(declared: Declared) -> Iterator[Problem]:
    for path in declared.unread:
        yield Problem(kind="unread", text=f"{path} does not parse", place=path)


def _cuda(packages: Iterable[Package], imported: dict[str, str]) -> Iterator[Problem]:
    for package in packages:
        if match := _CUDA_WHEEL.search(package.specifier):
            yield Problem(kind="cuda", text=f"{package} is for CUDA {match[1]}", place=package.file)
        elif package.name in ACCELERATED:
            yield Problem(kind="cuda", text=f"{package.name} needs CUDA", place=package.file)
    for module, place in sorted(imported.items()):
        if canonical(module) in ACCELERATED:
            yield Problem(kind="cuda", text=f"{module} needs CUDA", place=place)


def _install(
    python: str, files: Sequence[str], guessed: Sequence[str], system: Sequence[str]
) -> tuple[str, ...]:
    commands = [f"apt-get install -y {' '.join(sorted(set(system)))}"] if system else []
    commands.append(f"python{python} -m venv .venv && . .venv/bin/activate")
    if guessed:
        commands.append(f"pip install {' '.join(guessed)}")
    for path in files:
        folder = str(PurePosixPath(path).parent)
        if path.endswith(".txt"):
            commands.append(f"pip install -r {path}")
        elif re.search(r"environment[^/]*\.ya?ml$", path):
            commands.append(f"conda env create -f {path}")
        elif path.endswith(("setup.py", "pyproject.toml")):
            commands.append(f"pip install -e {folder}")
    return tuple(dict.fromkeys(commands))
