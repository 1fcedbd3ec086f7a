"""pip, asked to resolve requirements and to unpack wheels, and nothing else.

It runs on the host under the interpreter that the environment is for, in a virtual environment that
stays empty: what it unpacks lies elsewhere and is never on the path of a Python of the host, so that no
code of a package runs here, not even a ``.pth`` file's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from expbench.dataset.distributions import canonical
from expbench.environments.index import IndexAccess
from expbench.environments.interpreters import Interpreter
from expbench.environments.processes import run_bounded
from expbench.errors import InfrastructureError, PrerequisiteError
from expbench.sandboxes.environment import PythonEnvironment
from expbench.schema import Record

_RUNNER = "__pip-runner__.py"
_FETCHER = Path(__file__).with_name("source_archive.py")
_SECONDS = 3600.0
_UNREACHABLE = re.compile(
    r"connection broken by|Could not fetch URL|Failed to establish|Max retries exceeded"
)
_NONE_OF = re.compile(
    r"satisfies the requirement (.+?)(?: \(from (?!versions)[^)]*\))* \(from versions: (.*)\)"
)
_NEUTRAL = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_RETRIES": "3",
    "PIP_USER": "0",
    "PIP_TARGET": "",
    "PIP_ROOT": "",
    "PIP_CONSTRAINT": "",
}


class Locked(Record):
    """One installed distribution. ``sha256`` is its wheel's, where the index told it."""

    name: str
    version: str
    sha256: str = ""


@dataclass(frozen=True)
class Refused:
    """Why pip did not install: in a line, and the requirement that nothing fits, if that is why.

    ``offered`` are the versions that there are wheels of.
    """

    why: str
    missing: str = ""
    offered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pip:
    """pip for one interpreter.

    ``scratch`` is a private folder. What is put into its folder ``pool`` can be installed like what
    the indexes have. ``denied`` are distributions that are never installed.
    """

    interpreter: Interpreter
    index: IndexAccess
    scratch: Path
    denied: tuple[str, ...] = ()

    @property
    def pool(self) -> Path:
        """Wheels that were built here."""
        return self.scratch / "pool"

    @functools.cached_property
    def python(self) -> Path:
        """The empty virtual environment's interpreter."""
        folder = self.scratch / "empty"
        (folder / "bin").mkdir(parents=True)
        for name in ("pool", "tmp", "cwd"):
            (self.scratch / name).mkdir()
        config = f"home = {self.interpreter.path.parent}\ninclude-system-site-packages = false\n"
        (folder / "pyvenv.cfg").write_text(config)
        python = folder / "bin" / "python"
        python.symlink_to(self.interpreter.path)
        (self.scratch / "denied.txt").write_text("".join(f"{name}<0\n" for name in self.denied))
        return python

    @functools.cached_property
    def runner(self) -> Path:
        """pip's program for another environment than its own. Raises PrerequisiteError."""
        for folder in _pips(self.interpreter, self.scratch):
            runner = folder / _RUNNER
            if runner.is_file() and _works(self.interpreter.path, runner):
                return runner
        raise PrerequisiteError(
            f"pip is needed and does not run under {self.interpreter.path}: install a recent one "
            f"beside expbench ({sys.executable} -m ensurepip --upgrade, or `uv pip install pip`)."
        )

    def install(
        self, requirements: Sequence[str], prefix: Path, exact: bool = False
    ) -> tuple[Locked, ...] | Refused:
        """Resolve the requirements and unpack their wheels below ``prefix``.

        Args:
            exact: unpack these, and nothing that they need.

        Raises:
            PrerequisiteError: no index answers, or the disk is full.
            InfrastructureError: pip does not end.
        """
        alone = ["--no-deps"] if exact else []
        return self._install(requirements, [*alone, "--prefix", str(prefix)])

    def resolves(self, requirements: Sequence[str]) -> bool:
        """Whether there are wheels of these requirements that go together."""
        return not isinstance(self._install(requirements, ["--dry-run"]), Refused)

    def source(self, requirement: str, folder: Path) -> Path | str:
        """Download the best source archive of a requirement, or say why there is none."""
        argv = [str(_FETCHER), str(self.runner.parents[1]), requirement, str(folder)]
        done = self._run([*argv, *self.index.arguments])
        name = done.stdout.strip()
        if done.returncode == 0 and "/" not in name and (folder / name).is_file():
            return folder / name
        return _last_error(done.stderr) or "its source archive cannot be had"

    def compile(self, prefix: Path, mount: str = PythonEnvironment.mount) -> None:
        """Compile what was unpacked below ``prefix``, seen at ``mount`` inside; nothing of it is run.

        Sandboxes cannot keep what they compile themselves, for they see it read-only.
        """
        names = ["-s", str(prefix), "-p", mount]
        argv = [str(self.interpreter.path), "-I", "-S", "-m", "compileall", "-q", "-j", "2", *names]
        with contextlib.suppress(TimeoutError):
            run_bounded([*argv, str(prefix / "lib")], _NEUTRAL, self.scratch, _SECONDS)

    def _install(
        self, requirements: Sequence[str], options: Sequence[str]
    ) -> tuple[Locked, ...] | Refused:
        if not requirements:
            return ()
        report = self.scratch / "report.json"
        report.unlink(missing_ok=True)
        done = self._run(
            [
                *(str(self.runner), "install", "--quiet", "--only-binary", ":all:"),
                *("--report", str(report), "--no-warn-script-location", "--ignore-installed"),
                "--no-compile",
                *("--find-links", str(self.scratch / "pool")),
                *("--constraint", str(self.scratch / "denied.txt")),
                *(*self.index.arguments, *options, "--", *requirements),
            ]
        )
        if done.returncode == 0 and report.is_file():
            return _locked(json.loads(report.read_text("utf-8")))
        return _refused(done.stderr, self.interpreter)

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        python = self.python
        env = {**_NEUTRAL, **self.index.environment, "TMPDIR": str(self.scratch / "tmp")}
        try:
            return run_bounded([str(python), "-I", *arguments], env, self.scratch / "cwd", _SECONDS)
        except TimeoutError as error:
            raise InfrastructureError(f"pip did not end: {error}.") from None


