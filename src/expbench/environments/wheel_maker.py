"""Build a wheel of a source archive, inside a sandbox: what runs here is the archive's own code.

Run as ``wheel_maker.py JSON`` with the build requirements installed; it uses the standard library only.
The JSON tells ``archive``, ``backend``, ``backend_path``, ``out`` and ``step``: ``requires`` writes what
else is required to ``out/requires.json``, ``wheel`` writes the wheel to ``out``.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(order: dict[str, Any]) -> None:
    out = Path(order["out"])
    place = Path(tempfile.mkdtemp(dir=out.parent))
    shutil.unpack_archive(order["archive"], place)
    top = list(place.iterdir())
    os.chdir(top[0] if len(top) == 1 else place)
    sys.argv[:] = ["setup.py"]
    sys.path[:0] = [str(Path(path).absolute()) for path in order["backend_path"]]
    module, _, inside = order["backend"].partition(":")
    backend: Any = importlib.import_module(module)
    for name in filter(None, inside.split(".")):
        backend = getattr(backend, name)
    if order["step"] == "wheel":
        backend.build_wheel(str(out))
        return
    ask = getattr(backend, "get_requires_for_build_wheel", None)
    (out / "requires.json").write_text(json.dumps(ask() if ask else []))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
