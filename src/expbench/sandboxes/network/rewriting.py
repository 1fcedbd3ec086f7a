"""Pages of indexes, made anew: read for the files that they name, and written with our links.

Nothing of an index's page is handed on but known fields, so what else may stand in it gains nothing.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from expbench.sandboxes.network.cache import is_digest
from expbench.sandboxes.network.index import origin
from expbench.sandboxes.network.links import Link
from expbench.sandboxes.network.refusing import Failed

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html"
ACCEPT = f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, {HTML};q=0.1"
NPM_SHORT = "application/vnd.npm.install-v1+json"

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!~-]{0,250}")

Place = Callable[[str, Link], str]
"""The address at which a sandbox finds a file of this name; empty where it must not have it."""


@dataclass(frozen=True)
class Entry:
    """A file that a simple page names, with what it says about it (PEP 503, 592, 658, 691)."""

    name: str
    link: Link
    hashes: tuple[tuple[str, str], ...] = ()
    requires_python: str | None = None
    yanked: str | None = None
    size: int | None = None
    uploaded: str | None = None


def read_simple(body: bytes, kind: str, url: str) -> list[Entry]:
    """The files of a page, HTML or JSON. Raises Failed."""
    try:
        if kind.partition(";")[0].strip().lower().endswith("json"):
            found = _from_json(json.loads(body), url)
        else:
            found = _from_html(body.decode("utf-8", "replace"), url)
        return [each for each in found if _FILE.fullmatch(each.name)]
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise Failed(502, "The index's page cannot be read as one of a package index.") from None


def write_simple(project: str, entries: Sequence[Entry], place: Place, as_json: bool) -> bytes:
    """The page with our links, in the form that was asked for."""
    placed = [(each, where) for each in entries if (where := place(each.name, each.link))]
    if as_json:
        files = [_json_file(each, where) for each, where in placed]
        whole = {"meta": {"api-version": "1.0"}, "name": project, "files": files}
        return json.dumps(whole).encode()
    rows = [_html_file(each, where) for each, where in placed]
    head = f"<!DOCTYPE html><html><head><title>{html.escape(project)}</title></head><body>"
    return "\n".join([head, *rows, "</body></html>\n"]).encode()


def rewrite_npm(body: bytes, url: str, place: Place) -> bytes:
    """A package's metadata with our links; versions without a file of theirs fall out. Raises Failed."""
    try:
        whole = json.loads(body)
        versions = whole.get("versions", {})
        whole["versions"] = {
            version: facts
            for version, facts in versions.items()
            if _place_tarball(facts.get("dist"), url, place)
        }
        return json.dumps(whole).encode()
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise Failed(502, "The index's page cannot be read as one of a package registry.") from None


def file_name(url: str) -> str:
    """The last piece of an address's path."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def _place_tarball(dist: Any, url: str, place: Place) -> bool:
    link = _link(urljoin(url, dist["tarball"]), _integrity(str(dist.get("integrity") or "")))
    where = place(file_name(link.url), link) if link else ""
    dist["tarball"] = where
    return bool(where)


def _integrity(text: str) -> str:
    """``sha512-BASE64`` in our form; empty for others."""
    for each in text.split():
        kind, _, value = each.partition("-")
        try:
            digest = f"{kind}={base64.b64decode(value.partition('?')[0], validate=True).hex()}"
        except binascii.Error:
            continue
        if is_digest(digest):
            return digest
    return ""


def _link(url: str, digest: str, metadata: str = "") -> Link | None:
    clean, _ = urldefrag(url)
    parts = origin(clean)
    if parts is None or "@" in urlsplit(clean).netloc:
        return None
    return Link(clean, digest, metadata)


def _digest(hashes: Mapping[str, str]) -> str:
    """The strongest digest that can be checked; empty without one."""
    for kind in ("sha256", "sha512", "sha384"):
        digest = f"{kind}={str(hashes.get(kind, '')).lower()}"
        if is_digest(digest):
            return digest
    return ""


def _from_json(page: Any, url: str) -> Iterator[Entry]:
    for file in page["files"]:
        hashes = {str(kind): str(value) for kind, value in file.get("hashes", {}).items()}
        core = file.get("core-metadata", file.get("dist-info-metadata"))
        metadata = (_digest(core) or "yes") if isinstance(core, dict) else "yes" if core else ""
        link = _link(urljoin(url, file["url"]), _digest(hashes), metadata)
        yanked = file.get("yanked", False)
        if link is not None:
            yield Entry(
                name=file_name(link.url),
                link=link,
                hashes=tuple(hashes.items()),
                requires_python=_text(file.get("requires-python")),
                yanked=None if yanked is False else yanked if isinstance(yanked, str) else "",
                size=file["size"] if isinstance(file.get("size"), int) else None,
                uploaded=_text(file.get("upload-time")),
            )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "base" and not self.base:
            self.base = said.get("href") or ""
        elif tag == "a" and said.get("href"):
            self.found.append(said)


def _from_html(page: str, url: str) -> Iterator[Entry]:
    anchors = _Anchors()
    anchors.feed(page)
    base = urljoin(url, anchors.base)
    for said in anchors.found:
        whole = urljoin(base, (said["href"] or "").strip())
        kind, _, value = urldefrag(whole).fragment.partition("=")
        hashes = {kind: value} if re.fullmatch(r"[a-z0-9]+", kind) and value.isalnum() else {}
        core = said.get("data-core-metadata", said.get("data-dist-info-metadata", ""))
        digest = core if core and is_digest(core) else "yes" if core in ("true", None) else ""
        link = _link(whole, _digest(hashes), digest)
        if link is not None:
            yield Entry(
                name=file_name(link.url),
                link=link,
                hashes=tuple(hashes.items()),
                requires_python=said.get("data-requires-python"),
                yanked=(said["data-yanked"] or "") if "data-yanked" in said else None,
            )


def _json_file(entry: Entry, where: str) -> dict[str, object]:
    core = entry.link.metadata
    said: dict[str, object] = {
        "filename": entry.name,
        "url": where,
        "hashes": dict(entry.hashes),
        "yanked": False if entry.yanked is None else entry.yanked or True,
    }
    if core:
        kind, _, value = core.partition("=")
        said["core-metadata"] = said["dist-info-metadata"] = {kind: value} if value else True
    more = {
        "requires-python": entry.requires_python,
        "size": entry.size,
        "upload-time": entry.uploaded,
    }
    return said | {name: value for name, value in more.items() if value is not None}


def _html_file(entry: Entry, where: str) -> str:
    fragment = "".join(f"#{kind}={quote(value)}" for kind, value in entry.hashes[:1])
    said = {"href": where + fragment}
    if entry.requires_python is not None:
        said["data-requires-python"] = entry.requires_python
    if entry.yanked is not None:
        said["data-yanked"] = entry.yanked
    if core := entry.link.metadata:
        said["data-core-metadata"] = said["data-dist-info-metadata"] = (
            "true" if core == "yes" else core
        )
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in said.items())
    return f"<a {written}>{html.escape(entry.name)}</a>"
