"""Making an environment: whole or not at all, once however many ask for it at the same time."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.filesize import decimal

from expbench.environments.index import IndexAccess
from expbench.environments.installing import Pip
from expbench.environments.layout import assemble
from expbench.environments.plans import EnvironmentPlan
from expbench.environments.resolving import Settling
from expbench.environments.shelf import Environment, EnvironmentRecord, Shelf, bytes_of
from expbench.environments.sources import SourceBuilder
from expbench.errors import InfrastructureError, PrerequisiteError
from expbench.sandboxes.host import SandboxHost
from expbench.workspace.repository.leases import hold
from expbench.workspace.repository.making import discard, once_folder, sweep

Listener = Callable[[str], None]


def build(
    plan: EnvironmentPlan,
    shelf: Shelf,
    index: IndexAccess,
    host: SandboxHost,
    listener: Listener = lambda line: None,
    tasks: Iterable[str] = (),
) -> Environment:
    """The environment of a plan, made unless it is there; in use until it is closed.

    Args:
        host: starts the sandboxes in which source archives are built.
        listener: is told in lines what goes on.
        tasks: whose environment it is, for the shelf's list.

    Raises:
        PrerequisiteError: no pip, no index that answers, or not enough space on the disk.
        InfrastructureError: pip did not end.
    """
    with shelf.making(plan.digest, lambda: listener("another process makes it: waiting")):
        folder = shelf.folder / plan.digest
        with hold(folder):
            found = shelf.find(plan.digest)
            if found is None:
                sweep(shelf.folder)
                check_space(plan, shelf)
                if folder.is_dir():
                    discard(folder)
                once_folder(folder, functools.partial(_fill, plan, index, host, listener))
                found = shelf.find(plan.digest)
            if found is None:
                raise InfrastructureError(f"{folder} was made and cannot be read: build it again.")
            shelf.note_tasks(found, tasks)
    return found


def check_space(plan: EnvironmentPlan, shelf: Shelf) -> None:
    """Raises PrerequisiteError when the disk has less than the environment takes (R22)."""
    place = shelf.folder
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < plan.estimate:
        raise PrerequisiteError(
            f"The environment takes about {decimal(plan.estimate)} while it is made and {place} has "
            f"{decimal(free)} left: free some with `expbench env gc`, or give another cache with "
            "XDG_CACHE_HOME."
        )


def _fill(
    plan: EnvironmentPlan, index: IndexAccess, host: SandboxHost, listener: Listener, folder: Path
) -> None:
    started = time.monotonic()
    scratch = folder / "scratch"
    scratch.mkdir()
    pip = Pip(plan.python, index, scratch, plan.denied)
    builder = SourceBuilder(pip, host, listener)
    settling = Settling(plan, pip, builder, folder / "python", listener)
    packages = settling.run()
    listener(f"{len(packages)} packages are unpacked: compiling")
    pip.compile(folder / "python")
    assemble(folder / "python", plan.python, pip.python, plan.paths)
    shutil.rmtree(scratch)
    record = EnvironmentRecord(
        plan=plan,
        packages=packages,
        problems=tuple(settling.problems),
        bytes=bytes_of(folder),
        seconds=round(time.monotonic() - started, 1),
    )
    (folder / "record.json").write_text(record.model_dump_json(indent=1), "utf-8")
    folder.chmod(0o755)
