"""Strict masking: what is left of the answer once the masked files are gone.

The publication takes out the files that a task names, and the root README. Copies of those files
survive under other names (a sibling's configuration, a vendored folder), and so do the numbers that
the experiment is to find, in stored notebook outputs and result logs. This module finds them:

- *byte copies* of a masked file;
- *near copies*: text files with at least 80 % of the five-word runs of a masked file, where that file
  has enough of them to be told from others;
- *results*: notebooks, logs and tables that state two or more of the expected outcome's numbers. A
  notebook loses its stored outputs, where that is enough.

A package's ``__init__`` is never taken out, and where the copies would be more than a quarter of the
tree nothing of it is: then the tree is of one pattern, and taking it out would leave no repository.
Such files are reported instead. Each finding names its file and reason, so that nothing is silent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal

from expbench.dataset.lint.document import READ_CAP, Document, is_binary
from expbench.dataset.lint.numbers import (
    MIN_DIGITS,
    ResultNumbers,
    numbers_in,
    results_of,
    significant_digits,
    stated,
)
from expbench.schema import ResearchTask
from expbench.workspace.repository.git import GitError
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, Entry, is_root_readme
from expbench.workspace.wording import Numbers, Wording, Words

MaskMode = Literal["paper", "strict"]
"""What is taken out: the publication's masked files and root README, or also what is left of them."""

COPY_SHARE = 0.8
"""The share of a masked file's five-word runs from which another file is its near copy."""
LEAST_SHINGLES = 24
"""Five-word runs that a masked file needs for near copies to mean something."""
LEAST_BYTES = 64
"""Size from which equal bytes are a copy, not two empty or trivial files."""
TREE_SHARE = 0.25
"""The share of a tree's files above which nothing more is taken out."""
LEAST_RESULTS = 2
"""Result numbers that a file must state; one alone is often chance."""
MOST_NUMBERS = 1000
"""Decimal numbers of a file above which it is data, in which any number is found by chance."""

_RULES = 4
_PROBES = 48
"""Words in a sample: the near copies of 46 repositories have at least 0.85 of the masked file's words."""
_DECIMAL = re.compile(r"\d\.\d")
_LOGS = frozenset([".log", ".out", ".csv", ".tsv", ".json", ".jsonl", ".txt", ".ipynb"])
_LOG_ENDS = tuple(_LOGS)
_RESULT_NAMES = frozenset(
    [
        "result",
        "results",
        "log",
        "logs",
        "output",
        "outputs",
        "metric",
        "metrics",
        "eval",
        "score",
        "scores",
        "table",
        "tables",
    ]
)


@dataclass(frozen=True)
class Survivor:
    """A file that holds a part of the answer, why, and what is done with it.

    ``content`` is what stands in its place when only a part is taken out.
    """

    path: str
    reason: str
    action: Literal["removed", "cleared", "reported"] = "removed"
    content: bytes | None = field(default=None, repr=False)


Stated = tuple[tuple[Decimal, str], ...]
"""The numbers of a text that say enough to be results, and each as written."""


@dataclass(frozen=True)
class Reading:
    """What was read of a repository, each text once for all its tasks.

    ``stated`` has the numbers of possible records by their blobs' ids and their paths' ends.
    """

    wording: Wording = field(default_factory=Wording)
    stated: dict[tuple[str, str], Stated] = field(default_factory=dict)


def survivors(
    entries: Sequence[Entry],
    task: ResearchTask,
    read: Callable[[str], bytes],
    reading: Reading | None = None,
) -> tuple[Survivor, ...]:
    """What strict masking takes out of a tree besides the masked files and root READMEs.

    Args:
        entries: the whole tree, masked files included.
        read: a blob's bytes by its id; objects that are not there raise GitError and are skipped.
        reading: filled, and used by later calls for the same repository.
    """
    hidden = {os.fsencode(path) for path in task.mask}
    masked = [entry for entry in entries if entry.path in hidden and _is_file(entry)]
    kept = [
        entry
        for entry in entries
        if entry.path not in hidden and _is_file(entry) and not is_root_readme(entry.path)
    ]
    found = _byte_copies(masked, kept)
    reading = reading or Reading()
    copied = _near_copies(masked, kept, read, read, reading.wording)
    results = ResultNumbers(_hidden_results(task))
    found = {path: Survivor(path, reason) for path, reason in copied.items()} | found
    for entry in kept if results else ():
        path = os.fsdecode(entry.path)
        if path not in found and (verdict := _recorded(entry, results, read, reading)):
            found[path] = verdict
    return tuple(_bounded(found, len(entries)))


