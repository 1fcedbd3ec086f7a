"""What a sandbox is held to, and what held it: the part of the vocabulary that is about sandboxes.

:mod:`expbench.schema` has all of it; import it from there.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """Base of all records: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(Record):
    """What one attempt may use at most, all its processes together. ``None``: nothing is demanded."""

    minutes: float = Field(default=40.0, gt=0)
    """Working minutes of the agent, and wall-clock minutes of the re-execution (paper, section 4: 40).

    Working time leaves out what passes while a provider makes its clients wait (R48)."""
    wall_minutes: float | None = Field(default=None, gt=0)
    """Wall-clock minutes of the agent, waiting and all; None: three times ``minutes``."""
    turns: int | None = Field(default=None, gt=0)
    """Answers of the agent's model."""
    tokens: int | None = Field(default=None, gt=0)
    """Tokens that the agent's model is sent and sends, all together."""
    dollars: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """What the agent's calls of its model may cost."""
    cpus: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Processors' worth of time."""
    memory_mib: int | None = Field(default=8192, gt=0)
    processes: int | None = Field(default=512, gt=0)
    """Processes and threads."""
    disk_mib: int | None = Field(default=20480, gt=0)
    """What the workspace may grow by."""
    files: int | None = Field(default=1_000_000, gt=0)
    """Files and folders that may be added to the workspace."""
    file_mib: int | None = Field(default=4096, gt=0)
    """Largest single file."""
    output_mib: int = Field(default=10, gt=0)
    """Bytes kept of one command's output, head and tail."""

    @property
    def agent_wall_minutes(self) -> float:
        """Wall-clock minutes after which an agent is stopped, whatever it waits for."""
        return self.wall_minutes or 3 * self.minutes


class Requests(Record):
    """What one attempt is promised, apart from what kills it (R32); schedulers place it by this."""

    cpus: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    memory_mib: int | None = Field(default=None, gt=0)


Network = Literal["none", "packages", "open"]
"""``packages``: package indexes and allowed hosts through a filtering proxy, and no other way."""


class Policy(Record):
    """All that a sandbox is asked to hold, whichever provider makes it."""

    limits: Limits = Limits()
    requests: Requests = Requests()
    network: Network = "none"
    allow_hosts: tuple[str, ...] = ()
    """Further hosts for network ``packages``, ``name`` or ``name:port``."""
    gpus: int = Field(default=0, ge=0)


class Refusal(Record):
    """Something that an agent asked the network for and did not get.

    ``seconds`` since the sandbox started; ``target`` is a package, host or path as it was asked for.
    """

    seconds: float
    kind: Literal["package", "host", "path", "request"]
    target: str
    why: str
    papers: bool = False
    """Whether it is the paper's own: its package, its repository, or a site of papers."""


class Enforced(Record):
    """How each demanded limit was enforced by the sandbox, in words; absent means it was not.

    ``workspace``: ``overlay``, ``reflink`` or ``copy``. ``missing`` says why a demanded limit was not
    enforced, ``gpus`` are the ids of the granted devices."""

    provider: str
    workspace: str = ""
    limits: dict[str, str] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)
    requests: Requests = Requests()
    gpus: tuple[str, ...] = ()
