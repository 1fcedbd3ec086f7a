"""The ``expbench`` command. Thin: options here, work in the modules that each command imports.

Nothing heavy is imported before a command runs, so that ``expbench --help`` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from expbench import __version__
from expbench.cli import failing, failure_evaluating, reporting, reviewing, submitting
from expbench.cli.agents import agents_app
from expbench.cli.constructing import construct_app
from expbench.cli.entering import enter
from expbench.cli.environments import environments_app
from expbench.cli.options import (
    AgentOption,
    AllowHostOption,
    CallDeadlineOption,
    ClaimsModelOption,
    CpusOption,
    DataOption,
    DiskOption,
    DollarsOption,
    ErrataOption,
    EstimateOption,
    GpusOption,
    HintsOption,
    ImageOption,
    ItemsOption,
    JsonOption,
    JudgeConcurrencyOption,
    JudgeDeadlineOption,
    JudgeOption,
    JudgeSamplesOption,
    MaskOption,
    MemoryOption,
    ModelOption,
    MonitorModelOption,
    NetworkOption,
    PackagesOption,
    PricesOption,
    ProcessesOption,
    ProtocolOption,
    ReposOption,
    RequestCpusOption,
    RequestMemoryOption,
    RevealOption,
    RootfsOption,
    RunArgument,
    RunDollarsOption,
    SamplesOption,
    SandboxOption,
    StartsOption,
    SuiteOption,
    TaskOption,
    TokensOption,
    TurnsOption,
    UnenforcedOption,
    UnsafeOption,
    WallMinutesOption,
    do,
)
from expbench.cli.packing import runs_app
from expbench.cli.scoring import add_commands
from expbench.cli.settings import (
    cache_folder,
    data_folder,
    errata_choice,
    mask_choice,
    outer_gpus,
)
from expbench.cli.task_commands import repos_app, tasks_app

app = typer.Typer(
    name="expbench",
    help="Evaluate AI agents on complete research experiments, with scores that can be believed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(tasks_app, name="tasks")
app.add_typer(agents_app, name="agents")
app.add_typer(repos_app, name="repos")
app.add_typer(runs_app, name="runs")
app.add_typer(environments_app, name="env")
app.add_typer(construct_app, name="construct")
add_commands(app)
submitting.add_commands(app)
app.command("report", epilog=reporting.EPILOG)(reporting.report)
app.command("failures", epilog=failing.EPILOG)(failing.failures)
app.command("failures-eval", epilog=failure_evaluating.EPILOG)(failure_evaluating.failures_eval)
app.command("review", epilog=reviewing.EPILOG)(reviewing.review)
app.command(epilog="Example: expbench enter ~/.cache/expbench/work/NAME/door")(enter)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"expbench {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: expbench run --suite mini --agent oracle")
def run(
    suite: SuiteOption = "mini",
    agent: AgentOption = None,
    model: ModelOption = None,
    judge: JudgeOption = None,
    protocol: ProtocolOption = "itemised",
    judge_samples: JudgeSamplesOption = 1,
    items_per_call: ItemsOption = 1,
    judge_concurrency: JudgeConcurrencyOption = 8,
    judge_deadline: JudgeDeadlineOption = 600.0,
    monitor_model: MonitorModelOption = "",
    claims_model: ClaimsModelOption = "",
    hints: HintsOption = "full",
    reveal: RevealOption = "instructions",
    prices: PricesOption = None,
    estimate: EstimateOption = False,
    task: TaskOption = None,
    epochs: Annotated[int, typer.Option(min=1, help="Attempts at each task.")] = 1,
    max_samples: SamplesOption = None,
    limit_minutes: Annotated[
        float, typer.Option(help="Minutes for the agent on a task, and again for the re-run.")
    ] = 40.0,
    limit_wall_minutes: WallMinutesOption = None,
    limit_turns: TurnsOption = None,
    limit_tokens: TokensOption = None,
    limit_dollars: DollarsOption = None,
    run_dollars: RunDollarsOption = None,
    call_deadline: CallDeadlineOption = 900.0,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder [default: a new one under runs/].")
    ] = None,
    sandbox: SandboxOption = "bwrap",
    cpus: CpusOption = None,
    memory: MemoryOption = None,
    processes: ProcessesOption = None,
    disk: DiskOption = None,
    request_cpus: RequestCpusOption = None,
    request_memory: RequestMemoryOption = None,
    network: NetworkOption = "none",
    allow_host: AllowHostOption = None,
    gpus: GpusOption = 0,
    rootfs: RootfsOption = None,
    image: ImageOption = "",
    max_starts: StartsOption = None,
    allow_unenforced: UnenforcedOption = False,
    unsafe: UnsafeOption = False,
    data: DataOption = None,
    repos: ReposOption = None,
    packages: PackagesOption = None,
    errata: ErrataOption = "package",
    mask: MaskOption = "strict",
    json: JsonOption = False,
) -> None:
    """Run an agent on a suite, score it, and write the report."""

    def body() -> int:
        from expbench.cli.demands import (
            hints_choice,
            network_choice,
            package_indexes,
            policy,
            reveal_choice,
        )
        from expbench.cli.judging import judging_choice, use_prices_of
        from expbench.cli.running import start_run
        from expbench.planning import Options, new_name

        use_prices_of(prices)
        agents = tuple(agent or ("react",))
        options = Options(
            suite=suite,
            tasks=tuple(task or ()),
            judging=judging_choice(
                judge, protocol, judge_samples, items_per_call, judge_concurrency, judge_deadline
            ),
            monitor_model=monitor_model,
            claims_model=claims_model,
            hints=hints_choice(hints),
            reveal=reveal_choice(reveal),
            epochs=epochs,
            policy=policy(
                minutes=limit_minutes,
                cpus=cpus,
                memory_mib=memory,
                processes=processes,
                disk_mib=disk,
                requests=(request_cpus, request_memory),
                network=network_choice(network),
                allow_hosts=tuple(allow_host or ()),
                gpus=gpus,
                wall_minutes=limit_wall_minutes,
                turns=limit_turns,
                tokens=limit_tokens,
                dollars=limit_dollars,
            ),
            dollars=run_dollars,
            call_seconds=call_deadline,
            sandbox=sandbox,
            allow_unenforced=allow_unenforced,
            unsafe=unsafe,
            rootfs=rootfs,
            image=image,
            indexes=package_indexes(network),
            outer_gpus=outer_gpus(),
            starts=max_starts,
            data=data_folder(data) if suite != "mini" else None,
            repos=repos,
            packages=tuple(packages or ()),
            errata=errata_choice(errata),
            mask=mask_choice(mask),
            cache=cache_folder(),
            out=out or Path("runs") / new_name(f"{suite}-{agents[0].partition(':')[0]}"),
        )
        if estimate:
            from expbench.cli.estimating import estimate_run

            return estimate_run(options, agents, tuple(model or ()), max_samples, json)
        return start_run(options, agents, tuple(model or ()), max_samples, json)

    do(body)


@app.command(epilog="Example: expbench resume runs/NAME")
def resume(
    folder: RunArgument,
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    packages: PackagesOption = None,
    run_dollars: RunDollarsOption = None,
    prices: PricesOption = None,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped; finished tasks are not done again."""

    def body() -> int:
        from expbench.cli.judging import use_prices_of
        from expbench.cli.running import resume_run

        use_prices_of(prices)
        return resume_run(
            folder,
            max_samples,
            json,
            cache_folder(),
            data_folder(data),
            repos,
            tuple(packages or ()),
            run_dollars,
        )

    do(body)


