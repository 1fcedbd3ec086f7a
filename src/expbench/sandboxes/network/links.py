"""Links that only the gateway can make: an address that a page of an index named, signed.

Nothing has to be remembered about pages, and a lock file that an agent wrote in one sandbox is good in
the next one: the key belongs to the user's cache.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
from dataclasses import dataclass

from expbench.sandboxes.network.index import Index, origin

_MAC = 16


@dataclass(frozen=True)
class Link:
    """A file that a page named: its address, its digest and that of its metadata, as ``sha256=…``."""

    url: str
    digest: str = ""
    metadata: str = ""


def sign(key: bytes, index: Index, link: Link) -> str:
    """One path segment that stands for a link of this index."""
    # What an address has in common with its index's may hold a secret of the user's: it is left out.
    pairs = zip(index.url, link.url, strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    said = [shared, link.url[shared:], link.digest, link.metadata]
    payload = json.dumps(said, separators=(",", ":")).encode()
    whole = _mac(key, index, payload) + payload
    return base64.urlsafe_b64encode(whole).decode().rstrip("=")


def verify(key: bytes, index: Index, segment: str) -> Link | None:
    """The link that a segment stands for; none unless it was signed for this index."""
    try:
        whole = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except ValueError:
        return None
    mac, payload = whole[:_MAC], whole[_MAC:]
    if not hmac.compare_digest(mac, _mac(key, index, payload)):
        return None
    shared, rest, digest, metadata = json.loads(payload)
    url = index.url[:shared] + rest
    return Link(url, digest, metadata) if origin(url) else None


def _mac(key: bytes, index: Index, payload: bytes) -> bytes:
    text = b"\0".join([index.kind.encode(), index.url.encode(), payload])
    return hmac.digest(key, text, hashlib.sha256)[:_MAC]
