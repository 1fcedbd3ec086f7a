"""The gateway's own addresses: which file of which index a path of ours stands for, and who may have it.

::

    /pypi/N/simple/NAME/            a page, with links to /pypi/N/file/LINK/name-1.0.tar.gz[.metadata]
    /npm/N/NAME, /npm/N/@SCOPE/NAME metadata, with links to /npm/N/file/LINK/name-1.0.tgz
    /conda/N/SUBDIR/FILE            passed on
    /apt/N/…                        passed on

N is the place of the index in the list, LINK a link that a page named (:mod:`.links`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from expbench.sandboxes.network.denied import Denied
from expbench.sandboxes.network.index import Index
from expbench.sandboxes.network.links import Link, verify
from expbench.sandboxes.network.refusing import Refused
from expbench.sandboxes.network.rewriting import file_name

_PYPI_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,120}[A-Za-z0-9])?")
_NPM_NAME = re.compile(r"(?:@[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,210}")
_CONDA_SUBDIR = re.compile(r"noarch|(?:linux|osx|win|emscripten|wasi)-[a-z0-9_]+")
_CONDA_INDEX = re.compile(r"(?:current_)?repodata(?:_shards|_from_packages)?\.(?:json|msgpack)\S*")
_CONDA_FILE = re.compile(r"[A-Za-z0-9_.!+-]+\.(?:conda|tar\.bz2)")
_METADATA = ".metadata"


@dataclass(frozen=True)
class Route:
    """What a path stands for: a page to be written anew, or a file to be passed on."""

    kind: Literal["page", "file"]
    number: int
    index: Index
    name: str
    link: Link


def find(path: str, indexes: Sequence[Index], denied: Denied, key: bytes) -> Route:
    """The route of a path as it was asked for. Raises Refused."""
    plain = path.partition("?")[0]
    kind, number, *rest = _segments(plain)
    if not re.fullmatch(r"\d{1,4}", number) or not rest:
        raise _nowhere(path)
    place = int(number)
    if place >= len(indexes) or indexes[place].kind != kind:
        raise _nowhere(path)
    index = indexes[place]
    if kind in ("pypi", "npm") and rest[0] == "file" and len(rest) == 3:
        route = _signed(place, index, rest[1], rest[2], key)
    elif kind == "pypi":
        route = _pypi(place, index, rest)
    elif kind == "npm":
        route = _npm(place, index, rest)
    elif kind == "conda":
        route = _conda(place, index, rest)
    else:
        route = _apt(place, index, rest)
    _refuse_denied(route, rest, denied)
    return route


def _segments(path: str) -> list[str]:
    """A path's pieces, each decoded once; an odd one is refused rather than understood."""
    pieces = path.removeprefix("/").removesuffix("/").split("/")
    if len(pieces) < 2:
        raise _nowhere(path)
    found: list[str] = []
    for piece in pieces:
        # Bytes that are no UTF-8 become U+FFFD, which is not clean.
        plain = unquote(piece)
        # npm writes a scoped name as one piece, @scope%2fname.
        parts = plain.split("/") if plain.startswith("@") and plain.count("/") == 1 else [plain]
        if not all(_is_clean(part) for part in parts):
            raise Refused("path", path, "Its path has empty, dotted or doubly encoded pieces.")
        found += parts
    return found


def _is_clean(part: str) -> bool:
    if part in ("", ".", "..") or any(c in part for c in "/\\%?#"):
        return False
    return part.isascii() and part.isprintable()


def _pypi(number: int, index: Index, rest: Sequence[str]) -> Route:
    if len(rest) != 2 or rest[0] != "simple":
        raise Refused("path", "/".join(rest), "Of a package index only simple/NAME/ is served.")
    if not _PYPI_NAME.fullmatch(rest[1]):
        raise Refused("package", rest[1], "It is no name of a package.")
    name = re.sub(r"[-_.]+", "-", rest[1]).lower()
    return Route("page", number, index, name, Link(f"{index.url}{name}/"))


def _npm(number: int, index: Index, rest: Sequence[str]) -> Route:
    name = "/".join(rest)
    if not _NPM_NAME.fullmatch(name):
        raise Refused("package", name, "It is no name of a package, or asks for more than that.")
    return Route("page", number, index, name, Link(index.url + quote(name, safe="@")))


def _conda(number: int, index: Index, rest: Sequence[str]) -> Route:
    known = len(rest) == 2 and _CONDA_SUBDIR.fullmatch(rest[0])
    if not known or not (_CONDA_INDEX.fullmatch(rest[1]) or _CONDA_FILE.fullmatch(rest[1])):
        raise Refused("path", "/".join(rest), "Of a conda channel only SUBDIR/FILE is served.")
    return Route("file", number, index, rest[1], Link(f"{index.url}{rest[0]}/{quote(rest[1])}"))


def _apt(number: int, index: Index, rest: Sequence[str]) -> Route:
    path = "/".join(quote(piece, safe="+~:=@") for piece in rest)
    return Route("file", number, index, rest[-1], Link(index.url + path))


def _signed(number: int, index: Index, segment: str, name: str, key: bytes) -> Route:
    link = verify(key, index, segment)
    if link is None:
        raise Refused("path", name, "No page of the index named this file.")
    if link.metadata and name == file_name(link.url) + _METADATA:
        digest = link.metadata if "=" in link.metadata else ""
        return Route("file", number, index, name, Link(metadata_url(link.url), digest))
    if name != file_name(link.url):
        raise Refused("path", name, "The page of the index named this file otherwise.")
    return Route("file", number, index, name, link)


def metadata_url(url: str) -> str:
    """Where a file's metadata lies beside it (PEP 658)."""
    path, mark, query = url.partition("?")
    return f"{path}{_METADATA}{mark}{query}"


def _refuse_denied(route: Route, rest: Sequence[str], denied: Denied) -> None:
    why = ""
    if route.kind == "page":
        why = denied.package(route.name)
    elif route.index.kind in ("pypi", "npm"):
        why = denied.file(route.name) or denied.url(route.link.url)
    elif route.index.kind == "conda" and _CONDA_FILE.fullmatch(route.name):
        why = denied.package(route.name.rsplit("-", 2)[0]) or denied.file(route.name)
    elif route.index.kind == "apt" and rest[0] != "dists":
        whys = (denied.package(piece) or denied.file(piece) for piece in rest)
        why = next(filter(None, whys), "")
    if why:
        raise Refused("package", route.name, why, papers=True)


def _nowhere(path: str) -> Refused:
    return Refused("path", path, "The gateway has no such address.")
