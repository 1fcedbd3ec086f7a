"""What an agent is to the harness, and one row of the table of agents.

Each module of agents has its rows in ``KINDS``; :mod:`expbench.agents.registry` puts them together.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inspect_ai.agent import AgentState

from expbench.errors import UserError
from expbench.schema import ResearchTask

Run = Callable[[ResearchTask, AgentState], Awaitable[None]]
"""Works on the sample's state and its sandbox; the state's one message is the prompt."""


@dataclass(frozen=True)
class AgentRunner:
    """How to run an agent on a task.

    ``name`` is what was typed, ``version`` says which program, script or preset it stands for and is
    recorded. ``own_code`` says that an exception in it is the agent's own, a result; of an agent of
    ours it is the harness's or the provider's, and retried. ``program`` names what must be installed
    and shown in its sandbox (:mod:`expbench.programs`), ``scratch`` are further folders that it may write
    there, empty and in memory. ``enters`` says that a person comes in from a terminal.
    """

    name: str
    run: Run
    version: str = ""
    needs_model: bool = False
    needs_oracle: bool = False
    own_code: bool = False
    program: str = ""
    scratch: tuple[str, ...] = ()
    enters: bool = False


Factory = Callable[[str, Path], AgentRunner]
"""Makes an agent from what follows its name and a colon; relative paths are below the folder.

It raises a ``UserError`` for whatever would stop the agent at once."""


@dataclass(frozen=True)
class AgentKind:
    """One row: what ``expbench agents list`` and ``show`` say, and the factory.

    ``form`` is what is typed, with its argument in capitals (``scripted:FILE``); the name is what
    stands before the colon. ``options`` are forms of the argument with what they mean. ``tried`` says how far
    it was really run with this version of the package.
    """

    form: str
    summary: str
    make: Factory
    needs: str = "nothing"
    options: Mapping[str, str] = field(default_factory=dict)
    example: str = ""
    tried: str = ""

    @property
    def name(self) -> str:
        return self.form.partition(":")[0]


def no_argument(name: str, argument: str) -> None:
    """Raise UserError where an agent that takes no argument is given one."""
    if argument:
        raise UserError(f"Agent {name!r} takes nothing after its name, so leave out {argument!r}.")


def numbers(name: str, argument: str, known: tuple[str, ...]) -> dict[str, int]:
    """The settings ``a=1,b=2`` of an agent. Raises UserError for others than whole numbers from 1."""
    found: dict[str, int] = {}
    for part in filter(None, argument.split(",")):
        key, _, value = part.partition("=")
        if key not in known or not value.isdecimal() or int(value) < 1:
            forms = ",".join(f"{each}=N" for each in known)
            raise UserError(f"Agent {name!r} takes {name}:{forms} with N from 1, not {part!r}.")
        found[key] = int(value)
    return found
