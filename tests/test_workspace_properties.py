"""For any repository: a workspace is the pin without what is masked, and nothing else can be found in it.

For any tree and edits: the patch carries all of them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from repositories import (
    ADDRESS,
    HISTORY,
    LFS_POINTER,
    LINK,
    SUBMODULE,
    File,
    Made,
    Repository,
    make,
    repositories,
    run_git,
)

from expbench.workspace import (
    Prepared,
    Source,
    View,
    collect,
    from_folder,
    from_git,
    mask,
    materialise,
    materialise_patched,
    open_view,
)
from expbench.workspace.packaging import STUB
from expbench.workspace.repository.contents import read_contents

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


def listed(path: bytes) -> str:
    """A path as the manifest of a submission names it: bytes that could be lines as escapes."""
    escapes = {0x09: "\\t", 0x0A: "\\n", 0x5C: "\\\\"}
    decoded = path.decode("utf-8", "surrogateescape")
    escapes |= {ord(c): f"\\x{ord(c) - 0xDC00:02x}" for c in decoded if 0xDC80 <= ord(c) <= 0xDCFF}
    return decoded.translate(escapes)


def snapshot(root: Path) -> dict[str, tuple[Kind, bytes]]:
    found: dict[str, tuple[Kind, bytes]] = {}
    for path in root.rglob("*"):
        name = listed(os.fsencode(path.relative_to(root)))
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


# --- real repositories ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Opened:
    """A workspace as it is seen: its folder, and the command that enters where it is mounted."""

    root: Path
    enter: Sequence[str] = ()
    seen_at: Path | None = None

    def git(self, *args: str) -> bytes:
        return run_git(self.root, *args, enter=self.enter)

    @property
    def files(self) -> Path:
        """The folder as this process reaches it."""
        return self.seen_at or self.root


class Mounts:
    """A mount namespace that lasts, so that an overlay costs one short process."""

    def __init__(self) -> None:
        command = ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c"]
        self._process = subprocess.Popen(
            [*command, "echo ready; exec sleep 3600"], stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        self.enter = ("nsenter", f"--mount=/proc/{self._process.pid}/ns/mnt", "--")

    @contextlib.contextmanager
    def opened(self, view: View) -> Iterator[Opened]:
        """The view, mounted as sandboxes mount it."""
        place = view.folder / "merged"
        place.mkdir()
        lower = ":".join(map(str, view.lower))
        options = f"lowerdir={lower},upperdir={view.files},workdir={view.work}"
        options += ",redirect_dir=nofollow,metacopy=off,index=off,xino=off"
        mount = ["mount", "-t", "overlay", "overlay", "-o", options, str(place)]
        subprocess.run([*self.enter, *mount], check=True, timeout=20)
        try:
            seen = Path(f"/proc/{self._process.pid}/root{place}")
            yield Opened(place, self.enter, seen)
        finally:
            subprocess.run([*self.enter, "umount", str(place)], check=True, timeout=20)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


@pytest.fixture(scope="module")
def mounts() -> Iterator[Mounts | None]:
    """None where this user mounts nothing; ``test_overlay`` has the sandboxes of such users."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"]).returncode != 0:
        yield None
        return
    made = Mounts()
    yield made
    made.close()


@dataclass(frozen=True)
class Expected:
    """What a workspace must show, told from the repository as it was generated."""

    files: dict[bytes, File]
    refused: dict[str, str]
    lfs: set[str]


def leads_out(link: bytes, top: Path) -> bool:
    """Whether the kernel, or the system's own resolution of paths, takes a link out of ``top``."""
    full = top / os.fsdecode(link)
    try:
        full.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return False
    real = os.path.realpath(full)
    return not f"{real}/".startswith(f"{top}/")


def expected(
    repository: Repository, masked: set[bytes], stubs: Sequence[str], top: Path
) -> Expected:
    """``top`` is an empty folder, where the links are laid out and followed."""
    whole = repository.whole
    for each in whole.values():
        if each.mode != SUBMODULE:
            kind: Kind = "link" if each.mode == LINK else "file"
            place(top, Node(each.path, kind, each.content))
    refused = {}
    files = {}
    for path, each in whole.items():
        if each.mode == SUBMODULE:
            refused[printable(path)] = "submodule"
        elif each.mode == LINK and leads_out(path, top):
            refused[printable(path)] = "symbolic link out of the tree"
        elif path not in masked and not re.fullmatch(rb"(?i)readme([._-][^/]*)?", path):
            files[path] = each
    for name in stubs:
        files[os.fsencode(name)] = File(os.fsencode(name), "100644", STUB)
    pointers = [p for p, each in whole.items() if each.mode != LINK and each.content == LFS_POINTER]
    return Expected(files, refused, set(map(printable, pointers)))


