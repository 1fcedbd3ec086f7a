"""``expbench tasks fetch`` and ``expbench repos fetch``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from expbench.dataset import load_suite
from expbench.dataset.fetch import RELEASE_COMMIT, fetch_release, release_files, release_folder
from expbench.errors import NotFoundError
from expbench.paths import CachePaths
from expbench.schema import ResearchTask
from expbench.workspace.repository.repos import Origin, PinState, fetch_pins, pins_of

_PLAIN_WIDTH = 200
"""Characters of a table's line where there is no terminal that has a width."""


def fetch_tasks(given: Path | None, cache: Path, as_json: bool) -> int:
    """Bring the released data set into the cache and say where it is."""
    root = CachePaths(cache).data
    console = Console(stderr=as_json, highlight=False)
    with _progress(console, "files", len(release_files())) as step:
        new = fetch_release(root, given, lambda name, done, total: step("", done))
    facts = {
        "commit": RELEASE_COMMIT,
        "folder": str(release_folder(root)),
        "files": len(release_files()),
        "state": "fetched" if new else "had",
    }
    if as_json:
        _print_json(facts)
        return 0
    came = "fetched" if new else "already there"
    console.print(
        f"{facts['files']} files of the release (commit {RELEASE_COMMIT[:7]}) {came}, checksums "
        f"right: {facts['folder']}",
        markup=False,
        soft_wrap=True,
    )
    return 0


def fetch_repos(
    suite: str,
    tasks: tuple[str, ...],
    papers: tuple[str, ...],
    origin: Origin,
    jobs: int,
    data: Path | None,
    cache: Path,
    as_json: bool,
) -> int:
    """Bring the tasks' repositories into the store; exit code 1 when some cannot be had."""
    chosen = _of_papers(load_suite(suite, data).select(tasks), papers)
    pins = pins_of(chosen)
    store = CachePaths(cache).repos
    console = Console(stderr=as_json, highlight=False)
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    start = time.monotonic()
    with _progress(console, "repositories", len(pins)) as step:
        done = 0

        def listener(state: PinState) -> None:
            nonlocal done
            done += 1
            step(_line(state), done)

        states = fetch_pins(pins, store, origin, jobs, listener)
    if as_json:
        _print_json({"store": str(store), "repositories": [state.model_dump() for state in states]})
    else:
        _show(states, console)
        text = _totals(states, store, time.monotonic() - start)
        console.print(text, markup=False, soft_wrap=True)
    return 1 if any(state.state == "failed" for state in states) else 0


def _of_papers(tasks: Sequence[ResearchTask], papers: tuple[str, ...]) -> list[ResearchTask]:
    known = {name for task in tasks for name in (task.paper, task.paper.rpartition("/")[2])}
    for name in papers:
        if name not in known:
            raise NotFoundError(f"None of the chosen tasks is of a paper {name!r}.")
    return [
        task
        for task in tasks
        if not papers or {task.paper, task.paper.rpartition("/")[2]} & set(papers)
    ]


@contextmanager
def _progress(console: Console, what: str, total: int) -> Iterator[Callable[[str, int], None]]:
    """A function that takes a line and the number done: a bar on a terminal, else lines."""
    if not console.is_terminal:

        def line(text: str, done: int) -> None:
            if text:
                message = f"[{done}/{total}] {text}"
                console.print(message, markup=False, soft_wrap=True)

        yield line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task(what, total=total)

        def move(text: str, done: int) -> None:
            progress.update(bar, completed=done)
            if text:
                progress.console.print(text, markup=False, highlight=False)

        yield move


def _line(state: PinState) -> str:
    head = f"{state.name} {state.commit[:8]}: {state.state}"
    if state.contents is None:
        return f"{head}, {state.reason}"
    return f"{head}, {state.contents.files} files ({state.seconds:.1f} s)"


def _show(states: Sequence[PinState], console: Console) -> None:
    table = Table(box=None, header_style="bold")
    for name in ("repository", "pin", "state"):
        table.add_column(name, no_wrap=True)
    for name in ("files", "submodules", "LFS"):
        table.add_column(name, justify="right")
    table.add_column("why", no_wrap=True, overflow="ellipsis")
    for state in states:
        table.add_row(state.name, state.commit[:8], state.state, *_counts(state), _why(state))
    console.print(table, markup=False)


def _counts(state: PinState) -> tuple[str, str, str]:
    contents = state.contents
    if contents is None:
        return ("", "", "")
    parts = len(contents.submodules)
    return (str(contents.files), str(parts or ""), str(len(contents.lfs) or ""))


def _why(state: PinState) -> str:
    if state.missing:
        more = f" and {len(state.missing) - 1} more" if len(state.missing) > 1 else ""
        return f"its source lacks {state.missing[0]}{more}"
    if state.contents is None:
        return state.reason
    notes = []
    if state.contents.lfs:
        notes.append(f"LFS pointers only: {', '.join(state.contents.lfs)}")
    if state.contents.unresolved:
        notes.append(f"submodules without an address: {', '.join(state.contents.unresolved)}")
    return "; ".join(notes)


def _totals(states: Sequence[PinState], store: Path, seconds: float) -> str:
    count = {name: sum(s.state == name for s in states) for name in ("fetched", "had", "failed")}
    files = sum(s.contents.files for s in states if s.contents)
    return (
        f"{len(states)} repositories: {count['fetched']} fetched, {count['had']} had, "
        f"{count['failed']} failed; {files} files in {store} ({seconds:.0f} s)"
    )


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201
