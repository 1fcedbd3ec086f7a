"""Bringing many papers' repositories into the store at once.

Each pin is brought on its own: one that cannot be had spoils no other, and what is in the store already
is not touched, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from expbench.dataset import shipped_tree
from expbench.dataset.release import known_tree
from expbench.errors import RepositoryError
from expbench.schema import Record, ResearchTask
from expbench.workspace.repository.contents import (
    Contents,
    MissingObjectsError,
    missing_paths,
    read_contents,
)
from expbench.workspace.repository.git import GitError
from expbench.workspace.repository.leases import take_out
from expbench.workspace.repository.making import sweep
from expbench.workspace.repository.source import Source, clone_or_address, from_git, stored
from expbench.workspace.repository.submodules import SubmoduleError


@dataclass(frozen=True)
class Pin:
    """A repository's address and commit, and the papers whose tasks start from it."""

    url: str
    commit: str
    papers: tuple[str, ...]

    @property
    def name(self) -> str:
        """The repository as OWNER/NAME."""
        return "/".join(self.url.removesuffix(".git").rstrip("/").split("/")[-2:])


class PinState(Record):
    """What became of a pin: ``contents`` when it is in the store, else ``reason``.

    ``missing`` are the files of the commit that the repository it was asked from lacks; ``seconds`` is
    the time that this one took.
    """

    name: str
    url: str
    commit: str
    papers: tuple[str, ...]
    state: Literal["fetched", "had", "failed"]
    contents: Contents | None = None
    reason: str = ""
    missing: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Origin:
    """Where repositories come from: a folder of clones, or else the network, with git's variables for it."""

    mirror: Path | None = None
    network: Mapping[str, str] = field(default_factory=dict)


Listener = Callable[[PinState], None]


def pins_of(tasks: Iterable[ResearchTask]) -> tuple[Pin, ...]:
    """The repositories that the tasks start from, each pinned commit once, in the tasks' order."""
    papers: dict[tuple[str, str], dict[str, None]] = {}
    for task in tasks:
        if shipped_tree(task) is None:
            key = (task.repository.url, task.repository.commit)
            papers.setdefault(key, {})[task.paper] = None
    return tuple(Pin(url, commit, tuple(names)) for (url, commit), names in papers.items())


def fetch_pins(
    pins: Sequence[Pin], store: Path, origin: Origin, jobs: int, listener: Listener
) -> tuple[PinState, ...]:
    """Bring the pins into the store, ``jobs`` at a time; the states are in the pins' order.

    ``listener`` is called in the caller's thread when a pin is done.
    """
    store.mkdir(parents=True, exist_ok=True)
    sweep(store)
    states: dict[Pin, PinState] = {}
    with ThreadPoolExecutor(jobs, thread_name_prefix="repos") as pool:
        try:
            for done in as_completed([pool.submit(_timed, pin, store, origin) for pin in pins]):
                pin, state = done.result()
                states[pin] = state
                listener(state)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return tuple(states[pin] for pin in pins)


def _timed(pin: Pin, store: Path, origin: Origin) -> tuple[Pin, PinState]:
    start = time.monotonic()
    state = _fetch_pin(pin, store, origin)
    return pin, state.model_copy(update={"seconds": round(time.monotonic() - start, 2)})


def _fetch_pin(pin: Pin, store: Path, origin: Origin) -> PinState:
    state = PinState(
        name=pin.name, url=pin.url, commit=pin.commit, papers=pin.papers, state="failed"
    )
    if not pin.commit:
        return state.model_copy(update={"reason": "its tasks name no commit"})
    if (source := _whole(pin, store)) is not None:
        contents = read_contents(source.git_dir)
        return state.model_copy(update={"state": "had", "contents": contents})
    try:
        source = from_git(
            clone_or_address(pin.url, origin.mirror),
            pin.commit,
            store,
            url=pin.url,
            tree=known_tree(pin.commit),
            clones=origin.mirror,
            network=origin.network,
        )
    except (RepositoryError, GitError) as error:
        return state.model_copy(update={"reason": str(error), "missing": _missing(error)})
    contents = read_contents(source.git_dir)
    return state.model_copy(update={"state": "fetched", "contents": contents})


def _whole(pin: Pin, store: Path) -> Source | None:
    """The pin in the store, with all its files; a damaged one is taken out."""
    source = stored(pin.commit, store)
    if source is None:
        return None
    if not _lacks_files(source):
        return source
    if source.lease is not None:
        source.lease.close()
    take_out(source.git_dir, lambda: _lacks_files(source))
    return None


def _lacks_files(source: Source) -> bool:
    try:
        return bool(missing_paths(source.git_dir, source.commit))
    except GitError:
        return True


def _missing(error: BaseException) -> tuple[str, ...]:
    """The files that an error is about, as paths in the pin's own tree."""
    if isinstance(error, SubmoduleError) and error.__cause__ is not None:
        return tuple(f"{error.path}/{name}" for name in _missing(error.__cause__))
    return error.missing if isinstance(error, MissingObjectsError) else ()
