"""What all tasks of one run share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from expbench.agents import AgentRunner
from expbench.judges import Judge
from expbench.prompts import load
from expbench.runs import Run
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Outcome, ResearchTask
from expbench.workspace import Prepared, SourceFinder

Phase = Literal["agent", "judging", "done"]
Listener = Callable[[str, int, Phase, Outcome | None], None]
"""Told of a task's progress: id, epoch, phase, and the outcome when it is done."""


def nobody(task_id: str, epoch: int, phase: Phase, outcome: Outcome | None) -> None:
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
    listener: Listener = nobody
    _prepared: dict[str, Prepared] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def limits(self) -> Limits:
        return self.run.manifest.limits

    def prepared(self, task: ResearchTask) -> Prepared:
        """The task's masked tree, kept while few others were asked for. Raises RepositoryError."""
        with self._lock:
            if task.id not in self._prepared:
                self._prepared[task.id] = self.sources.prepared(task)
                if len(self._prepared) > _KEPT:
                    del self._prepared[next(iter(self._prepared))]
            return self._prepared[task.id]


def agent_prompt(task: ResearchTask, limits: Limits, packages: Sequence[str]) -> str:
    """What an agent is told: the task's prompt view, the rules and the three deliverables."""
    view = task.prompt_view()
    bounds = [
        f"{limits.memory_mib} MiB of memory for each process" if limits.memory_mib else "",
        f"{limits.processes} processes" if limits.processes else "",
    ]
    return load("agent").fill(
        question=view.question,
        method=view.method,
        instructions=view.instructions or "None beyond the method.",
        masked="\n".join(f"- {path}" for path in view.masked) or "- none besides the README",
        packages=", ".join(packages),
        minutes=f"{limits.minutes:g}",
        limits=" and ".join(filter(None, bounds)) or "no further limits",
    )
