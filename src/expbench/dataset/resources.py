"""What a task needs of the machine and of the outside world, each need with its evidence.

``resources.json`` in this package is written by ``scripts/build_resources`` with the rules of
:mod:`expbench.dataset.demands`; here it is only read. A need is a claim about a task that anybody can
check: its ``quote`` stands in the task's text or, at the pinned commit, in the named file.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import Literal

from pydantic import Field

from expbench.schema import Record

LARGE_GB = 1.0
"""From this size on (decimal gigabytes) the downloads of a task count as large."""
LONG_MINUTES = 40.0
"""A task that is expected to take longer than the publication's 40 minutes is long."""

NeedKind = Literal["gpu", "api_key", "gated_data", "download", "time"]
LEFT_FLAG = "answer_left_strict"
FLAG_NAMES = ("needs_gpu", "needs_api_key", "gated_data", "large_download", "long_running")


class Need(Record):
    """One need and where it shows.

    ``amount`` is the number of GPUs, gigabytes of a download, or minutes; ``None`` when unknown.
    ``place`` is a field of the task (``method``) or a file and line of the repository.
    """

    kind: NeedKind
    what: str
    amount: float | None = None
    place: str
    quote: str


class EnvironmentFacts(Record):
    """The recipe of :mod:`expbench.dataset.recipe` in short, as it was when the file was built."""

    python: str = ""
    packages: int = 0
    system: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class Resources(Record):
    """All needs of a task. ``minutes`` is an order of magnitude on the hardware it asks for."""

    needs: tuple[Need, ...] = ()
    minutes: float = 10.0
    gpu_memory_gb: float | None = None
    environment: EnvironmentFacts | None = None
    left: tuple[str, ...] = ()
    """Files that still hold the answer under strict masking, which only reports them."""

    def of(self, kind: NeedKind) -> tuple[Need, ...]:
        """The needs of one kind."""
        return tuple(need for need in self.needs if need.kind == kind)

    @property
    def download_gb(self) -> float:
        """Gigabytes of all downloads whose size is known."""
        return sum(need.amount or 0.0 for need in self.of("download"))

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that follow; a download of unknown size counts as large."""
        unknown = any(need.amount is None for need in self.of("download"))
        held = (
            bool(self.of("gpu")),
            bool(self.of("api_key")),
            bool(self.of("gated_data")),
            unknown or self.download_gb > LARGE_GB,
            self.minutes > LONG_MINUTES,
        )
        found = tuple(name for name, holds in zip(FLAG_NAMES, held, strict=True) if holds)
        return (*found, LEFT_FLAG) if self.left else found


class ResourceFile(Record):
    """``resources.json``: the digest of the data it was built from, environments and tasks."""

    data: str
    environments: tuple[EnvironmentFacts, ...] = ()
    tasks: dict[str, TaskEntry] = Field(default_factory=dict)


class TaskEntry(Record):
    """A task's needs; ``environment`` is an index into the file's environments."""

    needs: tuple[Need, ...] = ()
    minutes: float
    gpu_memory_gb: float | None = None
    environment: int | None = None
    left: tuple[str, ...] = ()


@functools.cache
def resource_file() -> ResourceFile:
    """The packaged file."""
    text = resources.files("expbench.dataset").joinpath("resources.json").read_text("utf-8")
    return ResourceFile.model_validate_json(text)


@functools.cache
def resources_of(task_id: str) -> Resources | None:
    """What a released task needs, or None for a task that was never looked at."""
    file = resource_file()
    entry = file.tasks.get(task_id)
    if entry is None:
        return None
    return Resources(
        needs=entry.needs,
        minutes=entry.minutes,
        gpu_memory_gb=entry.gpu_memory_gb,
        left=entry.left,
        environment=None if entry.environment is None else file.environments[entry.environment],
    )
