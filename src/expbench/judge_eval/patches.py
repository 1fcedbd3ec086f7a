"""A case's deliverables as judges read them: the text view of a bare patch.

The view is that of :mod:`expbench.workspace.submission.view`: outputs, data and binary files by name
only, new notebooks as their code cells. A run makes it from two trees; here there is only the patch, so
it is taken apart at its headers. Patches of labelled sets are no attacks; one that cannot be taken
apart is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from expbench.judge_eval.cases import Case
from expbench.schema import SCRIPT_NAME, SubmissionText
from expbench.workspace.submission.view import by_name_only, code_cells, is_notebook, outline

_GIT_HEAD = re.compile(r"^diff --git (?P<names>.+)$", re.MULTILINE)
_PLAIN_HEAD = re.compile(r"^--- [^\n]*\n(?=\+\+\+ )", re.MULTILINE)
_NEW = re.compile(r"^\+\+\+ (?:\"?b/)?(?P<path>[^\t\n]+)", re.MULTILINE)
_OLD = re.compile(r"^--- (?:\"?a/)?(?P<path>[^\t\n]+)", re.MULTILINE)
_HUNK = re.compile(r"^@@ ", re.MULTILINE)
_BINARY = re.compile(r"^(?:GIT binary patch|Binary files .* differ)$", re.MULTILINE)
_NOWHERE = "/dev/null"


def submission_text(case: Case) -> SubmissionText:
    """The case as a judge reads it; the script is taken from the patch where it is not given."""
    parts = list(_parts(case.patch))
    shown: list[str] = []
    named: list[tuple[bytes, str]] = []
    script = case.script
    for path, part in parts:
        name = path.encode(errors="replace")
        if path.rpartition("/")[2] == SCRIPT_NAME and not script.strip():
            script = _added(part)
        if not path:
            shown.append(part)
        elif _BINARY.search(_above_hunks(part)):
            named.append((name, "binary"))
        elif by_name_only(name):
            named.append((name, "output or data"))
        else:
            shown.append(_cells(path, part) if is_notebook(name) else part)
    return SubmissionText(
        design=case.design,
        conclusion=case.conclusion,
        diff="".join(shown) + outline(named),
        script=script,
        changed=tuple(path for path, _ in parts if path),
    )


def _parts(patch: str) -> Iterator[tuple[str, str]]:
    """Each file's path and its part of the patch; what stands above all files has no path."""
    text = patch.replace("\r\n", "\n")
    if text.strip() and not text.endswith("\n"):
        text += "\n"
    head = _GIT_HEAD if _GIT_HEAD.search(text) else _PLAIN_HEAD
    starts = [match.start() for match in head.finditer(text)]
    first = starts[0] if starts else len(text)
    if text[:first].strip():
        yield "", text[:first]
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        yield _path(part), part


def _path(part: str) -> str:
    above = _above_hunks(part)
    for pattern in (_NEW, _OLD):
        found = pattern.search(above)
        if found and (path := found["path"].strip().strip('"')) != _NOWHERE:
            return path
    names = _GIT_HEAD.match(part)
    return names["names"].rpartition(" b/")[2].strip().strip('"') if names else ""


def _above_hunks(part: str) -> str:
    hunk = _HUNK.search(part)
    return part[: hunk.start()] if hunk else part


def _added(part: str) -> str:
    """The text of a new file."""
    body = part[len(_above_hunks(part)) :]
    lines = [line[1:] for line in body.split("\n") if line.startswith("+")]
    return "\n".join(lines) + "\n" if lines else ""


def _cells(path: str, part: str) -> str:
    """A new notebook as its code; a changed one as the patch has it, since the rest is not known."""
    if "\n--- /dev/null\n" not in part:
        return part
    code = (code_cells(_added(part).encode(errors="replace")) or b"").decode(errors="replace")
    lines = code.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    name = f"{path} (code cells)"
    return f"diff --git a/{name} b/{name}\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}"
