"""The host's side of sandboxes: where workspaces of running tasks lie, and what must stay hidden.

A task's folder is named after the harness's process and its start time, so that folders whose harness
was killed are known and removed by the next one, and nobody else's are touched.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import expbench
from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes.environment import (
    DEFAULT_PACKAGES,
    PythonEnvironment,
    python_environment,
)
from expbench.sandboxes.session import Session
from expbench.schema import Limits


@dataclass(frozen=True)
class SandboxHost:
    """Makes workspaces' folders and sessions.

    ``hidden`` are host paths that no sandbox may show; ``packages`` folders of Python packages that
    every sandbox offers (``pip install --target``).
    """

    cache: CachePaths
    hidden: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()

    def folder(self) -> Path:
        """A new private folder for one workspace.

        Raises:
            PrerequisiteError: the cache cannot be written.
        """
        try:
            self.cache.work.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=f"{_self_name()}-", dir=self.cache.work))
        except OSError as error:
            raise PrerequisiteError(
                f"{self.cache.work} cannot be written ({error.strerror}): "
                "give another cache folder with XDG_CACHE_HOME."
            ) from None

    def python(self) -> PythonEnvironment:
        return replace(python_environment(self.cache.envs), packages=self.packages)

    def package_names(self) -> tuple[str, ...]:
        """The distributions that an agent can import, as it is told them."""
        found = {
            path.name.partition("-")[0] for f in self.packages for path in f.glob("*.dist-info")
        }
        return (*DEFAULT_PACKAGES, *sorted(found - set(DEFAULT_PACKAGES)))

    def start(self, workspace: Path, limits: Limits) -> Session:
        """A running sandbox over a workspace. Raises SandboxError."""
        package = Path(expbench.__file__).parent
        hidden = (package, self.cache.root, *self.hidden)
        return Session(workspace, self.python(), limits, hidden)

    def sweep(self) -> None:
        """Remove the folders of harnesses that are no more."""
        if self.cache.work.is_dir():
            for folder in self.cache.work.iterdir():
                pid, _, rest = folder.name.partition("-")
                if pid.isdigit() and _start_time(int(pid)) != rest.partition("-")[0]:
                    remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder whatever modes an agent left in it; links are never followed (R27)."""

    def unlock(parent: Path) -> None:
        parent.chmod(0o700)
        for path, folders, _ in os.walk(parent):
            for name in folders:
                full = os.path.join(path, name)
                if stat.S_ISDIR(os.lstat(full).st_mode):
                    os.chmod(full, 0o700)

    if os.geteuid() != 0 and folder.is_dir() and not folder.is_symlink():
        unlock(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _self_name() -> str:
    return f"{os.getpid()}-{_start_time(os.getpid())}"


def _start_time(pid: int) -> str:
    """The kernel's start time of a process in clock ticks; empty when there is none."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return content.rpartition(b")")[2].split()[19].decode()
