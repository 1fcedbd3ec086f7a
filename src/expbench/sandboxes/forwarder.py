"""Makes a unix socket reachable as a port of the sandbox's own loopback.

Run by a Python of the sandbox as ``forwarder.py SOCKET PORT``. It uses the standard library only and
nothing of this package. It writes ``ready`` to standard output when it listens, relays bytes both
ways, and never holds more than a few pieces of each connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys

_CHUNK = 64 * 1024
_CONNECTIONS = 64
_BACKLOG = 512
_LINGER = 30.0


async def forward(place: str, port: int) -> None:
    """Listen on 127.0.0.1:port for ever. Raises OSError when the port is taken."""
    loop = asyncio.get_running_loop()
    slots = asyncio.Semaphore(_CONNECTIONS)
    tasks: set[asyncio.Task[None]] = set()

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        slots.release()

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        print("ready", flush=True)  # noqa: T201
        while True:
            await slots.acquire()
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:
                slots.release()
                await asyncio.sleep(0.2)
                continue
            task = asyncio.ensure_future(_relay(connection, place))
            tasks.add(task)
            task.add_done_callback(ended)


async def _relay(connection: socket.socket, place: str) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    try:
        there, back = await asyncio.open_unix_connection(place)
    except OSError:
        writer.transport.abort()
        return
    asking = asyncio.ensure_future(_pump(reader, back))
    try:
        await _pump(there, writer)
        # The gateway has said all: whoever asked has little left to say.
        await asyncio.wait([asking], timeout=_LINGER)
    except OSError:
        pass
    finally:
        asking.cancel()
        writer.close()
        back.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


def main(arguments: list[str]) -> None:
    place, port = arguments
    try:
        asyncio.run(forward(place, int(port)))
    except OSError as error:
        sys.exit(f"Port {port} cannot be listened on: {error.strerror}.")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
