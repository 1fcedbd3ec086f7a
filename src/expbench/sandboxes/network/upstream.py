"""Asking indexes and hosts, from the host: with TLS verified, bounded in size and time.

Redirects are followed one by one and each is asked about; a name leads only to addresses that
:class:`~expbench.sandboxes.network.reaching.Door` has checked; an index's credentials go to its own
origin only.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urljoin, urlsplit

import certifi
import httpcore

from expbench.sandboxes.network.index import Index, origin
from expbench.sandboxes.network.reaching import Door
from expbench.sandboxes.network.refusing import Failed

_MIB = 1024**2
_REDIRECTS = 5
_ATTEMPTS = 3
_MOVED = frozenset({301, 302, 303, 307, 308})
_AGENT = "expbench-gateway"

Follow = Callable[[str], None]
"""Raises Refused for an address that must not be followed."""


@dataclass(frozen=True)
class Bounds:
    """How much and how long, for one request. Seconds and bytes."""

    page_bytes: int = 48 * _MIB
    page_seconds: float = 90.0
    file_bytes: int = 16 * 1024 * _MIB
    file_seconds: float = 3600.0
    connect_seconds: float = 15.0
    idle_seconds: float = 60.0
    """Without a byte, in either direction."""
    tunnel_idle_seconds: float = 600.0
    connections: int = 64
    cache_bytes: int = 32 * 1024 * _MIB
    refusals: int = 1000
    """Refusals that are recorded, the paper's own and others each; the last one says so."""


@dataclass(frozen=True)
class Answer:
    """The answer of an index or host: where it came from in the end, and its body piece by piece."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


@dataclass(frozen=True)
class Page:
    """A whole body, with the address and type it came with."""

    url: str
    kind: str
    body: bytes


@dataclass
class Upstream:
    """Asks from the host. ``door`` decides about addresses."""

    door: Door
    bounds: Bounds
    _pools: dict[tuple[str, str] | None, httpcore.AsyncConnectionPool] = field(default_factory=dict)

    @asynccontextmanager
    async def open(
        self, index: Index | None, url: str, headers: Mapping[str, str], follow: Follow
    ) -> AsyncIterator[Answer]:
        """The answer to GET, its body not read yet; ``follow`` is asked about each redirect.

        Raises:
            Refused: a redirect or an address that must not be followed.
            Failed: there is no answer.
        """
        pool = self._pool(index)
        try:
            for _ in range(_REDIRECTS + 1):
                sent = [("Host", _host(url)), ("User-Agent", _AGENT), *headers.items()]
                if index and index.authorization and origin(url) == index.origin:
                    sent.append(("Authorization", index.authorization))
                async with self._asked(pool, url, sent) as response:
                    found = _headers(response.headers)
                    if index and response.status in _MOVED and "location" in found:
                        url = urljoin(url, found["location"])
                        follow(url)
                        continue
                    yield Answer(response.status, url, found, response.aiter_stream())
                    return
        except httpcore.TimeoutException:
            raise Failed(504, f"{_host(url)} took too long.") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
            raise Failed(502, f"{_host(url)} did not answer: {error}.") from None
        except httpcore.UnsupportedProtocol:
            raise Failed(502, "The index names an address that is not http or https.") from None
        raise Failed(502, f"{_host(url)} redirects without end.")

    @asynccontextmanager
    async def _asked(
        self, pool: httpcore.AsyncConnectionPool, url: str, headers: list[tuple[str, str]]
    ) -> AsyncIterator[httpcore.Response]:
        request = httpcore.Request("GET", url, headers=headers, extensions=self._timeouts())
        for attempt in range(_ATTEMPTS):
            try:
                response = await pool.handle_async_request(request)
                break
            except (httpcore.RemoteProtocolError, httpcore.ReadError, httpcore.WriteError):
                # A kept connection that the other side had just closed: GET may be asked again.
                if attempt == _ATTEMPTS - 1:
                    raise
        try:
            yield response
        finally:
            await response.aclose()

    async def page(self, index: Index, url: str, accept: str, follow: Follow) -> Page:
        """A page as a whole. Raises Refused, and Failed also when it is too large or too slow."""
        headers = {"Accept": accept, "Accept-Encoding": "gzip"}
        try:
            async with (
                asyncio.timeout(self.bounds.page_seconds),
                self.open(index, url, headers, follow) as answer,
            ):
                ensure_found(answer)
                body = await self._whole(answer)
        except TimeoutError:
            raise Failed(504, f"{_host(url)} took too long.") from None
        return Page(answer.url, answer.headers.get("content-type", ""), body)

    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()

    async def _whole(self, answer: Answer) -> bytes:
        limit = self.bounds.page_bytes
        gunzip = None
        if answer.headers.get("content-encoding", "identity").lower() in ("gzip", "x-gzip"):
            gunzip = zlib.decompressobj(31)
        found = bytearray()
        async for chunk in answer.body:
            try:
                found += gunzip.decompress(chunk, limit + 1 - len(found)) if gunzip else chunk
            except zlib.error:
                raise Failed(502, "The index's page is not what it says: bad gzip.") from None
            if len(found) > limit:
                raise Failed(502, f"The index's page is larger than {limit // _MIB} MiB.")
        return bytes(found)

    def _pool(self, index: Index | None) -> httpcore.AsyncConnectionPool:
        ca, proxy = (index.ca, index.proxy) if index else ("", "")
        key = (ca, proxy) if index else None
        if key not in self._pools:
            self._pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=_authorities(ca),
                proxy=_proxy(proxy) if proxy else None,
                max_connections=self.bounds.connections,
                max_keepalive_connections=8,
                keepalive_expiry=10.0,
                network_backend=_CheckedBackend(self.door, index is not None),
            )
        return self._pools[key]

    def _timeouts(self) -> dict[str, dict[str, float]]:
        wait, idle = self.bounds.connect_seconds, self.bounds.idle_seconds
        return {"timeout": {"connect": wait, "pool": idle, "read": idle, "write": idle}}


def ensure_found(answer: Answer) -> None:
    """Raises Failed for anything but a success."""
    if answer.status in (404, 410):
        raise Failed(404, "The index does not have it.")
    if answer.status != 200:
        status = 403 if 400 <= answer.status < 500 else 502
        raise Failed(status, f"The index answered with status {answer.status}.")


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses that the door has checked, and to no others."""

    def __init__(self, door: Door, for_index: bool) -> None:
        self._door = door
        self._for_index = for_index
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        error: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        name = host.lower().rstrip(".")
        for address in await self._door.addresses(name, port, self._for_index):
            try:
                return await self._plain.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failed:
                error = failed
        raise error or httpcore.ConnectError(f"{host} has no address")


@functools.cache
def _authorities(ca: str) -> ssl.SSLContext:
    """The machine's certificate authorities, the usual ones, and those of a file."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    if ca:
        try:
            context.load_verify_locations(ca)
        except (OSError, ssl.SSLError):
            raise Failed(
                502, f"The certificates {ca} of this machine's settings cannot be read."
            ) from None
    return context


def _proxy(address: str) -> httpcore.Proxy:
    user, _, password = unquote(urlsplit(address).netloc.rpartition("@")[0]).partition(":")
    split = urlsplit(address)
    plain = split._replace(netloc=split.netloc.rpartition("@")[2]).geturl()
    return httpcore.Proxy(plain, auth=(user, password) if user else None)


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
