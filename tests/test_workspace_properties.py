"""For any tree and edits: the patch carries all of them, and no masked byte is in a workspace."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hypothesis import event, given, settings
from hypothesis import strategies as st

from expbench.workspace import collect, from_folder, mask, materialise, materialise_patched

Kind = Literal["file", "executable", "link"]


@dataclass(frozen=True)
class Node:
    """A file to be: its path, what it is, and its bytes (a link's target)."""

    path: bytes
    kind: Kind
    content: bytes


PARTS = st.sampled_from(
    [
        b"a",
        b"b.py",
        b"A",
        b"with space",
        b"tab\there",
        b"new\nline",
        b'quo"te\\x',
        b"-dash",
        b":(top)",
        b"*",
        "☃.py".encode(),
        b"\xff\xfe",
        b"a.ipynb",
        b"log.txt",
        b".gitattributes",
        b".gitignore",
        b".gitmodules",
        b"__pycache__",
        b"x.pyc",
        b"git~1",
    ]
)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(b"/".join)
CONTENTS = st.one_of(
    st.sampled_from(
        [
            b"",
            b"one\n",
            b"one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
            b"one\ntwo\nthree\nfour\nfive\nsix\nseven!\n",
            b"one\r\ntwo\r\n",
            b"no newline",
            b"trailing  \n\n\n",
            b"* text=auto eol=crlf ident filter=evil -diff\n*.py binary\n",
            b"*\n!a\n",
            "naïve\n".encode("latin-1"),
            "wide\n".encode("utf-16"),
            b'{"cells": []}',
        ]
    ),
    st.binary(max_size=200),
)
TARGETS = st.sampled_from([b"a", b"../a", b"/etc/passwd", b"\xff", b".", b"nowhere\n", b"../../.."])
FILES = st.builds(Node, PATHS, st.sampled_from(["file", "executable"]), CONTENTS)
LINKS = st.builds(Node, PATHS, st.just("link"), TARGETS)
NODES = st.one_of(FILES, FILES, FILES, LINKS)
REMOVALS = PATHS.map(lambda path: Node(path, "file", b"DELETE"))


def place(root: Path, node: Node) -> None:
    """Put a file at a path, whatever lies there or on the way."""
    target = root / os.fsdecode(node.path)
    for parent in reversed(target.relative_to(root).parents):
        folder = root / parent
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        folder.mkdir(exist_ok=True)
    remove(target)
    if node.kind == "link":
        target.symlink_to(os.fsdecode(node.content))
    else:
        target.write_bytes(node.content)
        target.chmod(0o755 if node.kind == "executable" else 0o644)


def remove(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    elif target.is_symlink() or target.exists():
        target.unlink()


def inside(root: Path, path: bytes) -> bool:
    """Whether a path can be reached without going through a link."""
    parents = (root / os.fsdecode(path)).relative_to(root).parents
    return not any((root / parent).is_symlink() for parent in parents)


def snapshot(root: Path) -> dict[str, tuple[Kind, bytes]]:
    found: dict[str, tuple[Kind, bytes]] = {}
    for path in root.rglob("*"):
        name = os.fsencode(path.relative_to(root)).decode("utf-8", "backslashreplace")
        if path.relative_to(root).parts[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        elif path.is_file():
            kind: Kind = "executable" if path.stat().st_mode & 0o100 else "file"
            found[name] = (kind, path.read_bytes())
    return found


@settings(max_examples=20, deadline=None)
@given(
    base=st.lists(NODES, max_size=8),
    edits=st.lists(st.one_of(NODES, NODES, REMOVALS), max_size=8),
    chmods=st.sets(st.integers(0, 7), max_size=2),
)
def test_base_and_patch_make_the_agents_tree(
    base: list[Node], edits: list[Node], chmods: set[int]
) -> None:
    """R33, R35, R36, R37: byte for byte and mode for mode, but for what is listed as left out."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "tree").mkdir()
        for node in base:
            place(top / "tree", node)
        prepared = mask(from_folder(top / "tree", top / "cache"), ())
        materialise(prepared, top / "w")
        masked = snapshot(top / "w")
        for node in edits:
            if node.content == b"DELETE" and inside(top / "w", node.path):
                remove(top / "w" / os.fsdecode(node.path))
            elif node.content != b"DELETE":
                place(top / "w", node)
        files = sorted(p for p in (top / "w").rglob("*") if p.is_file() and not p.is_symlink())
        for index in chmods:
            chosen = [path for path in files if ".git" not in path.parts]
            if index < len(chosen):
                chosen[index].chmod(chosen[index].stat().st_mode ^ 0o111)

        found = collect(top / "w", prepared)
        materialise_patched(prepared, found.patch, top / "again")

        left = [each.path for each in found.left_out]
        event(f"files left out: {len(left) > 1}")
        event(f"patch is empty: {not found.patch}")
        expected = {
            name: node
            for name, node in snapshot(top / "w").items()
            if not any(
                name == path or (path.endswith("/") and name.startswith(path)) for path in left
            )
        }
        again = snapshot(top / "again")
        kept_as_they_were = {name for name in left if name in masked}
        assert {n: c for n, c in again.items() if n not in kept_as_they_were} == expected
        assert collect(top / "again", prepared).patch == found.patch
        touched = {n for n in expected.keys() | masked.keys() if expected.get(n) != masked.get(n)}
        assert set(found.changed) == touched - kept_as_they_were


@settings(max_examples=10, deadline=None)
@given(tree=st.lists(NODES, min_size=1, max_size=8), data=st.data())
def test_no_masked_blob_is_in_a_workspace(tree: list[Node], data: st.DataObject) -> None:
    """R13: whatever is masked, only blobs of kept files are in the workspace's object store."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "tree").mkdir()
        for node in tree:
            place(top / "tree", node)
        source = from_folder(top / "tree", top / "cache")
        held = {os.fsdecode(entry.path): entry.oid for entry in mask(source, ()).entries}
        chosen = data.draw(st.sets(st.sampled_from(sorted(held))) if held else st.just(set()))
        prepared = mask(source, tuple(chosen))
        materialise(prepared, top / "w")
        assert set(held) - chosen == {os.fsdecode(entry.path) for entry in prepared.entries}
        listing = subprocess.run(
            ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"],
            cwd=top / "w",
            env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(top)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        blobs = {line.split()[1] for line in listing.splitlines() if line.startswith("blob ")}
        assert blobs == {oid for path, oid in held.items() if path not in chosen}
