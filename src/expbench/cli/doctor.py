"""``expbench doctor``: a table of what this machine can do, and what would mend the rest."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from expbench.cli.settings import cache_folder, outer_gpus
from expbench.doctor import Check, Doctor
from expbench.paths import CachePaths
from expbench.probes import PROBES
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.providers import PROVIDERS, provider

_MARKS = {"ok": "[green]✓[/green]", "missing": "[yellow]–[/yellow]", "no": "[red]✗[/red]"}


def diagnose(kind: str, image: str, as_json: bool) -> int:
    """Look and print. Exit code 1 when the sandbox does not work or lets a limit pass."""
    provider(kind)
    host = SandboxHost(CachePaths(cache_folder()), image=image, outer_gpus=outer_gpus())
    doctor = Doctor(host, os.environ, (cache_folder(), Path("runs")))
    console = Console(stderr=as_json)
    checks: list[Check] = []
    with console.status("looking at this machine") as status:
        for check in _look(doctor, kind):
            checks.append(check)
            status.update(f"{check.topic}: {check.name}")
    if as_json:
        print(json.dumps([check.model_dump() for check in checks], indent=1))  # noqa: T201
    else:
        console.print(_table(checks))
    wanted = [c for c in checks if c.name == kind or c.topic == f"limit of {kind}"]
    return int(any(check.state != "ok" for check in wanted))


def _look(doctor: Doctor, kind: str) -> Iterator[Check]:
    yield from doctor.machine()
    works = False
    for name in PROVIDERS:
        check = doctor.sandbox(name)
        works = works or (name == kind and check.state == "ok")
        yield check
    if works:
        yield from (doctor.limit(kind, name) for name in PROBES)


def _table(checks: list[Check]) -> Table:
    table = Table("", "", "", "found", "mend", header_style="bold")
    before = ""
    for check in checks:
        topic = "" if check.topic == before else check.topic
        before = check.topic
        found = map(escape, (check.text, check.mend))
        table.add_row(topic, escape(check.name), _MARKS[check.state], *found)
    return table
