"""A folder of unpacked wheels as the environment that a sandbox sees at its mount point.

What a wheel has put where the interpreter's links and the settings belong is replaced; programs that
name the empty environment's Python name the mount point's instead.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from expbench.environments.interpreters import Interpreter
from expbench.sandboxes.environment import PythonEnvironment, build_frame, own

_HEAD = 4096
_PATHS = "expbench-workspace.pth"


def assemble(
    folder: Path, interpreter: Interpreter, unpacked_by: Path, paths: Iterable[str] = ()
) -> PythonEnvironment:
    """Make a folder with unpacked wheels, or an empty one, an environment.

    Args:
        unpacked_by: the interpreter that the programs name now.
        paths: folders, as the sandbox sees them, that are on Python's path.
    """
    environment = PythonEnvironment(folder, Path(interpreter.prefix), version=interpreter.name)
    packages = folder / "lib" / interpreter.name / "site-packages"
    packages.mkdir(parents=True, exist_ok=True)
    _rename_interpreter(folder / "bin", str(unpacked_by), f"{environment.bin}/python")
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        frame = Path(place, "frame")
        frame.mkdir()
        build_frame(frame, interpreter.path)
        _lay_over(frame, folder)
    _clear(packages / _PATHS)
    (packages / _PATHS).write_text("".join(f"{path}\n" for path in paths))
    folder.chmod(0o755)
    own(folder)
    return environment


def _lay_over(frame: Path, folder: Path) -> None:
    for part in frame.iterdir():
        target = folder / part.name
        if part.name == "bin" and target.is_dir():
            for link in part.iterdir():
                _clear(target / link.name)
                link.rename(target / link.name)
        else:
            _clear(target)
            part.rename(target)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _rename_interpreter(programs: Path, old: str, new: str) -> None:
    if not programs.is_dir():
        return
    for program in programs.iterdir():
        if not program.is_file() or program.is_symlink():
            continue
        with program.open("r+b") as file:
            content = file.read()
            if content.startswith(b"#!"):
                head = content[:_HEAD].replace(os.fsencode(old), os.fsencode(new))
                file.seek(0)
                file.write(head + content[_HEAD:])
                file.truncate()
