"""Objects, packs, trees and indexes that we write are what git would have written, or reads as such."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repositories import File as Generated
from repositories import make, repositories, run_git, settled

from expbench.errors import InfrastructureError
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.bringing import rewrite
from expbench.workspace.repository.git import GitError
from expbench.workspace.repository.objects import (
    LARGE,
    Folders,
    IndexEntry,
    commit_content,
    index_bytes,
    object_id,
    packed,
    read_index,
    stat_bytes,
    trees_of,
    write_pack,
)
from expbench.workspace.repository.packs import Packs
from expbench.workspace.repository.tree import Entry, escapes, safe_path

PROPERTY = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
IDENTITY = {"GIT_AUTHOR_NAME": "someone", "GIT_AUTHOR_EMAIL": "someone@example.org"}
NAMES = st.sampled_from(
    [
        b"a",
        b"a.b",
        b"a-b",
        b"a0",
        b"A",
        b"a b",
        b"\xff",
        b"b",
        b"a.",
        b"a!",
        b"+",
        b"\x01",
        b"n" * 200,
    ]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(b"/".join)
MODES = st.sampled_from(["100644", "100755", "120000"])


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q", "--bare", "-b", "main", ".")
    return folder


def entries_of(paths: Sequence[bytes], oid: str, modes: Sequence[str] = ()) -> list[Entry]:
    """Entries in the order of their paths, those left out that do not fit beside others."""
    files = settled(
        Generated(path, modes[n] if n < len(modes) else "100644", b"")
        for n, path in enumerate(paths)
    )
    return sorted((Entry(f.mode, oid, f.path, 0) for f in files), key=lambda entry: entry.path)


def keep_trees(git_dir: Path, trees: dict[str, bytes], blobs: Sequence[bytes] = ()) -> None:
    objects = [packed(b"tree", content) for content in trees.values()]
    write_pack(
        git_dir / "objects" / "pack", [*objects, *(packed(b"blob", content) for content in blobs)]
    )


# --- trees ---------------------------------------------------------------------------------------


@PROPERTY
@given(paths=st.lists(PATHS, max_size=12), modes=st.lists(MODES, max_size=12))
def test_trees_are_those_that_git_writes(paths: list[bytes], modes: list[str]) -> None:
    """Names that sort otherwise as folders: ``a.b``, ``a-b``, ``a/b`` and ``a0``."""
    with tempfile.TemporaryDirectory() as folder:
        git_dir = repository(Path(folder))
        oid = run_git(git_dir, "hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
        entries = entries_of(paths, oid, modes)
        rows = b"".join(b"%s %s\t%s\0" % (e.mode.encode(), oid.encode(), e.path) for e in entries)
        run_git(git_dir, "update-index", "-z", "--index-info", stdin=rows)
        written = run_git(git_dir, "write-tree").decode().strip()
        tree, trees = trees_of(entries)
        assert tree == written
        assert object_id(b"tree", trees[tree]) == tree
        for name, content in trees.items():
            assert run_git(git_dir, "cat-file", "tree", name) == content


def test_an_empty_tree_and_one_of_many_folders() -> None:
    tree, trees = trees_of([])
    assert (tree, trees) == ("4b825dc642cb6eb9a060e54bf8d69288fbee4904", {tree: b""})
    deep = Entry("100644", "1" * 40, b"/".join([b"d"] * 2000), 0)
    started = time.monotonic()
    assert len(trees_of([deep])[1]) == 2000
    assert time.monotonic() - started < 5


@PROPERTY
@given(paths=st.lists(PATHS, max_size=12), modes=st.lists(MODES, max_size=12), data=st.data())
def test_trees_of_changed_files_are_those_of_these_files(
    paths: list[bytes], modes: list[str], data: st.DataObject
) -> None:
    before = entries_of(paths, "1" * 40, modes)
    drawn = [data.draw(st.sampled_from(["kept", "gone", "new"])) for _ in before]
    changes = list(zip(before, drawn, strict=True))
    new = [replace(entry, oid="2" * 40) for entry, change in changes if change == "new"]
    gone = [entry.path for entry, change in changes if change == "gone"]
    kept = [entry for entry, change in changes if change == "kept"]
    folders = Folders(before)
    assert folders.changed(gone, new) == trees_of(kept + new)
    assert folders.changed() == trees_of(before)


# --- packs ---------------------------------------------------------------------------------------


@PROPERTY
@given(
    contents=st.lists(
        st.binary(max_size=300)
        | st.sampled_from([b"", b"x" * 15, b"x" * 16, b"x" * 2047, b"x" * 2048, b"x" * 40_000]),
        max_size=10,
    )
)
def test_a_pack_is_accepted_by_git_and_gives_back_what_went_in(contents: list[bytes]) -> None:
    """``index-pack --strict`` finds the index that we wrote, ``verify-pack`` and ``fsck`` no fault."""
    with tempfile.TemporaryDirectory() as folder:
        git_dir = repository(Path(folder, "r"))
        oids = {object_id(b"blob", content): content for content in contents}
        entries = [
            Entry("100644", oid, b"f%d" % number, len(oids[oid]))
            for number, oid in enumerate(sorted(oids))
        ]
        entries.sort(key=lambda entry: entry.path)
        tree, trees = trees_of(entries)
        commit = commit_content(tree, "message", IDENTITY)
        objects = [packed(b"blob", content) for content in contents for _ in range(2)]
        objects += [packed(b"tree", content) for content in trees.values()]
        objects.append(packed(b"commit", commit))
        write_pack(git_dir / "objects" / "pack", objects)
        (git_dir / "refs/heads/main").write_text(object_id(b"commit", commit) + "\n")

        (pack,) = (git_dir / "objects/pack").glob("*.pack")
        run_git(git_dir, "index-pack", "--strict", "-o", str(Path(folder, "i")), str(pack))
        assert Path(folder, "i").read_bytes() == pack.with_suffix(".idx").read_bytes()
        run_git(git_dir, "verify-pack", "-v", str(pack))
        assert run_git(git_dir, "fsck", "--full", "--strict", "--no-progress") == b""
        for oid, content in oids.items():
            assert run_git(git_dir, "cat-file", "blob", oid) == content


def test_an_empty_pack_is_no_fault(tmp_path: Path) -> None:
    git_dir = repository(tmp_path)
    write_pack(git_dir / "objects/pack", [])
    (pack,) = (git_dir / "objects/pack").glob("*.pack")
    run_git(git_dir, "verify-pack", str(pack))
    run_git(git_dir, "fsck", "--full")


def test_a_pack_past_two_gibibytes_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its index of 32 bit offsets could not say where things are."""

    monkeypatch.setattr("expbench.workspace.repository.objects.PACK_CAP", 1000)
    small, large = packed(b"blob", b"x"), packed(b"blob", random.Random(1).randbytes(2000))
    write_pack(tmp_path / "pack", [small])
    with pytest.raises(InfrastructureError, match="2 GiB"):
        write_pack(tmp_path / "pack", [small, large])
    assert len(list((tmp_path / "pack").iterdir())) == 2


