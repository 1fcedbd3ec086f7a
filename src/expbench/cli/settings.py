"""The only place that reads the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from expbench.errors import UserError
from expbench.paths import CachePaths

if TYPE_CHECKING:
    from expbench.environments import Places


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


def variables() -> dict[str, str]:
    """The whole environment, for what asks the user's own tools."""
    return dict(os.environ)


def outer_gpus() -> str | None:
    """The GPUs that this process was given."""
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def network_variables() -> dict[str, str]:
    """What git has to know of the user's proxies and certificates; nothing else reaches it."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    wanted = {*names, *map(str.lower, names), "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"}
    return {name: value for name, value in os.environ.items() if name in wanted}


def index_settings() -> dict[str, str]:
    """What pip has to know to reach the user's indexes; nothing else reaches it."""
    from expbench.environments.index import SETTINGS

    given = {name: value for name, value in os.environ.items() if name in SETTINGS}
    return {**network_variables(), **given}


def interpreter_places() -> Places:
    """Where this user's interpreters are."""
    from expbench.environments import Places

    home = Path(os.environ.get("HOME", "/"))
    shared = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return Places(
        path=os.environ.get("PATH", ""),
        pyenv=Path(os.environ.get("PYENV_ROOT") or home / ".pyenv"),
        uv=Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or shared / "uv" / "python"),
    )


def npm_settings() -> dict[str, str]:
    """What npm has to know to reach the user's registry."""
    own = {"HOME", "NODE_EXTRA_CA_CERTS"}
    given = {
        name: value
        for name, value in os.environ.items()
        if name in own or name.lower().startswith("npm_config_")
    }
    return {**network_variables(), **given}


def passphrase_given() -> str:
    """What opens sealed parts where no key file is given."""
    return os.environ.get("EXPBENCH_PASSPHRASE", "")


def service_tokens() -> dict[str, str]:
    """Tokens for services that know papers and repositories, and their addresses where not the usual ones."""
    names = {
        "github_token": "GITHUB_TOKEN",
        "scholar_key": "S2_API_KEY",
        "github_url": "EXPBENCH_GITHUB_URL",
        "scholar_url": "EXPBENCH_SCHOLAR_URL",
        "openreview_url": "EXPBENCH_OPENREVIEW_URL",
    }
    return {key: os.environ[name] for key, name in names.items() if os.environ.get(name)}


def search_path() -> str:
    """``PATH``, for finding the user's own tools."""
    return os.environ.get("PATH", "")
