"""Large blobs as files of their own in a repository of the store.

Every workspace of the pin then has them by a link, and nothing is stored twice. Small ones stay in a
pack.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from expbench.workspace.repository.git import BlobReader, git
from expbench.workspace.repository.objects import LARGE, write_loose


def separate_large(git_dir: Path) -> None:
    """Repack a repository that nobody uses yet: large blobs loose, everything else in one pack."""
    listing = ["cat-file", "--batch-all-objects", "--batch-check"]
    large: list[str] = []
    small: list[str] = []
    for line in git(listing, git_dir=git_dir).decode().splitlines():
        oid, kind, size = line.split()
        (large if kind == "blob" and int(size) >= LARGE else small).append(oid)
    if not large:
        return
    objects = git_dir / "objects"
    made = git_dir / "objects.made"
    (made / "pack").mkdir(parents=True)
    (made / "info").mkdir()
    with BlobReader(git_dir) as blobs:
        for oid in large:
            write_loose(made, oid, blobs.read(oid))
    pack = ["pack-objects", "--quiet", "--threads=1", str(made / "pack" / "pack")]
    git(pack, git_dir=git_dir, stdin="".join(f"{oid}\n" for oid in small).encode())
    shutil.rmtree(objects)
    made.rename(objects)
