"""A tunnel: bytes both ways, with flat memory, until both sides have ended or neither says anything."""

from __future__ import annotations

import asyncio
import contextlib

_CHUNK = 64 * 1024

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def relay(one: Stream, other: Stream, idle: float) -> None:
    """Pass on until the end; ``idle`` are the seconds that both sides together may be silent."""
    loop = asyncio.get_running_loop()
    last = loop.time()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal last
        while True:
            try:
                async with asyncio.timeout_at(last + idle):
                    data = await reader.read(_CHUNK)
            except TimeoutError:
                if loop.time() - last < idle:
                    continue
                raise
            last = loop.time()
            if not data:
                break
            writer.write(data)
            async with asyncio.timeout(idle):
                await writer.drain()
        with contextlib.suppress(OSError):
            writer.write_eof()

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pump(one[0], other[1]))
            group.create_task(pump(other[0], one[1]))
    except* (OSError, TimeoutError):
        pass
