"""What ``git describe`` says of a pinned commit, and how a workspace without history says it again.

A workspace has one commit, so the answer is found out beforehand (:func:`describe_clone`,
:func:`describe_address`) and kept with the repository's contents. Then the nearest tag stands on the
workspace's commit (:func:`tag_content`) and that commit's message holds the whole answer
(:func:`commit_message`). Tags are a stranger's text: only plain names are let through.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import Field, model_validator

from expbench.schema import Record
from expbench.workspace.owners import own_prefix
from expbench.workspace.repository.clones import objects_of
from expbench.workspace.repository.git import GitError, git

UNKNOWN_VERSION = "0.0.0"
"""Told where no version is known: what setuptools gives to a package without one, and every tool reads."""

CLONE_SECONDS = 60.0
ADDRESS_SECONDS = 120.0
MOST_TAGS = 100_000
_TAG_LENGTH = 100

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=@!,/-]*")
_TAGGER = "expbench <expbench@localhost>"
_TAGGED = 1735689600
"""Seconds: when the workspace's commit was made, 2025-01-01."""
_LONG = re.compile(r"(?P<tag>.+)-(?P<distance>\d{1,9})-g(?P<commit>[0-9a-f]{7,64})")


def valid_tag(name: str) -> bool:
    """Whether a tag's name may stand in a workspace: git accepts it, it is short, and it shadows nothing.

    Only letters, digits and ``._+=@!,/-`` are let through; git allows more.
    """
    parts = name.split("/")
    return (
        len(name) <= _TAG_LENGTH
        and _TAG.fullmatch(name) is not None
        and not any(bad in name for bad in ("..", "@{"))
        and not name.endswith(".")
        and all(part and not part.startswith(".") and not part.endswith(".lock") for part in parts)
        and name != "main"
        and not name.endswith("HEAD")
        and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", name) is None
    )


class Described(Record):
    """The nearest tag of a commit, and the number of commits since: what ``git describe --tags`` says."""

    tag: str
    distance: int = Field(ge=0)
    commit: str = Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")

    @model_validator(mode="after")
    def _tag_is_safe(self) -> Described:
        if not valid_tag(self.tag):
            raise ValueError(f"{self.tag!r} is no tag's name that a workspace may have")
        return self

    @classmethod
    def parse(cls, answer: str, commit: str) -> Described | None:
        """The record of a ``git describe --long`` answer, or None when it is not one of ``commit``."""
        match = _LONG.fullmatch(answer.strip())
        if match is None or not commit.startswith(match["commit"]):
            return None
        try:
            return cls(tag=match["tag"], distance=int(match["distance"]), commit=commit)
        except ValueError:
            return None

    @property
    def answer(self) -> str:
        """``v1.2`` at the tag, else ``v1.2-5-gabc1234``."""
        return f"{self.tag}-{self.distance}-g{self.commit[:7]}" if self.distance else self.tag

    @property
    def version(self) -> str:
        """The version by setuptools_scm's default scheme, ``1.2`` or ``1.3.dev5+gabc1234``.

        A tag that is no version (``pose-weights``) gives :data:`UNKNOWN_VERSION`.
        """
        base = _tagged_version(self.tag)
        if base is None:
            return UNKNOWN_VERSION
        if not self.distance:
            return base
        return f"{_next(base, self.distance)}+g{self.commit[:7]}"


def commit_message(described: Described | None) -> str:
    """The message of a workspace's one commit."""
    return f"workspace, at {described.answer} of its repository" if described else "workspace"


def tag_contents(
    described: Described | None, commit: str, answers: bool
) -> tuple[tuple[str, bytes], ...]:
    """The tags of a workspace's commit: each one's name, and the content of its object in git.

    The nearest tag comes first. The commits since are lost, so ``git describe`` would answer it alone;
    a younger second tag, named by the whole answer, makes it answer what it did at the pin. Both are
    annotated: ``git describe`` without ``--tags``, which packages ask as well, sees no other.

    Args:
        answers: whether the second one is wanted; tools that take a tag apart cannot read it.
    """
    if described is None:
        return ()
    names = [described.tag]
    if answers and described.distance and valid_tag(described.answer):
        names.append(described.answer)
    return tuple(
        (
            name,
            f"object {commit}\ntype commit\ntag {name}\ntagger {_TAGGER} {_TAGGED + n} +0000\n\n"
            f"{described.answer} of its repository\n".encode(),
        )
        for n, name in enumerate(names)
    )


# --- what the pinned commit's repository says ----------------------------------------------------