@pytest.mark.parametrize("size", [0, 1, LARGE - 1, 2 * LARGE, 1_000_000])
@pytest.mark.parametrize("dense", [True, False])
def test_what_does_not_shrink_is_only_wrapped(tmp_path: Path, size: int, dense: bool) -> None:
    git_dir = repository(tmp_path)
    content = random.Random(size).randbytes(size) if dense else b"a" * size
    entry = packed(b"blob", content)
    write_pack(git_dir / "objects" / "pack", [entry])
    assert run_git(git_dir, "cat-file", "blob", entry.oid.hex()) == content
    assert entry.content() == (b"blob", content)
    assert len(entry.data) <= size + 200
    assert dense or len(entry.data) < 100 + size // 50


# --- the index -----------------------------------------------------------------------------------


def placed(root: Path, entries: Sequence[Entry], content: bytes = b"x") -> list[IndexEntry]:
    """The entries as files on disk, with their facts."""
    rows = []
    for entry in entries:
        path = root / os.fsdecode(entry.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == "120000":
            path.symlink_to(os.fsdecode(content))
        else:
            path.write_bytes(content)
            path.chmod(0o755 if entry.mode == "100755" else 0o644)
        rows.append(IndexEntry(stat_bytes(path.lstat()), replace(entry, size=len(content))))
    return rows


@PROPERTY
@given(paths=st.lists(PATHS, max_size=8), modes=st.lists(MODES, max_size=8))
def test_git_reads_an_index_as_it_was_written(paths: list[bytes], modes: list[str]) -> None:
    """Names, modes, ids and facts, and git itself would have written the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "w")
        work.mkdir()
        run_git(work, "init", "-q", "-b", "main")
        oid = run_git(work, "hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
        rows = placed(work, entries_of(paths, oid, modes))
        content = index_bytes(rows)
        (work / ".git/index").write_bytes(content)

        listed = run_git(work, "ls-files", "--stage", "-z")
        assert listed == b"".join(
            b"%s %s 0\t%s\0" % (each.entry.mode.encode(), oid.encode(), each.entry.path)
            for each in rows
        )
        debug = run_git(work, "ls-files", "--debug", "-z")
        for each in rows:
            status = (work / os.fsdecode(each.entry.path)).lstat()
            seconds, nanoseconds = divmod(status.st_ctime_ns, 10**9)
            modified = "{}:{}".format(*divmod(status.st_mtime_ns, 10**9))
            facts = f"{seconds}:{nanoseconds}\n  mtime: {modified}\n"
            inode = f"  dev: {status.st_dev}\tino: {status.st_ino}\n"
            owner = f"  uid: {status.st_uid}\tgid: {status.st_gid}\n  size: {status.st_size}\t"
            shown = each.entry.path + b"\0  ctime: " + (facts + inode + owner).encode()
            assert shown in debug
        assert list(read_index(content)) == rows
        assert index_bytes(list(read_index(content))) == content
        assert run_git(work, "diff-files") == b""
        tree = trees_of([each.entry for each in rows])[0]
        assert run_git(work, "write-tree").decode().strip() == tree

        run_git(work, "rm", "-r", "-q", "--cached", "--ignore-unmatch", ".")
        run_git(work, "-c", "index.version=2", "-c", "core.trustctime=true", "add", "-A", "-f")
        own = (work / ".git/index").read_bytes()
        assert own[12 : len(content) - 20] == content[12:-20]


@PROPERTY
@given(
    rows=st.lists(
        st.tuples(st.binary(min_size=1, max_size=80), st.binary(min_size=20, max_size=20)),
        max_size=20,
        unique_by=lambda row: row[0],
    ),
    facts=st.binary(min_size=24, max_size=24),
)
def test_an_index_is_read_as_it_was_written(rows: list[tuple[bytes, bytes]], facts: bytes) -> None:
    """For all lengths of a name, so for every padding."""
    entries = [
        IndexEntry(
            facts + (0o100644).to_bytes(4, "big") + b"\0" * 8 + (len(path)).to_bytes(4, "big"),
            Entry("100644", oid.hex(), path, len(path)),
        )
        for path, oid in sorted(rows)
        if b"\0" not in path
    ]
    assert list(read_index(index_bytes(entries))) == entries


def test_names_longer_than_an_index_can_count(tmp_path: Path) -> None:
    """4095 bytes and more: the length is not in the index and the name ends at its zero byte."""
    git_dir = repository(tmp_path)
    oid = run_git(git_dir, "hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    paths = sorted(
        b"/".join([b"d" * 100] * n + [b"f" * m]) for n in (39, 40, 41) for m in (99, 250)
    )
    paths += [b"e" * length for length in (4094, 4095, 4096, 5000)]
    blank = bytes(24) + (0o100644).to_bytes(4, "big") + bytes(8) + (1).to_bytes(4, "big")
    rows = [IndexEntry(blank, Entry("100644", oid, path, 1)) for path in paths]
    (git_dir / "index").write_bytes(index_bytes(rows))
    listed = run_git(git_dir, "ls-files", "-z").split(b"\0")[:-1]
    assert listed == paths
    assert list(read_index((git_dir / "index").read_bytes())) == rows
    tree, _ = trees_of([each.entry for each in rows])
    assert run_git(git_dir, "write-tree").decode().strip() == tree


@pytest.mark.parametrize("number", [0, 20_000])
def test_indexes_and_trees_of_no_and_of_many_files(tmp_path: Path, number: int) -> None:
    git_dir = repository(tmp_path)
    blank = bytes(24) + (0o100644).to_bytes(4, "big") + bytes(8) + (1).to_bytes(4, "big")
    oid = object_id(b"blob", b"x")
    paths = sorted(f"p{n % 97}/s{n % 13}/f{n}.py".encode() for n in range(number))
    rows = [IndexEntry(blank, Entry("100644", oid, path, 1)) for path in paths]
    started = time.monotonic()
    content = index_bytes(rows)
    tree, trees = trees_of([each.entry for each in rows])
    assert list(read_index(content)) == rows
    keep_trees(git_dir, trees, [b"x"])
    assert time.monotonic() - started < 10
    (git_dir / "index").write_bytes(content)
    assert len(run_git(git_dir, "ls-files", "-z").split(b"\0")) == number + 1
    assert run_git(git_dir, "write-tree").decode().strip() == tree
    run_git(git_dir, "fsck", "--full", "--strict")


@pytest.mark.parametrize("place", [0, 9, 30, -1])
def test_a_damaged_index_is_no_index(tmp_path: Path, place: int) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    content = bytearray(
        index_bytes([IndexEntry(stat_bytes(path.lstat()), Entry("100644", "1" * 40, b"f", 1))])
    )
    content[place] ^= 1
    with pytest.raises(InfrastructureError, match="damaged"):
        list(read_index(bytes(content)))
    with pytest.raises(InfrastructureError, match="damaged"):
        list(read_index(b""))


# --- large blobs ---------------------------------------------------------------------------------


def contents_of(git_dir: Path) -> dict[bytes, bytes]:
    """Kind and content of every object by its id."""
    listed = run_git(git_dir, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    found = {}
    for line in listed:
        oid, kind, _ = line.split()
        found[oid] = kind + b" " + run_git(git_dir, "cat-file", kind.decode(), oid.decode())
    return found


@settings(PROPERTY, max_examples=6)
@given(generated=repositories())
def test_rewriting_keeps_every_object_whole(generated: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = make(generated, Path(folder))  # type: ignore[arg-type]
        before = contents_of(made.root)
        rewrite(made.root)
        assert contents_of(made.root) == before
        run_git(made.root, "fsck", "--full")
        packs = Packs(made.root / "objects")
        for oid, text in before.items():
            kind, _, content = text.partition(b" ")
            assert packs.read(oid.decode()) == (kind, content)
        in_packs = [oid for _, oids in packs.packs() for oid in oids]
        assert sorted(oid.hex().encode() for oid in in_packs) == sorted(before)
        rewrite(made.root)
        assert contents_of(made.root) == before


@settings(PROPERTY, max_examples=6)
@given(generated=repositories())
def test_packs_of_git_are_read_as_git_reads_them(generated: object) -> None:
    """Differences are left to git, and nothing is read wrongly."""
    with tempfile.TemporaryDirectory() as folder:
        made = make(generated, Path(folder))  # type: ignore[arg-type]
        run_git(made.root, "repack", "-adfq", "--depth=50")
        packs = Packs(made.root / "objects")
        with BlobReader(made.root) as blobs:
            for oid, text in contents_of(made.root).items():
                kind, _, content = text.partition(b" ")
                assert packs.read(oid.decode()) in (None, (kind, content))
                assert blobs.read(oid.decode()) == content


def test_a_damaged_pack_is_no_content(tmp_path: Path) -> None:
    git_dir = repository(tmp_path)
    oid = object_id(b"blob", b"text" * 100)
    write_pack(git_dir / "objects" / "pack", [packed(b"blob", b"text" * 100)])
    (pack,) = (git_dir / "objects" / "pack").glob("*.pack")
    pack.chmod(0o644)
    whole = pack.read_bytes()
    for content in (whole[:20], b"", whole[:14] + bytes(len(whole) - 14)):
        pack.write_bytes(content)
        assert Packs(git_dir / "objects").read(oid) is None
        with pytest.raises(GitError), BlobReader(git_dir) as blobs:
            blobs.read(oid)


# --- links and names -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "out"),
    [
        ({b"l": b"a"}, set()),
        ({b"l": b""}, set()),
        ({b"l": b"."}, set()),
        ({b"l": b"/a"}, {b"l"}),
        ({b"l": b"/"}, {b"l"}),
        ({b"l": b".."}, {b"l"}),
        ({b"a/l": b".."}, set()),
        ({b"a/l": b"../.."}, {b"a/l"}),
        ({b"l": b"a/../../l"}, {b"l"}),
        ({b"l": b"none/../a"}, set()),
        ({b"a/b/l": b"../..", b"q": b"a/b/l/.."}, {b"q"}),
        ({b"one": b"two", b"two": b"three", b"three": b"/etc"}, {b"one", b"two", b"three"}),
        ({b"up": b"a/..", b"q": b"up/../x"}, {b"q"}),
        ({b"d": b"a/b/c", b"q": b"d/../../../.."}, {b"q"}),
        ({b"d": b"a/b/c", b"q": b"d/../../../x"}, set()),
        ({b"a": b"b", b"b": b"a"}, set()),
        ({b"l": b"l"}, set()),
        ({b"l": b"l/../l"}, set()),
        ({b"a/l": b"../a/l/.."}, set()),
        ({b"q": b"a/l/x", b"a/l": b"/tmp"}, {b"q", b"a/l"}),
    ],
)
def test_links_out_of_a_tree_are_told_from_others(
    links: dict[bytes, bytes], out: set[bytes]
) -> None:
    """R28"""
    assert {path for path in links if escapes(path, links)} == out


def test_links_that_multiply_are_followed_in_bounded_time() -> None:
    """R28: each stands for two of the next, and a loop of long targets."""
    doubling = {b"l%d" % n: b"l%d/../l%d" % (n + 1, n + 1) for n in range(60)}
    doubling[b"l60"] = b"d"
    long = {b"l%d" % n: b"x/../" * 15 + b"l%d" % ((n + 1) % 99) for n in range(99)}
    started = time.monotonic()
    assert not escapes(b"l0", doubling)
    assert not escapes(b"l0", long)
    assert time.monotonic() - started < 5


def test_a_link_that_is_too_long_to_follow_does_not_pass(tmp_path: Path) -> None:
    """R28: padding must not hide the way out at the end from us and leave it to the kernel."""
    target = b"d/../" * 800 + b".."
    assert len(target) < 4096
    shutil.copytree(tmp_path, tmp_path / "w")
    (tmp_path / "w/d").mkdir()
    (tmp_path / "w/l").symlink_to(os.fsdecode(target))
    assert (tmp_path / "w/l").resolve() == tmp_path
    assert escapes(b"l", {b"l": target})
    chain = {b"l%d" % n: b"d/../" * 300 + b"l%d" % (n + 1) for n in range(30)}
    chain[b"l30"] = b".."
    for path, text in chain.items():
        (tmp_path / "w" / os.fsdecode(path)).symlink_to(os.fsdecode(text))
    assert (tmp_path / "w/l0").resolve() == tmp_path
    assert escapes(b"l0", chain)


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        (b"a/b.py", True),
        (b"-a", True),
        (b"a/.github/x", True),
        (b".gitignore", True),
        (b"..a/b..", True),
        (b"git/x", True),
        (b"/a", False),
        (b"a/../b", False),
        (b"..", False),
        (b".git", False),
        (b"a/.git/hooks/x", False),
        (b".GiT/config", False),
        (b".git./x", False),
        (b".git /x", False),
        (b"GIT~1", False),
        (b".git::$INDEX_ALLOCATION/x", False),
        (b"a\\.git\\hooks/x", False),
        (".g\u200cit/x".encode(), False),
    ],
)
def test_names_that_mean_git_or_another_place_are_unsafe(path: bytes, safe: bool) -> None:
    """R28: on any file system, so that git itself has no objection to a workspace."""
    assert safe_path(path) is safe


def test_a_pack_is_known_only_while_it_is_the_very_file(tmp_path: Path) -> None:
    """One that bears another's name, but is not it, is read for itself."""
    known, other = tmp_path / "known", tmp_path / "other"
    write_pack(known / "pack", [packed(b"blob", b"text"), packed(b"tree", b"")])
    (other / "pack").mkdir(parents=True)
    for place in (known / "pack").iterdir():
        os.link(place, other / "pack" / place.name)
    before = Packs(known)
    expected = dict(before.kinds())
    assert dict(Packs(other, before).kinds()) == expected and len(expected) == 2
    (pack,) = (other / "pack").glob("*.pack")
    whole = pack.read_bytes()
    pack.unlink()
    pack.write_bytes(whole[:12] + b"\0" + whole[13:])
    with pytest.raises(ValueError, match="holds a difference"):
        list(Packs(other, before).kinds())
    assert dict(Packs(known, before).kinds()) == expected


def test_what_shrinks_little_is_kept_as_it_is() -> None:
    """Whatever its first bytes are like."""
    noise = random.Random(0).randbytes(4 * LARGE)
    assert len(packed(b"blob", b"\0" * LARGE + noise).data) > 5 * LARGE
    assert len(packed(b"blob", noise[:LARGE] + b"text " * LARGE).data) < 2 * LARGE
