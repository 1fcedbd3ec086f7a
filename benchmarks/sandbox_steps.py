"""One sandbox: its whole life, a command in it, and what each part of it costs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack

from measuring import Part, Ratio, timed
from sandbox_bench import IDLE_PYTHON, TRUE, Bench, Times, cycle, in_turn

from expbench.errors import PrerequisiteError
from expbench.sandboxes.environment import FIXED
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.network import Index
from expbench.sandboxes.session import Session
from expbench.schema import Limits, Policy
from expbench.workspace import View

Workspace = Callable[[], AbstractContextManager[View]]

WANTED_START, WANTED_COMMAND = 1.5, 1.3

_ENTER = ("--user", "--mount", "--pid", "--net", "--ipc", "--uts", "--preserve-credentials")
_PER_ROUND = 10
SCRIPT = ("/bin/bash", "-c", "for n in 1 2 3; do /bin/cat /etc/hosts; done")
_NO_GROUPS = Limits(memory_mib=None, processes=None)
_NO_LIMITS = Limits(memory_mib=None, processes=None, disk_mib=None, files=None, file_mib=None)
_NOWHERE = Index("pypi", "http://127.0.0.1:9/simple/")


def starts(bench: Bench) -> Part:
    """Start, one command, stop: ours and bare bubblewrap with the same stage, flags and mounts."""
    part = Part("Start, one command, stop")
    _start(bench, part, "folder", bench.folder)
    _start(bench, part, "overlay", bench.overlay)
    staged = ", staged as root in the same way" if os.geteuid() == 0 else ""
    part.notes.append(
        f"Bare bwrap has the same flags, mounts and system call filter{staged}, and runs /bin/true "
        "instead of the supervisor."
    )
    return part


def _start(bench: Bench, part: Part, name: str, workspace: Workspace) -> None:
    laps = Times()

    def ours() -> float:
        with workspace() as view:
            return cycle(bench.host, view, laps)

    def bare(*argv: str) -> float:
        with workspace() as view:
            return timed(lambda: bench.bare(view, argv))[0]

    with workspace() as view:
        kind = view.kind
    names = (f"ours, {name}", f"bare bwrap, {name}", f"bare bwrap and an idle Python, {name}")
    actions = {
        names[0]: ours,
        names[1]: lambda: bare(*TRUE),
        names[2]: lambda: bare(bench.interpreter, *IDLE_PYTHON),
    }
    times = in_turn(bench.runs, actions)
    laps.seconds = {step: seconds[1:] for step, seconds in laps.seconds.items()}
    part.ratios.append(times.ratio(names[0], names[1], WANTED_START))
    part.ratios.append(times.ratio(names[0], names[2]))
    part.tables.append(times.table(f"Workspace: {kind}", "whole life", names[1]))
    part.tables.append(laps.table(f"Ours by steps, workspace: {kind}", "step", "start"))


def commands(bench: Bench) -> Part:
    """One command in a running sandbox, and the same without it.

    The honest comparison is a plain process of the same program and environment with a pipe for each
    stream: that is what a harness without a sandbox does.
    """
    part = Part("A command in a running sandbox")
    session = bench.session()
    for name, argv in (("/bin/true", TRUE), ("a script of three commands", SCRIPT)):
        _command(bench, part, session, name, argv)
    view = bench.stack.enter_context(bench.folder())
    names = ("ours, /bin/true", "bare bwrap for each command")
    anew = in_turn(
        bench.runs,
        {names[0]: lambda: _inside(session, TRUE), names[1]: lambda: bench.bare(view, TRUE)},
    )
    part.ratios.append(anew.ratio(*names))
    part.notes.append("A plain process has pipes for stdout and stderr and a like environment.")
    if not _entering(session, TRUE):
        part.notes.append("Entering from outside by nsenter was not measured: it needs root.")
    return part


def _command(bench: Bench, part: Part, session: Session, name: str, argv: Sequence[str]) -> None:
    names = (f"ours, {name}", f"plain process, {name}", f"nsenter, {name}")
    actions = {names[0]: lambda: _inside(session, argv), names[1]: lambda: _plain(argv)}
    if entering := _entering(session, argv):
        actions[names[2]] = lambda: _plain(entering)
    times = in_turn(bench.runs * _PER_ROUND, actions)
    part.ratios.append(times.ratio(names[0], names[1], WANTED_COMMAND))
    if entering:
        part.ratios.append(times.ratio(names[0], names[2], None, "of entering"))
    part.tables.append(times.table(f"One after the other: {name}", "command", names[1]))


def costs(bench: Bench) -> Part:
    """The whole life of a sandbox with and without each of its parts."""
    part = Part("What each part costs")
    with ExitStack() as stack:
        view = stack.enter_context(bench.folder())
        overlay = stack.enter_context(bench.overlay())
        host = bench.host
        actions: dict[str, Callable[[], object]] = {
            "default": lambda: cycle(host, view),
            "no control groups": lambda: cycle(host, view, policy=Policy(limits=_NO_GROUPS)),
            "no limits at all": lambda: cycle(host, view, policy=Policy(limits=_NO_LIMITS)),
            f"workspace: {overlay.kind} of a task": lambda: cycle(host, overlay),
            "Python with a layer for additions": lambda: cycle(host, view, python=host.python()),
        }
        try:
            network = Policy(network="packages")
            connected = SandboxHost(bench.cache, policy=network, indexes=(_NOWHERE,))
            connected.python()
            actions["network packages: gateway and layer"] = lambda: cycle(connected, view)
        except PrerequisiteError as error:
            part.notes.append(f"No network was measured: {error}")
        python = [bench.interpreter, *IDLE_PYTHON]
        actions |= {
            "bare bwrap and an idle Python": lambda: bench.bare(view, python),
            "bare bwrap": lambda: bench.bare(view, TRUE),
            "bare bwrap, no system call filter": lambda: bench.bare(view, TRUE, filtered=False),
        }
        times = in_turn(bench.runs, actions)
    base = times.median("default")
    part.ratios.extend(
        Ratio(name, times.median(name) / base, None, "of the default")
        for name in actions
        if name != "default"
    )
    part.tables.append(times.table("Start, one command, stop", "sandbox", "default"))
    return part


def _inside(session: Session, argv: Sequence[str]) -> None:
    done = session.run(argv)
    if done.exit_code != 0:
        raise RuntimeError(f"the command failed in a sandbox: {done}")


def _plain(argv: Sequence[str]) -> None:
    """A plain process with a pipe for each stream, waited for."""
    environment = {**FIXED, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}
    subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, env=environment, cwd="/", check=True
    )


def _entering(session: Session, argv: Sequence[str]) -> list[str]:
    """The command that enters a sandbox's namespaces for one; empty where that is not possible."""
    program = shutil.which("nsenter")
    if program is None or os.geteuid() != 0:
        return []
    whole = [program, "--target", str(session.processes()[1]), *_ENTER, "--", *argv]
    done = subprocess.run(whole, capture_output=True, check=False, cwd="/", env={})
    return whole if done.returncode == 0 else []
