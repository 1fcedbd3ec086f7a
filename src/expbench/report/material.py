"""What a run's store holds that a report shows: submissions, and what re-runs printed, wrote and drew.

All of it is hostile: texts are shown escaped, and of pictures only the kinds that can hold no program.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from expbench.errors import DataError
from expbench.runs import Run
from expbench.schema import Blob, Execution, Outcome, SubmissionText

_SHOWN = 20_000
"""Characters of a text, of its head and its tail."""
_WRITTEN = 6
"""Texts that a re-run wrote, and as many pictures, of one attempt."""
_PICTURE = 200_000
_PICTURES = 4_000_000
"""Bytes of one picture, and of all of a report."""
_HEADS = {
    ".png": ("image/png", b"\x89PNG\r\n\x1a\n"),
    ".jpg": ("image/jpeg", b"\xff\xd8\xff"),
    ".jpeg": ("image/jpeg", b"\xff\xd8\xff"),
    ".gif": ("image/gif", b"GIF8"),
}


@dataclass
class Material:
    """Texts by the digest of the submission or blob; pictures (``data:`` addresses) by that of the blob."""

    submissions: dict[str, SubmissionText] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, str] = field(default_factory=dict)


def material_of(run: Run, outcomes: Sequence[Outcome]) -> Material:
    """What the report of a run is made from; what cannot be read is left out or said to be missing."""
    found = Material()
    for attempt in run.attempts.values():
        try:
            content = run.store.get(attempt.submission.text)
            text = SubmissionText.model_validate_json(content)
        except (DataError, ValueError):
            continue
        found.submissions[attempt.submission.digest] = text
    room = _PICTURES
    for outcome in outcomes:
        if outcome.execution is not None:
            for blob in _texts(outcome.execution):
                found.outputs[blob.digest] = _head_and_tail(run, blob)
            for blob, kind, head in _pictures(outcome.execution):
                if blob.size <= room and (address := _address(run, blob, kind, head)):
                    room -= blob.size
                    found.pictures[blob.digest] = address
    return found


def _texts(execution: Execution) -> Iterator[Blob]:
    yield from (b for b in (execution.stdout, execution.stderr) if b is not None and b.size)
    written = (each for each in execution.made if not _is_picture(each.path))
    yield from [each.content for each in written if each.content is not None][:_WRITTEN]


def _pictures(execution: Execution) -> Iterator[tuple[Blob, str, bytes]]:
    drawn = [each for each in execution.made if _ending(each.path) in _HEADS]
    for each in drawn[:_WRITTEN]:
        if each.content is not None and each.content.size <= _PICTURE:
            yield each.content, *_HEADS[_ending(each.path)]


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _is_picture(path: str) -> bool:
    return _ending(path) in {*_HEADS, ".webp", ".bmp", ".svg", ".pdf"}


def _address(run: Run, blob: Blob, kind: str, head: bytes) -> str:
    """The picture's bytes as an address; nothing for what is no such picture."""
    try:
        content = run.store.get(blob)
    except DataError:
        return ""
    if not content.startswith(head):
        return ""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _head_and_tail(run: Run, blob: Blob) -> str:
    try:
        text = run.store.text(blob)
    except DataError:
        return "[the output is not in the run's store]"
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n[… {len(text) - _SHOWN} characters left out …]\n{text[-half:]}"