def describe_clone(clone: Path, commit: str, *, seconds: float = CLONE_SECONDS) -> Described | None:
    """What a local clone's tags and history say of a commit; None when it has none, or not the whole.

    The clone's objects are read through a repository of ours; its settings never are.
    """
    objects = objects_of(clone)
    if objects is None:
        return None
    deadline = time.monotonic() + seconds
    try:
        listed = git(["ls-remote", "--tags", "--", str(clone)], timeout=seconds)
        with tempfile.TemporaryDirectory(prefix=own_prefix()) as folder:
            ours = _empty(Path(folder))
            (ours / "objects" / "info").mkdir(exist_ok=True)
            (ours / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
            (ours / "packed-refs").write_text("".join(_packed(listed.decode(errors="replace"))))
            return _describe(ours, commit, deadline)
    except (GitError, OSError, ValueError):
        return None


def describe_address(
    address: str,
    commit: str,
    network: Mapping[str, str] | None = None,
    *,
    seconds: float = ADDRESS_SECONDS,
) -> Described | None:
    """What the tags and history at an address say of a commit; None when they cannot be had in time.

    Commits and tags are fetched, files are not, where the server can do that.
    """
    deadline = time.monotonic() + seconds
    fetch = ["fetch", "--quiet", "--tags", "--filter=tree:0", "--", address, commit]
    try:
        with tempfile.TemporaryDirectory(prefix=own_prefix()) as folder:
            ours = _empty(Path(folder))
            git(fetch, git_dir=ours, env=network, timeout=seconds)
            return _describe(ours, commit, deadline)
    except (GitError, OSError, ValueError):
        return None


def _empty(folder: Path) -> Path:
    git(["init", "--quiet", "--bare", "--template=", str(folder)])
    return folder


def _describe(git_dir: Path, commit: str, deadline: float) -> Described | None:
    def left() -> float:
        return max(0.1, deadline - time.monotonic())

    # git describe counts what it has and is silent about parents that are not there; rev-list is not.
    git(["rev-list", "--count", commit], git_dir=git_dir, timeout=left())
    command = ["describe", "--tags", "--long", "--abbrev=40", commit]
    answer = git(command, git_dir=git_dir, timeout=left())
    return Described.parse(answer.decode(errors="replace"), commit)


def _packed(listed: str) -> Iterator[str]:
    """The lines of ``packed-refs`` for the tags that ``git ls-remote --tags`` lists."""
    lines = listed.splitlines()
    if len(lines) > 2 * MOST_TAGS:
        raise ValueError(f"more than {MOST_TAGS} tags")
    yield "# pack-refs with: peeled fully-peeled \n"
    written = ""
    for line in lines:
        oid, _, reference = line.partition("\t")
        name = reference.removeprefix("refs/tags/")
        if name == f"{written}^{{}}":
            yield f"^{oid}\n"
        elif reference != name and valid_tag(name):
            yield f"{oid} {reference}\n"
            written = name


# --- versions ------------------------------------------------------------------------------------

_VERSION = re.compile(
    r"(?:[a-z][\w/-]*[-_/])??v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_n>\d*))?"
    r"(?:[-_.]?(?:post|rev|r)[-_.]?(?P<post>\d*)|-(?P<post_n>\d+))?"
    r"(?:[-_.]?dev[-_.]?(?P<dev>\d*))?"
    r"(?:\+.*)?",
    re.IGNORECASE | re.ASCII,
)
_PRE = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc"}


def _tagged_version(tag: str) -> str | None:
    """The version that a tag names, in PEP 440's normal form and without a local part."""
    match = _VERSION.fullmatch(tag)
    if match is None:
        return None
    version = f"{int(match['epoch'])}!" if match["epoch"] else ""
    version += ".".join(str(int(part)) for part in match["release"].split("."))
    if match["pre"]:
        pre = match["pre"].lower()
        version += f"{_PRE.get(pre, pre)}{int(match['pre_n'] or 0)}"
    if (post := match["post_n"] or match["post"]) is not None:
        version += f".post{int(post or 0)}"
    if match["dev"] is not None:
        version += f".dev{int(match['dev'] or 0)}"
    return version


def _next(version: str, distance: int) -> str:
    """The development version ``distance`` commits after a version: the next of it, not yet there."""
    head, dev, number = version.partition(".dev")
    if dev:
        return f"{head}.dev{int(number) + distance}"
    rest = version.rstrip("0123456789")
    return f"{rest}{int(version.removeprefix(rest)) + 1}.dev{distance}"
