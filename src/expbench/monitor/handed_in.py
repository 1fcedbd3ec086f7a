"""What an agent handed in, as far as its calls show it: for runs that nobody collected.

The files that the calls wrote are the patch, ``reproduce_exp_bench.sh`` is the script, ``response.json``
gives design and conclusion. Without it the last thing that the agent said is the conclusion. Files whose
text no call shows (made by programs, downloaded, edited by tools) are missing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePosixPath

from expbench.monitor.sources import script_kind
from expbench.monitor.steps import steps
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, SubmissionText, Turn

_TEXTS = (".json", ".yaml", ".yml", ".toml", ".cfg", ".csv", ".tsv", ".txt", ".md", ".ipynb")
_MOST = 200_000


def handed_in(turns: Sequence[Turn]) -> SubmissionText:
    """The deliverables that the calls of a trajectory wrote."""
    files: dict[str, str] = {}
    for step in steps(turns):
        files |= step.written
    script = _last(files, SCRIPT_NAME)
    response = _response(_last(files, RESPONSE_NAME))
    said = [turn.text for turn in turns if turn.role == "assistant"]
    parts = []
    for path, text in files.items():
        name = PurePosixPath(path).name
        if name in {SCRIPT_NAME, RESPONSE_NAME} or path.startswith(("/tmp/", "/dev/")):
            continue
        if script_kind(path, text) or path.endswith(_TEXTS):
            parts.append(_added(path.lstrip("/"), text))
    return SubmissionText(
        design=response.get("design", ""),
        conclusion=response.get("conclusion", "") or (said[-1] if said else ""),
        diff="".join(parts),
        script=script,
        changed=tuple(files),
    )


def _last(files: dict[str, str], name: str) -> str:
    found = [text for path, text in files.items() if PurePosixPath(path).name == name]
    return found[-1] if found else ""


def _response(text: str) -> dict[str, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    return {key: each for key, each in value.items() if isinstance(each, str)}


def _added(path: str, text: str) -> str:
    lines = text[:_MOST].splitlines()
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    body = "".join(f"+{line}\n" for line in lines)
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}"
