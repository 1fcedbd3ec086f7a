"""The indexes that this machine's own package tools are set to: they are asked, and nothing is guessed.

No index's address stands in this package: without a setting, pip itself names its default. Addresses
that are no http or https (folders, ``file://``) are left out, for a gateway could not add
anything to them: give such packages by ``--packages``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from expbench.sandboxes.network.apt import apt_sources
from expbench.sandboxes.network.index import Index, Kind, origin
from expbench.syntax import literal

Runner = Callable[[Sequence[str]], str]
"""Runs a program of this machine; its standard output, empty where it is missing or fails."""

_PIP_WHEEL = (
    "try:\n import pip\nexcept ImportError:\n import ensurepip, pathlib\n"
    " print(*pathlib.Path(ensurepip.__file__).parent.glob('_bundled/pip-*.whl'))"
)
_PIP_DEFAULT = (
    "import sys; sys.path[:0] = sys.argv[1:]; "
    "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
)
_PIP_SECTIONS = (":env:", "install", "global")
_SECONDS = 60


def host_runner(environment: Mapping[str, str]) -> Runner:
    """Runs programs with this environment, from the root folder: no project's settings count."""

    def run(command: Sequence[str]) -> str:
        try:
            done = subprocess.run(
                command,
                env=dict(environment),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    return run


def from_settings(
    runner: Runner,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
    etc: Path = Path("/etc"),
) -> tuple[Index, ...]:
    """The indexes of pip and uv, npm, conda and apt, as far as these are here, the preferred ones first.

    Args:
        environment: the user's variables: uv's settings, and the way out (``HTTPS_PROXY``).
        python: a Python whose pip is asked; its bundled pip where it has none.
        etc: the system's settings.
    """
    known = environment or {}
    pip = _pip_settings(runner, python)
    found: list[tuple[Kind, str, str, tuple[tuple[str, str], ...]]] = []
    found += [
        ("pypi", url, pip.get("cert", ""), ()) for url in _pypi(runner, python, pip, known, etc)
    ]
    found += [("npm", url, ca, ()) for url, ca in _npm(runner)]
    found += [("conda", url, "", ()) for url in _conda(runner)]
    found += [("apt", url, "", fields) for url, fields in apt_sources(etc / "apt")]
    indexes = [
        Index.at(kind, url, ca=ca, proxy=_proxy(url, pip.get("proxy", ""), known), fields=fields)
        for kind, url, ca, fields in found
        if origin(url) is not None
    ]
    return tuple(dict.fromkeys(indexes))


def _pip_settings(runner: Runner, python: str) -> dict[str, str]:
    """pip's settings for installing, by their bare name."""
    ranked: dict[str, tuple[int, str]] = {}
    wheel = runner([python, "-c", _PIP_WHEEL]).strip()
    start = [python, f"{wheel}/pip"] if wheel else [python, "-m", "pip"]
    for line in runner([*start, "config", "list"]).splitlines():
        section, _, rest = line.partition(".")
        name, _, value = rest.partition("=")
        if section in _PIP_SECTIONS:
            rank = _PIP_SECTIONS.index(section)
            if name not in ranked or rank < ranked[name][0]:
                ranked[name] = (rank, _literal(value))
    return {name: value for name, (_, value) in ranked.items()}


def _literal(text: str) -> str:
    try:
        return str(literal(text))
    except (ValueError, SyntaxError):
        return text


def _pypi(
    runner: Runner, python: str, pip: Mapping[str, str], known: Mapping[str, str], etc: Path
) -> Iterator[str]:
    first, more = _uv(known, etc)
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return
    if pip.get("index-url"):
        yield pip["index-url"]
    elif first:
        yield first
    else:
        wheel = runner([python, "-c", _PIP_WHEEL]).split()
        yield from runner([python, "-c", _PIP_DEFAULT, *wheel]).split()
    yield from pip.get("extra-index-url", "").split()
    yield from more


def _uv(known: Mapping[str, str], etc: Path) -> tuple[str, list[str]]:
    """uv's default index and its further ones: variables first, then the user's and the system's file."""
    first = [known[name] for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL") if known.get(name)]
    more = [*known.get("UV_INDEX", "").split(), *known.get("UV_EXTRA_INDEX_URL", "").split()]
    home = known.get("XDG_CONFIG_HOME") or (f"{known['HOME']}/.config" if known.get("HOME") else "")
    folders = [*([Path(home)] if home else []), etc]
    for path in [Path(folder, "uv", "uv.toml") for folder in folders]:
        said = _toml(path)
        for table in (said, said.get("pip", {})):
            first += [str(table["index-url"])] if table.get("index-url") else []
            more += [str(each) for each in table.get("extra-index-url", [])]
        for index in said.get("index", []):
            (first if index.get("default") else more).append(str(index.get("url", "")))
    unnamed = [re.sub(r"^[\w.-]+=(?=https?://)", "", each) for each in [*first[:1], *more]]
    return (unnamed[0], unnamed[1:]) if first else ("", unnamed)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _npm(runner: Runner) -> Iterator[tuple[str, str]]:
    url = runner(["npm", "config", "get", "registry"]).strip()
    if url:
        ca = runner(["npm", "config", "get", "cafile"]).strip()
        yield url, ca if ca.startswith("/") else ""


def _conda(runner: Runner) -> Iterator[str]:
    names = ("channels", "default_channels", "channel_alias")
    try:
        said = json.loads(runner(["conda", "config", "--json", "--show", *names]) or "{}")
    except ValueError:
        return
    alias = _one(said.get("channel_alias")).rstrip("/")
    for channel in said.get("channels") or []:
        defaults = said.get("default_channels") or []
        for each in map(_one, defaults if channel == "defaults" else [channel]):
            yield each if "://" in each else f"{alias}/{each.strip('/')}"


def _one(said: object) -> str:
    """An address of conda's, which newer versions print in pieces."""
    if isinstance(said, dict):
        place = "/".join(str(said[key]) for key in ("location", "name") if said.get(key))
        auth = f"{said['auth']}@" if said.get("auth") else ""
        token = f"t/{said['token']}/" if said.get("token") else ""
        host, _, path = place.partition("/")
        return f"{said.get('scheme', 'https')}://{auth}{host}/{token}{path}"
    return str(said or "")


def _proxy(url: str, pip_proxy: str, known: Mapping[str, str]) -> str:
    """The way out to an index: pip's, or the usual variables'; none where they except its host."""
    scheme, host = urlsplit(url).scheme, urlsplit(url).hostname or ""
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    chosen = pip_proxy or next((known[name] for name in names if known.get(name)), "")
    excepted = (known.get("no_proxy") or known.get("NO_PROXY") or "").replace(",", " ").split()
    if any(each == "*" or f".{host}".endswith(f".{each.lstrip('.*')}") for each in excepted):
        return ""
    whole = chosen if "://" in chosen or not chosen else f"http://{chosen}"
    return whole if origin(whole) is not None else ""
