"""All agents by name: one table of ours, and what other packages register.

Another package adds agents by the entry point group ``expbench.agents``: a name and a factory, called
with what follows the name and a colon, and with the folder that relative paths are below::

    [project.entry-points."expbench.agents"]
    mine = "my_package.agents:make_mine"     # make_mine(argument: str, base: Path) -> AgentRunner
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from expbench.agents import bridged, command, iterative, played, python_agent, react
from expbench.agents.kinds import AgentKind, AgentRunner
from expbench.errors import NotFoundError, UserError

GROUP = "expbench.agents"

KINDS: tuple[AgentKind, ...] = (
    *played.KINDS,
    *react.KINDS,
    *iterative.KINDS,
    *command.KINDS,
    *python_agent.KINDS,
    *bridged.KINDS,
)
"""The agents of this package, in the order in which they are listed."""

AGENTS: Mapping[str, str] = {kind.form: kind.summary for kind in KINDS}
"""What is typed for each, and what it is."""


def all_kinds() -> tuple[AgentKind, ...]:
    """Ours, then those of other packages by name; a name of ours is never replaced."""
    return (*KINDS, *_registered())


def agent_kind(name: str) -> AgentKind:
    """The row of a name, which may have an argument after a colon. Raises NotFoundError."""
    first = name.partition(":")[0]
    for kind in all_kinds():
        if kind.name == first:
            return kind
    forms = ", ".join(kind.form for kind in all_kinds())
    raise NotFoundError(f"There is no agent {name!r}: choose one of {forms}.")


def get_agent(spec: str, base: Path | None = None) -> AgentRunner:
    """The agent that a command line names; its relative paths are below ``base``.

    Raises:
        NotFoundError: there is no such agent, file or function.
        UserError: it cannot be what is asked for.
    """
    made = agent_kind(spec).make(spec.partition(":")[2], base or Path())
    return replace(made, name=spec)


@functools.cache
def _registered() -> tuple[AgentKind, ...]:
    taken = {kind.name for kind in KINDS}
    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return tuple(_of_entry(entry) for entry in found if entry.name not in taken)


def _of_entry(entry: EntryPoint) -> AgentKind:
    """A row for an entry point, which is loaded when its agent is asked for, and not before."""
    source = entry.dist.name if entry.dist is not None else entry.module

    def make(argument: str, base: Path) -> AgentRunner:
        try:
            made = entry.load()(argument, base)
        except UserError:
            raise
        except Exception as error:  # a stranger's code, in whatever state
            raise UserError(
                f"Agent {entry.name!r} of {source} cannot be had ({type(error).__name__}: {error}): "
                "mend or uninstall that package."
            ) from None
        if not isinstance(made, AgentRunner):
            raise UserError(
                f"Agent {entry.name!r} of {source} is wrong: {entry.value} must return an AgentRunner."
            )
        return made

    return AgentKind(entry.name, f"registered by {source}", make, needs=f"see {source}")
