"""From what a user asks for to a run that can start: every check that needs no work comes first.

A run's manifest holds all that is needed to open it again, so a run and its resumption come from the
same place.
"""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import expbench as package
from expbench.agents import get_agent
from expbench.dataset import Suite, load_suite, oracle
from expbench.dataset.errata import NO_ERRATA, load_errata
from expbench.dataset.release import release_id
from expbench.errors import NotFoundError, PrerequisiteError, UserError
from expbench.evaluation import Evaluation, Listener, nobody
from expbench.judges import get_judge
from expbench.models import load_model
from expbench.paths import CachePaths
from expbench.prompts import load
from expbench.runs import Manifest, Run
from expbench.sandboxes import bubblewrap
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.schema import Limits
from expbench.workspace import SourceFinder
from expbench.workspace.strict import MaskMode

DEFAULT_CACHE = Path("~/.cache/expbench")
NO_MODEL = "none/none"
_LEAST_DISK = 300 * 1024**2
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Options:
    """What a user asks for. ``minutes`` bounds the agent, and again the re-run."""

    suite: str = "mini"
    tasks: tuple[str, ...] = ()
    agent: str = "react"
    model: str = ""
    judge: str = "baseline"
    epochs: int = 1
    minutes: float = 40.0
    sandbox: str = "bwrap"
    data: Path | None = None
    repos: Path | None = None
    packages: tuple[Path, ...] = ()
    errata: bool = True
    mask: MaskMode = "strict"
    cache: Path = field(default_factory=DEFAULT_CACHE.expanduser)
    out: Path = field(default_factory=lambda: Path("runs") / new_name("run"))


def new_name(prefix: str) -> str:
    """A run's name that sorts by time: ``prefix-20250131-120000``."""
    return f"{_NAME.sub('-', prefix).strip('-')}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def plan(options: Options) -> Manifest:
    """The manifest of a run, after everything that could stop it at once has been checked.

    Raises:
        UserError: with the sentence that says what to change.
    """
    if options.sandbox != "bwrap":
        raise NotFoundError(f"There is no sandbox {options.sandbox!r}: choose bwrap.")
    if options.epochs < 1 or not 0 < options.minutes < 1e5:
        raise UserError("--epochs must be at least 1, and --limit-minutes more than 0.")
    suite = load_suite(options.suite, options.data, options.errata)
    tasks = suite.select(options.tasks)
    agent = get_agent(options.agent)
    if agent.needs_oracle:
        for task in tasks:
            oracle(task)
    if agent.needs_model and not options.model:
        raise UserError(
            f"Agent {options.agent!r} needs a model: add --model provider/name, "
            "such as --model openai/gpt-5."
        )
    if options.model:
        load_model(options.model)
    get_judge(options.judge)
    check_folders(options)
    bubblewrap.check()
    _check_disk(options)
    return Manifest(
        name=options.out.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        suite=options.suite,
        suite_version=suite.version,
        tasks=tuple(task.id for task in tasks),
        epochs=options.epochs,
        agent=options.agent,
        model=options.model,
        judge=options.judge,
        sandbox=options.sandbox,
        limits=Limits(minutes=options.minutes),
        data_version=suite.version if options.data is None else release_id(options.data),
        errata=load_errata().version if options.errata else NO_ERRATA,
        mask=options.mask,
        options={
            name: str(value.resolve())
            for name, value in (
                ("data", options.data),
                ("repos", options.repos),
                ("folder", Path()),
                *((f"packages-{n}", path) for n, path in enumerate(options.packages)),
            )
            if value is not None
        },
        versions=_versions(),
    )


def check_folders(options: Options) -> None:
    """Raise NotFoundError for a folder of the user's that is not there (any more)."""
    if options.repos is not None and not options.repos.is_dir():
        raise NotFoundError(f"{options.repos} is not a folder of clones: check --repos.")
    for folder in options.packages:
        if not folder.is_dir():
            raise NotFoundError(f"{folder} is not a folder of Python packages: check --packages.")


def options_of(
    run: Run,
    cache: Path,
    data: Path | None = None,
    repos: Path | None = None,
    packages: tuple[Path, ...] = (),
) -> Options:
    """The options that a run was planned with; the folders given here replace moved ones."""
    manifest = run.manifest
    stored = {name: Path(value) for name, value in manifest.options.items()}
    return Options(
        suite=manifest.suite,
        tasks=manifest.tasks,
        agent=manifest.agent,
        model=manifest.model,
        judge=manifest.judge,
        epochs=manifest.epochs,
        minutes=manifest.limits.minutes,
        sandbox=manifest.sandbox,
        data=data or stored.get("data"),
        repos=repos or stored.get("repos"),
        packages=packages
        or tuple(path for name, path in stored.items() if name.startswith("packages-")),
        errata=manifest.errata != NO_ERRATA,
        mask=manifest.mask,
        cache=cache,
        out=run.paths.root,
    )


def open_evaluation(run: Run, options: Options, listener: Listener = nobody) -> Evaluation:
    """Everything that the run's tasks need.

    Raises:
        UserError: the data set is not the one that the run was planned on.
    """
    suite = suite_of_run(run, options)
    cache = CachePaths(options.cache)
    hidden = tuple(path for path in (options.data, run.paths.root.resolve()) if path is not None)
    return Evaluation(
        run=run,
        tasks={task.id: task for task in suite.tasks},
        sources=SourceFinder(
            cache.repos, clones=options.repos, mode=options.mask, owner=other_owner()
        ),
        host=SandboxHost(cache, hidden, options.packages),
        agent=get_agent(run.manifest.agent, Path(run.manifest.options.get("folder", ""))),
        judge=get_judge(run.manifest.judge),
        listener=listener,
    )


def suite_of_run(run: Run, options: Options) -> Suite:
    """The run's suite in the version that it was planned on. Raises UserError for another one."""
    suite = load_suite(run.manifest.suite, options.data, options.errata)
    if suite.version != run.manifest.suite_version:
        raise UserError(
            f"The run was made on {suite.name} version {run.manifest.suite_version}, and this is "
            f"{suite.version}: scores of two versions are never mixed, start a new run."
        )
    return suite


def _check_disk(options: Options) -> None:
    for folder in (options.out, options.cache):
        place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
        free = shutil.disk_usage(place).free
        if free < _LEAST_DISK:
            raise PrerequisiteError(
                f"Only {free // 1024**2} MiB are free at {place}: free at least "
                f"{_LEAST_DISK // 1024**2} MiB, or choose another place with --out or XDG_CACHE_HOME."
            )


def _versions() -> dict[str, str]:
    return {
        "expbench": package.__version__,
        "inspect-ai": metadata.version("inspect-ai"),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "agent prompt": load("agent").digest[:12],
    }