def search_key(task: ResearchTask) -> str:
    """A digest of all that :func:`survivors` looks for in a tree, and of the rules."""
    rules = [
        _RULES,
        COPY_SHARE,
        LEAST_SHINGLES,
        LEAST_BYTES,
        TREE_SHARE,
        LEAST_RESULTS,
        MOST_NUMBERS,
    ]
    facts = [rules, sorted(task.mask), sorted(str(value) for value in _hidden_results(task))]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def near_copies(
    masked: Sequence[Entry],
    kept: Sequence[Entry],
    read_masked: Callable[[str], bytes],
    read_kept: Callable[[str], bytes],
    wording: Wording,
) -> dict[str, str]:
    """The kept files that are copies or near copies of masked ones: path to reason."""
    copies = {path: each.reason for path, each in _byte_copies(masked, kept).items()}
    return _near_copies(masked, kept, read_masked, read_kept, wording) | copies


def _near_copies(
    masked: Sequence[Entry],
    kept: Sequence[Entry],
    read_masked: Callable[[str], bytes],
    read_kept: Callable[[str], bytes],
    wording: Wording,
) -> dict[str, str]:
    masks = [w for entry in masked if (w := _wanted(entry, read_masked, wording)) is not None]
    if not masks:
        return {}
    # Each run of words starts a new word, so a near copy has at least two bytes for each.
    least = int(2 * COPY_SHARE * min(len(each.words.runs) for each in masks))
    places: dict[str, list[Entry]] = {}
    for entry in kept:
        if least <= entry.size <= READ_CAP:
            places.setdefault(entry.oid, []).append(entry)
    read = _texts(places, read_kept)
    wording.learn(wording.unknown(places), read)
    found: dict[str, str] = {}
    holding = wording.holding([each.sample for each in masks])
    for each, oids in zip(masks, holding, strict=True):
        for oid in oids & places.keys():
            part = wording.share(each.oid, oid, read)
            if part >= COPY_SHARE:
                for entry in places[oid]:
                    path = os.fsdecode(entry.path)
                    found.setdefault(path, f"holds {part:.0%} of the masked {each.path}")
    return found


@dataclass(frozen=True)
class _Wanted:
    """A masked file and its words, of a sample of which a copy has most."""

    path: str
    oid: str
    words: Words
    sample: Numbers


def _wanted(entry: Entry, read: Callable[[str], bytes], wording: Wording) -> _Wanted | None:
    """A masked file that has enough words for near copies to be told from others."""
    text = _texts({entry.oid: [entry]}, read)
    words = wording.words(entry.oid, text)
    if len(words.runs) < LEAST_SHINGLES:
        return None
    sample = wording.sample(entry.oid, _PROBES, text)
    return _Wanted(os.fsdecode(entry.path), entry.oid, words, sample)


def _texts(
    places: Mapping[str, Sequence[Entry]], read: Callable[[str], bytes]
) -> Callable[[str], bytes]:
    """The texts of blobs by their ids, each as at the first of its places."""
    return lambda oid: _text(places[oid][0], read)


def _text(entry: Entry, read: Callable[[str], bytes]) -> bytes:
    """What can be read of a file; nothing of one that is too large to be code or prose."""
    document = _document(entry, read)
    if not document or is_binary(document.content):
        return b""
    if document.suffix != ".ipynb":
        return document.content
    return document.text.encode("utf-8", "surrogatepass")