def printable(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def check_files(opened: Opened, want: Expected) -> None:
    """Equal bytes, modes and folders."""
    found: dict[bytes, tuple[str, bytes]] = {}
    folders: set[bytes] = set()
    for full in opened.files.rglob("*"):
        inside = full.relative_to(opened.files)
        path = os.fsencode(inside)
        status = full.lstat()
        if inside.parts[0] == ".git":
            continue
        if stat.S_ISDIR(status.st_mode):
            folders.add(path)
        elif stat.S_ISLNK(status.st_mode):
            # pathlib would tidy the target up.
            found[path] = (LINK, os.readlink(os.fsencode(full)))  # noqa: PTH115
        else:
            found[path] = (f"{status.st_mode:o}", full.read_bytes())
    assert found == {path: (each.mode, each.content) for path, each in want.files.items()}
    assert folders == {parent for path in want.files for parent in _parents(path)}


def _parents(path: bytes) -> Iterator[bytes]:
    while path := path.rpartition(b"/")[0]:
        yield path


def everything(opened: Opened) -> tuple[set[str], bytes]:
    """The ids of all objects, and their contents with every file below ``.git``, raw and inflated."""
    listed = opened.git("cat-file", "--batch-all-objects", "--batch-check")
    parts = [opened.git("cat-file", "--batch-all-objects", "--batch", "--unordered")]
    for file in (opened.files / ".git").rglob("*"):
        if file.is_file():
            parts.append(file.read_bytes())
            with contextlib.suppress(zlib.error):
                parts.append(zlib.decompress(parts[-1]))
    return {line.split()[0].decode() for line in listed.splitlines()}, b"\0".join(parts)


def check_git(opened: Opened, prepared: Prepared, gone: dict[str, bytes]) -> None:
    """A usual repository with one commit, in which nothing of ``gone`` is, by id or by bytes."""
    assert opened.git("status", "--porcelain") == b""
    contents = [f"fsck.{name}=ignore" for name in ("gitmodulesUrl", "gitmodulesName")]
    settings = [text for each in contents for text in ("-c", each)]
    assert opened.git(*settings, "fsck", "--full", "--strict", "--no-progress") == b""
    history = opened.git("log", "--all", "--reflog", "--format=%H %T %P|%an|%ai").decode()
    at = "2025-01-01 00:00:00 +0000"
    assert history == f"{prepared.commit} {prepared.tree} |expbench|{at}\n"
    assert opened.git("write-tree").decode().strip() == prepared.tree
    references = opened.git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)")
    branch, *tags = references.decode().splitlines()
    assert branch.rstrip() == f"refs/heads/main {prepared.commit}"
    for name, _, peeled in map(str.split, tags):
        assert re.fullmatch(r"refs/tags/(v1\.0|v0\.5(-\d+-g[0-9a-f]+)?)", name)
        assert peeled == prepared.commit
    oids, text = everything(opened)
    assert not oids & gone.keys()
    assert HISTORY not in text
    for content in gone.values():
        assert len(content) < 16 or content not in text


def masked_objects(repository: Repository, made: Made, want: Expected) -> dict[str, bytes]:
    """Id and content of what no workspace may hold; what a kept file holds as well is left out."""
    kept = b"\0".join(each.content for each in want.files.values())
    contents = sorted({each.content for each in repository.whole.values()})
    oids = dict(zip(contents, git_ids(made.root, contents), strict=True))
    shown = {oids.get(each.content, "") for each in want.files.values()}
    return {
        oids[each.content]: b"" if each.mode == LINK or each.content in kept else each.content
        for path, each in repository.whole.items()
        if path not in want.files and each.mode != SUBMODULE and oids[each.content] not in shown
    }


def git_ids(folder: Path, contents: Sequence[bytes]) -> list[str]:
    """The ids that git gives to blobs of these contents."""
    with tempfile.TemporaryDirectory() as own:
        files = [Path(own, str(number)) for number in range(len(contents))]
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(content)
        names = "".join(f"{file}\n" for file in files).encode()
        return run_git(folder, "hash-object", "--stdin-paths", stdin=names).decode().split()


def source_of(made: Made, cache: Path) -> Source:
    return from_git(str(made.root), made.pin, cache, url=ADDRESS, clones=made.clones)


