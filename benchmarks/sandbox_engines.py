"""Ours against a container engine that runs here: bare ``run`` and ``exec``, and our containers."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from measuring import Part
from sandbox_bench import Bench, cycle, in_turn

from expbench.errors import PrerequisiteError, SandboxError
from expbench.sandboxes.containers import Engine
from expbench.sandboxes.host import SandboxHost

_TRUE = ("true",)
"""Images differ in where it is."""
_LIKE_OURS = (
    *("--network", "none", "--pull", "never", "--user", "64001:64001"),
    # Podman without them asks for more than a root without every capability may have.
    *("--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"),
)


def measure(bench: Bench) -> Part:
    """Start, one command, stop, and one command in what runs."""
    part = Part(f"Container engine: {bench.engine or 'none'}")
    if bench.engine is None:
        part.notes.append("No engine was measured: name one that runs here, --engine docker.")
        return part
    engine = Engine(bench.engine)  # type: ignore[arg-type]
    try:
        engine.probe()
        engine.image_id(bench.image)
        _measure(bench, engine, part)
    except (PrerequisiteError, SandboxError) as error:
        part.notes.append(f"{bench.engine} was not measured: {error}")
    return part


def _measure(bench: Bench, engine: Engine, part: Part) -> None:
    name, image = engine.program, bench.image
    kind = SandboxHost(bench.cache, kind=name, image=image)
    with bench.folder() as view:
        whole: dict[str, Callable[[], object]] = {
            f"{name} run": lambda: _call(engine, "run", "--rm", *_LIKE_OURS, image, *_TRUE),
            f"ours, {name}": lambda: cycle(kind, view, argv=_TRUE),
            "ours, bwrap": lambda: cycle(bench.host, view, argv=_TRUE),
        }
        times = in_turn(bench.runs, whole)
    for each in list(whole)[1:]:
        part.ratios.append(times.ratio(each, f"{name} run", None, f"of {name} run"))
    part.tables.append(times.table("Start, one command, stop", "sandbox", f"{name} run"))
    container = f"expbench-benchmark-{secrets.token_hex(4)}"
    _call(engine, "run", "--detach", "--name", container, *_LIKE_OURS, image, "sleep", "3600")
    try:
        with bench.folder() as view, kind.start(view) as session:
            bwrap = bench.session()
            single: dict[str, Callable[[], object]] = {
                f"{name} exec": lambda: _call(engine, "exec", container, *_TRUE),
                f"ours, {name}": lambda: session.run(_TRUE),
                "ours, bwrap": lambda: bwrap.run(_TRUE),
            }
            times = in_turn(bench.runs, single)
    finally:
        engine.remove([container])
    for each in list(single)[1:]:
        part.ratios.append(times.ratio(each, f"{name} exec", None, f"of {name} exec"))
    part.tables.append(times.table("One command in what runs", "sandbox", f"{name} exec"))


def _call(engine: Engine, *arguments: str) -> None:
    answer = engine.call(*arguments)
    if answer.code != 0:
        raise SandboxError(f"{engine.program} {arguments[0]} failed: {answer.why}")
