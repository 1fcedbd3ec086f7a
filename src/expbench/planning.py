"""From what a user asks for to a run that can start: every check that needs no work comes first.

A run's manifest holds all that is needed to open it again, so a run and its resumption come from the
same place.
"""

from __future__ import annotations

import contextlib
import math
import platform
import re
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import expbench as package
from expbench.agents import AgentRunner, get_agent
from expbench.agents.prompting import template
from expbench.books import check_caps, use_run_prices
from expbench.checkout import commit
from expbench.dataset import Suite, load_suite, load_version, oracle
from expbench.dataset.errata import NO_ERRATA, load_errata
from expbench.dataset.release import release_id
from expbench.environments import Shelf
from expbench.errors import NotFoundError, PrerequisiteError, UserError
from expbench.evaluation import Evaluation, Listener, nobody
from expbench.judges import make_judge
from expbench.models import load_model
from expbench.monitor.model import ModelMonitor
from expbench.paths import CachePaths
from expbench.prices import prices
from expbench.programs import InstalledProgram, program_in_use
from expbench.runs import Manifest, Run
from expbench.sandboxes.environment import rootfs_environment
from expbench.sandboxes.gpus import present, uuids, visible
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.network import Index
from expbench.sandboxes.network.reaching import Door
from expbench.sandboxes.providers import PROVIDERS, demand, provider
from expbench.schema import Hints, Judging, Policy, Reveal
from expbench.workspace import SourceFinder
from expbench.workspace.strict import MaskMode

DEFAULT_CACHE = Path("~/.cache/expbench")
NO_MODEL = "none/none"
_DIGEST = "agent program digest"
_LEAST_DISK = 300 * 1024**2
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Options:
    """What a user asks for.

    ``indexes`` are the package indexes of network ``packages``; ``outer_gpus`` is this process's
    ``CUDA_VISIBLE_DEVICES``; ``unsafe`` allows sandbox ``local``, which is none.
    """

    suite: str = "mini"
    tasks: tuple[str, ...] = ()
    agent: str = "react"
    model: str = ""
    judging: Judging = field(default_factory=Judging)
    monitor_model: str = ""
    claims_model: str = ""
    hints: Hints = "full"
    reveal: Reveal = "instructions"
    dollars: float | None = None
    call_seconds: float = 900.0
    epochs: int = 1
    policy: Policy = field(default_factory=Policy)
    sandbox: str = "bwrap"
    allow_unenforced: bool = False
    unsafe: bool = False
    rootfs: Path | None = None
    image: str = ""
    indexes: tuple[Index, ...] = ()
    outer_gpus: str | None = None
    starts: int | None = None
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
    if options.epochs < 1 or options.policy.limits.minutes >= 1e5:
        raise UserError("--epochs must be at least 1, and --limit-minutes less than 100000.")
    if options.dollars is not None and not 0 < options.dollars < math.inf:
        raise UserError("--run-dollars must be a number that is more than 0.")
    if not 1 <= options.call_seconds <= 86_400:
        raise UserError("--call-deadline is seconds from 1 to 86400.")
    check_sandbox(options)
    suite = load_suite(options.suite, options.data, options.errata)
    tasks = suite.select(options.tasks)
    agent = get_agent(options.agent)
    if agent.needs_oracle:
        for task in tasks:
            oracle(task)
    check_model(agent, options.model)
    if agent.enters and not provider(options.sandbox).enters:
        raise UserError(
            f"Agent {options.agent!r} is let in from a terminal, which sandbox {options.sandbox} does not "
            f"have: choose one of {', '.join(name for name, kind in PROVIDERS.items() if kind.enters)}."
        )
    if options.model:
        load_model(options.model)
    make_judge(options.judging, options.model)
    for name in filter(None, (options.monitor_model, options.claims_model)):
        load_model(name)
    check_folders(options)
    provider(options.sandbox).check()
    _demand(options)
    _check_disk(options)
    installed = _program(options, agent)
    manifest = Manifest(
        name=options.out.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        suite=options.suite,
        suite_version=suite.version,
        tasks=tuple(task.id for task in tasks),
        epochs=options.epochs,
        agent=options.agent,
        model=options.model,
        judging=options.judging,
        monitor_model=options.monitor_model,
        claims_model=options.claims_model,
        hints=options.hints,
        reveal=options.reveal,
        dollars=options.dollars,
        call_seconds=options.call_seconds,
        sandbox=options.sandbox,
        image=options.image,
        policy=options.policy,
        allow_unenforced=options.allow_unenforced,
        data_version=suite.version if options.data is None else release_id(options.data),
        errata=load_errata().version if options.errata else NO_ERRATA,
        mask=options.mask,
        options={
            name: str(value.resolve())
            for name, value in (
                ("data", options.data),
                ("repos", options.repos),
                ("folder", Path()),
                ("rootfs", options.rootfs),
                *((f"packages-{n}", path) for n, path in enumerate(options.packages)),
            )
            if value is not None
        },
        versions=_versions(agent, options) | _recorded(installed),
    )
    check_caps(manifest)
    return manifest