@app.command(epilog="Example: expbench view runs/NAME --port 7575")
def view(
    folder: RunArgument,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to serve on.")] = 7575,
) -> None:
    """Open the run's trajectories in Inspect's viewer."""

    def body() -> int:
        from expbench.cli.viewing import serve

        return serve(folder, host, port)

    do(body)


@app.command(epilog="Example: expbench suites")
def suites(data: DataOption = None, json: JsonOption = False) -> None:
    """List the suites with their rules, sizes and versions."""

    def body() -> int:
        from expbench.cli.describing import list_suites

        return list_suites(data_folder(data), json)

    do(body)


@app.command(epilog="Example: expbench doctor --sandbox docker")
def doctor(
    sandbox: SandboxOption = "bwrap", image: ImageOption = "", json: JsonOption = False
) -> None:
    """Say what this machine can do: sandboxes, limits, disk, GPUs, keys, each really tried."""

    def body() -> int:
        from expbench.cli.doctor import diagnose

        return diagnose(sandbox, image, json)

    do(body)


@app.command(epilog="Example: expbench gc --repos --keep-days 30 --dry-run")
def gc(
    repos: Annotated[
        bool, typer.Option("--repos", help="Also repositories, which are then fetched again.")
    ] = False,
    envs: Annotated[
        bool, typer.Option("--envs", help="Also the Python environments of sandboxes.")
    ] = False,
    agents: Annotated[
        bool,
        typer.Option("--agents", help="Also agents' programs, which are then installed again."),
    ] = False,
    verdicts: Annotated[
        bool, typer.Option("--verdicts", help="Also judges' verdicts, which then cost again.")
    ] = False,
    keep_days: Annotated[
        float, typer.Option(min=0, help="Keep what was taken into use in the last so many days.")
    ] = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be freed.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Free what no run uses from the cache.

    Workspaces of killed runs, what was not finished making, frozen trees, which are made again when they
    are needed, and agents' programs that later ones have replaced. What a running process uses stays, and
    so does every run's folder.
    """

    def body() -> int:
        from expbench.cli.freeing import free
        from expbench.workspace.freeing import Kind

        chosen: dict[Kind, bool] = {
            "repository": repos,
            "environment": envs,
            "program": agents,
            "verdict": verdicts,
        }
        also = [kind for kind, wanted in chosen.items() if wanted]
        return free(cache_folder(), also, keep_days, dry_run, json)

    do(body)


def main() -> None:
    """Entry point of the ``expbench`` command."""
    app(prog_name="expbench", args=sys.argv[1:])
