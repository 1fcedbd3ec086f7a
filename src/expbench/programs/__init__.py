"""Agents' own programs: installed once, outside of sandboxes, and seen read-only inside.

``catalogue`` says what there is, ``shelf`` finds what was installed, ``installing`` installs it.
"""

from expbench.programs.catalogue import PROGRAMS, Program, program
from expbench.programs.shelf import (
    MOUNT,
    InstalledProgram,
    Part,
    ProgramRecord,
    ProgramShelf,
)
from expbench.programs.using import program_in_use

__all__ = [
    "MOUNT",
    "PROGRAMS",
    "InstalledProgram",
    "Part",
    "Program",
    "ProgramRecord",
    "ProgramShelf",
    "program",
    "program_in_use",
]
