"""Reading an agent's files without following a link in any part of their path."""

from __future__ import annotations

import errno
import os
import stat
from types import TracebackType

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def listed(folder: bytes) -> os._ScandirIterator[bytes]:
    """A folder's entries in no order, whatever mode an agent gave it. Raises OSError."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if status.st_mode & 0o500 != 0o500:
        handle = os.open(folder, _FOLDER)
        try:
            _permit(handle, 0o700)
        finally:
            os.close(handle)
    return os.scandir(folder)


class Folder:
    """A folder whose files are read by their path in it. A context manager.

    Every part of a path is opened by itself, so that a link anywhere in it is an error and no way out.
    All methods raise OSError.
    """

    def __init__(self, root: bytes) -> None:
        self._root = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._last: tuple[bytes, int] = (b"", self._root)

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._forget()
        os.close(self._root)

    def status(self, path: bytes) -> os.stat_result:
        parent, name = self._parent(path)
        return os.stat(name, dir_fd=parent, follow_symlinks=False)

    def readlink(self, path: bytes) -> bytes:
        parent, name = self._parent(path)
        return os.readlink(name, dir_fd=parent)

    def open(self, path: bytes) -> int:
        """A handle on a regular file, whatever mode an agent gave it."""
        parent, name = self._parent(path)
        try:
            handle = os.open(name, _FILE, dir_fd=parent)
        except PermissionError:
            held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            try:
                _permit(held, 0o600)
            finally:
                os.close(held)
            handle = os.open(name, _FILE, dir_fd=parent)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "not a regular file")
        return handle

    def _parent(self, path: bytes) -> tuple[int, bytes]:
        folder, _, name = path.rpartition(b"/")
        if folder != self._last[0]:
            self._forget()
            handle = self._root
            for part in folder.split(b"/") if folder else ():
                below = os.open(part, _FOLDER, dir_fd=handle)
                if handle != self._root:
                    os.close(handle)
                handle = below
            self._last = (folder, handle)
        return self._last[1], name

    def _forget(self) -> None:
        if self._last[1] != self._root:
            os.close(self._last[1])
        self._last = (b"", self._root)


def _permit(handle: int, bits: int) -> None:
    """Add permissions by a handle, which no link can lead elsewhere; never to a link."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(mode) | bits)