def check_model(agent: AgentRunner, model: str) -> None:
    """Raise UserError for an agent that needs a model and has none."""
    if agent.needs_model and not model:
        raise UserError(
            f"Agent {agent.name!r} needs a model: add --model provider/name, such as --model openai/gpt-5."
        )


def check_sandbox(options: Options) -> None:
    """Raise UserError for a sandbox that is not there, not meant, or cannot have what is asked."""
    if not provider(options.sandbox).scored and not options.unsafe:
        raise UserError(
            f"Sandbox {options.sandbox!r} is none: an agent can do there what you can. "
            "Add --unsafe if that is meant; nothing that ran in it is scored."
        )
    if options.rootfs is not None and options.sandbox != "bwrap":
        raise UserError(
            f"--rootfs is for sandbox bwrap; {options.sandbox} takes its system from --image or from this "
            "machine."
        )
    if options.image and options.sandbox in ("bwrap", "local"):
        raise UserError(
            f"--image is for containers and clusters; {options.sandbox} takes the system of this machine, "
            "or with bwrap an unpacked image by --rootfs."
        )
    if options.rootfs is not None and not (options.rootfs / "usr").is_dir():
        raise NotFoundError(f"{options.rootfs} is no root file system: it has no folder usr.")
    if options.rootfs is not None:
        rootfs_environment(CachePaths(options.cache).envs, options.rootfs)
    if options.policy.gpus and options.sandbox != "k8s":
        found = visible(present(), options.outer_gpus, uuids())
        if len(found) < options.policy.gpus:
            raise PrerequisiteError(
                f"--gpus {options.policy.gpus} is more than the {len(found)} of this machine that may "
                "be used: ask for fewer, or show more with CUDA_VISIBLE_DEVICES."
            )
    if options.sandbox == "k8s" and not options.image:
        raise UserError(
            "Sandbox k8s needs an image that the cluster can pull: build images/agent, push it, and "
            "add --image NAME."
        )
    if options.policy.allow_hosts and options.policy.network != "packages":
        raise UserError("--allow-host goes with --network packages only.")
    Door.of(options.policy.allow_hosts)


