"""From the options of a command to what its sandboxes are held to."""

from __future__ import annotations

from typing import get_args

from pydantic import ValidationError

from expbench.cli.settings import variables
from expbench.errors import UserError
from expbench.sandboxes.network import Index, from_settings, host_runner
from expbench.schema import Hints, Limits, Network, Policy, Requests, Reveal

_LIMIT_OPTIONS = {
    name: f"limit-{name.replace('_', '-')}"
    for name in ("minutes", "wall_minutes", "turns", "tokens", "dollars")
}


def network_choice(text: str) -> Network:
    """``--network``. Raises UserError."""
    choices: tuple[Network, ...] = get_args(Network)
    for choice in choices:
        if text == choice:
            return choice
    raise UserError(f"--network is none, packages or open, not {text!r}.")


def hints_choice(text: str) -> Hints:
    """``--hints``. Raises UserError."""
    choices: tuple[Hints, ...] = get_args(Hints)
    for choice in choices:
        if text == choice:
            return choice
    raise UserError(f"--hints is {', '.join(choices[:-1])} or {choices[-1]}, not {text!r}.")


def reveal_choice(text: str) -> Reveal:
    """``--reveal``. Raises UserError."""
    choices: tuple[Reveal, ...] = get_args(Reveal)
    for choice in choices:
        if text == choice:
            return choice
    raise UserError(f"--reveal is {', '.join(choices[:-1])} or {choices[-1]}, not {text!r}.")


def policy(
    minutes: float,
    cpus: float | None,
    memory_mib: int | None,
    processes: int | None,
    disk_mib: int | None,
    requests: tuple[float | None, int | None],
    network: Network,
    allow_hosts: tuple[str, ...],
    gpus: int,
    wall_minutes: float | None = None,
    turns: int | None = None,
    tokens: int | None = None,
    dollars: float | None = None,
) -> Policy:
    """The policy of the options; 0 of a resource stands for no limit of it. Raises UserError."""
    budget = {
        "minutes": minutes,
        "wall_minutes": wall_minutes,
        "turns": turns,
        "tokens": tokens,
        "dollars": dollars,
    }
    resources = {
        "cpus": cpus,
        "memory_mib": memory_mib,
        "processes": processes,
        "disk_mib": disk_mib,
    }
    given: dict[str, float | None] = {
        name: value for name, value in budget.items() if value is not None
    }
    given |= {name: value or None for name, value in resources.items() if value is not None}
    try:
        return Policy(
            limits=Limits.model_validate(given),
            requests=Requests(cpus=requests[0], memory_mib=requests[1]),
            network=network,
            allow_hosts=allow_hosts,
            gpus=gpus,
        )
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][-1])
        option = {"memory_mib": "memory", "disk_mib": "disk", **_LIMIT_OPTIONS}
        kind = "request-" if error.title == Requests.__name__ else ""
        raise UserError(
            f"--{kind}{option.get(name, name)} must be a number that is more than 0."
        ) from None


def package_indexes(network: str) -> tuple[Index, ...]:
    """With network ``packages`` the indexes that this user's tools are set to, else none."""
    if network != "packages":
        return ()
    return from_settings(host_runner(variables()), variables())
