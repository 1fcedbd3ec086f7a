"""How package indexes are reached: as the user's own pip does, or a folder of files instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from expbench.errors import PrerequisiteError

SETTINGS = frozenset(
    f"PIP_{name}"
    for name in (
        "CACHE_DIR",
        "CERT",
        "CLIENT_CERT",
        "CONFIG_FILE",
        "DEFAULT_TIMEOUT",
        "EXTRA_INDEX_URL",
        "FIND_LINKS",
        "INDEX_URL",
        "KEYRING_PROVIDER",
        "NO_INDEX",
        "PROXY",
        "TRUSTED_HOST",
    )
) | {"HOME", "NETRC", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"}
"""Variables that tell pip where indexes are and how to reach them. None says what is installed where."""


@dataclass(frozen=True)
class IndexAccess:
    """The user's settings for pip, or with ``wheels`` a folder of wheels and source archives only.

    ``environment`` are the variables of ``SETTINGS`` and those of proxies and certificates; pip reads
    the user's own files by them.
    """

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    wheels: Path | None = None

    @property
    def kind(self) -> str:
        """What of it shapes an environment."""
        return f"folder {self.wheels.resolve()}" if self.wheels else "settings"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Options of pip."""
        if self.wheels is None:
            return ()
        return ("--no-index", "--find-links", str(self.wheels.resolve()))

    def check(self) -> None:
        """Raises PrerequisiteError when the folder is not there."""
        if self.wheels is not None and not self.wheels.is_dir():
            raise PrerequisiteError(
                f"{self.wheels} is no folder: give one with wheels to --wheels."
            )
