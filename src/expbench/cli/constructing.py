"""``expbench construct``: from a paper and its repository to verified tasks, stage by stage."""

from __future__ import annotations

import typer

from expbench.cli import (
    construct_exporting,
    construct_projects,
    construct_reading,
    construct_selecting,
    construct_stages,
    construct_tracing,
    reviewing,
)

construct_app = typer.Typer(
    help="Make verified tasks from a paper and its repository.", no_args_is_help=True
)
construct_app.command("review", epilog=reviewing.PROJECT_EPILOG)(reviewing.review)
construct_app.command("trace", epilog=construct_tracing.EPILOG)(construct_tracing.trace)
construct_app.command("new", epilog=construct_projects.NEW)(construct_projects.new)
construct_app.command("select", epilog=construct_selecting.EPILOG)(construct_selecting.select)
construct_app.command("read", epilog=construct_reading.EPILOG)(construct_reading.read)
construct_app.command("extract", epilog=construct_stages.EXTRACT)(construct_stages.extract)
construct_app.command("locate", epilog=construct_stages.LOCATE)(construct_stages.locate)
construct_app.command("write", epilog=construct_stages.WRITE)(construct_stages.write)
construct_app.command("verify", epilog=construct_stages.VERIFY)(construct_stages.verify)
construct_app.command("run", epilog=construct_stages.RUN)(construct_stages.run)
construct_app.command("status", epilog=construct_projects.STATUS)(construct_projects.status)
construct_app.command("export", epilog=construct_exporting.EXPORT)(construct_exporting.export)
