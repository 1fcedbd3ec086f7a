"""What the gateway answers for an index: pages written anew, and files checked against their digest."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote

from expbench.sandboxes.network.cache import Cache, is_digest
from expbench.sandboxes.network.denied import Denied, decoded
from expbench.sandboxes.network.exchange import CHUNK, Exchange, Request
from expbench.sandboxes.network.index import Index, origin
from expbench.sandboxes.network.links import Link, sign
from expbench.sandboxes.network.reaching import split_authority
from expbench.sandboxes.network.refusing import Failed, Refused
from expbench.sandboxes.network.rewriting import (
    ACCEPT,
    HTML,
    JSON,
    NPM_SHORT,
    read_simple,
    rewrite_npm,
    write_simple,
)
from expbench.sandboxes.network.routes import Route, find
from expbench.sandboxes.network.upstream import Answer, Upstream, ensure_found

_BYTES = "application/octet-stream"


@dataclass(frozen=True)
class Answering:
    """Answers requests for the gateway's own addresses."""

    indexes: Sequence[Index]
    denied: Denied
    upstream: Upstream
    cache: Cache

    async def answer(self, request: Request, exchange: Exchange) -> None:
        """Raises Refused and Failed; also after a part was sent, when the whole must not arrive."""
        route = find(request.path, self.indexes, self.denied, self.cache.key)
        head = request.method == "HEAD"
        if route.kind == "page":
            kind, body = await self._page(route, request)
            await exchange.whole(200, kind, body, head)
            return
        try:
            async with asyncio.timeout(self.upstream.bounds.file_seconds):
                await self._file(route, exchange, head)
        except TimeoutError:
            raise Failed(504, "The download took too long.") from None

    async def _page(self, route: Route, request: Request) -> tuple[str, bytes]:
        accepted = request.headers.get("accept", "")
        base = _base(request, route)
        npm = route.index.kind == "npm"

        def place(name: str, link: Link) -> str:
            if not name or self.denied.file(name) or self.denied.url(link.url):
                return ""
            return f"{base}/{sign(self.cache.key, route.index, link)}/{quote(name)}"

        def follow(url: str) -> None:
            name = decoded(url).partition("?")[0].rstrip("/").rpartition("/")[2]
            if why := self.denied.package(name):
                raise Refused("package", name, why, papers=True)
            if not same_origin(route.index, url):
                raise _elsewhere(url)

        wanted = (NPM_SHORT if NPM_SHORT in accepted else "application/json") if npm else ACCEPT
        page = await self.upstream.page(route.index, route.link.url, wanted, follow)
        if npm:
            body = await asyncio.to_thread(rewrite_npm, page.body, page.url, place)
            return "application/json", body
        entries = await asyncio.to_thread(read_simple, page.body, page.kind, page.url)
        as_json = JSON in accepted
        body = await asyncio.to_thread(write_simple, route.name, entries, place, as_json)
        return JSON if as_json else f"{HTML}; charset=utf-8", body

    async def _file(self, route: Route, exchange: Exchange, head: bool) -> None:
        link = route.link
        if is_digest(link.digest):
            cached = await asyncio.to_thread(self.cache.find, link.url, link.digest)
            if cached is not None:
                with cached:
                    await _send_file(cached, exchange, head)
                return

        def follow(url: str) -> None:
            if why := self.denied.url(url):
                raise Refused("path", url, why, papers=True)
            if not same_origin(route.index, url) and not url.startswith("https://"):
                raise _elsewhere(url)

        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        async with self.upstream.open(route.index, link.url, headers, follow) as answer:
            ensure_found(answer)
            if head:
                await exchange.start(200, _length(answer))
                await exchange.end()
            elif is_digest(link.digest):
                await self._checked(route, answer, exchange)
            else:
                await exchange.start(200, _length(answer))
                async for chunk in self._bounded(answer):
                    await exchange.data(chunk)
                await exchange.end()

    async def _checked(self, route: Route, answer: Answer, exchange: Exchange) -> None:
        """Pass a file on while it comes, but keep its last piece back until the digest is known."""
        incoming = self.cache.incoming(route.link.url, route.link.digest)
        try:
            held = b""
            async for chunk in self._bounded(answer):
                incoming.write(chunk)
                await _pass(held, answer, exchange)
                held = chunk
            if not incoming.right():
                why = "What the index sent has not the digest that its page names."
                raise Refused("package", route.name, why)
        finally:
            incoming.drop()
        await _pass(held, answer, exchange)
        if not exchange.started:
            await exchange.start(200, _length(answer))
        await exchange.end()
        await asyncio.to_thread(self.cache.trim)

    async def _bounded(self, answer: Answer) -> AsyncIterator[bytes]:
        left = self.upstream.bounds.file_bytes
        async for chunk in answer.body:
            left -= len(chunk)
            if left < 0:
                raise Failed(502, "The file is larger than the gateway passes on.")
            yield chunk


def same_origin(index: Index, url: str) -> bool:
    """Whether an address is on an index's own host and port, by the same scheme."""
    return origin(url) == index.origin


def _elsewhere(url: str) -> Refused:
    return Refused("host", url, "The index redirects to there, which is not followed.")


async def _pass(chunk: bytes, answer: Answer, exchange: Exchange) -> None:
    if chunk and not exchange.started:
        await exchange.start(200, _length(answer))
    await exchange.data(chunk)


async def _send_file(file: BinaryIO, exchange: Exchange, head: bool) -> None:
    size = str(os.fstat(file.fileno()).st_size)
    await exchange.start(200, [("Content-Type", _BYTES), ("Content-Length", size)])
    while not head and (chunk := file.read(CHUNK)):
        await exchange.data(chunk)
    await exchange.end()


def _length(answer: Answer) -> list[tuple[str, str]]:
    kind = ("Content-Type", answer.headers.get("content-type", _BYTES))
    length = answer.headers.get("content-length")
    return [kind, ("Content-Length", length)] if length else [kind]


def _base(request: Request, route: Route) -> str:
    """Where our links begin; the host is as the sandbox wrote it, so that its own port is right."""
    host = request.headers.get("host", "")
    prefix = f"http://{host}" if split_authority(host) else ""
    return f"{prefix}/{route.index.kind}/{route.number}/file"
