"""The host's side of sandboxes: where workspaces of running tasks lie, and what must stay hidden.

A task's folder is named after the harness's process and its start time, so that folders whose harness
was killed are known and removed by the next one, and nobody else's are touched.
"""

from __future__ import annotations

import functools
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import expbench
from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes.bubblewrap import mounts_overlay
from expbench.sandboxes.environment import (
    DEFAULT_PACKAGES,
    PythonEnvironment,
    python_environment,
    sandbox_uid,
)
from expbench.sandboxes.session import Session
from expbench.schema import Limits
from expbench.workspace import Prepared, View, open_view
from expbench.workspace.layer import whiteout


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

    def open(self, prepared: Prepared, patch: bytes = b"", folder: Path | None = None) -> View:
        """A workspace of its own, with a submitted patch on top, in a private folder.

        It is an overlay over the store where this machine mounts one, else a copy.

        Raises:
            InfrastructureError: it could not be written.
        """
        folder = folder or self.folder()
        try:
            overlay = mounts_overlays(self.cache.work)
            return open_view(prepared, folder, overlay, other_owner(), patch)
        except BaseException:
            remove(folder)
            raise

    def start(
        self, view: View | Path, limits: Limits, environment: Mapping[str, str] | None = None
    ) -> Session:
        """A running sandbox over a view or a plain folder of ours.

        Args:
            environment: further variables of every command, such as ``Prepared.environment``.

        Raises:
            SandboxError: it did not start.
        """
        if isinstance(view, Path):
            _give(view)
            view = View("copy", view)
        package = Path(expbench.__file__).parent
        hidden = (package, self.cache.root, *self.hidden)
        return Session(view, self.python(), limits, hidden, environment)

    def sweep(self) -> None:
        """Remove the folders of harnesses that are no more."""
        if self.cache.work.is_dir():
            for folder in self.cache.work.iterdir():
                pid, _, rest = folder.name.partition("-")
                if pid.isdigit() and _start_time(int(pid)) != rest.partition("-")[0]:
                    remove(folder)


@functools.cache
def mounts_overlays(place: Path) -> bool:
    """Whether a sandbox can have its workspace as an overlay below ``place``; tried once, for real."""
    with tempfile.TemporaryDirectory(prefix=f"{_self_name()}-probe-", dir=place) as folder:
        view = View("overlay", Path(folder), (Path(folder, "layer"), Path(folder, "files")))
        for each in (view.files, view.work, *view.lower):
            each.mkdir()
        for name in ("hidden", "seen"):
            Path(folder, "files", name).touch()
        if not whiteout(os.fsencode(view.lower[0] / "hidden")):
            return False
        _give(view.folder)
        return mounts_overlay(view)


def other_owner() -> int | None:
    """The uid that workspaces belong to when it is not this process's."""
    return sandbox_uid() if os.geteuid() == 0 else None


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


def _give(folder: Path) -> None:
    """Make everything in a folder of ours the sandbox user's own."""
    if (owner := other_owner()) is None:
        return
    for parent, _, names in os.walk(folder):
        os.chown(parent, owner, owner)
        for name in names:
            os.lchown(os.path.join(parent, name), owner, owner)


def _self_name() -> str:
    return f"{os.getpid()}-{_start_time(os.getpid())}"


def _start_time(pid: int) -> str:
    """The kernel's start time of a process in clock ticks; empty when there is none."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return content.rpartition(b")")[2].split()[19].decode()
