"""Which server a TLS connection is meant for, read from its first message.

Many names share an address at a content network. Without this look a tunnel to an allowed name could
be used to speak to another one there, such as the package index, past the gateway's filter.
"""

from __future__ import annotations

import asyncio
import ssl

_CHUNK = 16 * 1024
_LONGEST = 64 * 1024


async def server_name(reader: asyncio.StreamReader, early: bytes) -> tuple[str | None, bytes]:
    """The name that a client asks for, empty if it names none, and all bytes read so far.

    ``None`` where the client does not speak TLS. Nothing is answered to it.

    Args:
        early: what was read before.
    """
    found: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def note(_: ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> int:
        found.append((name or "").lower().rstrip("."))
        return ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE

    context.sni_callback = note
    incoming = ssl.MemoryBIO()
    session = context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True)
    seen = data = early
    while len(seen) < _LONGEST:
        incoming.write(data)
        try:
            session.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            return (found[0] if found else None), seen
        data = await reader.read(_CHUNK)
        if not data:
            break
        seen += data
    return None, seen
