"""Serving the page on the loopback until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

import uvicorn

from expbench.errors import PrerequisiteError
from expbench.review.guarding import Guard
from expbench.review.web import Desk, application

PORT = 8417
"""Tried first, so that a page that is still open finds a server that was started again."""
_HERE = "127.0.0.1"


def listen(port: int | None) -> socket.socket:
    """A socket on the loopback: at a port, or at the usual one and else at any that is free.

    Raises:
        PrerequisiteError: the port is taken.
    """
    for wanted in (port,) if port is not None else (PORT, 0):
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((_HERE, wanted))
            found.listen(64)
        except OSError as error:
            found.close()
            why = error.strerror
        else:
            return found
    raise PrerequisiteError(f"Port {port} cannot be had ({why}): choose another with --port.")


def serve(desk: Desk, listener: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve until an interrupt or a termination.

    Args:
        ready: is told the page's address, with its token, once it answers.
    """
    token = secrets.token_urlsafe(32)
    port = listener.getsockname()[1]
    config = uvicorn.Config(
        Guard(application(desk), token, port),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,  # which would have the token
        log_level="error",
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    ready(f"http://{_HERE}:{port}/{token}/")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        return
    finally:
        listener.close()