def _demand(options: Options) -> None:
    """Raise PrerequisiteError for a demanded limit that is not held here, unless that is allowed."""
    # What runs in no sandbox is never scored, so nothing is demanded of it.
    accepted = options.allow_unenforced or not provider(options.sandbox).scored
    demand(options.sandbox, options.policy, accepted)


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
    indexes: tuple[Index, ...] = (),
    outer_gpus: str | None = None,
) -> Options:
    """The options that a run was planned with; the folders given here replace moved ones."""
    manifest = run.manifest
    stored = {name: Path(value) for name, value in manifest.options.items()}
    return Options(
        suite=manifest.suite,
        tasks=manifest.tasks,
        agent=manifest.agent,
        model=manifest.model,
        judging=manifest.judging,
        monitor_model=manifest.monitor_model,
        claims_model=manifest.claims_model,
        hints=manifest.hints,
        reveal=manifest.reveal,
        dollars=manifest.dollars,
        call_seconds=manifest.call_seconds,
        epochs=manifest.epochs,
        policy=manifest.policy,
        sandbox=manifest.sandbox,
        image=manifest.image,
        allow_unenforced=manifest.allow_unenforced,
        unsafe=not provider(manifest.sandbox).scored,
        rootfs=stored.get("rootfs"),
        indexes=indexes,
        outer_gpus=outer_gpus,
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
        UserError: the data set is not the one that the run was planned on, or its limits are not held here.
    """
    _demand(options)
    use_run_prices(run.paths)
    suite = suite_of_run(run, options)
    cache = CachePaths(options.cache)
    hidden = tuple(path for path in (options.data, run.paths.root.resolve()) if path is not None)
    agent = get_agent(run.manifest.agent, Path(run.manifest.options.get("folder", "")))
    return Evaluation(
        run=run,
        tasks={task.id: task for task in suite.tasks},
        sources=SourceFinder(
            cache.repos, clones=options.repos, mode=options.mask, owner=other_owner()
        ),
        host=sandbox_host(options, hidden),
        shelf=Shelf(cache.environments),
        agent=agent,
        program=_program_of_rest(run, options, agent),
        judge=make_judge(run.manifest.judging, run.manifest.model, cache.verdicts),
        watcher=ModelMonitor(run.manifest.monitor_model) if run.manifest.monitor_model else None,
        listener=listener,
    )


def _program(options: Options, agent: AgentRunner, digest: str = "") -> InstalledProgram | None:
    """What the agent's sandboxes show besides. Raises UserError where it cannot be had."""
    folder, own = CachePaths(options.cache).agents, options.rootfs is None
    own_system = own and options.sandbox == "bwrap"
    return program_in_use(agent.program, folder, options.sandbox, own_system, digest)


def _program_of_rest(run: Run, options: Options, agent: AgentRunner) -> InstalledProgram | None:
    """The program that the run was begun with; none where no agent is to work any more."""
    if all(key in run.attempts for key in run.planned):
        return None
    return _program(options, agent, run.manifest.versions.get(_DIGEST, ""))


def _recorded(installed: InstalledProgram | None) -> dict[str, str]:
    if installed is None:
        return {}
    with contextlib.closing(installed):
        return {"agent program": installed.label, _DIGEST: installed.digest}


def sandbox_host(options: Options, hidden: tuple[Path, ...] = ()) -> SandboxHost:
    """What makes the sandboxes that are asked for; ``hidden`` are paths that none may show."""
    host = SandboxHost(
        CachePaths(options.cache),
        hidden,
        options.packages,
        policy=options.policy,
        kind=options.sandbox,
        rootfs=options.rootfs,
        image=options.image,
        indexes=options.indexes,
        outer_gpus=options.outer_gpus,
        run=options.out.name,
    )
    return replace(host, starts=options.starts) if options.starts else host


def suite_of_run(run: Run, options: Options) -> Suite:
    """The run's suite in the version that it was planned on. Raises UserError for another one."""
    manifest = run.manifest
    return load_version(manifest.suite, manifest.suite_version, options.data, options.errata)


def _check_disk(options: Options) -> None:
    for folder in (options.out, options.cache):
        place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
        free = shutil.disk_usage(place).free
        if free < _LEAST_DISK:
            raise PrerequisiteError(
                f"Only {free // 1024**2} MiB are free at {place}: free at least "
                f"{_LEAST_DISK // 1024**2} MiB, or choose another place with --out or XDG_CACHE_HOME."
            )


def _versions(agent: AgentRunner, options: Options) -> dict[str, str]:
    own = commit()
    return {
        "expbench": package.__version__,
        **({"expbench commit": own} if own else {}),
        "inspect-ai": metadata.version("inspect-ai"),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "agent": agent.version,
        "agent prompt": template(options.hints, options.reveal).digest[:12],
        "prices": prices().version,
    }
