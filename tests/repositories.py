"""Hypothesis strategies that make real git repositories, with all that papers' repositories have."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hypothesis import strategies as st

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
HISTORY = b"only in another version than the pinned one"
"""Stands in every commit, note, stash and tag message but the pin's tree."""
LFS_POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
ADDRESS = "https://host.example/owner/main"

_NAMES = [
    b"a",
    b"a.py",
    b"A.py",
    b"a-b",
    b"a0",
    b"src",
    b"with space",
    b"tab\there",
    b"new\nline",
    b'quo"te\\x',
    b"-dash",
    b":(top)",
    b"*",
    "☃🙂.py".encode(),
    b"\xff\xfe",
    b"con.txt ",
    b"README.md",
    b"Readme_CN.rst",
    b"__pycache__",
    b".hidden",
    b"n" * 200,
]
_ATTRIBUTES = [
    b"* text=auto eol=crlf\n",
    b"* text eol=lf\n*.py ident export-subst\n",
    b"*.py filter=evil diff=evil merge=evil\n* export-ignore\n",
    b"* working-tree-encoding=UTF-16 text\n[attr]strange text\n",
    b"* filter=lfs diff=lfs merge=lfs -text\n",
]
_MODULES = [
    b'[submodule "none"]\n\tpath = a\n\turl = ext::sh -c "touch canary"\n',
    b'[include]\n\tpath = /etc/passwd\n[submodule "x"]\n\tpath = nowhere\n\turl = /etc\n',
    b"[unfinished",
    b"",
]
_BARE = {
    b"HEAD": b"ref: refs/heads/nested\n",
    b"config": b"[core]\n\tbare = true\n\tfsmonitor = touch canary\n",
    b"objects/info/alternates": b"/nowhere\n",
    b"refs/heads/main": b"0" * 40 + b"\n",
}
_TARGETS = [
    b"a",
    b"../a",
    b"../../a",
    b"a.py",
    b"src/a",
    b"src",
    b".",
    b"..",
    b"./a//../a.py",
    b"/etc/passwd",
    b"/",
    b"nowhere\n",
    b"\xff\xfe",
    b"with space/../../..",
    b"-dash/a/a",
    b".git/config",
]


@dataclass(frozen=True)
class File:
    """A file of a tree: git's mode, and its bytes, a link's target, or a submodule's commit."""

    path: bytes
    mode: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Part:
    """A submodule: where it lies, its own files, how its address is written, and whether it has one."""

    path: bytes
    number: int
    files: tuple[File, ...]
    style: Literal["https", "scp", "ssh", "relative"]
    listed: bool

    @property
    def address(self) -> str:
        name = f"part-{self.number}"
        return {
            "https": f"https://host.example/owner/{name}.git",
            "scp": f"git@host.example:owner/{name}.git",
            "ssh": f"ssh://git@host.example/owner/{name}",
            "relative": f"../{name}",
        }[self.style]


@dataclass(frozen=True)
class Repository:
    """A repository to be: the pinned tree, other versions of it, its submodules."""

    files: tuple[File, ...]
    earlier: tuple[tuple[File, ...], ...]
    parts: tuple[Part, ...]
    later: bool
    tagged: Literal["", "pin", "before", "both"]

    @property
    def whole(self) -> dict[bytes, File]:
        """Every file of the pinned tree with its submodules as folders, by path."""
        found = {each.path: each for each in self.files}
        for part in self.parts:
            if part.listed:
                del found[part.path]
                for each in part.files:
                    path = part.path + b"/" + each.path
                    found[path] = File(path, each.mode, each.content)
        return found


@dataclass(frozen=True)
class Made:
    """A repository on disk: its bare folder, the commit to pin and the folder of its submodules' clones."""

    root: Path
    pin: str
    clones: Path


