"""Which files of a submission are results of its own: by their name, their content, or who writes them.

A name tells most (:func:`~expbench.workspace.submission.outputs.looks_like_result`). Of files whose name
tells nothing, those are results that state measured values (a metric's name before a number that nobody
would set), and those that the submission's own code writes when its script runs. Code, settings and what
is named as input never are: a script may need them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from expbench.schema import SCRIPT_NAME
from expbench.workspace.submission.outputs import looks_like_result, may_be_result

_CODE = frozenset([".py", ".ipynb", ".sh", ".bash", ".r", ".jl", ".pl", ".js", ".m", ".mk"])
_METRIC = (
    r"(?:accurac(?:y|ies)|acc|f1|auc|auroc|loss(?:es)?|rmse|mae|mse|nll|ece|brier|perplexity|ppl|bleu|"
    r"rouge|precision|recall|errors?|regrets?|rewards?|returns?|scores?|r2|p[_ -]?values?)"
)
_STATED = re.compile(
    rf"(?<![a-z]){_METRIC}(?:[_ -](?:mean|std|sd|se|avg|best|final|last|test|val|at|\d+))*"
    r"[\"'\s]{0,3}[:=\s]\s*\[?\s*-?(?:0|[1-9]\d*)\.(?=\d*[1-9])0*\d{3,}",
    re.IGNORECASE,
)
"""A metric's name and a value of three digits and more: measured, not set."""
_HEADED = re.compile(rf"(?:^|[,\t;_ ])\"?{_METRIC}\"?(?=[,\t;_ ]|$)", re.IGNORECASE)
_TABLES = (b".csv", b".tsv", b".dat")
_WRITES = re.compile(
    r"\b(?:savetxt|save\w*|dump\w*|to_(?:csv|json|pickle|parquet|hdf|excel|feather|string)|imwrite|"
    r"write_(?:text|bytes|csv|json|table)|writ(?:e|er)\w*|fwrite|saveRDS|FileHandler)\s*\(|"
    r"\bopen\([^)\n]*,\s*(?:mode\s*=\s*)?[\"'][wax]b?\+?[\"']|\btee\b|"
    r"\s(?:-o|--out\w*|--save\w*|--log[\w-]*)[ =]",
)
_ASSIGNED = re.compile(r"^\s*(?:export\s+)?(\w+)\s*(?::\s*\w+\s*)?=[^=]")
_LOOKED_AT = 64 * 1024
"""Characters of a file's beginning in which measured values are looked for."""
_LONGEST = 512 * 1024
_LONGEST_LINE = 2_000
_MOST_CODE = 300

Read = Callable[[bytes], bytes | None]
"""The bytes of a small submitted file; ``None`` for any other."""


def own_results(paths: Iterable[bytes], read: Read) -> list[bytes]:
    """Those of the submitted files that look like results of the submission's own."""
    given = list(paths)
    found = {path for path in given if looks_like_result(path)}
    doubtful = [path for path in given if path not in found and may_be_result(path)]
    if doubtful:
        code = _reached(given, read)
        found.update(path for path in doubtful if _states(path, read) or _written(path, code))
    return [path for path in given if path in found]


def _states(path: bytes, read: Read) -> bool:
    """Whether a text states measured values, or a table has a column of them."""
    text = _text(read(path))[:_LOOKED_AT]
    if not text:
        return False
    if path.lower().endswith(_TABLES):
        head, _, body = text.partition("\n")
        return _HEADED.search(head) is not None and re.search(r"\d\.\d{3}", body) is not None
    return _STATED.search(text) is not None


def _reached(paths: Iterable[bytes], read: Read) -> Mapping[str, str]:
    """The submitted code that the script names, directly or through other code, by path."""
    texts = {
        path: _text(read(os.fsencode(path)))
        for path in [os.fsdecode(each) for each in paths][: 10 * _MOST_CODE]
        if PurePosixPath(path).suffix.lower() in _CODE
    }
    pending = [
        path for path in texts if PurePosixPath(path).stem == PurePosixPath(SCRIPT_NAME).stem
    ]
    found: dict[str, str] = {}
    while pending and len(found) < _MOST_CODE:
        path = pending.pop()
        found[path] = texts[path]
        words = set(re.findall(r"\w+", texts[path]))
        pending += [
            other
            for other in texts
            if other not in found and other not in pending and PurePosixPath(other).stem in words
        ]
    return found


def _written(path: bytes, code: Mapping[str, str]) -> bool:
    """Whether a line of the code writes a file of this name, or one whose name a variable has."""
    name = re.escape(PurePosixPath(os.fsdecode(path)).name)
    literal = rf"(?<![\w.-]){name}(?![\w-])"
    for text in code.values():
        lines = [line for line in text.splitlines() if len(line) < _LONGEST_LINE]
        named = [line for line in lines if re.search(literal, line)]
        variables = {match[1] for line in named if (match := _ASSIGNED.match(line))}
        held = rf"\b(?:{'|'.join(map(re.escape, variables))})\b" if variables else ""
        if any(_writes(named, literal)) or (held and any(_writes(lines, held))):
            return True
    return False


def _writes(lines: Iterable[str], name: str) -> Iterator[bool]:
    """For each line whether it has the name and writes, or redirects into it."""
    into = re.compile(rf">>?\s*[\"']?[^\s|;&<>]*{name}")
    mentioned = re.compile(name)
    for line in lines:
        yield bool(into.search(line) or (mentioned.search(line) and _WRITES.search(line)))


def _text(content: bytes | None) -> str:
    if content is None or len(content) > _LONGEST or b"\0" in content:
        return ""
    return content.decode("utf-8", "replace")
