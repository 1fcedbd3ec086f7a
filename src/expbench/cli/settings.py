"""The only place that reads the environment."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/expbench``, or ``~/.cache/expbench``."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path(os.environ.get("HOME", "/tmp")) / ".cache"
    return (root / "expbench").absolute()


def data_folder(given: Path | None) -> Path | None:
    """The released data set's folder: as given, or ``$EXPBENCH_DATA``."""
    if given is not None:
        return given
    value = os.environ.get("EXPBENCH_DATA")
    return Path(value) if value else None
