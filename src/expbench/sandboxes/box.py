"""What a provider must give, so that everything above it is the same for all of them."""

from __future__ import annotations

import socket
from typing import Protocol


class Box(Protocol):
    """The processes of one sandbox, whose first one is our supervisor."""

    @property
    def provider(self) -> str: ...

    @property
    def workspace(self) -> str:
        """The workspace's path inside."""
        ...

    @property
    def channel(self) -> socket.socket:
        """Connected to the supervisor."""
        ...

    def alive(self) -> bool: ...

    def processes(self) -> list[int]:
        """Ids, on the host, of all processes inside; empty where the host does not see them."""
        ...

    def kill(self) -> None:
        """End everything inside and wait until it is gone. May be called twice."""
        ...

    def said(self) -> str:
        """What it wrote to its standard error, for a sandbox that did not start."""
        ...