REPOSITORY = settings(
    max_examples=30,
    phases=(Phase.reuse, Phase.generate),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@REPOSITORY
@given(repository=repositories(), data=st.data())
def test_a_workspace_of_any_repository_is_its_pin_without_what_is_masked(
    mounts: Mounts | None, repository: Repository, data: st.DataObject
) -> None:
    """R13: as a copy and as an overlay; files, history, objects, index; what is refused is reported."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        made = make(repository, top)
        source = source_of(made, top / "cache")
        choice = sorted(p for p, each in repository.whole.items() if each.mode != SUBMODULE)
        masked = data.draw(st.sets(st.sampled_from(choice)) if choice else st.just(set()))
        prepared = mask(source, tuple(map(os.fsdecode, sorted(masked))))

        (top / "links").mkdir()
        want = expected(repository, masked, prepared.stubs, top / "links")
        contents = read_contents(source.git_dir)
        assert contents is not None
        assert dict(prepared.refused) == want.refused
        assert set(contents.lfs) == want.lfs
        assert {each.path for each in contents.submodules} == {
            os.fsdecode(part.path) for part in repository.parts if part.listed
        }
        assert set(contents.unresolved) == want.refused.keys() & {
            printable(part.path) for part in repository.parts if not part.listed
        }
        gone = masked_objects(repository, made, want)
        event(f"masked objects: {len(gone) > 1}, refused: {bool(want.refused)}")

        materialise(prepared, top / "w")
        copy = Opened(top / "w")
        check_files(copy, want)
        check_git(copy, prepared, gone)
        if mounts is not None:
            view = open_view(prepared, top / "v", overlay=True)
            assert view.kind == "overlay"
            with mounts.opened(view) as overlay:
                check_files(overlay, want)
                check_git(overlay, prepared, gone)
                assert overlay.git("rev-parse", "HEAD") == copy.git("rev-parse", "HEAD")


@settings(REPOSITORY, max_examples=6)
@given(repository=repositories())
def test_two_stores_make_the_same_commit(repository: Repository) -> None:
    """R13: nothing of the machine, the time or the store is in a workspace's commit."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        made = make(repository, top)
        names = [os.fsdecode(p) for p, f in repository.whole.items() if f.mode != SUBMODULE]
        commits = {
            mask(source_of(made, top / cache), tuple(names[::2])).commit for cache in ("a", "b")
        }
        assert len(commits) == 1


@settings(REPOSITORY, max_examples=6)
@given(repository=repositories())
def test_generated_repositories_are_what_they_are_meant_to_be(repository: Repository) -> None:
    """The control: git reads the pin as it was generated, and the secrets are in the history."""
    with tempfile.TemporaryDirectory() as folder:
        made = make(repository, Path(folder))
        listed = run_git(made.root, "ls-tree", "-r", "-z", "--full-tree", made.pin)
        found = {}
        for record in listed.split(b"\0")[:-1]:
            facts, _, path = record.partition(b"\t")
            mode, _, oid = facts.decode().split()
            content = b"" if mode == SUBMODULE else run_git(made.root, "cat-file", "blob", oid)
            found[path] = (mode, content)
        assert found == {each.path: (each.mode, each.content) for each in repository.files}
        everywhere = run_git(made.root, "cat-file", "--batch-all-objects", "--batch", "--unordered")
        assert HISTORY in everywhere


def test_a_link_in_the_place_of_gitmodules_is_refused(mounts: Mounts | None) -> None:
    """R28: git takes no such link into an index, so a workspace with it would be no usual repository."""
    files = (File(b".gitmodules", LINK, b"a"), File(b"a", "100644", b"kept\n"))
    repository = Repository(files, (), (), False, "pin")
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        prepared = mask(source_of(make(repository, top), top / "cache"), ())
        assert dict(prepared.refused) == {".gitmodules": "symbolic link that git refuses"}
        materialise(prepared, top / "w")
        want = Expected({b"a": files[1]}, {}, set())
        check_files(Opened(top / "w"), want)
        check_git(Opened(top / "w"), prepared, {git_ids(top, [b"other"])[0]: b""})


def test_modes_that_old_gits_wrote_become_those_of_today() -> None:
    """A file that the group may write, as repositories from before 2005 have it."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        made = make(Repository((File(b"a", "100644", b"1\n"),), (), (), False, "pin"), top)
        oid = run_git(made.root, "rev-parse", f"{made.pin}:a").decode().strip()
        raw = b"100664 a\0" + bytes.fromhex(oid)
        write = ["hash-object", "-w", "-t", "tree", "--literally", "--stdin"]
        tree = run_git(made.root, *write, stdin=raw).decode().strip()
        name = ["-c", "user.name=x", "-c", "user.email=x"]
        pin = run_git(made.root, *name, "commit-tree", tree, "-m", "x").decode().strip()
        run_git(made.root, "update-ref", "refs/heads/main", pin)
        prepared = mask(from_git(str(made.root), pin, top / "cache"), ())
        materialise(prepared, top / "w")
        check_files(Opened(top / "w"), Expected({b"a": File(b"a", "100644", b"1\n")}, {}, set()))
        check_git(Opened(top / "w"), prepared, {})
