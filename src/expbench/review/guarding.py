"""Who may speak to the page's server: whoever has its address, from this machine, with a page of its own.

The address has a random token, which is compared in constant time on every request, also for what is not
there. A foreign ``Host`` is refused, so that no web site can reach the server by a name of its own that is
made to lead here (DNS rebinding), and so is a foreign ``Origin``. What the page shows is hostile: it may
load nothing but from here and run no script but the server's own files.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MOST = 2_000_000
"""Bytes of a request's body."""


class Guard:
    """Lets through what comes with the token, to a host of this machine, and sets every answer's headers."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            return
        if (no := self._refusal(scope)) is not None:
            await no(scope, receive, headed)
            return
        inner = {**scope, "path": "/" + scope["path"].removeprefix("/").partition("/")[2]}
        await self._app(inner, _Bounded(receive), headed)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self._hosts:
            return _no("This server is asked by another name than its own.")
        given = scope["path"].removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            return _no("The address is not the one that `expbench review` printed when it started.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Not allowed.", 405)
        if scope["method"] == "POST":
            return self._foreign(headers)
        return None

    def _foreign(self, headers: Headers) -> Response | None:
        """Why a request that changes something is refused."""
        origins = {f"http://{host}" for host in self._hosts}
        if headers.get("origin", "") not in origins:
            return _no("The request comes from another page.")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return PlainTextResponse("Only JSON is taken.", 415)
        return None


class _Bounded:
    """A request's body, of which too much is as if the client had gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = _MOST

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else {"type": "http.disconnect"}


def _no(why: str) -> Response:
    return PlainTextResponse(why, 403)