def _pips(interpreter: Interpreter, scratch: Path) -> Iterator[Path]:
    """Folders of pip: beside this package, the interpreter's own, and that which Python brings along."""
    found = importlib.util.find_spec("pip")
    yield from (Path(place) for place in (found and found.submodule_search_locations) or ())
    library = Path(interpreter.prefix) / "lib"
    yield library / interpreter.name / "site-packages" / "pip"
    yield library / "python3" / "dist-packages" / "pip"
    bundled = library / interpreter.name / "ensurepip" / "_bundled"
    shared = Path(interpreter.prefix) / "share" / "python-wheels"
    for number, wheel in enumerate((*bundled.glob("pip-*.whl"), *shared.glob("pip-*.whl"))):
        with zipfile.ZipFile(wheel) as file:
            file.extractall(scratch / f"pip-{number}")
        yield scratch / f"pip-{number}" / "pip"


@functools.cache
def _works(interpreter: Path, runner: Path) -> bool:
    argv = [str(interpreter), "-I", "-S", str(runner), "--version"]
    try:
        return run_bounded(argv, _NEUTRAL, Path("/"), 60).returncode == 0
    except TimeoutError:
        return False


def _locked(report: dict[str, object]) -> tuple[Locked, ...]:
    found = []
    rows = report.get("install")
    for row in rows if isinstance(rows, list) else []:
        facts = row["metadata"]
        hashes = row["download_info"].get("archive_info", {}).get("hashes", {})
        found.append(
            Locked(
                name=canonical(facts["name"]),
                version=facts["version"],
                sha256=hashes.get("sha256", ""),
            )
        )
    return tuple(sorted(found, key=lambda each: each.name))


def _refused(stderr: str, interpreter: Interpreter) -> Refused:
    """What pip's error says. Raises PrerequisiteError for what no other choice of packages mends."""
    if "No space left on device" in stderr or "Disk quota exceeded" in stderr:
        raise PrerequisiteError(
            "The disk is full: free some space, for example with `expbench env gc`, then build again."
        )
    missing = _NONE_OF.search(stderr)
    if missing is None:
        return Refused(_last_error(stderr) or "pip does not say why")
    name, offered = missing[1].strip(), tuple(missing[2].split(", "))
    if offered == ("none",):
        if _UNREACHABLE.search(stderr):
            raise PrerequisiteError(
                "No package index answers: look at `pip config list` and your proxy, or give a folder "
                "of wheels with --wheels."
            )
        return Refused(f"there is no wheel of {name} for Python 3.{interpreter.minor}", name)
    span = offered[0] if len(offered) == 1 else f"{offered[0]} to {offered[-1]}"
    why = f"there is no wheel of {name} for Python 3.{interpreter.minor}, only of {span}"
    return Refused(why, name, offered)


def _last_error(stderr: str) -> str:
    """The first line that pip calls an error, without what would not fit a table."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    text = (errors or lines[-1:] or [""])[0]
    return text if len(text) <= 300 else f"{text[:299]}…"