def _bytes_of(seed: int, size: int, dense: bool) -> bytes:
    source = random.Random(seed)
    return source.randbytes(size) if dense else (b"line %d\n" % seed) * (size // 8)


PATHS = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3).map(b"/".join)
LARGE_CONTENTS = st.builds(
    _bytes_of, st.integers(0, 99), st.sampled_from([16383, 16384, 16385, 60_000]), st.booleans()
)
CONTENTS = st.one_of(
    st.sampled_from(
        [
            b"",
            b"one\n",
            b"one\r\ntwo\r\n",
            b"mixed\r\nends\nhere",
            b"$Id$ and $Format:%H$\n",
            "naïve\n".encode("latin-1"),
            "wide\n".encode("utf-16"),
            LFS_POINTER,
        ]
    ),
    st.builds(_bytes_of, st.integers(0, 999), st.integers(24, 200), st.just(True)),
    st.builds(_bytes_of, st.integers(0, 999), st.integers(24, 200), st.booleans()),
    LARGE_CONTENTS,
)
FILES = st.builds(File, PATHS, st.sampled_from([FILE, FILE, EXECUTABLE]), CONTENTS)
LINKS = st.builds(File, PATHS, st.just(LINK), st.sampled_from(_TARGETS) | PATHS)
SPECIAL = st.one_of(
    st.builds(
        File,
        st.sampled_from([b".gitattributes", b"src/.gitattributes"]),
        st.just(FILE),
        st.sampled_from(_ATTRIBUTES),
    ),
    st.builds(
        File, st.just(b".gitignore"), st.just(FILE), st.sampled_from([b"*\n", b"*.py\n!a\n"])
    ),
    st.builds(File, st.just(b".gitmodules"), st.just(FILE), st.sampled_from(_MODULES)),
    st.builds(
        File,
        st.just(b"pyproject.toml"),
        st.just(FILE),
        st.just(b'[project]\nname = "p"\nversion = "1"\nreadme = "README.md"\n'),
    ),
)
_NESTED = st.sampled_from([b"nested.git", b"src/bare"]).map(
    lambda top: [File(top + b"/" + name, FILE, content) for name, content in _BARE.items()]
)
_CHAINS = st.sampled_from(
    [
        [(b"one", b"two"), (b"two", b"three"), (b"three", b"a")],
        [(b"one", b"two"), (b"two", b"one")],
        [(b"self", b"self")],
        [(b"x/y/l", b"../.."), (b"q", b"x/y/l/../..")],
        [(b"x/y/l", b".."), (b"q", b"x/y/l/../a")],
        [(b"up", b".."), (b"far", b"up/up/etc")],
        [(b"deep/loop", b"../deep"), (b"deep/l", b"loop/loop/loop/../a")],
    ]
).map(lambda links: [File(path, LINK, target) for path, target in links])
NODES = st.one_of(FILES, FILES, FILES, LINKS)
_ABSENT = b"1" * 40


def settled(files: Iterable[File]) -> tuple[File, ...]:
    """Those of the files that fit into one tree, the first come first."""
    taken: dict[bytes, File] = {}
    folders: set[bytes] = set()
    for each in files:
        parents = list(_parents(each.path))
        if each.path in taken or each.path in folders or any(p in taken for p in parents):
            continue
        taken[each.path] = each
        folders.update(parents)
    return tuple(taken.values())


@st.composite
def repositories(draw: st.DrawFn) -> Repository:
    """Repositories with one to three commits up to the pin, and others beside and after it."""
    parts = tuple(
        Part(
            path,
            number,
            settled(draw(st.lists(NODES, min_size=1, max_size=3))),
            draw(st.sampled_from(["https", "scp", "ssh", "relative"])),
            draw(st.sampled_from([True, True, False])),
        )
        for number, path in enumerate(
            draw(
                st.lists(
                    st.sampled_from([b"libs/part", b"sub mod", b"src/third"]),
                    max_size=2,
                    unique=True,
                )
            )
        )
    )
    files = [File(part.path, SUBMODULE, b"") for part in parts]
    if any(part.listed for part in parts):
        files.append(File(b".gitmodules", FILE, _gitmodules(parts)))
    for extra in (_NESTED, _CHAINS):
        files += draw(st.one_of(st.just([]), extra))
    files += draw(st.lists(SPECIAL, max_size=2)) + draw(st.lists(NODES, min_size=1, max_size=8))
    pinned = settled(files)
    earlier = draw(st.lists(st.lists(FILES, max_size=3).map(settled), max_size=2))
    return Repository(
        pinned,
        tuple(earlier),
        tuple(part for part in parts if any(each.path == part.path for each in pinned)),
        draw(st.booleans()),
        draw(st.sampled_from(["", "pin", "before", "both"])) if earlier else "pin",
    )


