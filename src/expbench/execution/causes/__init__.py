"""Why a re-run failed, told by rule from its output. ``cause_of`` is all that others need."""

from __future__ import annotations

from expbench.schema import Failure


def cause_of(stdout: bytes, stderr: bytes, exit_code: int | None, state: str) -> Failure | None:
    """The cause of a re-run's failure; ``None`` where there is none of the script's (it ran, or the
    harness failed).

    Args:
        state: that of the :class:`~expbench.schema.Execution`.
    """
    # Its many patterns are compiled where something failed, not at every start.
    from expbench.execution.causes.deciding import decide

    return decide(stdout, stderr, exit_code, state)


__all__ = ["cause_of"]
