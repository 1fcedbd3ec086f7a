"""Opening a bundle's sealed part with its key or passphrase."""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from expbench.bundle.layout import SEALED
from expbench.bundle.opening import opened, read_members
from expbench.bundle.sealing import Opener, Secret
from expbench.errors import DataError, PrerequisiteError, UserError


@dataclass(frozen=True)
class Unsealed:
    """The folder, and how many files and bytes are in it."""

    root: Path
    files: int
    size: int


def unseal(bundle: Path, root: Path, secret: Secret) -> Unsealed:
    """Write what the sealed part of a bundle holds to the new or empty folder ``root``.

    Raises:
        UserError: the folder holds something already, or the part has another kind of secret.
        DataError: it is no bundle, has no sealed part, the key does not fit, or it was changed.
        PrerequisiteError: the disk lacks the room or the right to write.
    """
    if root.is_symlink() or (root.exists() and (not root.is_dir() or any(root.iterdir()))):
        raise UserError(f"{root} is not empty: choose another folder with --out.")
    fresh = root.absolute().with_name(f".{root.absolute().name}.{secrets.token_hex(4)}.new")
    try:
        fresh.mkdir(parents=True)
    except OSError as error:
        raise PrerequisiteError(
            f"{root} cannot be written ({error.strerror}): choose another folder with --out."
        ) from None
    try:
        with tempfile.TemporaryDirectory(prefix="expbench-bundle-") as folder:
            found = opened(bundle, Path(folder))
            if SEALED not in {each.name for each in found.index.files}:
                raise DataError(f"{bundle.name} has no sealed part: it was made without --encrypt.")
            with (Path(folder) / SEALED).open("rb") as file:
                plain = cast("BinaryIO", Opener(file, secret))
                with gzip.GzipFile(fileobj=plain, mode="rb") as stream:
                    index = read_members(cast("BinaryIO", stream), fresh, Path(SEALED), "sealed")
        os.chmod(fresh, 0o700)  # noqa: PTH101
        if root.exists():
            root.rmdir()
        fresh.rename(root)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return Unsealed(root, len(index.files), index.size)
