"""The Python interpreters of this machine that an environment can stand on.

Each candidate is started once with nothing but the standard library, so that what it says of itself is
what a sandbox will find. Scripts that only look for an interpreter are passed over.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from expbench.schema import Record

OLDEST = 9
"""The oldest minor version of Python 3 that the supervisor of a sandbox runs on."""

_NAME = re.compile(r"python3\.(\d+)")
_ASK = """\
import json, os, sys
name = "python%d.%d" % sys.version_info[:2]
prefix = os.path.realpath(sys.base_prefix)
there = os.path.isfile(os.path.join(prefix, "bin", name))
print(json.dumps([sys.implementation.name, "%d.%d.%d" % sys.version_info[:3], prefix, there]))
"""


class Interpreter(Record):
    """A base interpreter: its version, ``3.11.7``, and its prefix on the host."""

    version: str
    prefix: str

    @property
    def minor(self) -> int:
        """The second number of the version."""
        return int(self.version.split(".")[1])

    @property
    def name(self) -> str:
        """``python3.11``."""
        return f"python3.{self.minor}"

    @property
    def path(self) -> Path:
        return Path(self.prefix) / "bin" / self.name


@dataclass(frozen=True)
class Places:
    """Where interpreters are looked for: the value of ``PATH``, the root of pyenv, uv's own folder."""

    path: str = ""
    pyenv: Path | None = None
    uv: Path | None = None

    def candidates(self) -> Iterator[Path]:
        """Programs that are named like an interpreter."""
        folders = [Path(text) for text in self.path.split(":") if text.startswith("/")]
        for versions in filter(None, (self.pyenv and self.pyenv / "versions", self.uv)):
            folders += _found(versions, "*/bin")
        for folder in folders:
            for program in _found(folder, "python3.*"):
                match = _NAME.fullmatch(program.name)
                if match and int(match[1]) >= OLDEST:
                    yield program


def interpreters(places: Places) -> tuple[Interpreter, ...]:
    """What is found, the newest first; the interpreter of this process is always among them."""
    programs = {Path(os.path.realpath(program)): program for program in places.candidates()}
    programs = {real: program for real, program in programs.items() if _is_program(real)}
    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(_ask, [Path(sys.executable), *programs.values()]))
    found = {(each.version, each.prefix): each for each in asked if each is not None}
    return tuple(sorted(found.values(), key=lambda each: _numbers(each.version), reverse=True))


def _found(folder: Path, pattern: str) -> list[Path]:
    """What fits in a folder; nothing of one that cannot be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _ask(program: Path) -> Interpreter | None:
    try:
        done = subprocess.run(
            [program, "-I", "-S", "-c", _ASK],
            capture_output=True,
            env={},
            cwd="/",
            timeout=20,
            check=True,
        )
        kind, version, prefix, there = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if kind != "cpython" or not there or _numbers(version) < (3, OLDEST):
        return None
    return Interpreter(version=version, prefix=prefix)


def _is_program(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
