"""``expbench gc``: what it frees, and the table of it."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from expbench.errors import PrerequisiteError, SandboxError
from expbench.paths import CachePaths
from expbench.programs import ProgramShelf
from expbench.sandboxes.host import SandboxHost
from expbench.workspace.freeing import Freeing, Item, Kind, State, check_cache

_NAMES: dict[Kind, str] = {
    "workspace": "workspaces of runs that were killed",
    "unfinished": "what was not finished making",
    "tree": "frozen trees with their layers",
    "repository": "repositories",
    "environment": "Python environments",
    "program": "agents' programs",
    "verdict": "judges' verdicts",
}
_STATES: tuple[State, ...] = ("freed", "in use", "recent", "failed")


def free(
    root: Path,
    also: Collection[Kind],
    keep_days: float,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Free what no process uses of a cache; what is dear to make again only where ``also`` has its kind.

    Of agents' programs those always go that a later installation has replaced.

    Raises:
        PrerequisiteError: the cache is no folder, or something of it is not the user's to remove.
    """
    cache = CachePaths(root)
    console = Console(highlight=False)
    if not check_cache(cache):
        if as_json:
            _print_json(cache, dry_run, ())
        else:
            console.print(f"There is no cache at {root}: nothing to free.", soft_wrap=True)
        return 0
    items = _pass(cache, also, keep_days, dry_run)
    if as_json:
        _print_json(cache, dry_run, items)
    else:
        console.print(_table(items, dry_run))
        console.print(_total(items, cache, dry_run), markup=False, soft_wrap=True)
    if failed := [item for item in items if item.state == "failed"]:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise PrerequisiteError(
            f"{root / failed[0].path}{more} cannot be removed ({failed[0].reason}): "
            "run `expbench gc` as the user whose it is."
        )
    return 0


def _sweep(host: SandboxHost) -> None:
    """What sandboxes of dead harnesses left, of every kind whose programs are here and answer."""
    host.sweep(("bwrap",))
    for kind in ("docker", "podman"):
        if shutil.which(kind):
            with contextlib.suppress(SandboxError, PrerequisiteError):
                host.sweep((kind,))


def _pass(
    cache: CachePaths, also: Collection[Kind], keep_days: float, dry_run: bool
) -> tuple[Item, ...]:
    freeing = Freeing(cache, keep_days, dry_run)
    abandoned = freeing.workspaces()
    if not dry_run:
        _sweep(SandboxHost(cache))
    freeing.unfinished()
    freeing.trees()
    if "repository" in also:
        freeing.repositories()
    if "environment" in also:
        freeing.environments()
    freeing.programs(None if "program" in also else ProgramShelf(cache.agents).replaced())
    if "verdict" in also:
        freeing.verdicts()
    left = {str(path.relative_to(cache.root)) for path in abandoned if path.exists()}
    if dry_run:
        return tuple(freeing.items)
    return tuple(
        item.model_copy(
            update={"state": "failed", "bytes": 0, "reason": "not all of it could be removed"}
        )
        if item.path in left
        else item
        for item in freeing.items
    )


def _table(items: Sequence[Item], dry_run: bool) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("what", no_wrap=True)
    for name in ("to free" if dry_run else "freed", "size", "in use", "recent", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for kind in _NAMES:
        rows = [item for item in items if item.kind == kind]
        if rows:
            freed, *others = (_count(rows, state) for state in _STATES)
            size = decimal(sum(row.bytes for row in rows))
            table.add_row(_NAMES[kind], str(freed), size, *(str(n or "") for n in others))
    return table


def _count(items: Sequence[Item], state: State) -> int:
    return sum(item.state == state for item in items)


def _total(items: Sequence[Item], cache: CachePaths, dry_run: bool) -> str:
    size = decimal(sum(item.bytes for item in items))
    if dry_run:
        return f"{size} would be freed of {cache.root}; nothing was changed"
    return f"{size} freed of {cache.root}; what is needed again is made again"


def _print_json(cache: CachePaths, dry_run: bool, items: Sequence[Item]) -> None:
    kinds = {
        kind: {state.replace(" ", "_"): _count(rows, state) for state in _STATES}
        | {"bytes": sum(row.bytes for row in rows)}
        for kind in _NAMES
        for rows in ([item for item in items if item.kind == kind],)
    }
    print(  # noqa: T201
        json.dumps(
            {
                "cache": str(cache.root),
                "dry_run": dry_run,
                "bytes": sum(item.bytes for item in items),
                "kinds": kinds,
                "items": [item.model_dump() for item in items],
            },
            indent=1,
        )
    )
