"""The host's side of sandboxes: where workspaces of running tasks lie, and what must stay hidden.

A task's folder is named after the harness's process and its start time, so that folders whose harness
was killed are known and removed by the next one, and nobody else's are touched.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import expbench
from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes.bubblewrap import mounts_overlay
from expbench.sandboxes.environment import (
    DEFAULT_PACKAGES,
    INSTALLERS,
    PythonEnvironment,
    python_environment,
    rootfs_environment,
    sandbox_uid,
)
from expbench.sandboxes.gpus import Leases, present, uuids, visible
from expbench.sandboxes.mounts import GATEWAY_PORT, SOCKET
from expbench.sandboxes.network import Denied, Gateway, Index
from expbench.sandboxes.providers import Launch, Provider, provider
from expbench.sandboxes.removing import unlink_files
from expbench.sandboxes.session import Session
from expbench.sandboxes.spawning import raise_files
from expbench.schema import Policy, Refusal
from expbench.workspace import Prepared, View, open_view
from expbench.workspace.keeping import kept_for
from expbench.workspace.layer import whiteout
from expbench.workspace.owners import (
    claim,
    forget,
    lives,
    owner_of,
    self_name,
    temporary_folders,
)

_GPU_PATIENCE = 3600.0
"""Seconds that a sandbox waits for its GPUs, after which its task is tried again later."""


@dataclass(frozen=True)
class SandboxHost:
    """Makes workspaces' folders and sessions.

    ``hidden`` are host paths that no sandbox may show; ``packages`` folders of Python packages that
    every sandbox offers (``pip install --target``); ``policy`` is what sandboxes are held to, unless
    one is started with another. ``rootfs`` is a folder whose system and Python they have instead of
    this machine's. ``indexes`` are the package indexes of network ``packages``; ``outer_gpus`` is the
    ``CUDA_VISIBLE_DEVICES`` that this process was given. Sandboxes are labelled with ``run``. At most
    ``starts`` begin at the same time, however many run (R30).
    """

    cache: CachePaths
    hidden: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()
    policy: Policy = field(default_factory=Policy)
    kind: str = "bwrap"
    rootfs: Path | None = None
    image: str = ""
    indexes: tuple[Index, ...] = ()
    outer_gpus: str | None = None
    run: str = ""
    starts: int = field(default_factory=lambda: max(2, len(os.sched_getaffinity(0))))
    _starting: threading.Semaphore = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_starting", threading.BoundedSemaphore(self.starts))
        raise_files()

    @property
    def provider(self) -> Provider:
        return provider(self.kind)

    @property
    def own_python(self) -> bool:
        """Whether its sandboxes have a Python of this machine's, and not another system's."""
        return self.rootfs is None and self.kind in ("bwrap", "local")

    def folder(self) -> Path:
        """A new private folder for one workspace.

        Raises:
            PrerequisiteError: the cache cannot be written.
        """
        try:
            self.cache.work.mkdir(parents=True, exist_ok=True)
            claim(self.cache.owners, os.getpid())
            return Path(tempfile.mkdtemp(prefix=f"{self_name()}-", dir=self.cache.work))
        except OSError as error:
            raise PrerequisiteError(
                f"{self.cache.work} cannot be written ({error.strerror}): "
                "give another cache folder with XDG_CACHE_HOME."
            ) from None

    def python(self) -> PythonEnvironment:
        """The Python of the sandboxes, made on first use. Raises PrerequisiteError."""
        if self.rootfs is not None:
            found = rootfs_environment(self.cache.envs, self.rootfs)
        elif self.policy.network == "none":
            found = python_environment(self.cache.envs)
        else:
            found = python_environment(self.cache.envs, (*DEFAULT_PACKAGES, *INSTALLERS))
        return replace(found, packages=self.packages)

    def package_names(self) -> tuple[str, ...]:
        """The distributions that an agent can import, as it is told them."""
        shipped = DEFAULT_PACKAGES if self.rootfs is None else ()
        return (*shipped, *sorted(self.added_names() - set(shipped)))

    def added_names(self) -> set[str]:
        """The distributions in ``packages``."""
        return {
            path.name.partition("-")[0] for f in self.packages for path in f.glob("*.dist-info")
        }

    def open(self, prepared: Prepared, patch: bytes = b"", folder: Path | None = None) -> View:
        """A workspace of its own, with a submitted patch on top, in a private folder.

        It is an overlay over the store where this machine mounts one, else a copy.

        Raises:
            InfrastructureError: it could not be written.
        """
        folder = folder or self.folder()
        try:
            overlay = self.provider.overlays and mounts_overlays(self.cache.work)
            return open_view(prepared, folder, overlay, other_owner(), patch)
        except BaseException:
            self.discard(folder)
            raise

    def start(
        self,
        view: View | Path,
        policy: Policy | None = None,
        environment: Mapping[str, str] | None = None,
        python: PythonEnvironment | None = None,
        denied: Denied | None = None,
        refused: Callable[[Refusal], None] = lambda refusal: None,
        folders: Mapping[str, Path | None] | None = None,
    ) -> Session:
        """A running sandbox over a view or a plain folder of ours.

        Args:
            environment: further variables of every command, such as ``Prepared.environment``.
            python: what it has instead of :meth:`python`.
            denied: what the network's gateway lets nobody have, besides.
            refused: is told of what it did not let through.
            folders: what it shows besides, read-only, by its path inside; None is an empty folder in memory.

        Raises:
            SandboxError: it did not start.
            PrerequisiteError: it cannot have the GPUs that it asks for.
        """
        if isinstance(view, Path):
            _give(view)
            view = View("copy", view)
        policy = policy or self.policy
        package = Path(expbench.__file__).parent
        with ExitStack() as stack:
            launch = Launch(
                name=f"expbench-{self_name()}-{secrets.token_hex(4)}",
                run=self.run,
                view=view,
                policy=policy,
                python=replace(python, packages=self.packages) if python else self.python(),
                hidden=(package, self.cache.root, *self.hidden),
                rootfs=self.rootfs,
                image=self.image,
                indexes=self.indexes,
                environment=environment or {},
                folders=folders or {},
            )
            if policy.network == "packages" and self.provider.here:
                launch = self._with_gateway(launch, stack, denied or Denied(), refused)
            if policy.gpus and self.provider.here:
                launch = self._with_gpus(launch, stack)
            addable = python is not None or policy.network != "none"
            if addable and self.provider.here and mounts_overlays(self.cache.work):
                launch = replace(launch, layer=self._layer(stack))
            with self._starting:
                launch = replace(launch, owned=stack.pop_all())
                try:
                    return self.provider.start(launch)
                except BaseException:
                    launch.owned.close()
                    raise

    def _with_gateway(
        self,
        launch: Launch,
        stack: ExitStack,
        denied: Denied,
        refused: Callable[[Refusal], None],
    ) -> Launch:
        folder = self._scratch(stack)
        gateway = Gateway(
            folder / SOCKET,
            self.indexes,
            launch.policy.allow_hosts,
            denied,
            cache=self.cache.downloads,
            refused=refused,
        )
        stack.enter_context(gateway)
        files = {}
        for number, (place, text) in enumerate(gateway.files(GATEWAY_PORT).items()):
            files[place] = folder / f"file-{number}"
            files[place].write_text(text, "utf-8")
        return replace(
            launch,
            gateway=folder,
            files=files,
            environment={**launch.environment, **gateway.environment(GATEWAY_PORT)},
        )

    def _with_gpus(self, launch: Launch, stack: ExitStack) -> Launch:
        ids = visible(present(), self.outer_gpus, uuids())
        leases = Leases(self.cache.gpus, ids)
        lease = stack.enter_context(leases.lease(launch.policy.gpus, _GPU_PATIENCE))
        confined = self.provider.confines
        variables = lease.environment if confined else lease.environment_outside()
        return replace(
            launch,
            gpus=lease.ids,
            devices=tuple(lease.nodes()),
            environment={**launch.environment, **variables},
        )

    def _layer(self, stack: ExitStack) -> Path:
        """A folder for what is added to the Python environment."""
        view = View("overlay", self._scratch(stack))
        for each in (view.files, view.work):
            each.mkdir(0o755)
        _give(view.folder)
        return view.folder

    def _scratch(self, stack: ExitStack) -> Path:
        folder = self.folder()
        stack.callback(remove, folder)
        _give(folder)
        return folder

    def discard(self, folder: Path) -> None:
        """Remove a workspace's folder, whatever its sandbox left in it (R27)."""
        remove(folder)
        if folder.exists():
            self.provider.clear(folder, self.image)

    def sweep(self, kinds: Iterable[str] = ()) -> None:
        """Remove what harnesses left that are no more: folders, and what sandboxes of these kinds had.

        By default of this host's kind.
        """
        owners = self.cache.owners
        if self.cache.work.is_dir():
            for folder in self.cache.work.iterdir():
                owner = owner_of(folder.name)
                if owner and not lives(owners, owner) and kept_for(folder) is None:
                    self.discard(folder)
        for folder, owner in temporary_folders(Path(tempfile.gettempdir())):
            if not lives(owners, owner):
                shutil.rmtree(folder, ignore_errors=True)
        for kind in kinds or (self.kind,):
            provider(kind).sweep(lambda owner: lives(owners, owner))
        forget(owners)


@functools.cache
def mounts_overlays(place: Path) -> bool:
    """Whether a sandbox can have its workspace as an overlay below ``place``; tried once, for real."""
    with tempfile.TemporaryDirectory(prefix=f"{self_name()}-probe-", dir=place) as folder:
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

    with contextlib.suppress(RuntimeError, OSError):
        if folder.is_dir() and not folder.is_symlink():
            if os.geteuid() != 0:
                unlock(folder)
            unlink_files(folder)
    with contextlib.suppress(RecursionError, OSError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        # Deeper than Python's stack, or than a path is long.
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", folder], capture_output=True, check=False, cwd="/")


def _give(folder: Path) -> None:
    """Make everything in a folder of ours the sandbox user's own."""
    if (owner := other_owner()) is None:
        return
    for parent, _, names in os.walk(folder):
        os.lchown(parent, owner, owner)
        for name in names:
            os.lchown(os.path.join(parent, name), owner, owner)
