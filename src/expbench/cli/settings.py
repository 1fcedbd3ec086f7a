"""The only place that reads the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from expbench.errors import UserError
from expbench.paths import CachePaths


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/expbench``, or ``~/.cache/expbench``."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path(os.environ.get("HOME", "/tmp")) / ".cache"
    return (root / "expbench").absolute()


def data_folder(given: Path | None) -> Path | None:
    """The released data set's folder: as given, ``$EXPBENCH_DATA``, or the fetched one if any."""
    if given is not None:
        return given
    if value := os.environ.get("EXPBENCH_DATA"):
        return Path(value)
    from expbench.dataset.fetch import release_folder

    fetched = release_folder(CachePaths(cache_folder()).data)
    return fetched if fetched.is_dir() else None


def errata_choice(text: str) -> bool:
    """``--errata``: whether this package's errata are applied. Raises UserError."""
    if text not in ("package", "none"):
        raise UserError(f"--errata is package or none, not {text!r}.")
    return text == "package"


def mask_choice(text: str) -> Literal["paper", "strict"]:
    """``--mask``. Raises UserError."""
    if text == "paper":
        return "paper"
    if text == "strict":
        return "strict"
    raise UserError(f"--mask is paper or strict, not {text!r}.")


def network_variables() -> dict[str, str]:
    """What git has to know of the user's proxies and certificates; nothing else reaches it."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    wanted = {*names, *map(str.lower, names), "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"}
    return {name: value for name, value in os.environ.items() if name in wanted}
