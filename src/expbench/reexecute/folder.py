"""Where the executions anew of a run's submissions go, and what they need."""

from __future__ import annotations

import contextlib
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from pathlib import Path

import expbench as package
from expbench.agents import get_agent
from expbench.environments import Shelf
from expbench.errors import UserError
from expbench.evaluation import Evaluation
from expbench.execution.tracing import Prefer
from expbench.judges import make_judge
from expbench.paths import CachePaths, RunPaths
from expbench.planning import Options, check_folders, check_sandbox, sandbox_host, suite_of_run
from expbench.runs import Executed, Key, Manifest, Run, create, load
from expbench.sandboxes.host import other_owner
from expbench.sandboxes.providers import demand, provider
from expbench.schema import Judging
from expbench.workspace import SourceFinder


@dataclass(frozen=True)
class Reexecution:
    """One executing anew: ``run`` has the submissions, ``into`` is where it goes.

    ``fresh`` executes also what was executed under the same conditions; ``script`` is the file that is
    looked for, ``trace`` the tracer that looks on. ``perturb`` disturbs the first execution of each.
    """

    run: Run
    into: Run
    evaluation: Evaluation
    script: str
    fresh: bool = False
    trace: Prefer = "auto"
    perturb: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The tasks and epochs that have a submission."""
        return tuple(key for key in self.into.planned if key in self.run.attempts)

    @property
    def elsewhere(self) -> bool:
        """Whether it goes to a folder with a store of its own."""
        return self.into.paths.base.resolve() != self.run.paths.root.resolve()

    @property
    def todo(self) -> tuple[tuple[Key, int], ...]:
        """What is not executed yet: a failure of the harness is tried again (R43)."""
        numbers = range(1, self.into.manifest.repeat + 1)
        return tuple((key, n) for key in self.keys for n in numbers if not self._done(key, n))

    def _done(self, key: Key, number: int) -> bool:
        found = self.into.executions.get(key, {}).get(number)
        return found is not None and found.execution.state != "infrastructure"

    @cached_property
    def known(self) -> dict[str, list[tuple[Executed, str]]]:
        """What was executed before, by the digest of all that shaped it, with the folder that has it."""
        found: dict[str, list[tuple[Executed, str]]] = {}
        own = self.into.paths.root.resolve()
        for root in sorted(self.run.paths.executed.glob("*")):
            if root.resolve() == own:
                continue
            with contextlib.suppress(UserError):
                for numbered in load(root).executions.values():
                    for each in numbered.values():
                        if not each.reused and each.execution.state != "infrastructure":
                            found.setdefault(each.key, []).append((each, root.name))
        return found


def open_reexecution(
    run: Run,
    options: Options,
    repeat: int,
    name: str = "",
    out: Path | None = None,
    fresh: bool = False,
    script: str = "",
    perturb: bool = False,
) -> Reexecution:
    """The folder of an executing anew, made or gone on with, and all that it needs.

    Args:
        options: as the run was planned, with what is different now; ``tasks`` are those to execute.
        name: of the folder in ``executed``; by default it is made from the sandbox.
        out: a folder elsewhere, which becomes a run of its own.
        fresh: execute also what is known; by default then in a folder of its own.

    Raises:
        UserError: with the sentence that says what to change.
    """
    check_sandbox(options)
    check_folders(options)
    provider(options.sandbox).check()
    accepted = options.allow_unenforced or not provider(options.sandbox).scored
    demand(options.sandbox, options.policy, accepted)
    if run.paths.base != run.paths.root:
        raise UserError(
            f"{run.paths.root} is a part of {run.paths.base}: execute the submissions of that folder."
        )
    if not run.attempts:
        raise UserError(
            f"{run.paths.root} has no submission yet: go on with it by `expbench resume`."
        )
    if out is not None or name:
        root = out or run.paths.executed / name
    else:
        root = _default_folder(run, options, repeat, fresh)
    into = _open(run, root, _manifest(run, options, repeat, root))
    evaluation = _evaluation(run, into, options)
    return Reexecution(run, into, evaluation, script, fresh, perturb=perturb)


def _open(run: Run, root: Path, manifest: Manifest) -> Run:
    paths = RunPaths(root)
    own = (paths.base.resolve(), root.absolute().parent.name) == (
        run.paths.root.resolve(),
        "executed",
    )
    if paths.base != paths.root and not own:
        raise UserError(f"{root} would lie in another run's folder: choose another one with --out.")
    if not paths.manifest.exists():
        return create(root, manifest)
    there = load(root)
    if not _same(there.manifest, manifest):
        raise UserError(
            f"{root} holds another executing ({there.manifest.repeat} times in "
            f"{there.manifest.sandbox}, {len(there.manifest.tasks)} tasks): give this one another name "
            "with --name."
        )
    return there


def _manifest(run: Run, options: Options, repeat: int, root: Path) -> Manifest:
    tasks = run.manifest.tasks
    if unknown := [name for name in options.tasks if name not in tasks]:
        raise UserError(
            f"Task {unknown[0]} is not in {run.paths.root}: it has {', '.join(tasks[:3])}"
            f"{' …' if len(tasks) > 3 else ''}."
        )
    stored = {n: v for n, v in run.manifest.options.items() if not n.startswith("packages-")}
    stored |= {f"packages-{n}": str(path) for n, path in enumerate(options.packages)}
    if options.rootfs is not None:
        stored["rootfs"] = str(options.rootfs.resolve())
    else:
        stored.pop("rootfs", None)
    return run.manifest.model_copy(
        update={
            "name": f"{run.manifest.name}/{root.name}",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "tasks": tuple(name for name in tasks if not options.tasks or name in options.tasks),
            "policy": options.policy,
            "sandbox": options.sandbox,
            "image": options.image,
            "allow_unenforced": options.allow_unenforced,
            "options": stored,
            "repeat": repeat,
            "versions": {**run.manifest.versions, "expbench": package.__version__},
        }
    )


def _same(there: Manifest, manifest: Manifest) -> bool:
    return there == manifest.model_copy(update={"created": there.created})


def _default_folder(run: Run, options: Options, repeat: int, fresh: bool) -> Path:
    """A folder named after the sandbox: the first that is free, or has this very executing."""
    words = [options.sandbox, re.sub(r"[^A-Za-z0-9.]+", "-", options.image.rpartition("/")[2])]
    label = "-".join(filter(None, words))[:100]
    for number in count(1):
        root = run.paths.executed / (label if number == 1 else f"{label}-{number}")
        if not root.exists():
            break
        there = RunPaths(root).manifest.exists() and not fresh
        if there and _same(load(root).manifest, _manifest(run, options, repeat, root)):
            break
    return root


def _evaluation(run: Run, into: Run, options: Options) -> Evaluation:
    """What the run's tasks need to be executed: nothing is judged, and no agent works."""
    suite = suite_of_run(into, options)
    cache = CachePaths(options.cache)
    folders = (options.data, into.paths.base.resolve(), run.paths.root.resolve())
    hidden = [path for path in folders if path is not None]
    return Evaluation(
        run=into,
        tasks={task.id: task for task in suite.tasks},
        sources=SourceFinder(
            cache.repos, clones=options.repos, mode=options.mask, owner=other_owner()
        ),
        host=sandbox_host(options, tuple(hidden)),
        shelf=Shelf(cache.environments),
        agent=get_agent("null"),
        judge=make_judge(Judging(), "", cache.verdicts),
    )
