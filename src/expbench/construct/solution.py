"""A draft's oracle solution: the masked files put back, the authors' commands as a script, the outcome."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from expbench.construct.records import Draft
from expbench.construct.task import COMMANDS, value
from expbench.dataset.citations import repository_path
from expbench.dataset.suites import MEASURED_NAME, PATCH_NAME
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME
from expbench.workspace import Source
from expbench.workspace.repository.git import git

_EMPTY_TREE = {40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
_EMPTY_TREE[64] = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"

_PATH = 'export PYTHONPATH="$PWD:$PWD/src${PYTHONPATH:+:$PYTHONPATH}"'
"""As the authors' commands are run when the chain is verified."""


def write_solution(draft: Draft, source: Source, folder: Path) -> None:
    """Write the solution's files, laid out as those of suite mini. Raises InfrastructureError."""
    folder.mkdir(parents=True)
    (folder / PATCH_NAME).write_bytes(_patch(draft, source))
    (folder / SCRIPT_NAME).write_text(script_of(draft), "utf-8")
    response = {
        "design": design_text(value(draft, "design_complexity", {})),
        "conclusion": value(draft, "expected_outcome"),
    }
    text = json.dumps(response, indent=2, ensure_ascii=False)
    (folder / RESPONSE_NAME).write_text(f"{text}\n", "utf-8")
    (folder / MEASURED_NAME).write_text("{}\n", "utf-8")


def script_of(draft: Draft) -> str:
    """The script that runs the whole experiment from the repository's root."""
    lines = ["#!/usr/bin/env bash", "set -euo pipefail", 'cd "$(dirname "$0")"', _PATH]
    return "\n".join([*lines, *value(draft, COMMANDS, ()), ""])


def design_text(design: dict[str, Any]) -> str:
    """The design's variables as an agent would tell them."""
    lines = []
    for kind in ("constant", "independent", "dependent"):
        variables = design.get(f"{kind}_variables") or {}
        told = "; ".join(f"{name}: {_told(each)}" for name, each in variables.items())
        if told:
            lines.append(f"{kind.capitalize()} variables: {told}.")
    return "\n".join(lines)


def _told(found: Any) -> str:
    if isinstance(found, dict):
        return ", ".join(f"{name} {_told(each)}" for name, each in found.items())
    if isinstance(found, list | tuple):
        return ", ".join(map(_told, found))
    return str(found)


def _patch(draft: Draft, source: Source) -> bytes:
    """The masked files as a patch of new ones, as UTF-8 whatever they are encoded in."""
    paths = [repository_path(path) for path in value(draft, "masked_source", ())]
    command = ["diff", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames"]
    names = [f":(literal){path}" for path in paths]
    compared = [*command, _EMPTY_TREE[len(source.commit)], source.commit, "--", *names]
    patch = git(compared, git_dir=source.git_dir)
    try:
        patch.decode("utf-8")
    except UnicodeDecodeError:
        with tempfile.NamedTemporaryFile("w", suffix=".attributes") as every:
            every.write("* binary\n")
            every.flush()
            as_binary = ["-c", f"core.attributesFile={every.name}", *compared]
            patch = git(as_binary, git_dir=source.git_dir)
    return patch
