"""Programs of ours that every agent's sandbox has on its ``PATH``: ``expbench-check``."""

from __future__ import annotations

import hashlib
from pathlib import Path

from expbench.sandboxes import checker
from expbench.workspace.repository.making import once_folder
from expbench.workspace.submission import ignored

NAME = "expbench-check"
_PACKAGE = "expbench_check"
_START = f"""\
#!/usr/bin/env python3
import os
import sys

from {_PACKAGE}.program import main

sys.exit(main(sys.argv[1:], dict(os.environ)))
"""


def tools_folder(cache: Path) -> Path:
    """The folder with the programs, made on first use (atomic, safe to race).

    Raises:
        PrerequisiteError: the cache cannot be written.
    """
    here = Path(checker.__file__).parent
    files = {f"{_PACKAGE}/{path.name}": path.read_bytes() for path in sorted(here.glob("*.py"))}
    files[f"{_PACKAGE}/rules.py"] = Path(ignored.__file__).read_bytes()
    files[NAME] = _START.encode()
    key = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]

    def build(folder: Path) -> None:
        folder.chmod(0o755)
        (folder / _PACKAGE).mkdir(mode=0o755)
        for name, content in files.items():
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o755 if name == NAME else 0o644)

    return once_folder(cache / key, build)
