"""The work of ``expbench agents install``."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal

from expbench.cli.settings import (
    cache_folder,
    index_settings,
    interpreter_places,
    npm_settings,
    search_path,
)
from expbench.environments import IndexAccess, interpreters
from expbench.paths import CachePaths
from expbench.programs import InstalledProgram, ProgramShelf, program
from expbench.programs.installing import Access, install
from expbench.sandboxes.host import SandboxHost


def install_program(name: str, version: str, wheels: Path | None, as_json: bool) -> int:
    """Install an agent's program and say what is there. Raises UserError, InfrastructureError."""
    console = Console(stderr=True, highlight=False)
    chosen, cache = program(name), CachePaths(cache_folder())
    made = install(
        chosen,
        ProgramShelf(cache.agents),
        Access(IndexAccess(index_settings(), wheels), npm_settings(), search_path()),
        SandboxHost(cache),
        interpreters(interpreter_places()) if chosen.kind == "python" else (),
        version,
        lambda line: console.print(f"{name}: {line}", markup=False, soft_wrap=True),
    )
    made.close()
    if as_json:
        facts = {"digest": made.digest, **made.record.model_dump()}
        print(json.dumps(facts, indent=1, ensure_ascii=False))  # noqa: T201
    else:
        _say(made)
    return 0


def _say(made: InstalledProgram) -> None:
    record = made.record
    how = "tried in a sandbox" if record.tried else "not tried"
    Console(highlight=False).print(
        f"{made.label} is installed: {len(record.parts)} packages, {decimal(record.bytes)}, {how}.",
        markup=False,
        soft_wrap=True,
    )
