"""The program that a run's agent needs, found before the run starts and held while it goes on."""

from __future__ import annotations

from pathlib import Path

from expbench.programs.shelf import InstalledProgram, ProgramShelf

ELSEWHERE = ("k8s",)
"""Sandboxes that show nothing of this machine: their image must have the program at the mount point."""


def program_in_use(
    name: str, folder: Path, sandbox: str, own_system: bool, digest: str = ""
) -> InstalledProgram | None:
    """An agent's program, in use until it is closed; None where the agent needs none from here.

    Args:
        name: of the program, empty for an agent without.
        folder: of installed programs.
        own_system: whether sandboxes show this machine's ``/usr``.
        digest: of the one that a run was begun with; else the last installed.

    Raises:
        NotFoundError: it is not installed.
        PrerequisiteError: such a sandbox cannot show it.
    """
    if not name or sandbox in ELSEWHERE:
        return None
    found = ProgramShelf(folder).of_agent(name, digest)
    try:
        found.check_shown(sandbox, own_system)
    except BaseException:
        found.close()
        raise
    return found
