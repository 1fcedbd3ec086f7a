"""What the clean re-run asks of something that looks on, and the one that sees nothing.

A tracer is evidence and never a verdict: what it cannot see it says, and nothing that it does may change
what the script does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from expbench.sandboxes.session import Session
from expbench.schema import Trace


@dataclass(frozen=True)
class Scene:
    """What a tracer is told when the script has ended and before its sandbox is closed.

    ``session`` may be dead. What the script left running goes on in it. ``submitted`` are the paths,
    relative and POSIX, that the submitted patch added or changed; other files of the workspace are the
    repository's or were made by the re-run. ``script`` is the path of the script that was started, ``began``
    and ``ended`` are when, in seconds since 1970.
    """

    session: Session
    script: str
    submitted: frozenset[str] = frozenset()
    began: float | None = None
    ended: float | None = None

    def since(self, moment: float | None) -> float | None:
        """Seconds from the script's begin to a moment; ``None`` for one that is not in its time.

        A second is let pass for clocks that differ: what tells the moment may be anything.
        """
        if moment is None or self.began is None or self.ended is None:
            return None
        if not self.began - 1 <= moment <= self.ended + 1:
            return None
        return round(min(max(moment, self.began), self.ended) - self.began, 3)


@dataclass(frozen=True)
class Observed:
    """What a tracer saw. ``writers`` has programs by the path, relative and POSIX, of a file they wrote."""

    trace: Trace
    writers: Mapping[str, str] = field(default_factory=dict)


class Tracer(Protocol):
    """Looks at one run of a script; made anew for each.

    ``own`` are folders of the workspace, relative and without a slash at the end, in which it keeps what it
    needs: they are no outputs of the script. Outside the workspace it may use ``/tmp`` of the sandbox.
    """

    @property
    def own(self) -> tuple[str, ...]: ...

    def prepare(self, session: Session) -> None:
        """Put into the sandbox what it needs, by commands of the session. Raises SandboxError."""
        ...

    def wrap(self, command: Sequence[str]) -> list[str]:
        """The command that is run instead: its exit status and streams are those of the given one."""
        ...

    def environment(self) -> dict[str, str]:
        """Variables for the command, over those of the session."""
        ...

    def collect(self, scene: Scene) -> Observed:
        """What was seen. Never raises for what the script did to it: ``Trace.reason`` says that."""
        ...


@dataclass(frozen=True)
class NoTracer:
    """Sees nothing, and says why."""

    reason: str = "no tracer was asked for"
    own: tuple[str, ...] = ()

    def prepare(self, session: Session) -> None:
        return

    def wrap(self, command: Sequence[str]) -> list[str]:
        return list(command)

    def environment(self) -> dict[str, str]:
        return {}

    def collect(self, scene: Scene) -> Observed:
        return Observed(Trace(by="none", reason=self.reason))
