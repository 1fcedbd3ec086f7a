"""What of a recipe is to be installed here: the interpreter, the requirements, and what cannot be.

The repository itself is not installed: with its whole tree the environment would hold masked files, and
with a masked tree it would be another one for each task. Its folders are put on the path of the
sandbox's Python instead, as an editable installation would, and its own name is refused as a package,
also when another one requires it.
"""

from __future__ import annotations

import ast
import configparser
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from expbench.dataset.distributions import ACCELERATED, BRINGS, canonical
from expbench.dataset.recipe import Files, Problem, Recipe
from expbench.environments.index import IndexAccess
from expbench.environments.interpreters import Interpreter
from expbench.errors import PrerequisiteError
from expbench.sandboxes.environment import sandbox_uid
from expbench.sandboxes.mounts import WORKSPACE
from expbench.schema import Record, ResearchTask
from expbench.syntax import parse_python

INSTALLERS = ("pip", "setuptools<81", "wheel")
"""What an agent needs to build or install its repository; old code imports ``pkg_resources``."""

CONDA_ONLY = frozenset((
    "blas", "bzip2", "ca-certificates", "cairo", "cuda", "cuda-nvcc", "cuda-runtime",
    "cuda-toolkit", "cudatoolkit", "cudatoolkit-dev", "cudnn", "dbus", "expat", "ffmpeg",
    "fontconfig", "freetype", "gcc-linux-64", "giflib", "glib", "gmp", "gnutls",
    "gst-plugins-base", "gstreamer", "gxx-linux-64", "icu", "intel-openmp", "jpeg", "krb5",
    "lame", "lcms2", "lerc", "llvm-openmp", "mkl-service", "mpi", "mpich", "nccl", "ncurses",
    "nettle", "nspr", "nss", "openh264", "openjpeg", "openmpi", "openssl", "pcre", "pixman",
    "pytorch-cuda", "pytorch-mutex", "qt", "readline", "sqlite", "tk", "x264", "xz", "yaml",
    "zlib", "zstd",
))  # fmt: skip
"""Names that mean something in a conda environment only; an index may give them to anybody else."""

_FORMAT = 1
_MIB, _GIB = 1024**2, 1024**3
_USUAL = 60 * _MIB
_LARGE = {
    "torch": 5 * _GIB,
    "tensorflow": 2 * _GIB,
    "jaxlib": _GIB // 2,
    "paddlepaddle": _GIB,
    "mxnet": _GIB,
    "pyspark": _GIB // 2,
}
_NAMED = re.compile(r"([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(.*)", re.S)
_EXTRAS = re.compile(r"(\[[a-z0-9][\w.,-]*\])(.*)", re.S)
_VERSION = r"(?:===?|~=|!=|<=?|>=?)[\w.*+!-]+"
_SPECIFIER = re.compile(rf"{_VERSION}(?:,{_VERSION})*")


class EnvironmentPlan(Record):
    """An environment that is to be made. Two plans with the same ``digest`` make the same one.

    ``optional`` is for the agent's convenience and may be missing; ``paths`` are folders of the
    workspace on Python's path; ``denied`` are distributions that must not come in. ``cannot`` is what
    the recipe asks for and does not get, or not as it asks.
    """

    wanted: str
    python: Interpreter
    requirements: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    index: str = ""
    uid: int = 0
    cannot: tuple[Problem, ...] = ()

    @property
    def digest(self) -> str:
        """16 hex digits over all that shapes the environment."""
        text = self.model_dump_json(exclude={"wanted", "cannot"})
        return hashlib.sha256(f"{_FORMAT} {text}".encode()).hexdigest()[:16]

    @property
    def estimate(self) -> int:
        """Bytes of the disk that it takes while it is made, roughly."""
        names = {name_of(text) for text in self.requirements}
        while more := {each for name in names for each in BRINGS.get(name, ())} - names:
            names |= more
        return 2 * sum(_LARGE.get(name, _USUAL) for name in (*names, *self.optional))


def plan(
    recipe: Recipe,
    interpreters: Sequence[Interpreter],
    index: IndexAccess | None = None,
    own: Iterable[str] = (),
) -> EnvironmentPlan:
    """What is to be made of a recipe on this machine.

    Args:
        own: names of the repository's own distributions, which are not installed.

    Raises:
        PrerequisiteError: there is no interpreter.
    """
    python, nearest = _interpreter(recipe.python, interpreters)
    denied = tuple(sorted(own))
    cannot = [*nearest]
    requirements: dict[str, None] = {}
    for text in recipe.packages:
        taken, problem = _requirement(text, denied)
        cannot += problem
        requirements |= dict.fromkeys(taken)
    names = {name_of(text) for text in requirements}
    return EnvironmentPlan(
        wanted=recipe.python,
        python=python,
        requirements=tuple(requirements),
        optional=tuple(text for text in INSTALLERS if name_of(text) not in names),
        denied=denied,
        paths=_paths(recipe.files),
        index=(index or IndexAccess()).kind,
        uid=sandbox_uid(),
        cannot=(*cannot, *_system(recipe)),
    )


