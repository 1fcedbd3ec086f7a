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
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

from expbench.dataset.lint.document import READ_CAP, Document
from expbench.dataset.lint.numbers import ResultNumbers, results_of, stated
from expbench.schema import ResearchTask
from expbench.workspace.repository.git import GitError
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, Entry, is_root_readme

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

_RULES = 1
_PROBES = 24
_DECIMAL = re.compile(r"\d\.\d")
_WORD = re.compile(r"\w{4,}")
_LOGS = frozenset([".log", ".out", ".csv", ".tsv", ".json", ".jsonl", ".txt", ".ipynb"])
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


@dataclass
class TextFacts:
    """A text's words of four and more letters, as sorted checksums, and the hashes of its runs of words."""

    words: array[int]
    shingles: array[int] | None = None


Prints = dict[str, TextFacts]
"""What is known of each blob that was read, by its id, so that no task reads it a second time."""


def survivors(
    entries: Sequence[Entry],
    task: ResearchTask,
    read: Callable[[str], bytes],
    prints: Prints | None = None,
) -> tuple[Survivor, ...]:
    """What strict masking takes out of a tree besides the masked files and root READMEs.

    Args:
        entries: the whole tree, masked files included.
        read: a blob's bytes by its id; objects that are not there raise GitError and are skipped.
        prints: filled, and used by later calls for the same repository.
    """
    hidden = {os.fsencode(path) for path in task.mask}
    masked = [entry for entry in entries if entry.path in hidden and _is_file(entry)]
    kept = [
        entry
        for entry in entries
        if entry.path not in hidden and _is_file(entry) and not is_root_readme(entry.path)
    ]
    found = _byte_copies(masked, kept)
    texts = _Texts(read, {} if prints is None else prints)
    rules = _Rules(_wanted(masked, read), ResultNumbers(_hidden_results(task)), texts)
    for entry in kept:
        path = os.fsdecode(entry.path)
        if path not in found and (verdict := rules.verdict(entry)) is not None:
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
    prints: Prints,
) -> dict[str, str]:
    """The kept files that are copies or near copies of masked ones: path to reason."""
    found = {path: each.reason for path, each in _byte_copies(masked, kept).items()}
    texts = _Texts(read_kept, prints)
    rules = _Rules(_wanted(masked, read_masked), ResultNumbers(set()), texts)
    for entry in kept:
        path = os.fsdecode(entry.path)
        if path not in found and (reason := rules.copied(entry)):
            found[path] = reason
    return found


def _wanted(masked: Iterable[Entry], read: Callable[[str], bytes]) -> tuple[_Wanted, ...]:
    """The masked files that have enough words for near copies to be told from others."""
    documents = [_document(entry, read) for entry in masked]
    return tuple(
        _Wanted.of(each) for each in documents if each and len(each.shingles) >= LEAST_SHINGLES
    )


@dataclass(frozen=True)
class _Wanted:
    """A masked file, with a fixed sample of its words: a copy has most of them."""

    document: Document
    probes: tuple[int, ...]

    @classmethod
    def of(cls, document: Document) -> _Wanted:
        return cls(document, tuple(_print(document.text)[:_PROBES]))

    def may_be_in(self, words: array[int]) -> bool:
        """Whether a text has at least half of the sample."""
        misses = 0
        for probe in self.probes:
            place = bisect_left(words, probe)
            if place == len(words) or words[place] != probe:
                misses += 1
                if 2 * misses > len(self.probes):
                    return False
        return True


@dataclass(frozen=True)
class _Texts:
    """The texts of a tree, each read when it is first needed."""

    read: Callable[[str], bytes]
    prints: Prints

    def facts(self, entry: Entry) -> TextFacts:
        if entry.oid not in self.prints:
            document = self.document(entry)
            self.prints[entry.oid] = TextFacts(_print(document.text if document else ""))
        return self.prints[entry.oid]

    def shingles(self, entry: Entry) -> array[int]:
        facts = self.facts(entry)
        if facts.shingles is None:
            document = self.document(entry)
            facts.shingles = array("q", document.shingles if document else ())
        return facts.shingles

    def document(self, entry: Entry) -> Document | None:
        return _document(entry, self.read)


@dataclass(frozen=True)
class _Rules:
    wanted: tuple[_Wanted, ...]
    results: ResultNumbers
    texts: _Texts

    @cached_property
    def least_size(self) -> int:
        """Bytes that any near copy has at least: each run of words starts a new word."""
        runs = min((len(each.document.shingles) for each in self.wanted), default=0)
        return int(2 * COPY_SHARE * runs)

    def verdict(self, entry: Entry) -> Survivor | None:
        """Why a file gives the answer away, or nothing."""
        path = os.fsdecode(entry.path)
        if copied := self.copied(entry):
            return Survivor(path, copied)
        document = self.texts.document(entry) if self.results and _may_log(path) else None
        results = self._results(document) if document else ""
        if not document or not results:
            return None
        cleared = without_outputs(document.content) if document.suffix == ".ipynb" else None
        if cleared is not None and not self._results(Document(path, cleared)):
            return Survivor(path, f"its outputs {results}", "cleared", cleared)
        return Survivor(path, results)

    def copied(self, entry: Entry) -> str:
        """Which masked file a file holds most of."""
        if not self.wanted or entry.size < self.least_size:
            return ""
        words = self.texts.facts(entry).words
        for each in self.wanted:
            if each.may_be_in(words):
                masked = each.document.shingles
                share = len(masked.intersection(self.texts.shingles(entry))) / len(masked)
                if share >= COPY_SHARE:
                    return f"holds {share:.0%} of the masked {each.document.path}"
        return ""

    def _results(self, document: Document) -> str:
        if len(_DECIMAL.findall(document.text)) > MOST_NUMBERS:
            return ""
        texts = [text for _, text in self.results.stated_in(document.text)]
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


def _print(text: str) -> array[int]:
    return array("I", sorted({zlib.crc32(word.encode()) for word in _words(text)}))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
