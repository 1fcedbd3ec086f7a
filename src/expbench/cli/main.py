"""The ``expbench`` command. Thin: options here, work in the modules that each command imports.

Nothing heavy is imported before a command runs, so that ``expbench --help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from expbench import __version__
from expbench.cli.boundary import boundary
from expbench.cli.settings import cache_folder, data_folder

app = typer.Typer(
    name="expbench",
    help="Evaluate AI agents on complete research experiments, with scores that can be believed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
tasks_app = typer.Typer(help="List, show, prepare and check tasks.", no_args_is_help=True)
agents_app = typer.Typer(help="List the agents.", no_args_is_help=True)
app.add_typer(tasks_app, name="tasks")
app.add_typer(agents_app, name="agents")

SuiteOption = Annotated[str, typer.Option(help="Suite of tasks: mini or expbench.")]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the released data set [default: $EXPBENCH_DATA]."),
]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")
]
ReposOption = Annotated[
    Path | None,
    typer.Option("--repos", help="Folder of clones of the papers' repositories, OWNER/NAME."),
]
SamplesOption = Annotated[
    int | None,
    typer.Option("--max-samples", min=1, help="Tasks at the same time [default: processors]."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]


def _do(body: Callable[[], int | None]) -> None:
    raise typer.Exit(boundary(body))


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
            cache=cache_folder(),
            out=out or Path("runs") / new_name(f"{suite}-{agent.partition(':')[0]}"),
        )
        return start_run(options, max_samples, json)

    _do(body)


RunArgument = Annotated[Path, typer.Argument(help="The run's folder, runs/NAME.")]


@app.command(epilog="Example: expbench resume runs/NAME")
def resume(
    folder: RunArgument,
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped; finished tasks are not done again."""

    def body() -> int:
        from expbench.cli.running import resume_run

        return resume_run(folder, max_samples, json, cache_folder(), data_folder(data), repos)

    _do(body)


@app.command(epilog="Example: expbench report runs/NAME")
def report(folder: RunArgument, data: DataOption = None, json: JsonOption = False) -> None:
    """Write a run's report again and print its table."""

    def body() -> int:
        from expbench.cli.running import report_run

        return report_run(folder, json, cache_folder(), data_folder(data))

    _do(body)


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

    _do(body)


@tasks_app.command("list", epilog="Example: expbench tasks list --suite mini")
def list_tasks(
    suite: SuiteOption = "mini", data: DataOption = None, json: JsonOption = False
) -> None:
    """List a suite's tasks."""

    def body() -> int:
        from expbench.cli.listing import list_suite

        return list_suite(suite, data_folder(data), json)

    _do(body)


TaskArgument = Annotated[str, typer.Argument(help="A task's id, venue/paper/index.")]


@tasks_app.command("show", epilog="Example: expbench tasks show mini/calibration/0")
def show_task(
    task: TaskArgument,
    truth: Annotated[bool, typer.Option("--truth", help="Add the ground truth.")] = False,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Print a task as an agent sees it."""

    def body() -> int:
        from expbench.cli.listing import show

        return show(task, data_folder(data), truth, json)

    _do(body)


@tasks_app.command(
    "prepare", epilog="Example: expbench tasks prepare mini/calibration/0 /tmp/workspace"
)
def prepare_task(
    task: TaskArgument,
    dest: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    repo: Annotated[
        str | None, typer.Option(help="A clone's folder or a git address [default: the task's].")
    ] = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Write a task's masked workspace to a folder."""

    def body() -> int:
        from expbench.cli.listing import prepare

        return prepare(task, dest, repo, data_folder(data), cache_folder(), json)

    _do(body)


@tasks_app.command("check", epilog="Example: expbench tasks check --suite mini")
def check_tasks(
    suite: SuiteOption = "mini",
    task: TaskOption = None,
    static: Annotated[
        bool, typer.Option("--static", help="Only what needs no sandbox: masks and leaks.")
    ] = False,
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    json: JsonOption = False,
) -> None:
    """Check that the oracle passes, the empty submission fails, and nothing leaks."""

    def body() -> int:
        from expbench.cli.checking import check

        return check(
            suite,
            tuple(task or ()),
            static,
            max_samples,
            data_folder(data) if suite != "mini" else None,
            repos,
            cache_folder(),
            json,
        )

    _do(body)


@agents_app.command("list", epilog="Example: expbench agents list")
def list_agents(json: JsonOption = False) -> None:
    """List the agents that --agent takes."""

    def body() -> int:
        from expbench.cli.listing import list_agents

        return list_agents(json)

    _do(body)


def main() -> None:
    """Entry point of the ``expbench`` command."""
    app(prog_name="expbench", args=sys.argv[1:])
