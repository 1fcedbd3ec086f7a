"""Real bundles of the mini suite, and what a cheat who knows the form makes of them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from expbench.packing.layout import PackedFile
from expbench.packing.members import write_members

INDEX = "BUNDLE.json"
Files = dict[str, bytes]


def files_of(bundle: Path) -> Files:
    """The members of a bundle by name, its index too."""
    with tarfile.open(bundle) as archive:
        opened = ((member.name, archive.extractfile(member)) for member in archive)
        return {name: file.read() for name, file in opened if file is not None}


def pack(files: Mapping[str, bytes], dest: Path, **head: Any) -> Path:
    """A bundle with these files whose digests are right: who forges one computes them anew."""
    entries = [
        PackedFile(name=name, size=len(each), sha256=hashlib.sha256(each).hexdigest())
        for name, each in sorted(files.items())
        if name != INDEX
    ]
    index = json.loads(files[INDEX]) | {"files": [each.model_dump() for each in entries]} | head
    content = json.dumps(index).encode()
    with dest.open("wb") as file:
        write_members(
            file,
            (INDEX, content),
            entries,
            lambda entry: io.BytesIO(files[entry.name]),
            lambda entry: AssertionError(entry.name),
        )
    return dest


def forged(bundle: Path, dest: Path, **changes: Callable[[bytes], bytes]) -> Path:
    """The bundle with some files changed: ``outcomes``, ``claims`` and so on by their stems."""
    files = files_of(bundle)
    names = {name.partition(".")[0].replace("-", "_"): name for name in files}
    for stem, change in changes.items():
        files[names[stem]] = change(files[names[stem]])
    return pack(files, dest)


def lines(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Changes the first record of JSON lines."""

    def changed(content: bytes) -> bytes:
        first, *others = content.splitlines(keepends=True)
        record = json.loads(first)
        change(record)
        return b"".join([json.dumps(record).encode() + b"\n", *others])

    return changed


def record(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Changes a JSON record."""

    def changed(content: bytes) -> bytes:
        found = json.loads(content)
        change(found)
        return json.dumps(found).encode()

    return changed


def raw(
    dest: Path, members: list[tuple[tarfile.TarInfo, bytes]], files: list[dict[str, Any]]
) -> Path:
    """Any gzipped tar with an index in front."""
    index = {"format": 1, "kind": "bundle", "expbench": "0.1.0", "run": "x", "files": files}
    content = json.dumps(index).encode()
    head = tarfile.TarInfo(INDEX)
    head.size = len(content)
    with gzip.open(dest, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        tar.addfile(head, io.BytesIO(content))
        for info, body in members:
            tar.addfile(info, io.BytesIO(body))
    return dest
