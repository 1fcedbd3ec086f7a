"""What the shell's parser holds while it reads: the command at hand, and the blocks that are open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from expbench.monitor.commands import Guard


@dataclass
class Draft:
    """The command that is being read."""

    start: int = -1
    end: int = -1
    words: list[str] = field(default_factory=list)
    stdin: str = ""
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    appends: bool = False


@dataclass
class Block:
    """What is open: an ``if``, or a group."""

    kind: Literal["if", "{", "(", "case"]
    first: int
    outer: tuple[Guard, ...]
    tests: list[str] = field(default_factory=list)
    testing: bool = False
    guard: tuple[Guard, ...] = ()