def _recorded(
    entry: Entry, results: ResultNumbers, read: Callable[[str], bytes], reading: Reading
) -> Survivor | None:
    """Whether a file is a record of the experiment's results, and what is done with it."""
    path = os.fsdecode(entry.path)
    if not _may_log(path):
        return None
    suffix = PurePosixPath(path).suffix.lower()
    numbers = reading.stated.get((entry.oid, suffix))
    if numbers is None:
        document = _document(entry, read)
        numbers = _numbers(document) if document else ()
        if len(numbers) <= MOST_NUMBERS:
            reading.stated[entry.oid, suffix] = numbers
    verdict = _results(numbers, results)
    if not verdict:
        return None
    content = without_outputs(read(entry.oid)) if suffix == ".ipynb" else None
    if content is not None and not _results(_numbers(Document(path, content)), results):
        return Survivor(path, f"its outputs {verdict}", "cleared", content)
    return Survivor(path, verdict)


def _numbers(document: Document) -> Stated:
    """What a record may state; nothing where it has so many numbers that it is data."""
    text = document.text
    if sum(1 for _ in islice(_DECIMAL.finditer(text), MOST_NUMBERS + 1)) > MOST_NUMBERS:
        return ()
    return tuple(each for each in numbers_in(text) if significant_digits(each[0]) >= MIN_DIGITS)


def _results(numbers: Stated, results: ResultNumbers) -> str:
    texts = [text for _, text in results.stated_by(numbers)]
    if len(texts) < LEAST_RESULTS:
        return ""
    return f"state results of the experiment: {', '.join(sorted(texts)[:4])}"


def _byte_copies(masked: Sequence[Entry], kept: Sequence[Entry]) -> dict[str, Survivor]:
    names = {entry.oid: os.fsdecode(entry.path) for entry in masked if entry.size >= LEAST_BYTES}
    return {
        path: Survivor(path, f"is byte for byte the masked {names[entry.oid]}")
        for entry in kept
        if entry.oid in names and (path := os.fsdecode(entry.path))
    }


def _document(entry: Entry, read: Callable[[str], bytes]) -> Document | None:
    """A file as a document; none for one that is too large to be code or prose, or not there."""
    if entry.size > READ_CAP:
        return None
    try:
        return Document(os.fsdecode(entry.path), read(entry.oid))
    except GitError:
        return None


def _bounded(found: dict[str, Survivor], files: int) -> Iterator[Survivor]:
    """The findings in the order of their paths, those that must stay turned into reports."""
    packages = {path for path in found if PurePosixPath(path).name == "__init__.py"}
    too_many = len(found) - len(packages) > TREE_SHARE * files
    for path in sorted(found):
        if path in packages:
            yield _reported(found[path], "kept, because a package needs it")
        elif too_many:
            yield _reported(found[path], f"kept, one of {len(found)} such in {files} files")
        else:
            yield found[path]


def _reported(survivor: Survivor, why: str) -> Survivor:
    return Survivor(survivor.path, f"{survivor.reason}; {why}", "reported")


def _hidden_results(task: ResearchTask) -> set[Decimal]:
    """The outcome's numbers with a fraction, without those that the agent is told anyway."""
    view = task.prompt_view()
    results = {value for value in results_of(task) if value != value.to_integral_value()}
    return results - stated((view.question, view.method, view.instructions), results)


def _may_log(path: str) -> bool:
    """Whether a file may be a record of results: a notebook, a log, or a table named like one."""
    if not path.lower().endswith(_LOG_ENDS):
        return False
    place = PurePosixPath(path.lower())
    if place.suffix in (".ipynb", ".log", ".out"):
        return True
    words = set(re.split(r"[\W_]+", f"{place.parent.name} {place.stem}"))
    return place.suffix in _LOGS and bool(words & _RESULT_NAMES)


def without_outputs(content: bytes) -> bytes | None:
    """A notebook with its cells only; None for what is no notebook."""
    try:
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _is_file(entry: Entry) -> bool:
    return entry.mode not in (SYMLINK, SUBMODULE)
