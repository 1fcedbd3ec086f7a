"""``expbench tasks`` and ``expbench repos``: options here, work in the modules that each imports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import (
    DataOption,
    ErrataOption,
    JsonOption,
    MaskOption,
    PackagesOption,
    ReposOption,
    SamplesOption,
    SuiteOption,
    TaskArgument,
    TaskOption,
    do,
)
from expbench.cli.settings import (
    cache_folder,
    data_folder,
    errata_choice,
    mask_choice,
    network_variables,
)

tasks_app = typer.Typer(help="List, show, prepare and check tasks.", no_args_is_help=True)
repos_app = typer.Typer(help="Bring the papers' repositories here.", no_args_is_help=True)


@tasks_app.command("list", epilog="Example: expbench tasks list --suite mini")
def list_tasks(
    suite: SuiteOption = "mini",
    data: DataOption = None,
    errata: ErrataOption = "package",
    json: JsonOption = False,
) -> None:
    """List a suite's tasks."""

    def body() -> int:
        from expbench.cli.listing import list_suite

        return list_suite(suite, data_folder(data), json, errata_choice(errata))

    do(body)


@tasks_app.command("show", epilog="Example: expbench tasks show mini/calibration/0")
def show_task(
    task: TaskArgument,
    truth: Annotated[bool, typer.Option("--truth", help="Add the ground truth.")] = False,
    repo: Annotated[
        str | None, typer.Option(help="A clone's folder or a git address, to derive the recipe.")
    ] = None,
    data: DataOption = None,
    repos: ReposOption = None,
    errata: ErrataOption = "package",
    json: JsonOption = False,
) -> None:
    """Print a task as an agent sees it, and what it needs to run."""

    def body() -> int:
        from expbench.cli.listing import show

        return show(
            task,
            data_folder(data),
            truth,
            json,
            repo,
            repos,
            cache_folder(),
            errata_choice(errata),
        )

    do(body)


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
    errata: ErrataOption = "package",
    mask: MaskOption = "strict",
    json: JsonOption = False,
) -> None:
    """Write a task's masked workspace to a folder."""

    def body() -> int:
        from expbench.cli.listing import prepare

        return prepare(
            task,
            dest,
            repo,
            data_folder(data),
            cache_folder(),
            json,
            errata_choice(errata),
            mask_choice(mask),
        )

    do(body)


@tasks_app.command("check", epilog="Example: expbench tasks check --suite mini")
def check_tasks(
    file: Annotated[
        Path | None, typer.Argument(help="A task file of your own, to check instead of a suite.")
    ] = None,
    suite: SuiteOption = "mini",
    task: TaskOption = None,
    static: Annotated[
        bool, typer.Option("--static", help="Only what needs no sandbox: masks and leaks.")
    ] = False,
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    errata: ErrataOption = "package",
    mask: MaskOption = "strict",
    json: JsonOption = False,
) -> None:
    """Check that the oracle passes, the empty submission fails, and nothing leaks."""

    def body() -> int:
        from expbench.cli.checking import check, check_task_file

        if file is not None:
            return check_task_file(file, json)
        return check(
            suite,
            tuple(task or ()),
            static,
            max_samples,
            data_folder(data) if suite != "mini" else None,
            repos,
            cache_folder(),
            json,
            errata_choice(errata),
            mask_choice(mask),
        )

    do(body)


@tasks_app.command(
    "claims", epilog="Example: expbench tasks claims --suite mini --task mini/bandits/0"
)
def claims(
    suite: SuiteOption = "mini",
    task: TaskOption = None,
    model: Annotated[
        str, typer.Option(help="An Inspect model that splits the conclusions [default: by rules].")
    ] = "",
    file: Annotated[
        Path | None, typer.Option("--claims", help="A reviewed split to check and show instead.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the split here, for review in an editor.")
    ] = None,
    data: DataOption = None,
    errata: ErrataOption = "package",
    json: JsonOption = False,
) -> None:
    """Show the claims that each task's conclusion is judged by, and store the split for review."""

    def body() -> int:
        from expbench.cli.claims import split_claims

        ids, folder = tuple(task or ()), data_folder(data)
        return split_claims(
            suite, ids, folder, model or None, file, out, json, errata_choice(errata)
        )

    do(body)


@tasks_app.command("new", epilog="Example: expbench tasks new mine.json")
def new_tasks(
    dest: Annotated[Path, typer.Argument(help="A new file.")], json: JsonOption = False
) -> None:
    """Write an example of a task file of your own, to be filled in."""

    def body() -> int:
        from expbench.cli.checking import new_task_file

        return new_task_file(dest, json)

    do(body)


@tasks_app.command(
    "verify", epilog="Example: expbench tasks verify --task mini/bandits/0 --repeat 2"
)
def verify_task(
    task: TaskOption = None,
    command: Annotated[
        str, typer.Option(help="Shell command to run [default: the task's source scripts].")
    ] = "",
    expect: Annotated[
        str, typer.Option(help="Pattern that shows the outcome [default: its numbers].")
    ] = "",
    contradict: Annotated[str, typer.Option(help="Pattern that shows its opposite.")] = "",
    repeat: Annotated[int, typer.Option(min=1, help="Runs, each on a fresh tree.")] = 2,
    limit_minutes: Annotated[float, typer.Option(help="Minutes for one run.")] = 40.0,
    packages: PackagesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    json: JsonOption = False,
) -> None:
    """Run the authors' own code and hold its output against the expected outcome."""

    def body() -> int:
        from expbench.cli.verifying import verify_tasks

        return verify_tasks(
            tuple(task or ()),
            command,
            expect,
            contradict,
            repeat,
            limit_minutes,
            tuple(packages or ()),
            data_folder(data),
            repos,
            cache_folder(),
            json,
        )

    do(body)


@tasks_app.command("fetch", epilog="Example: expbench tasks fetch --from EXP-Bench.zip")
def fetch_tasks(
    given: Annotated[
        Path | None,
        typer.Option("--from", help="Folder, zip or tar with the release [default: download it]."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Bring the released data set into the cache, every file proved by its checksum."""

    def body() -> int:
        from expbench.cli.fetching import fetch_tasks

        return fetch_tasks(given, cache_folder(), json)

    do(body)


@repos_app.command("fetch", epilog="Example: expbench repos fetch --mirror clones --jobs 8")
def fetch_repos(
    suite: SuiteOption = "expbench",
    task: TaskOption = None,
    paper: Annotated[
        list[str] | None,
        typer.Option(
            "--paper", help="Only this paper, venue/id or id; may be given several times."
        ),
    ] = None,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror", help="Folder of clones, OWNER/NAME(.git), instead of the network."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Repositories at the same time.")] = 4,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Bring the papers' repositories into the cache, at their pinned commits only."""

    def body() -> int:
        from expbench.cli.fetching import fetch_repos
        from expbench.workspace.repository.repos import Origin

        return fetch_repos(
            suite,
            tuple(task or ()),
            tuple(paper or ()),
            Origin(mirror, network_variables()),
            jobs,
            data_folder(data) if suite != "mini" else None,
            cache_folder(),
            json,
        )

    do(body)


@tasks_app.command("stats", epilog="Example: expbench tasks stats --suite mini")
def show_stats(
    suite: SuiteOption = "expbench",
    figure: Annotated[
        Path | None, typer.Option(help="Also draw tasks by category and tier, as SVG.")
    ] = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Count a suite's tasks and items, each with the rule of the count."""

    def body() -> int:
        from expbench.cli.describing import show_statistics

        return show_statistics(suite, data_folder(data), figure, json)

    do(body)
