"""One request of a sandbox and its answer: one connection each, parsed strictly by h11.

A second request on the same connection is never read, and a request with a body never answered: there
is nothing to smuggle.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

from expbench.sandboxes.network.index import origin
from expbench.sandboxes.network.reaching import split_authority
from expbench.sandboxes.network.refusing import Refused

CHUNK = 64 * 1024
_HEAD = 32 * 1024
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class Request:
    """What was asked.

    ``host`` is empty for the gateway's own paths; ``path`` is as it stood in the request, with its
    query. ``method`` is CONNECT, GET or HEAD.
    """

    method: str
    host: str
    port: int
    path: str
    headers: dict[str, str]

    @property
    def url(self) -> str:
        """The address of a request to a host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.path}"


class Exchange:
    """One connection of a sandbox.

    Args:
        idle: seconds that the other side may take for each step.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle: float
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._idle = idle
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD)
        self.started = False

    async def request(self, seconds: float) -> Request | None:
        """What is asked; none where the other side left. Raises Refused, TimeoutError."""
        event: object = h11.NEED_DATA
        async with asyncio.timeout(seconds):
            while event is h11.NEED_DATA:
                data = await self.reader.read(CHUNK)
                try:
                    self._http.receive_data(data)
                    event = self._http.next_event()
                except h11.RemoteProtocolError as error:
                    raise Refused("request", "", f"It is not HTTP: {error}.") from None
        return _parsed(event) if isinstance(event, h11.Request) else None

    async def start(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Send the head of an answer."""
        self.started = True
        whole = [*headers, ("Connection", "close")]
        await self._send(h11.Response(status_code=status, headers=whole))

    async def data(self, chunk: bytes) -> None:
        """Send a piece of the answer's body, as fast as it is taken."""
        if chunk:
            await self._send(h11.Data(data=chunk))

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    async def whole(self, status: int, kind: str, body: bytes, head: bool = False) -> None:
        """Send a complete answer; without its body where only the head was asked for."""
        headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
        await self.start(status, headers)
        if not head:
            for place in range(0, len(body), CHUNK):
                await self.data(body[place : place + CHUNK])
        await self.end()

    async def tunnel(self) -> bytes:
        """Say yes to CONNECT; the bytes that came after the request."""
        self.started = True
        await self._send(h11.Response(status_code=200, headers=[]))
        return self._http.trailing_data[0]

    async def _send(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        try:
            sent = self._http.send(event)
        except h11.LocalProtocolError as error:
            raise ConnectionError(str(error)) from None
        if sent:
            self.writer.write(sent)
            async with asyncio.timeout(self._idle):
                await self.writer.drain()


def _parsed(event: h11.Request) -> Request:
    method, target = event.method.decode(), event.target.decode("ascii")
    if event.http_version not in (b"1.0", b"1.1"):
        raise Refused("request", target, "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
    headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        raise Refused("request", target, "Requests with a body are not passed on.")
    if method == "CONNECT":
        authority = split_authority(target)
        if authority is None or authority[1] is None:
            raise Refused("request", target, "CONNECT takes a host and a port, name:port.")
        return Request(method, authority[0], authority[1], "", headers)
    if method not in ("GET", "HEAD"):
        raise Refused("request", target, f"{method} is not passed on, only GET and HEAD.")
    if "#" in target or _ESCAPE.search(target):
        raise Refused("request", target, "It is not a well-formed address.")
    if target.startswith("/"):
        return Request(method, "", 0, target, headers)
    return _absolute(method, target, headers)


def _absolute(method: str, target: str, headers: dict[str, str]) -> Request:
    parts = origin(target)
    if parts is None or not target.startswith("http://"):
        raise Refused("request", target, "Only http:// addresses and the gateway's own are known.")
    split = urlsplit(target)
    if split_authority(split.netloc) is None:
        raise Refused("request", target, "An address here is a plain host, without user or tricks.")
    path = split.path or "/"
    query = f"?{split.query}" if split.query else ""
    _, host, port = parts
    return Request(method, host, port, path + query, headers)
