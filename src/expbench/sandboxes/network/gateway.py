"""The gateway: the only way out of a sandbox with network ``packages`` (R14, R15).

It listens on a unix socket that is bound into the sandbox, where ``forwarder.py`` makes it reachable
as 127.0.0.1:PORT; the sandbox has no network but its own loopback. TLS would hide which package is
asked for, so package managers talk plain HTTP to it as if it were the index (:mod:`.routes`). It asks
the real index from the host, with TLS verified, leaves out the paper's own package and writes pages
anew with links of its own (:mod:`.answering`). To the hosts that the user allows it is an ordinary
proxy. Everything else is refused with one sentence, and recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket as sockets
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from expbench.sandboxes.network import inside
from expbench.sandboxes.network.answering import Answering
from expbench.sandboxes.network.cache import Cache
from expbench.sandboxes.network.denied import Denied
from expbench.sandboxes.network.exchange import Exchange, Request
from expbench.sandboxes.network.hello import server_name
from expbench.sandboxes.network.index import Index, origin
from expbench.sandboxes.network.listening import SHARED, listen
from expbench.sandboxes.network.reaching import Door, is_address
from expbench.sandboxes.network.refusing import Failed, Refused
from expbench.sandboxes.network.tunnel import relay
from expbench.sandboxes.network.upstream import Bounds, Upstream
from expbench.schema import Refusal

_ASKED = (
    "accept",
    "accept-encoding",
    "authorization",
    "if-modified-since",
    "if-none-match",
    "range",
)
_ANSWERED = (
    "accept-ranges",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "etag",
    "last-modified",
    "location",
    "www-authenticate",
)
_WEB_PORTS = frozenset({80, 443})
_HEAD_SECONDS = 20.0
_CLOSING_SECONDS = 10.0
_SHOWN = 300


class Gateway:
    """One sandbox's way to package indexes and allowed hosts; a context manager.

    Args:
        socket: where to listen; the folder is bound into the sandbox.
        indexes: in the order of their numbers in the gateway's addresses.
        allow_hosts: ``name`` (ports 80 and 443) or ``name:port``. A name whose address is in a private
            network needs that address among them too.
        denied: what nobody may fetch.
        cache: folder of verified downloads, shared by all gateways of a user.
        refused: told about each refusal, from the gateways' thread; it must not block.

    Raises:
        UserError: an entry of ``allow_hosts`` is no host.
        PrerequisiteError: the cache cannot be written.
        SandboxError: on entry, the socket could not be made.
    """

    def __init__(
        self,
        socket: Path,
        indexes: Sequence[Index],
        allow_hosts: Sequence[str] = (),
        denied: Denied | None = None,
        *,
        cache: Path,
        refused: Callable[[Refusal], None],
        bounds: Bounds | None = None,
    ) -> None:
        self.indexes = tuple(indexes)
        self._socket = socket
        self._denied = denied or Denied()
        self._refused = refused
        self._bounds = bounds or Bounds()
        own = [each.origin[1:] for each in self.indexes]
        own += [found[1:] for each in self.indexes if (found := origin(each.proxy))]
        self._door = Door.of(allow_hosts, own)
        self._upstream = Upstream(self._door, self._bounds)
        kept = Cache(cache, self._bounds.cache_bytes)
        self._answering = Answering(self.indexes, self._denied, self._upstream, kept)
        self._refusals = {True: 0, False: 0}
        self._reached: dict[str, int] = {}
        self._stop = asyncio.Event()
        self._exit = contextlib.ExitStack()

    def __enter__(self) -> Gateway:
        with contextlib.ExitStack() as stack:
            self._started = time.monotonic()
            listener = stack.enter_context(listen(self._socket))
            stack.callback(self._socket.unlink, missing_ok=True)
            loop = stack.enter_context(SHARED.loop())
            serving = asyncio.run_coroutine_threadsafe(self._serve(listener), loop)
            stack.callback(serving.result, _CLOSING_SECONDS)
            stack.callback(loop.call_soon_threadsafe, self._stop.set)
            self._exit = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def reached(self) -> dict[str, int]:
        """The allowed hosts that were reached, ``name:port``, and how often."""
        return dict(self._reached)

    def environment(self, port: int) -> dict[str, str]:
        """Variables that point package managers in the sandbox at the forwarder's port."""
        return inside.environment(self.indexes, port)

    def files(self, port: int) -> dict[str, str]:
        """Files for what takes no variable, by their path in the sandbox."""
        return inside.files(self.indexes, port)

    async def _serve(self, listener: sockets.socket) -> None:
        tasks: set[asyncio.Task[None]] = set()
        accepting = asyncio.create_task(self._accept(listener, tasks))
        await self._stop.wait()
        ending = [accepting, *tasks]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await self._upstream.close()

    async def _accept(self, listener: sockets.socket, tasks: set[asyncio.Task[None]]) -> None:
        """Take connections, as many as are bounded; others wait in the kernel's queue."""
        loop = asyncio.get_running_loop()
        slots = asyncio.Semaphore(self._bounds.connections)

        def ended(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            slots.release()

        while True:
            await slots.acquire()
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:
                # This process has no file descriptor left: others may end soon.
                slots.release()
                await asyncio.sleep(0.2)
                continue
            task = asyncio.create_task(self._take(connection))
            tasks.add(task)
            task.add_done_callback(ended)

    async def _take(self, connection: sockets.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        exchange = Exchange(reader, writer, self._bounds.idle_seconds)
        try:
            await self._handle(exchange)
            writer.close()
            await asyncio.wait_for(writer.wait_closed(), self._bounds.idle_seconds)
        except (OSError, TimeoutError):
            pass
        finally:
            writer.transport.abort()

    async def _handle(self, exchange: Exchange) -> None:
        target = ""
        try:
            request = await exchange.request(min(_HEAD_SECONDS, self._bounds.idle_seconds))
            if request is None:
                return
            target = request.path or f"{request.host}:{request.port}"
            if request.method == "CONNECT":
                await self._connect(request, exchange)
            elif request.host:
                await self._fetch(request, exchange)
            else:
                await self._answering.answer(request, exchange)
        except Refused as refused:
            self._record(refused, target)
            await _say(exchange, 403, refused.why)
        except Failed as failed:
            await _say(exchange, failed.status, failed.why)
        except TimeoutError:
            await _say(exchange, 504, "It took too long.")

    async def _connect(self, request: Request, exchange: Exchange) -> None:
        """A tunnel to an allowed host. What goes through it is not seen, but for whom it is meant."""
        self._check(request)
        wait = self._bounds.connect_seconds
        reader, writer = await self._door.connect(request.host, request.port, wait)
        try:
            early = await exchange.tunnel()
            if request.port in _WEB_PORTS | self._door.ports_of_indexes:
                async with asyncio.timeout(self._bounds.idle_seconds):
                    name, early = await server_name(exchange.reader, early)
                if name != ("" if is_address(request.host) else request.host):
                    target = f"{name}:{request.port}" if name else ""
                    why = "A tunnel to this port is for TLS with the very host that was asked for."
                    raise Refused("host", target, why)
            self._count(request)
            writer.write(early)
            sandbox = (exchange.reader, exchange.writer)
            await relay(sandbox, (reader, writer), self._bounds.tunnel_idle_seconds)
        finally:
            writer.transport.abort()

    async def _fetch(self, request: Request, exchange: Exchange) -> None:
        """A plain http address of an allowed host; its redirects are for the client to ask about."""
        self._check(request)
        if why := self._denied.url(request.url):
            raise Refused("path", request.url, why, papers=True)
        headers = {name: request.headers[name] for name in _ASKED if name in request.headers}
        self._count(request)
        async with (
            asyncio.timeout(self._bounds.file_seconds),
            self._upstream.open(None, request.url, headers, _never) as answer,
        ):
            known = [(name, answer.headers[name]) for name in _ANSWERED if name in answer.headers]
            await exchange.start(answer.status, known)
            if request.method == "GET":
                async for chunk in answer.body:
                    await exchange.data(chunk)
            await exchange.end()

    def _check(self, request: Request) -> None:
        if why := self._denied.host(request.host):
            raise Refused("host", f"{request.host}:{request.port}", why, papers=True)
        self._door.check(request.host, request.port)

    def _count(self, request: Request) -> None:
        name = f"{request.host}:{request.port}"
        self._reached[name] = self._reached.get(name, 0) + 1

    def _record(self, refused: Refused, target: str) -> None:
        # Counted apart, so that noise cannot crowd out what concerns the paper.
        self._refusals[refused.papers] += 1
        count = self._refusals[refused.papers]
        if count > self._bounds.refusals:
            return
        shown = (refused.target or target)[:_SHOWN]
        shown = "".join(c if c.isprintable() else "?" for c in shown)
        last = count == self._bounds.refusals
        why = f"{refused.why} Further ones are not recorded." if last else refused.why
        seconds = round(time.monotonic() - self._started, 3)
        self._refused(
            Refusal(
                seconds=seconds, kind=refused.kind, target=shown, why=why, papers=refused.papers
            )
        )


async def _say(exchange: Exchange, status: int, why: str) -> None:
    """Answer with one sentence; where an answer has begun already, end the connection instead."""
    if exchange.started:
        raise ConnectionAbortedError(why)
    await exchange.whole(status, "text/plain; charset=utf-8", f"{why}\n".encode())


def _never(url: str) -> None:
    raise AssertionError(url)
