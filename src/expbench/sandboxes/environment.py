"""The Python that a sandbox offers: an interpreter with a few packages, and nothing of ours.

The harness's own site-packages hold this package and with it the ground truth of suite ``mini``; they
are never mounted. Instead the named distributions and what they need are copied once into a
small virtual environment in the user's cache, which every sandbox sees read-only.
"""

from __future__ import annotations

import functools
import hashlib
import os
import py_compile
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from expbench.errors import PrerequisiteError
from expbench.workspace.repository.making import once_folder

DEFAULT_PACKAGES = ("numpy",)
"""What the mini suite's repositories import."""

INSTALLERS = ("pip",)
"""What a sandbox with package indexes has besides."""

MOUNT = "/opt/expbench/python"
"""Where a sandbox sees its Python environment."""

TOOLS = "/opt/expbench/bin"
"""Where an agent's sandbox sees programs of ours, last on its ``PATH``; no other sandbox has them."""

PROGRAM = "/opt/expbench/agent"
"""Where an agent's own program is seen by its sandbox; its ``bin`` is the last of ``PATH`` there."""

SANDBOX_UID = 64001
"""The uid of sandboxed processes when the harness runs as root."""

FIXED = {
    "USER": "agent",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TMPDIR": "/tmp",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
"""Variables of every command in every sandbox, the same on all machines."""

TRACED = "EXPBENCH_TRACE"
"""The variable that names a folder with a module ``expbench_hook``, where a run is looked at."""

START_NAME = "expbench-trace.pth"
START = (
    f"import os; os.environ.get('{TRACED}') and exec(\"import sys\\ntry:\\n"
    f" sys.path.insert(0, os.environ['{TRACED}'])\\n import expbench_hook\\n"
    'except Exception: pass\\nfinally: sys.path_importer_cache.pop(sys.path.pop(0), None)")\n'
)
"""A line that every Python runs at its start: it does nothing where that variable is not set."""

SUPERVISOR = Path(__file__).with_name("supervisor.py")
_COMPILED = "supervisor.pyc"
_FORMAT = 4
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class PythonEnvironment:
    """A folder to be seen at ``mount`` in the sandbox, and the base interpreter's prefix."""

    folder: Path
    base_prefix: Path
    mount: str = MOUNT
    packages: tuple[Path, ...] = ()
    """Further folders of packages (``pip install --target``), read-only in the sandbox."""
    version: str = _VERSION
    """The interpreter's name, ``python3.11``."""

    @property
    def interpreter(self) -> Path:
        """The base interpreter, the same path on the host and in the sandbox."""
        return self.base_prefix / "bin" / self.version

    @property
    def supervisor(self) -> Path:
        """The program that is the sandbox's first process: compiled, where that was done for this Python."""
        compiled = self.folder / _COMPILED
        return compiled if compiled.exists() else SUPERVISOR

    @property
    def python_path(self) -> str:
        """``PYTHONPATH`` in the sandbox, for ``packages``."""
        return ":".join(package_mount(number) for number in range(len(self.packages)))

    @property
    def bin(self) -> str:
        return f"{self.mount}/bin"

    def variables(self, home: str) -> dict[str, str]:
        """The environment of every command in a sandbox with this Python."""
        packages = {"PYTHONPATH": self.python_path} if self.packages else {}
        return {
            **packages,
            **FIXED,
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin:{TOOLS}",
            "HOME": home,
            "VIRTUAL_ENV": self.mount,
        }


def package_mount(number: int) -> str:
    """Where the sandbox sees a folder of ``PythonEnvironment.packages``."""
    return f"/opt/expbench/packages-{number}"


def python_environment(
    cache: Path, packages: Sequence[str] = DEFAULT_PACKAGES
) -> PythonEnvironment:
    """The environment with these packages, made on first use (atomic, safe to race).

    Raises:
        PrerequisiteError: a package is not installed beside this one.
    """
    distributions = _closure(tuple(packages))
    key = hashlib.sha256(
        repr(
            [
                _FORMAT,
                START,
                SUPERVISOR.read_bytes(),
                sys.version,
                sys.base_prefix,
                sandbox_uid(),
                *((d.name, d.version) for d in distributions),
            ]
        ).encode()
    ).hexdigest()[:16]

    def build(folder: Path) -> None:
        _build(folder, distributions)
        own(folder)

    final = once_folder(cache / key, build)
    return PythonEnvironment(final, Path(sys.base_prefix).resolve())


def sandbox_uid() -> int:
    """The uid of sandboxed processes: the user's own, or a fixed ordinary one for root."""
    return os.geteuid() or SANDBOX_UID


def own(folder: Path) -> None:
    """Give a tree to the sandboxes' user, whose writable layer over it takes the owners from below."""
    if os.geteuid() != 0:
        return
    for parent, _, names in os.walk(folder):
        os.chown(parent, SANDBOX_UID, SANDBOX_UID)
        for name in names:
            os.lchown(os.path.join(parent, name), SANDBOX_UID, SANDBOX_UID)


def rootfs_environment(cache: Path, rootfs: Path) -> PythonEnvironment:
    """The Python of a root file system's own ``/usr/bin``, with nothing added.

    Raises:
        PrerequisiteError: the folder holds no Python 3.
    """
    found = {path.name for path in (rootfs / "usr" / "bin").glob("python3.*[0-9]")}
    names = sorted(found, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    if not names:
        raise PrerequisiteError(
            f"{rootfs} has no /usr/bin/python3.N: give a root file system with Python 3 to --rootfs."
        )
    facts = ("rootfs", _FORMAT, START, names[-1], sandbox_uid())
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    base = Path("/usr")

    def build(folder: Path) -> None:
        build_frame(folder, base / "bin" / names[-1])
        packages = folder / "lib" / names[-1] / "site-packages"
        packages.mkdir(parents=True)
        (packages / START_NAME).write_text(START)
        own(folder)

    return PythonEnvironment(once_folder(cache / key, build), base, version=names[-1])


@functools.cache
def _closure(packages: tuple[str, ...]) -> list[metadata.Distribution]:
    """The installed distributions of these packages and of all that they require, by name."""
    found: dict[str, metadata.Distribution] = {}
    pending = list(packages)
    while pending:
        name = pending.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if name in packages:
                raise PrerequisiteError(
                    f"The sandbox needs {name}: install it beside expbench (pip install {name})."
                ) from None
            continue
        key = distribution.name.lower()
        if key not in found:
            found[key] = distribution
            needs = [text for text in distribution.requires or () if "extra" not in text]
            pending += [match.group() for text in needs if (match := _NAME.match(text))]
    return [found[name] for name in sorted(found)]


def build_frame(folder: Path, interpreter: Path) -> None:
    """A virtual environment's frame for an interpreter, and the files of ``/etc`` that name the user."""
    folder.chmod(0o755)
    (folder / "bin").mkdir()
    for name in ("python", "python3", interpreter.name):
        (folder / "bin" / name).symlink_to(interpreter)
    (folder / "pyvenv.cfg").write_text(
        f"home = {interpreter.parent}\ninclude-system-site-packages = false\n"
    )
    etc = folder / "etc"
    etc.mkdir()
    uid = sandbox_uid()
    (etc / "passwd").write_text(f"agent:x:{uid}:{uid}:agent:/home/agent:/bin/bash\n")
    (etc / "group").write_text(f"agent:x:{uid}:\n")
    (etc / "hosts").write_text("127.0.0.1 localhost sandbox\n")
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")


def _build(folder: Path, distributions: Sequence[metadata.Distribution]) -> None:
    packages = folder / "lib" / _VERSION / "site-packages"
    packages.mkdir(parents=True)
    (packages / START_NAME).write_text(START)
    build_frame(folder, Path(sys.base_prefix).resolve() / "bin" / _VERSION)
    for distribution in distributions:
        _copy(distribution, packages)
        for entry in distribution.entry_points.select(group="console_scripts"):
            _script(folder / "bin" / entry.name, entry)

    py_compile.compile(
        str(SUPERVISOR),
        str(folder / _COMPILED),
        doraise=True,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def _copy(distribution: metadata.Distribution, packages: Path) -> None:
    root = Path(str(distribution.locate_file(""))).resolve()
    for file in distribution.files or ():
        source = Path(str(distribution.locate_file(file))).resolve()
        if source.is_relative_to(root) and source.is_file() and source.suffix != ".pyc":
            target = packages / source.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _script(place: Path, entry: metadata.EntryPoint) -> None:
    """A program that starts at an entry point, by the environment's Python where it is mounted."""
    place.write_text(
        f"#!{MOUNT}/bin/python\nimport sys\nfrom {entry.module} import {entry.attr}\n"
        f"sys.exit({entry.attr}())\n"
    )
    place.chmod(0o755)