def make(repository: Repository, folder: Path) -> Made:
    """Write a repository and those of its submodules with ``git fast-import``."""
    clones = folder / "clones"
    commits = {
        part.path: _import(clones / "owner" / f"part-{part.number}.git", [_tree(part.files, {})])
        for part in repository.parts
        if part.listed
    }
    root = folder / "upstream.git"
    versions = [_tree(files, {}, HISTORY) for files in repository.earlier]
    pinned = _tree(repository.files, commits)
    versions.append(pinned)
    if repository.later:
        versions.append([*pinned, File(b"later", FILE, HISTORY)])
    pin_mark = len(repository.earlier) + 1
    _import(root, versions, _beside(repository, pin_mark))
    pin = run_git(root, "rev-parse", "refs/expbench/pin").decode().strip()
    run_git(root, "update-ref", "-d", "refs/expbench/pin")
    return Made(root, pin, clones)


def run_git(folder: Path, *args: str, stdin: bytes = b"", enter: Sequence[str] = ()) -> bytes:
    """The user's own git, far from the harness's settings; ``enter`` is a command that runs it."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    command = [*enter, "git", "-c", "safe.directory=*", "-C", str(folder), *args]
    done = subprocess.run(
        command, env=environment, input=stdin, capture_output=True, timeout=60, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{args}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def _tree(files: Iterable[File], commits: dict[bytes, str], marker: bytes = b"") -> list[File]:
    """The files as fast-import gets them; submodules with their commits."""

    def content(each: File) -> bytes:
        if each.mode == SUBMODULE:
            return commits.get(each.path, "").encode() or _ABSENT
        return each.content if each.mode == LINK else marker + each.content

    return [File(each.path, each.mode, content(each)) for each in files]


def _import(root: Path, versions: Sequence[Sequence[File]], beside: Iterable[bytes] = ()) -> str:
    root.mkdir(parents=True)
    run_git(root, "init", "--quiet", "--bare", "--initial-branch=main")
    stream = b"".join([*_commits(versions), *beside])
    run_git(root, "fast-import", "--quiet", "--force", stdin=stream)
    return run_git(root, "rev-parse", "refs/heads/main").decode().strip()


def _commits(versions: Sequence[Sequence[File]]) -> Iterator[bytes]:
    for number, files in enumerate(versions, 1):
        yield b"commit refs/heads/main\nmark :%d\n" % number
        yield _signed(number) + _data(HISTORY)
        if number > 1:
            yield b"from :%d\n" % (number - 1)
        yield b"deleteall\n"
        for each in files:
            yield from _put(each)
        yield b"\n"


def _beside(repository: Repository, pin: int) -> Iterator[bytes]:
    """A branch, a stash, a note and tags, all of which hold what no workspace may."""
    yield b"reset refs/expbench/pin\nfrom :%d\n\n" % pin
    for name in (b"heads/side", b"stash", b"notes/commits"):
        yield b"commit refs/%s\n" % name + _signed(90) + _data(HISTORY)
        yield b"from :%d\n" % pin if name != b"notes/commits" else b""
        yield from _put(File(b"beside", FILE, HISTORY + name))
        yield b"\n"
    for name, mark in ((b"v1.0", pin), (b"v0.5", 1)):
        where = "pin" if mark == pin and name == b"v1.0" else "before"
        if repository.tagged in (where, "both"):
            yield b"tag %s\nfrom :%d\n" % (name, mark)
            yield b"tagger someone <s@example.org> 1700000000 +0000\n" + _data(HISTORY)


def _put(each: File) -> Iterator[bytes]:
    if each.mode == SUBMODULE:
        yield b"M 160000 %s %s\n" % (each.content, _quoted(each.path))
    else:
        yield b"M %s inline %s\n" % (each.mode.encode(), _quoted(each.path)) + _data(each.content)


def _signed(number: int) -> bytes:
    return b"committer someone <s@example.org> %d +0000\n" % (1_700_000_000 + number)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: bytes) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'


def _parents(path: bytes) -> Iterator[bytes]:
    while path := path.rpartition(b"/")[0]:
        yield path


def _gitmodules(parts: Iterable[Part]) -> bytes:
    head = b"# comment\n[core]\n\tfsmonitor = touch canary\n"
    row = b'[submodule "%d.name \\"quoted\\""]\n\tpath = "%s"\n\tbranch = .\n\turl = %s\n'
    listed = [part for part in parts if part.listed]
    return head + b"".join(row % (p.number, p.path, p.address.encode()) for p in listed)
