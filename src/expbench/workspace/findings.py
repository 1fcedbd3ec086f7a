"""What strict masking found in a tree, kept beside it: looked for once for each task and rule set."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from pydantic import ValidationError

from expbench.schema import Record, ResearchTask
from expbench.workspace.frozen import FrozenTree
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.strict import Survivor, search_key, survivors, without_outputs


class Finding(Record):
    """A survivor without its content. ``path`` is quoted as in an address: a path need not be UTF-8."""

    path: str
    reason: str
    action: Literal["removed", "cleared", "reported"]


class Findings(Record):
    """All that was found for one task."""

    survivors: tuple[Finding, ...] = ()


def find_survivors(frozen: FrozenTree, task: ResearchTask) -> tuple[Survivor, ...]:
    """The survivors of a task in its whole tree (see ``strict``)."""
    place = frozen.folder / "findings" / f"{search_key(task)}.json"
    with BlobReader(frozen.source.git_dir) as blobs:
        known, read = _known(place), frozen.reader(blobs)
        if known is None:
            found = survivors(frozen.whole, task, read, frozen.reading)
            _keep(place, found)
            return found
        oids = {entry.path: entry.oid for entry in frozen.whole}
        return tuple(
            replace(each, content=without_outputs(read(oids[os.fsencode(each.path)])))
            if each.action == "cleared"
            else each
            for each in known
        )


def _known(place: Path) -> tuple[Survivor, ...] | None:
    try:
        findings = Findings.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None
    return tuple(
        Survivor(os.fsdecode(unquote_to_bytes(each.path)), each.reason, each.action)
        for each in findings.survivors
    )


def _keep(place: Path, found: tuple[Survivor, ...]) -> None:
    rows = tuple(
        Finding(path=quote(os.fsencode(s.path)), reason=_printable(s.reason), action=s.action)
        for s in found
    )
    place.parent.mkdir(exist_ok=True)
    temporary = place.with_name(f".{place.name}.{os.getpid()}-{threading.get_ident()}")
    temporary.write_text(Findings(survivors=rows).model_dump_json(), "utf-8")
    temporary.replace(place)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
