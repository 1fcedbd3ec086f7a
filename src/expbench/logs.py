"""The only reader of Inspect logs: what became of samples that have no outcome.

An evaluation that was killed leaves a log without the samples that were not flushed yet; Inspect keeps
them in a buffer on the same machine. :func:`recover` brings them back, so that the viewer shows every
trajectory that was finished.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from inspect_ai.log import (
    EvalLog,
    read_eval_log_sample_summaries,
    recover_eval_log,
    recoverable_eval_logs,
)

from expbench.redaction import longest_secret, redacted_bytes
from expbench.runs import Key

_CHUNK = 1 << 20


def recover(folder: Path) -> None:
    """Complete the logs of killed evaluations in place; one that cannot be is left as it is.

    What a kill left half-written beside them is removed: nobody else writes there while the run is held.
    """
    if not folder.is_dir():
        return
    for torn in (*folder.glob(".inspect_tmp_*"), *folder.glob(".*.eval.new")):
        torn.unlink(missing_ok=True)
    for log in recoverable_eval_logs(str(folder)):
        with contextlib.suppress(Exception):
            recover_eval_log(log.log.name, overwrite=True)


def failures(logs: Iterable[EvalLog]) -> dict[Key, str]:
    """Samples that ended with an error, with its first line; read from the logs' summaries."""
    found: dict[Key, str] = {}
    for log in logs:
        for sample in read_eval_log_sample_summaries(log.location):
            if sample.error is not None:
                lines = sample.error.strip().splitlines()
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


def scrub(folder: Path) -> int:
    """Take the values of secrets out of all logs; how many had some (R46).

    What a provider answers with an error, or an agent of the user's own says, stands in a log before any
    of our code has seen it.
    """
    if not longest_secret() or not folder.is_dir():
        return 0
    return sum(_scrub(log) for log in sorted(folder.glob("*.eval")))


def _scrub(log: Path) -> bool:
    fresh = log.with_name(f".{log.name}.new")
    found = False
    try:
        with zipfile.ZipFile(log) as old, zipfile.ZipFile(fresh, "w") as new:
            for member in old.infolist():
                with old.open(member) as source, new.open(_like(member), "w") as dest:
                    found |= _copy_clean(source, dest)
        if found:
            fresh.replace(log)
    except zipfile.BadZipFile:
        return False
    finally:
        fresh.unlink(missing_ok=True)
    return found


def _like(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(member.filename, member.date_time)
    info.compress_type, info.external_attr = member.compress_type, member.external_attr
    return info


def _copy_clean(source: IO[bytes], dest: IO[bytes]) -> bool:
    """Copy without secrets; whether there were some. A value across two chunks is found too."""
    found, kept, reach = False, b"", longest_secret() - 1
    while chunk := source.read(_CHUNK):
        data = kept + chunk
        clean = redacted_bytes(data)
        found |= clean != data
        cut = max(0, len(clean) - reach)
        dest.write(clean[:cut])
        kept = clean[cut:]
    dest.write(kept)
    return found
