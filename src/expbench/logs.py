"""The only reader of Inspect logs: what became of samples that have no outcome.

An evaluation that was killed leaves a log without the samples that were not flushed yet; Inspect keeps
them in a buffer on the same machine. :func:`recover` brings them back, so that the viewer shows every
trajectory that was finished.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from inspect_ai.log import EvalLog, recover_eval_log, recoverable_eval_logs

from expbench.runs import Key


def recover(folder: Path) -> None:
    """Complete the logs of killed evaluations in place; one that cannot be is left as it is."""
    if not folder.is_dir():
        return
    for log in recoverable_eval_logs(str(folder)):
        with contextlib.suppress(Exception):
            recover_eval_log(log.log.name, overwrite=True)


def failures(logs: Iterable[EvalLog]) -> dict[Key, str]:
    """Samples that ended with an error, with its first line."""
    found: dict[Key, str] = {}
    for log in logs:
        for sample in log.samples or ():
            if sample.error is not None:
                lines = sample.error.message.strip().splitlines()
                found[str(sample.id), sample.epoch] = (lines[0] if lines else "unknown error")[:500]
    return found


def interrupted(logs: Sequence[EvalLog]) -> bool:
    """Whether an evaluation was stopped by its user: Inspect then gives a cancelled log, or none."""
    return not logs or any(log.status == "cancelled" for log in logs)


def failed_whole(logs: Iterable[EvalLog]) -> str:
    """The error of an evaluation that failed as a whole, not in one sample; empty if none did."""
    for log in logs:
        if log.status == "error" and log.error is not None:
            return log.error.message.strip().splitlines()[0][:500]
    return ""
