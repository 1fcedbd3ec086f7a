"""``expbench construct``: from a paper and its repository to verified tasks, stage by stage."""

from __future__ import annotations

import typer

from expbench.cli import reviewing

construct_app = typer.Typer(
    help="Make verified tasks from a paper and its repository.", no_args_is_help=True
)
construct_app.command("review", epilog=reviewing.PROJECT_EPILOG)(reviewing.review)
