"""The static site of a folder of bundles: the board of those that verify, and why the others do not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from expbench.board import Board, Contender, Extra, Refused, Source, build, named_apart, write_board
from expbench.board.rendering import render_html, render_latex
from expbench.board.write import BoardFiles, check_own
from expbench.bundle.opening import opened
from expbench.bundle.verify import Tasks, Verified, verified
from expbench.errors import ExpbenchError, NotFoundError

_ENDING = ".tar.gz"


@dataclass(frozen=True)
class Site:
    """A site that was written; ``board`` is ``None`` where every bundle was refused."""

    files: BoardFiles
    board: Board | None
    sources: tuple[Source, ...]
    refused: tuple[Refused, ...]


def build_site(
    folder: Path,
    out: Path,
    tasks_of: Tasks,
    compared_with: str = "first",
    with_published: bool = False,
) -> Site:
    """Verify every bundle of a folder and write the site; one that does not verify hides no other.

    Raises:
        NotFoundError: there is no such folder, or no bundle in it.
        UserError: ``out`` holds something that is no site.
        PrerequisiteError: it cannot be written.
    """
    if not folder.is_dir():
        raise NotFoundError(f"There is no folder {folder}: give one with bundles.")
    found = sorted(path for path in folder.iterdir() if path.name.endswith(_ENDING))
    if not found:
        raise NotFoundError(
            f"{folder} holds no bundle: put files there that `expbench submit` made."
        )
    check_own(BoardFiles(out.absolute()))
    good, refused = _sorted_out(found, tasks_of)
    named = named_apart([each.contender for each in good])
    good = [replace(each, contender=own) for each, own in zip(good, named, strict=True)]
    board = build(named, compared_with, with_published) if named else None
    sources = tuple(map(_source, good))
    extra = Extra("Leaderboard", sources, tuple(refused))
    return Site(write_board(board, out, extra), board, sources, tuple(refused))


def _sorted_out(found: Iterable[Path], tasks_of: Tasks) -> tuple[list[Verified], list[Refused]]:
    good: list[Verified] = []
    refused: list[Refused] = []
    files: dict[str, str] = {}
    for path in found:
        try:
            with tempfile.TemporaryDirectory(prefix="expbench-bundle-") as folder:
                each = verified(opened(path, Path(folder)), tasks_of)
        except ExpbenchError as error:
            refused.append(Refused(file=path.name, reason=str(error)))
            continue
        if not _can_be_shown(each.contender):
            reason = "holds numbers or names that no page can show."
            refused.append(Refused(file=path.name, reason=reason))
            continue
        if (before := files.get(each.identity)) is not None:
            refused.append(Refused(file=path.name, reason=f"has the same outcomes as {before}."))
            continue
        files[each.identity] = path.name
        good.append(each)
    return good, refused


def _can_be_shown(contender: Contender) -> bool:
    """Whether a run makes a page by itself, so that it cannot spoil that of others."""
    try:
        render_html(build([contender]))
        render_latex(build([contender]))
    except (ArithmeticError, ValueError):
        return False
    return True


def _source(each: Verified) -> Source:
    return Source(
        label=each.contender.label,
        file=each.opened.file.name,
        sha256=each.opened.sha256,
        size=each.opened.size,
        submissions=each.submissions,
        sealed=each.sealed,
        checks=each.checks,
    )
