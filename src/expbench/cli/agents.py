"""``expbench agents``: what there is, and what each is, needs and takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, do

agents_app = typer.Typer(
    help="List and show the agents, and install their programs.", no_args_is_help=True
)


@agents_app.command("list", epilog="Example: expbench agents list")
def list_agents(json: JsonOption = False) -> None:
    """List the agents that --agent takes."""

    def body() -> int:
        from expbench.cli.agent_listing import list_agents

        return list_agents(json)

    do(body)


@agents_app.command("show", epilog="Example: expbench agents show iterative")
def show_agent(
    name: Annotated[str, typer.Argument(help="An agent, with or without its argument.")],
    json: JsonOption = False,
) -> None:
    """Show what an agent is, needs and takes, with an example."""

    def body() -> int:
        from expbench.cli.agent_listing import show_agent

        return show_agent(name, json)

    do(body)


@agents_app.command("install", epilog="Example: expbench agents install mini-swe-agent")
def install_agent(
    name: Annotated[str, typer.Argument(help="An agent with a program of its own.")],
    version: Annotated[
        str, typer.Option(help="Another version than the one that this expbench is made with.")
    ] = "",
    wheels: Annotated[
        Path | None,
        typer.Option(help="Folder of wheels to install from, instead of pip's package indexes."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Install an agent's program once, outside of sandboxes; they see it read-only.

    It comes from pip's or npm's registries as they are set up here, and no code of it runs but in a
    sandbox, where it is tried.
    """

    def body() -> int:
        from expbench.cli.agent_installing import install_program

        return install_program(name, version, wheels, json)

    do(body)