def own_names(task: ResearchTask, files: Files) -> frozenset[str]:
    """The names that a task's repository could have as a distribution: its own, and those it declares."""
    address = task.repository.url.rstrip("/").removesuffix(".git")
    found = {address.rpartition("/")[2].rpartition(":")[2]}
    for path in files.paths:
        if path.count("/") <= 1:
            found |= set(_declared_names(PurePosixPath(path).name, files, path))
    return frozenset(canonical(name) for name in found if _NAMED.fullmatch(name))


def name_of(requirement: str) -> str:
    """The normal form of a requirement's name; empty for what is none."""
    match = _NAMED.match(requirement)
    return canonical(re.split(r"[^\w.-]", match[1])[0]) if match else ""


def is_requirement(text: str) -> bool:
    """Whether a text names a distribution of an index, and neither an option nor an address."""
    return bool(_NAMED.fullmatch(text)) and not re.search(r"[@/\\\n\r]|://|\s-", text)


def _interpreter(
    wanted: str, interpreters: Sequence[Interpreter]
) -> tuple[Interpreter, list[Problem]]:
    """That version, else the nearest: a recipe names the newest that its pins have, so older is nearer."""
    if not interpreters:
        raise PrerequisiteError(
            "No Python interpreter from 3.9 on was found: install one, for example with "
            f"`uv python install {wanted}`."
        )
    minor = int(wanted.split(".")[1])
    best = min(interpreters, key=lambda each: (abs(each.minor - minor), each.minor > minor))
    if best.minor == minor:
        return best, []
    text = f"Python {wanted} is not on this machine: {best.version} stands in"
    mend = f"`uv python install {wanted}` brings it"
    return best, [Problem(kind="python", text=f"{text} ({mend})", place=str(best.path))]


def _requirement(text: str, denied: Sequence[str]) -> tuple[list[str], list[Problem]]:
    """What is installed for one package of a recipe, and what is to be said of it."""
    match = _NAMED.fullmatch(text)
    if match is None:
        return [], [Problem(kind="requirement", text=f"{text!r} names no package")]
    name, (extras, specifier) = canonical(match[1]), _split_extras(match[2].strip())
    if name in denied:
        return [], [
            Problem(kind="own", text=f"{text} is the repository's own: its tree is on the path")
        ]
    if name in ACCELERATED:
        return [], [Problem(kind="cuda", text=f"{text} needs a CUDA toolkit or device: left out")]
    if name in CONDA_ONLY:
        return [], [Problem(kind="conda", text=f"{text} is a conda package only: left out")]
    if specifier and not _SPECIFIER.fullmatch(specifier):
        said = f"{text} is not a version that an index knows: {name}{extras} without a version stands in"
        return [f"{name}{extras}"], [Problem(kind="requirement", text=said)]
    public = re.sub(r"\+[\w.]+", "", specifier)
    if public != specifier:
        cuda = re.search(r"\+cu(\d+)", specifier)
        build = f"a build for CUDA {cuda[1]}" if cuda else "a build that no index has"
        said = f"{text} is {build}: {name}{extras}{public} stands in"
        return [f"{name}{extras}{public}"], [Problem(kind="cuda" if cuda else "build", text=said)]
    return [f"{name}{extras}{specifier}"], []


def _split_extras(rest: str) -> tuple[str, str]:
    """What follows a name: its extras as ``[a,b]`` or nothing, and the version specifier."""
    match = _EXTRAS.match(rest)
    return (match[1], match[2].strip()) if match else ("", rest)


def _system(recipe: Recipe) -> Iterator[Problem]:
    if recipe.system:
        names = ", ".join(recipe.system)
        text = f"system packages are not installed, sandboxes have this machine's: {names}"
        yield Problem(kind="system", text=text)
    if recipe.base_image:
        yield Problem(kind="image", text=f"the image {recipe.base_image} is not used")
    for path in recipe.files:
        if re.search(r"environment[\w.-]*\.ya?ml$", path):
            text = (
                f"{path} is a conda environment: its packages are looked for on the package index"
            )
            yield Problem(kind="conda", text=text, place=path)


def _paths(files: Iterable[str]) -> tuple[str, ...]:
    """The folders that ``pip install -e`` would put on the path; one that is not there is no harm."""
    folders = dict.fromkeys(
        PurePosixPath(WORKSPACE) / PurePosixPath(path).parent
        for path in files
        if PurePosixPath(path).name in ("setup.py", "setup.cfg", "pyproject.toml")
    )
    return tuple(str(each) for folder in folders for each in (folder, folder / "src"))


def _declared_names(name: str, files: Files, path: str) -> Iterator[str]:
    """The distribution that one file declares, as far as it can be read without running it."""
    try:
        if name == "pyproject.toml":
            content = tomllib.loads(files.read(path))
            yield str(content.get("project", {}).get("name", ""))
            yield str(content.get("tool", {}).get("poetry", {}).get("name", ""))
        elif name == "setup.cfg":
            parser = configparser.ConfigParser(interpolation=None)
            parser.read_string(files.read(path))
            yield parser.get("metadata", "name", fallback="")
        elif name == "setup.py":
            for node in ast.walk(parse_python(files.read(path))):
                if isinstance(node, ast.keyword) and node.arg == "name":
                    value = node.value.value if isinstance(node.value, ast.Constant) else None
                    yield value if isinstance(value, str) else ""
    except (ValueError, SyntaxError, RecursionError, configparser.Error, AttributeError):
        return
