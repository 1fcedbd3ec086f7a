"""The ``expbench`` command. Thin: options here, work in the modules that each command imports.

Nothing heavy is imported before a command runs, so that ``expbench --help`` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from expbench import __version__
from expbench.cli.options import (
    DataOption,
    ErrataOption,
    JsonOption,
    MaskOption,
    PackagesOption,
    ReposOption,
    RunArgument,
    SamplesOption,
    SuiteOption,
    TaskOption,
    do,
)
from expbench.cli.packing import runs_app
from expbench.cli.settings import (
    cache_folder,
    data_folder,
    errata_choice,
    mask_choice,
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
agents_app = typer.Typer(help="List the agents.", no_args_is_help=True)
app.add_typer(tasks_app, name="tasks")
app.add_typer(agents_app, name="agents")
app.add_typer(repos_app, name="repos")
app.add_typer(runs_app, name="runs")


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
    agent: Annotated[
        str,
        typer.Option(
            help="oracle, null, cheat, react, scripted:FILE or python:FILE:NAME "
            "(`expbench agents list` explains them)."
        ),
    ] = "react",
    model: Annotated[
        str, typer.Option(help="Any Inspect model, provider/name, for agents that need one.")
    ] = "",
    judge: Annotated[
        str, typer.Option(help="baseline (no model, not a published score) or an Inspect model.")
    ] = "baseline",
    task: TaskOption = None,
    epochs: Annotated[int, typer.Option(min=1, help="Attempts at each task.")] = 1,
    max_samples: SamplesOption = None,
    limit_minutes: Annotated[
        float, typer.Option(help="Minutes for the agent on a task, and again for the re-run.")
    ] = 40.0,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder [default: a new one under runs/].")
    ] = None,
    sandbox: Annotated[str, typer.Option(help="Sandbox provider: bwrap.")] = "bwrap",
    data: DataOption = None,
    repos: ReposOption = None,
    packages: PackagesOption = None,
    errata: ErrataOption = "package",
    mask: MaskOption = "strict",
    json: JsonOption = False,
) -> None:
    """Run an agent on a suite, score it, and write the report."""

    def body() -> int:
        from expbench.cli.running import start_run
        from expbench.planning import Options, new_name

        options = Options(
            suite=suite,
            tasks=tuple(task or ()),
            agent=agent,
            model=model,
            judge=judge,
            epochs=epochs,
            minutes=limit_minutes,
            sandbox=sandbox,
            data=data_folder(data) if suite != "mini" else None,
            repos=repos,
            packages=tuple(packages or ()),
            errata=errata_choice(errata),
            mask=mask_choice(mask),
            cache=cache_folder(),
            out=out or Path("runs") / new_name(f"{suite}-{agent.partition(':')[0]}"),
        )
        return start_run(options, max_samples, json)

    do(body)


@app.command(epilog="Example: expbench resume runs/NAME")
def resume(
    folder: RunArgument,
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    packages: PackagesOption = None,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped; finished tasks are not done again."""

    def body() -> int:
        from expbench.cli.running import resume_run

        return resume_run(
            folder,
            max_samples,
            json,
            cache_folder(),
            data_folder(data),
            repos,
            tuple(packages or ()),
        )

    do(body)


@app.command(epilog="Example: expbench report runs/NAME")
def report(folder: RunArgument, data: DataOption = None, json: JsonOption = False) -> None:
    """Write a run's report again and print its table."""

    def body() -> int:
        from expbench.cli.running import report_run

        return report_run(folder, json, cache_folder(), data_folder(data))

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


@app.command(epilog="Example: expbench gc --repos --keep-days 30 --dry-run")
def gc(
    repos: Annotated[
        bool, typer.Option("--repos", help="Also repositories, which are then fetched again.")
    ] = False,
    envs: Annotated[
        bool, typer.Option("--envs", help="Also the Python environments of sandboxes.")
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

    Workspaces of killed runs, what was not finished making, and frozen trees; these are made again when
    they are needed. What a running process uses stays, and so does every run's folder.
    """

    def body() -> int:
        from expbench.cli.freeing import free

        return free(cache_folder(), repos, envs, keep_days, dry_run, json)

    do(body)


@agents_app.command("list", epilog="Example: expbench agents list")
def list_agents(json: JsonOption = False) -> None:
    """List the agents that --agent takes."""

    def body() -> int:
        from expbench.cli.listing import list_agents

        return list_agents(json)

    do(body)


def main() -> None:
    """Entry point of the ``expbench`` command."""
    app(prog_name="expbench", args=sys.argv[1:])
