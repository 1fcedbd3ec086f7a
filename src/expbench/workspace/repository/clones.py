"""Reading the objects of a clone of the user's, and nothing else of it."""

from __future__ import annotations

from pathlib import Path


def objects_of(clone: Path) -> Path | None:
    """The folder of a clone's objects; a work tree beside its repository names that in a file."""
    git_dir = clone if (clone / "HEAD").is_file() else clone / ".git"
    try:
        if git_dir.is_file():
            named = git_dir.read_text("utf-8").strip().removeprefix("gitdir:").strip()
            git_dir = clone / named
            common = git_dir / "commondir"
            git_dir = git_dir / common.read_text("utf-8").strip() if common.is_file() else git_dir
    except (OSError, ValueError):
        return None
    objects = (git_dir / "objects").resolve()
    return objects if objects.is_dir() else None


def alternates(objects: Path) -> dict[str, str]:
    """git's variables for reading also the objects of a clone; its settings are never read."""
    quoted = str(objects).replace("\\", "\\\\").replace('"', '\\"')
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}
