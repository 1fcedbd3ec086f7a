"""A package index that the user's own tools are set to, as the gateway asks it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from expbench.errors import UserError

Kind = Literal["pypi", "npm", "conda", "apt"]


@dataclass(frozen=True)
class Index:
    """One index. Credentials are for the index's own origin and never leave the host.

    ``url`` ends in a slash and has no credentials. ``ca`` is a file of certificate authorities that
    count besides the usual ones, ``proxy`` the host's own way out. ``fields`` are what an apt source says
    besides its address (``Suites``, ``Components``, …).
    """

    kind: Kind
    url: str
    credentials: str = field(default="", repr=False)
    ca: str = ""
    proxy: str = field(default="", repr=False)
    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def at(
        cls,
        kind: Kind,
        address: str,
        *,
        ca: str = "",
        proxy: str = "",
        fields: tuple[tuple[str, str], ...] = (),
    ) -> Index:
        """The index at an address that may hold ``user:password@``.

        Raises:
            UserError: the address is not one of http or https.
        """
        parts = origin(address)
        if parts is None:
            raise UserError(
                f"A {kind} index must have an http or https address, but the settings of this "
                "machine name another one: mend them, or leave that index out."
            )
        split = urlsplit(address)
        secret = split.netloc.rpartition("@")[0]
        host = split.netloc.rpartition("@")[2].lower()
        path = f"{split.path.rstrip('/')}/"
        clean = urlunsplit((split.scheme, host, path, "", ""))
        return cls(kind, clean, unquote(secret), ca, proxy, fields)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        found = origin(self.url)
        assert found is not None
        return found

    @property
    def authorization(self) -> str:
        """The value of a header ``Authorization``; empty without credentials."""
        if not self.credentials:
            return ""
        return f"Basic {base64.b64encode(self.credentials.encode()).decode()}"


def origin(address: str) -> tuple[str, str, int] | None:
    """Scheme, host (lower case) and port of an http or https address; none for any other text."""
    try:
        split = urlsplit(address)
        port = split.port
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or not split.hostname:
        return None
    if not address.isascii() or any(c <= " " or c == "\x7f" or c == "\\" for c in address):
        return None
    return (
        split.scheme,
        split.hostname.rstrip("."),
        port or (443 if split.scheme == "https" else 80),
    )
