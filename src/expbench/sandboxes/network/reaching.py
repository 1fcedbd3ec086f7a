"""Which hosts may be reached, and to which addresses their names may lead.

A name is resolved here, on the host, and the connection goes to the very address that was checked: a
name server that answers differently the second time gains nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from expbench.errors import UserError
from expbench.sandboxes.network.refusing import Failed, Refused

_ENTRY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?")
_WEB_PORTS = frozenset({80, 443})
# Addresses that hold another one inside: NAT64, 6to4, Teredo.
_CARRIERS = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "2002::/16", "2001::/32")))


@dataclass(frozen=True)
class Door:
    """The hosts that may be reached.

    ``allowed`` are pairs of a host and a port that the user allows; ``own`` are the origins of the
    indexes and of the host's own proxy, which the user has set up and which may lie in a private network.
    """

    allowed: frozenset[tuple[str, int]] = frozenset()
    own: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def of(cls, allow_hosts: Iterable[str], own: Iterable[tuple[str, int]] = ()) -> Door:
        """A door that lets through ``name`` (ports 80 and 443) and ``name:port``.

        Raises:
            UserError: an entry is neither.
        """
        pairs = [pair for entry in allow_hosts for pair in _pairs(entry)]
        return cls(frozenset(pairs), frozenset(own))

    def check(self, host: str, port: int) -> None:
        """Raises Refused unless the user allows this host and port."""
        if (host, port) in self.own and (host, port) not in self.allowed:
            raise Refused(
                "host",
                f"{host}:{port}",
                "A package index is reached through the gateway's own addresses only.",
            )
        if (host, port) not in self.allowed:
            raise Refused("host", f"{host}:{port}", "It is not among the allowed hosts.")

    @property
    def ports_of_indexes(self) -> frozenset[int]:
        return frozenset(port for _, port in self.own)

    async def addresses(self, host: str, port: int, for_index: bool = False) -> list[str]:
        """The addresses of a host, checked.

        Args:
            for_index: a page of an index named this host. Then the user's own indexes may lie in a
                private network, and other hosts at the same address and port.

        Raises:
            Refused: one of them is not of the public internet, and is not allowed itself.
            Failed: the host is unknown.
        """
        addresses = await _resolve(host, port)
        if for_index and (host, port) in self.own:
            return addresses
        inner = {each for each in addresses if not public(each)}
        inner -= {each for each in inner if (each, port) in self.allowed}
        if inner and for_index:
            inner -= await self._of_indexes(port)
        if inner:
            why = f"Its address {min(inner)} is not of the public internet: allow that one too."
            raise Refused("host", f"{host}:{port}", why)
        return addresses

    async def _of_indexes(self, port: int) -> set[str]:
        found: set[str] = set()
        for host in sorted(name for name, each in self.own if each == port):
            with contextlib.suppress(Failed):
                found.update(await _resolve(host, port))
        return found

    async def connect(
        self, host: str, port: int, seconds: float
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the first of a host's addresses that takes one. Raises Refused, Failed."""
        for address in await self.addresses(host, port):
            try:
                async with asyncio.timeout(seconds):
                    return await asyncio.open_connection(address, port)
            except (OSError, TimeoutError):
                continue
        raise Failed(502, f"{host}:{port} cannot be reached.")


async def _resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Failed(502, f"{host} is not known to the name server.") from None
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def is_address(host: str) -> bool:
    """Whether a host is written as an address and has no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def public(address: str) -> bool:
    """Whether an address is one of the public internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return public(str(found.ipv4_mapped))
        if any(found in network for network in _CARRIERS):
            return False
    return found.is_global and not found.is_multicast


def split_authority(text: str) -> tuple[str, int | None] | None:
    """Host (lower case, no brackets, no final dot) and port of ``host:port``; none for other texts."""
    found = _ENTRY.fullmatch(text.lower())
    if found is None or (found[2] is not None and not 0 < int(found[2]) < 65536):
        return None
    host = found[1].strip("[]").rstrip(".")
    return (host, int(found[2]) if found[2] else None) if host else None


def _pairs(entry: str) -> list[tuple[str, int]]:
    bare = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
    found = split_authority(bare)
    if found is None:
        raise UserError(f"{entry!r} is no host to allow: write a name, or name:port.")
    host, port = found
    return [(host, port)] if port is not None else [(host, each) for each in sorted(_WEB_PORTS)]
