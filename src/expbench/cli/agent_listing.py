"""The tables of ``expbench agents list|show``."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from expbench.agents import AgentKind, agent_kind, all_kinds
from expbench.cli.settings import cache_folder
from expbench.errors import UserError
from expbench.paths import CachePaths
from expbench.programs import ProgramShelf


def list_agents(as_json: bool) -> int:
    """Print the agents, also those of other packages."""
    kinds = all_kinds()
    if as_json:
        _print_json({kind.form: kind.summary for kind in kinds})
        return 0
    table = Table("agent", "what it does", box=None, header_style="bold")
    for kind in kinds:
        table.add_row(kind.form, kind.summary)
    Console().print(table)
    return 0


def show_agent(name: str, as_json: bool) -> int:
    """Print all that is known of one agent. Raises NotFoundError."""
    kind = agent_kind(name)
    facts = _facts(kind, name)
    if as_json:
        _print_json(facts)
        return 0
    console = Console(highlight=False)
    for key, value in facts.items():
        if not value:
            continue
        if isinstance(value, dict):
            console.print(f"{key}:", markup=False)
            for form, what in value.items():
                console.print(f"  {form}: {what}", markup=False, soft_wrap=True)
        else:
            console.print(f"{key}: {value}", markup=False, soft_wrap=True)
    return 0


def _facts(kind: AgentKind, name: str) -> dict[str, str | dict[str, str]]:
    return {
        "agent": kind.form,
        "what it is": kind.summary,
        "needs": kind.needs,
        "options": dict(kind.options),
        "example": kind.example,
        "tried": kind.tried or "untested",
        **_made(kind, name),
    }


def _made(kind: AgentKind, name: str) -> dict[str, str]:
    """The version and the program that would run now, or why it would not."""
    argument = name.partition(":")[2]
    if ":" in kind.form and not argument:
        return {}
    try:
        agent = kind.make(argument, Path())
        found = {"version": agent.version}
        if agent.program:
            shelf = ProgramShelf(CachePaths(cache_folder()).agents)
            with contextlib.closing(shelf.of_agent(agent.program)) as installed:
                found["program"] = installed.label
        return found
    except UserError as error:
        return {"not ready": str(error)}


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201
