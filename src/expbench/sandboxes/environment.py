"""The Python that a sandbox offers: an interpreter with a few packages, and nothing of ours.

The harness's own site-packages hold this package and with it the ground truth of suite ``mini``; they
are never mounted. Instead the named distributions and what they need are copied once into a
small virtual environment in the user's cache, which every sandbox sees read-only.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from expbench.errors import PrerequisiteError

DEFAULT_PACKAGES = ("numpy",)
"""What the mini suite's repositories import."""

SANDBOX_UID = 64001
"""The uid of sandboxed processes when the harness runs as root."""

_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class PythonEnvironment:
    """A folder to be seen at ``mount`` in the sandbox, and the base interpreter's prefix."""

    folder: Path
    base_prefix: Path
    mount: str = "/opt/expbench/python"
    packages: tuple[Path, ...] = ()
    """Further folders of packages (``pip install --target``), read-only in the sandbox."""

    @property
    def interpreter(self) -> Path:
        """The base interpreter, the same path on the host and in the sandbox."""
        return self.base_prefix / "bin" / _VERSION

    @property
    def python_path(self) -> str:
        """``PYTHONPATH`` in the sandbox, for ``packages``."""
        return ":".join(package_mount(number) for number in range(len(self.packages)))

    @property
    def bin(self) -> str:
        return f"{self.mount}/bin"


def package_mount(number: int) -> str:
    """Where the sandbox sees a folder of ``PythonEnvironment.packages``."""
    return f"/opt/expbench/packages-{number}"


def python_environment(
    cache: Path, packages: Sequence[str] = DEFAULT_PACKAGES
) -> PythonEnvironment:
    """The environment with these packages, made on first use (atomic, safe to race).

    Raises:
        PrerequisiteError: a package is not installed beside this one.
    """
    distributions = _closure(packages)
    key = hashlib.sha256(
        repr(
            [
                sys.version,
                sys.base_prefix,
                sandbox_uid(),
                *((d.name, d.version) for d in distributions),
            ]
        ).encode()
    ).hexdigest()[:16]
    final = cache / key
    if not final.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".making-", dir=cache))
        try:
            _build(temporary, distributions)
            temporary.chmod(0o755)
            try:
                temporary.rename(final)
            except OSError:
                if not final.is_dir():
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return PythonEnvironment(final, Path(sys.base_prefix).resolve())


def sandbox_uid() -> int:
    """The uid of sandboxed processes: the user's own, or a fixed ordinary one for root."""
    return os.geteuid() or SANDBOX_UID


def _closure(packages: Sequence[str]) -> list[metadata.Distribution]:
    """The installed distributions of these packages and of all that they require, by name."""
    found: dict[str, metadata.Distribution] = {}
    pending = list(packages)
    while pending:
        name = pending.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if name in packages:
                raise PrerequisiteError(
                    f"The sandbox needs {name}: install it beside expbench (pip install {name})."
                ) from None
            continue
        key = distribution.name.lower()
        if key not in found:
            found[key] = distribution
            needs = [text for text in distribution.requires or () if "extra" not in text]
            pending += [match.group() for text in needs if (match := _NAME.match(text))]
    return [found[name] for name in sorted(found)]


def _build(folder: Path, distributions: Sequence[metadata.Distribution]) -> None:
    packages = folder / "lib" / _VERSION / "site-packages"
    packages.mkdir(parents=True)
    base = Path(sys.base_prefix).resolve() / "bin" / _VERSION
    (folder / "bin").mkdir()
    for name in ("python", "python3", _VERSION):
        (folder / "bin" / name).symlink_to(base)
    (folder / "pyvenv.cfg").write_text(
        f"home = {base.parent}\ninclude-system-site-packages = false\n"
    )
    etc = folder / "etc"
    etc.mkdir()
    uid = sandbox_uid()
    (etc / "passwd").write_text(f"agent:x:{uid}:{uid}:agent:/home/agent:/bin/bash\n")
    (etc / "group").write_text(f"agent:x:{uid}:\n")
    (etc / "hosts").write_text("127.0.0.1 localhost sandbox\n")
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    for distribution in distributions:
        root = Path(str(distribution.locate_file(""))).resolve()
        for file in distribution.files or ():
            source = Path(str(distribution.locate_file(file))).resolve()
            if source.is_relative_to(root) and source.is_file() and source.suffix != ".pyc":
                target = packages / source.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
