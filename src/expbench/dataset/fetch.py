"""Bringing the released data set to this machine, each file proved by its checksum.

The release is one commit of a public repository. Of it only the task files and the paper metadata are
wanted; ``release.sha256`` in this package lists them, as ``sha256sum`` writes it, with their paths in
that repository. They come one by one from the network, or all from a folder or archive of the user's,
wherever they lie in it. Files are gathered in a staging folder, which takes the final name only when
every checksum is right: what has a release's name is whole. A broken download leaves its good files
in the staging folder, where the next one finds them.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import http.client
import os
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from expbench.dataset.archives import MEMBER_CAP, wanted_members
from expbench.errors import DataError

RELEASE_COMMIT = "599fc2996a4c32827d6906f023977e8129ca993c"
"""The release: this commit of github.com/Just-Curieous/EXP-Bench."""
RELEASE_ADDRESS = f"https://raw.githubusercontent.com/Just-Curieous/EXP-Bench/{RELEASE_COMMIT}"

_ATTEMPTS = 3
_CONNECTIONS = 6
_SECONDS = 60.0
_GONE = frozenset({401, 403, 404, 410})
"""Answers that a second try does not change."""

Listener = Callable[[str, int, int], None]
"""Called with a file's name, the number of files at hand and of all."""


@dataclass(frozen=True)
class ReleaseFile:
    """One file of the release: its path in the release's repository and its sha256 hex digest."""

    path: str
    digest: str

    @property
    def place(self) -> str:
        """Its path in the data folder, ``<venue>/...``."""
        return self.path.removeprefix("outputs/").removeprefix("logs/")

    @property
    def name(self) -> str:
        """Its name without folders, which no other file of the release has."""
        return self.path.rpartition("/")[2]

    def proves(self, content: bytes) -> bool:
        """Whether the content is the file's."""
        return hashlib.sha256(content).hexdigest() == self.digest


@functools.cache
def release_files() -> tuple[ReleaseFile, ...]:
    """The 51 task files and the two lists of paper metadata."""
    text = resources.files("expbench.dataset").joinpath("release.sha256").read_text("utf-8")
    rows = (line.split("  ", 1) for line in text.splitlines())
    return tuple(ReleaseFile(path, digest) for digest, path in rows)


def release_folder(root: Path) -> Path:
    """Where the release is, or will be, in a cache's folder of data sets."""
    return root / f"exp-bench-{RELEASE_COMMIT[:7]}"


def fetch_release(
    root: Path,
    given: Path | None = None,
    listener: Listener = lambda name, done, total: None,
    address: str = RELEASE_ADDRESS,
) -> bool:
    """Put the release into :func:`release_folder` of ``root``; False when it is there, whole.

    Args:
        given: a folder or a zip or tar archive that holds the files; without it they are downloaded.
        address: where the release's repository is served as files.

    Raises:
        DataError: a file is missing, has a wrong checksum (its name is in the text; nothing is kept),
            or cannot be downloaded (what came is kept for the next try).
    """
    final = release_folder(root)
    root.mkdir(parents=True, exist_ok=True)
    with _alone(root):
        if all(_at_hand(final, file) for file in release_files()):
            return False
        staging = root / f".fetching-{final.name}"
        staging.mkdir(exist_ok=True)
        try:
            if given is None:
                _download_all(staging, address, listener)
            else:
                _take_all(staging, given, listener)
        except _NotTheReleaseError:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        _swap(staging, final)
    return True


class _NotTheReleaseError(DataError):
    """What was given is not the release: nothing of it is kept."""


def _take_all(staging: Path, given: Path, listener: Listener) -> None:
    """The files from a folder or archive. Of several with one name, the one with the checksum."""
    wanted = {file.name: file for file in release_files()}
    found: set[str] = set()
    wrong: dict[str, str] = {}
    try:
        for where, content in wanted_members(given, frozenset(wanted)):
            file = wanted[where.rpartition("/")[2]]
            if not file.proves(content):
                wrong[file.name] = where
            elif file.name not in found:
                _keep(staging, file, content)
                found.add(file.name)
                listener(file.name, len(found), len(wanted))
    except DataError as error:
        raise _NotTheReleaseError(str(error)) from None
    missing = [name for name in wanted if name not in found]
    if bad := [wrong[name] for name in missing if name in wrong]:
        raise _NotTheReleaseError(
            f"{bad[0]} in {given} has not the checksum that it has in the release (commit "
            f"{RELEASE_COMMIT[:7]}){_more(len(bad) - 1)}: give an unchanged copy of that commit."
        )
    if missing:
        raise _NotTheReleaseError(
            f"{given} lacks {missing[0]}{_more(len(missing) - 1)}: give a copy of the release's "
            f"repository at commit {RELEASE_COMMIT[:7]}."
        )


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _download_all(staging: Path, address: str, listener: Listener) -> None:
    files = release_files()
    left = [file for file in files if not _at_hand(staging, file)]
    done = len(files) - len(left)

    def bring(file: ReleaseFile) -> ReleaseFile:
        content = _download(address, file)
        if not file.proves(content):
            raise _NotTheReleaseError(
                f"{file.path}, as {address} serves it, has not the checksum of the release: what "
                "came is thrown away; try another network or give a copy with --from."
            )
        _keep(staging, file, content)
        return file

    with ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="release") as pool:
        try:
            for file in pool.map(bring, left):
                done += 1
                listener(file.name, done, len(files))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _download(address: str, file: ReleaseFile) -> bytes:
    url = f"{address}/{urllib.parse.quote(file.path)}"
    request = urllib.request.Request(url, headers={"User-Agent": "expbench"})
    reason: object = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(0.5 * 2**attempt)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return bytes(answer.read(MEMBER_CAP + 1))
        except urllib.error.HTTPError as error:
            reason = f"status {error.code}"
            if error.code in _GONE:
                break
        except urllib.error.URLError as error:
            reason = error.reason
        except (OSError, http.client.HTTPException) as error:
            reason = error or type(error).__name__
    raise DataError(
        f"{file.path} of the release cannot be downloaded from {address} ({reason}): try again (what "
        "came is kept), or give a copy of the release's repository with --from."
    )


def _at_hand(folder: Path, file: ReleaseFile) -> bool:
    try:
        return file.proves((folder / file.place).read_bytes())
    except OSError:
        return False


def _keep(folder: Path, file: ReleaseFile, content: bytes) -> None:
    """Write one proved file, so that a kill leaves it whole or not at all."""
    path = folder / file.place
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(content)
    part.replace(path)


def _swap(staging: Path, final: Path) -> None:
    """The staging folder takes the place of a damaged release, if there is one."""
    for part in staging.rglob("*.part"):
        part.unlink()
    old = final.with_name(f".old-{final.name}")
    shutil.rmtree(old, ignore_errors=True)
    if final.exists():
        final.rename(old)
    staging.rename(final)
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One process at a time fetches into ``root``; the lock ends with its process."""
    handle = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
