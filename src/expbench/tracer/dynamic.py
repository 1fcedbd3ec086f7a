"""What of a chain really runs: a traced run in a sandbox, laid over the static trace.

The repository is copied to a folder of the sandbox's own, so that it stays as it is. The run is looked at as
re-runs are (:mod:`expbench.execution.tracing`), by file: a step ran where its file was executed, or, for a
configuration, read. Which of a file's lines ran is not told.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from expbench.execution.tracer import Scene
from expbench.execution.tracing import choose
from expbench.reruns import Trace as Seen
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Policy
from expbench.tracer.graph import Trace

_SHOWN = 300


@dataclass(frozen=True)
class Ran:
    """How a traced run ended, and what was seen of it. ``exit_code`` is ``None`` where the time was up."""

    command: str
    exit_code: int | None
    seconds: float
    seen: Seen
    output: str


def command_of(source: Sequence[str]) -> str:
    """The command that runs a source's scripts, one after the other; empty where none can be run."""
    runners = {".sh": "bash", ".py": "python"}
    parts = [
        f"{runners[Path(p).suffix]} {shlex.quote(p)}" for p in source if Path(p).suffix in runners
    ]
    return " && ".join(parts)


def run_traced(root: Path, command: str, host: SandboxHost, limits: Limits) -> Ran:
    """Run a command in a copy of the repository, in a sandbox without network, and look at it.

    Raises:
        SandboxError: the sandbox cannot be started, or died.
        PrerequisiteError: there is no room for the copy, or no sandbox on this machine.
    """
    tracer = choose(host).make()
    folder = host.folder()
    try:
        skip = shutil.ignore_patterns(".git")
        shutil.copytree(root, folder, symlinks=True, ignore=skip, dirs_exist_ok=True)
        with host.start(folder, Policy(limits=limits)) as session:
            tracer.prepare(session)
            place = session.workspace
            path = ":".join(filter(None, (place, f"{place}/src", session.python_path)))
            began = time.time()
            done = session.run(
                tracer.wrap(["bash", "-c", command]),
                timeout=limits.minutes * 60,
                env={**tracer.environment(), "PYTHONPATH": path},
            )
            scene = Scene(session, "/dev/null", frozenset(), began, time.time())
            seen = tracer.collect(scene).trace
        output = (done.stdout + done.stderr).decode(errors="replace")
        code = None if done.timed_out else done.exit_code
        return Ran(command, code, done.seconds, seen, output)
    finally:
        host.discard(folder)


def with_ran(trace: Trace, ran: Ran) -> Trace:
    """The trace with ``ran`` on its steps, and what the run was, or why nothing is known, in its notes.

    A file that starts no Python (a shell script, a makefile) is not seen, and its steps stay unknown
    unless it was told of; so do all of them where nothing could be seen.
    """
    notes = list(trace.notes)
    used = {each.path for each in ran.seen.files if not each.path.startswith("/")}
    if not used:
        why = ran.seen.reason or "no file of the repository was seen"
        notes.append(f"Nothing is known of the traced run of `{ran.command[:_SHOWN]}`: {why}.")
        return trace.model_copy(update={"notes": tuple(notes)})
    told = (".py", ".json", ".yaml", ".yml", ".toml", ".ini", ".gin")
    steps = [
        step.model_copy(update={"ran": step.span.path in used})
        if step.span.path in used or step.span.path.endswith(told)
        else step
        for step in trace.steps
    ]
    ended = "had not ended in its time" if ran.exit_code is None else f"ended with {ran.exit_code}"
    notes.append(
        f"`{ran.command[:_SHOWN]}` {ended} after {ran.seconds:.1f} s; it used {len(used)} files of the "
        "repository. A step's `ran` is that of its file."
    )
    if ran.exit_code != 0 and ran.output.strip():
        notes.append(f"Its last line: {ran.output.strip().splitlines()[-1][:_SHOWN]}")
    if ran.seen.reason:
        notes.append(f"Of the run was not seen: {ran.seen.reason[:_SHOWN]}.")
    missed = sorted(used - {each.path for each in trace.files})
    if missed:
        notes.append(
            f"The run used files that the source does not lead to: {', '.join(missed[:20])}."
        )
    return trace.model_copy(update={"steps": tuple(steps), "notes": tuple(notes)})
