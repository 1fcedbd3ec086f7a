"""What all tasks of one run share."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from expbench.activity import Activity, Phase, Probe, Progress
from expbench.agents import AgentRunner
from expbench.agents.prompting import agent_prompt, revealed
from expbench.books import Books, open_books
from expbench.environments import Environment, Shelf, own_names
from expbench.judges import Judge
from expbench.monitor.model import ModelMonitor
from expbench.patience import Bounds, Tries
from expbench.programs import InstalledProgram
from expbench.runs import Key, Run
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.mounts import WORKSPACE
from expbench.sandboxes.network import Denied
from expbench.schema import Limits, Outcome, ResearchTask
from expbench.workspace import Prepared, SourceFinder
from expbench.workspace.files import SourceFiles

Listener = Callable[[str, int, Progress, Outcome | None], None]
"""Told of a task's progress: id, epoch, phase, and the outcome when it is done."""


def nobody(task_id: str, epoch: int, phase: Progress, outcome: Outcome | None) -> None:
    """Listens to nothing."""


_KEPT = 64
"""Prepared tasks that are kept at hand: their lists of files are what a long run would fill memory with."""


@dataclass(frozen=True)
class Evaluation:
    """One run with everything that it needs to evaluate its tasks."""

    run: Run
    tasks: Mapping[str, ResearchTask]
    sources: SourceFinder
    host: SandboxHost
    agent: AgentRunner
    judge: Judge
    watcher: ModelMonitor | None = None
    listener: Listener = nobody
    shelf: Shelf | None = None
    program: InstalledProgram | None = None
    """What the agent's sandboxes show besides; no re-run sees it."""
    activity: Activity = field(default_factory=Activity)
    tries: Tries = field(default_factory=Tries)
    bounds: Bounds | None = None
    """Bounds of phases; ``None``: those that follow from the run's limits."""
    _environments: dict[str, Environment | None] = field(default_factory=dict, repr=False)
    _prepared: dict[str, Prepared] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def limits(self) -> Limits:
        return self.run.manifest.limits

    @functools.cached_property
    def books(self) -> Books:
        """The run's ledger and caps; the run must be held by this process. Raises UserError."""
        return open_books(self.run)

    @contextmanager
    def phase(
        self, key: Key, phase: Phase, probe: Probe | None = None, items: int = 0
    ) -> Iterator[float]:
        """A task is in a phase while this lasts; gives the seconds that it may take.

        ``probe`` says what it waits for; ``items`` are those to be judged.
        """
        manifest = self.run.manifest
        bounds = self.bounds or Bounds.of(manifest.limits, manifest.judging, items)
        self.listener(*key, phase, None)
        with self.activity.doing(key, phase, bounds.of_phase(phase), probe):
            yield bounds.of_phase(phase)

    def environment(self, task: ResearchTask) -> Environment | None:
        """The environment that ``expbench env build`` made for a task, kept in use; most have none.

        It is for this machine's own Python: sandboxes with another system have none.
        """
        with self._lock:
            if task.id not in self._environments:
                shelf = self.shelf if self.host.own_python else None
                self._environments[task.id] = shelf.of_task(task.id) if shelf is not None else None
            return self._environments[task.id]

    def python(self, task: ResearchTask) -> PythonEnvironment | None:
        """The Python of a task's sandboxes, where it is not the common one."""
        environment = self.environment(task)
        return environment.python() if environment is not None else None

    def denied(self, task: ResearchTask) -> Denied:
        """What nobody may fetch from package indexes: what is the paper's own."""
        if self.host.policy.network == "none":
            return Denied()
        return Denied.of_task(task, self.own_packages(task))

    def own_packages(self, task: ResearchTask) -> tuple[str, ...]:
        """The names under which the paper's own package may be installed."""
        return tuple(own_names(task, SourceFiles(self.sources.source(task))))

    def package_names(self, task: ResearchTask) -> tuple[str, ...]:
        """The distributions that an agent can import, as it is told them."""
        environment = self.environment(task)
        if environment is None:
            return self.host.package_names()
        return tuple(
            sorted({*(each.name for each in environment.record.packages), *self.host.added_names()})
        )

    def prompt(self, task: ResearchTask, workspace: str = WORKSPACE) -> str:
        """What the agent is told, by the run's hints and as much of the task as it reveals."""
        manifest, packages = self.run.manifest, self.package_names(task)
        levels = manifest.hints, manifest.reveal
        return agent_prompt(task, self.host.policy, packages, workspace, *levels)

    def told(self, task: ResearchTask) -> ResearchTask:
        """The task for the agent: without what the run does not reveal."""
        return revealed(task, self.run.manifest.reveal)

    def prepared(self, task: ResearchTask) -> Prepared:
        """The task's masked tree, kept while few others were asked for. Raises RepositoryError."""
        with self._lock:
            if task.id not in self._prepared:
                self._prepared[task.id] = self.sources.prepared(task)
                if len(self._prepared) > _KEPT:
                    del self._prepared[next(iter(self._prepared))]
            return self._prepared[task.id]
