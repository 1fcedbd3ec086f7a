"""Wheels of packages that have only a source archive, built in a sandbox.

A build script is a stranger's code: it runs in a sandbox without network, over a private folder, with the
declared build requirements as its Python's packages, which come as wheels only. The wheel that it leaves
is taken when it is a plain file and of the package that was asked for. Old scripts import what they do
not declare; what a failed build did not find is added, a few times.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import stat
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from expbench.dataset.distributions import canonical, distribution
from expbench.environments.installing import Pip, Refused
from expbench.environments.layout import assemble
from expbench.environments.plans import is_requirement, name_of
from expbench.errors import ExpbenchError
from expbench.sandboxes.host import SandboxHost, remove
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Limits, Policy

_OLD = "setuptools<81"
_LEGACY = (_OLD, "wheel")
_ROUNDS = 5
_TEXT_CAP = 1 << 20
_WHEEL_CAP = 4 * 1024**3
_WHEEL = re.compile(r"([\w.]+)-([\w.!+]+)(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl")
_NO_MODULE = re.compile(r"No module named '?([A-Za-z_]\w*)")
_ERROR = re.compile(r"^\s*((?:[\w.]*(?:Error|Exception|Exit)|error|fatal error)\b.*)$", re.M)
_MAKER = Path(__file__).with_name("wheel_maker.py")


@dataclass(frozen=True)
class BuildSystem:
    """How an archive says that it is built; old ones say nothing and have a ``setup.py``."""

    requires: tuple[str, ...] = _LEGACY
    backend: str = "setuptools.build_meta:__legacy__"
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """Why a build failed, and what may be added for another try."""

    why: str
    more: tuple[str, ...] = ()


@dataclass
class SourceBuilder:
    """Builds wheels into a pip's pool. ``minutes`` bound each step of a build."""

    pip: Pip
    host: SandboxHost
    listener: Callable[[str], None]
    minutes: float = 20.0
    _numbers: itertools.count[int] = field(default_factory=itertools.count, repr=False)

    def build(self, requirement: str) -> str:
        """Build a wheel of what fits a requirement; why not, or nothing when it is in the pool.

        Raises:
            PrerequisiteError: no index answers, or the disk is full.
        """
        folder = self._folder()
        archive = self.pip.source(requirement, folder)
        if isinstance(archive, str):
            return archive
        self.listener(f"{archive.name}: building a wheel in a sandbox")
        try:
            system = build_system(archive)
        except (OSError, ValueError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
            return f"{archive.name} cannot be read: {error}"
        wanted = list(system.requires)
        for _ in range(_ROUNDS):
            failed = self._round(archive, system, wanted, name_of(requirement))
            if failed is None:
                return ""
            new = [text for text in failed.more if text not in wanted]
            if not new:
                return f"{archive.name}: {failed.why}"
            wanted += new
        return f"{archive.name}: its build asks for more and more packages"

    def _folder(self) -> Path:
        folder = self.pip.scratch / f"build-{next(self._numbers)}"
        folder.mkdir(parents=True)
        return folder

    def _round(
        self, archive: Path, system: BuildSystem, wanted: list[str], name: str
    ) -> Failed | None:
        """One try with these build requirements."""
        if wrong := [text for text in wanted if not is_requirement(text)]:
            return Failed(f"its build requires {wrong[0]!r}, which no index has")
        prefix = self._folder() / "python"
        prefix.mkdir()
        installed = self.pip.install(wanted, prefix)
        if isinstance(installed, Refused) and _OLD in wanted:
            # The index may have newer ones only; most builds go on with these.
            newer = ["setuptools" if each == _OLD else each for each in wanted]
            installed = self.pip.install(newer, prefix)
        if isinstance(installed, Refused):
            return Failed(f"its build requires {', '.join(wanted)}: {installed.why}")
        python = assemble(prefix, self.pip.interpreter, self.pip.python)
        policy = Policy(limits=Limits(minutes=3 * self.minutes))
        workshop = SandboxHost(self.host.cache, self.host.hidden, policy=policy)
        place = workshop.folder()
        try:
            for part in ("out", "tmp"):
                (place / part).mkdir()
            for file in (archive, _MAKER):
                shutil.copyfile(file, place / file.name)
            with workshop.start(place, python=python) as session:
                failed = self._steps(session, archive.name, system, place, wanted)
            return failed or _take_wheel(place, name, self.pip.pool)
        except ExpbenchError as error:
            return Failed(str(error))
        finally:
            remove(place)

    def _steps(
        self, session: Session, archive: str, system: BuildSystem, place: Path, had: list[str]
    ) -> Failed | None:
        order = {
            "archive": f"{session.workspace}/{archive}",
            "out": f"{session.workspace}/out",
            "backend": system.backend,
            "backend_path": system.path,
        }
        for step in ("requires", "wheel"):
            text = json.dumps({**order, "step": step})
            done = session.run(
                ["python", f"{session.workspace}/{_MAKER.name}", text],
                env={"TMPDIR": f"{session.workspace}/tmp"},
                timeout=60 * self.minutes,
            )
            if done.exit_code != 0:
                return self._failed(done)
            more = [text for text in _asked(place) if text not in had] if step == "requires" else []
            if more:
                return Failed(f"its build asks for {', '.join(more)}", tuple(more))
        return None

    def _failed(self, done: Completed) -> Failed:
        if done.timed_out:
            return Failed(f"its build took longer than {self.minutes:g} minutes")
        output = (done.stdout + b"\n" + done.stderr).decode("utf-8", errors="replace")
        why = _last_error(output) or done.error or f"its build ended with {done.exit_code}"
        missing = _NO_MODULE.findall(output)
        return Failed(why, _bringing(missing[-1:]))


def build_system(archive: Path) -> BuildSystem:
    """What the archive's ``pyproject.toml`` says, read without unpacking anything.

    Raises:
        ValueError, OSError, TarError, BadZipFile, EOFError: it cannot be read.
    """
    content = tomllib.loads(_member(archive, "pyproject.toml")).get("build-system", {})
    requires = content.get("requires")
    if not isinstance(requires, list):
        return BuildSystem()
    return BuildSystem(
        tuple(map(str, requires)),
        str(content.get("build-backend", BuildSystem.backend)),
        tuple(map(str, content.get("backend-path", ()))),
    )


def _member(archive: Path, name: str) -> str:
    """A small text file of an archive's only top folder, empty when it has none."""
    inner = re.compile(rf"(?:\./)?[^/]+/{re.escape(name)}")
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            for entry in file.infolist():
                if inner.fullmatch(entry.filename):
                    with file.open(entry) as stream:
                        return stream.read(_TEXT_CAP).decode("utf-8")
        return ""
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and inner.fullmatch(member.name):
                inside = tar.extractfile(member)
                return inside.read(_TEXT_CAP).decode("utf-8") if inside else ""
    return ""


def _asked(place: Path) -> tuple[str, ...]:
    """What the build step ``requires`` wrote, as far as it is what it should be."""
    handle = _open(place / "out", "requires.json")
    if handle is None:
        return ()
    with os.fdopen(handle, "rb") as file:
        try:
            asked = json.loads(file.read(_TEXT_CAP))
        except ValueError:
            return ()
    if not isinstance(asked, list):
        return ()
    new = [text for text in asked if isinstance(text, str) and is_requirement(text)]
    return tuple(dict.fromkeys(new))


def _take_wheel(place: Path, name: str, pool: Path) -> Failed | None:
    """Copy the wheel that a build left, when it is a plain file and of the package ``name``."""
    out = place / "out"
    left = sorted(path.name for path in out.iterdir()) if _is_folder(out) else []
    for each in left:
        match = _WHEEL.fullmatch(each)
        if match and canonical(match[1]) == name:
            handle = _open(out, each)
            if handle is None:
                break
            with os.fdopen(handle, "rb") as source, (pool / each).open("wb") as target:
                shutil.copyfileobj(source, target)
            return None
    return Failed(f"its build left no wheel of {name}")


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _open(folder: Path, name: str) -> int | None:
    """A plain file of a folder that strangers wrote; links are not followed."""
    try:
        above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above)
    except OSError:
        return None
    finally:
        os.close(above)
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode) and status.st_size <= _WHEEL_CAP:
        return handle
    os.close(handle)
    return None


def _bringing(modules: Iterable[str]) -> tuple[str, ...]:
    found = (_OLD if m in ("distutils", "pkg_resources") else distribution(m) for m in modules)
    return tuple(filter(None, found))


def _last_error(output: str) -> str:
    found = _ERROR.findall(output) or [line for line in output.splitlines() if line.strip()]
    text = found[-1].strip() if found else ""
    return text if len(text) <= 300 else f"{text[:299]}…"
