"""Where Inspect's viewer shows an attempt's trajectory, while ``expbench view`` serves the run's logs."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from expbench.runs import Key

HOST, PORT = "127.0.0.1", 7575
"""Where ``expbench view`` serves unless it is told otherwise; Inspect's own."""
_SAMPLE = re.compile(r"samples/(?P<task>.+)_epoch_(?P<epoch>\d+)\.json\Z")


def viewer_addresses(logs: Path) -> Mapping[Key, str]:
    """The address of each attempt that a log has, in the latest log that has it.

    A log is a zip file with one member for each sample (Inspect's ``.eval`` format); one that cannot be
    opened, as after a kill, has none.
    """
    found: dict[Key, str] = {}
    for log in sorted(logs.glob("*.eval")):
        try:
            with zipfile.ZipFile(log) as archive:
                names = archive.namelist()
        except (OSError, zipfile.BadZipFile):
            continue
        for sample in filter(None, map(_SAMPLE.match, names)):
            key = sample["task"], int(sample["epoch"])
            found[key] = _address(log.name, *key)
    return found


def _address(log: str, task: str, epoch: int) -> str:
    return (
        f"http://{HOST}:{PORT}/#/logs/{quote(log)}/samples/sample/{quote(task, safe='')}/{epoch}/"
    )
