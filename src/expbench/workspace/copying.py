"""Copying files of the store into a folder: sharing their extents where the file system can."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable

from expbench.workspace.repository.tree import SYMLINK, finish_file, make_parents

_FICLONE = 0x40049409
_CHUNK = 1 << 30
_NO_CLONES = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS)


class Copier:
    """Copies files below one root. ``shares`` tells whether the copies share their extents so far."""

    def __init__(self, root: bytes, owner: int | None = None) -> None:
        self.root = root
        self.shares = True
        self.made = {root}
        self._owner = owner

    def copy(self, source: bytes, path: bytes, mode: str) -> None:
        """Copy one file or link of ours to ``path``, which is not there yet."""
        target = os.path.join(self.root, path)
        make_parents(target, self.made)
        if mode == SYMLINK:
            os.symlink(os.readlink(source), target)
            if self._owner is not None:
                os.lchown(target, self._owner, self._owner)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        from_fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            to_fd = os.open(target, flags)
            try:
                self._content(from_fd, to_fd)
                finish_file(to_fd, mode, self._owner)
            finally:
                os.close(to_fd)
        finally:
            os.close(from_fd)

    def own(self, folders: Iterable[bytes]) -> None:
        """Give folders to the owner."""
        if self._owner is not None:
            for folder in folders:
                os.chown(folder, self._owner, self._owner)

    def _content(self, from_fd: int, to_fd: int) -> None:
        if self.shares:
            try:
                fcntl.ioctl(to_fd, _FICLONE, from_fd)
            except OSError as error:
                if error.errno not in _NO_CLONES:
                    raise
                self.shares = False
            else:
                return
        while os.sendfile(to_fd, from_fd, None, _CHUNK):
            pass
