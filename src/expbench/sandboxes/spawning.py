"""Starting a sandbox's first process, which dies with the harness.

The parent-death signal belongs to the spawning thread, so one long-lived thread spawns all.
"""

from __future__ import annotations

import os
import resource
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from expbench.errors import SandboxError

_SPAWNER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="expbench-spawn")


def spawn(
    command: Callable[[int], Sequence[str]],
    fds: Sequence[int] = (),
    processors: Sequence[int] = (),
    env: Mapping[str, str] | None = None,
    cwd: str = "/",
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the command that it gives for the file descriptor of the supervisor's channel.

    Args:
        fds: further file descriptors that it inherits.
        processors: the only ones that it runs on; all of this process's when empty.

    Raises:
        SandboxError: it could not be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def start() -> subprocess.Popen[bytes]:
        ours_too = os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, processors or ours_too)
            return subprocess.Popen(
                list(command(theirs.fileno())),
                pass_fds=(theirs.fileno(), *fds),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=dict(env or {}),
                cwd=cwd,
                start_new_session=True,
            )
        finally:
            os.sched_setaffinity(0, ours_too)

    try:
        process = _SPAWNER.submit(start).result()
    except OSError as error:
        ours.close()
        raise SandboxError(f"the sandbox did not start: {error}") from None
    finally:
        theirs.close()
    return process, ours


def raise_files() -> None:
    """Let this process have as many files open, and in flight, as it may: a sandbox takes several.

    Files in flight count for all processes of a user together, against the limit of who sends.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def memory_file(name: str, content: bytes) -> int:
    """A file in memory, at its start, to be inherited; the caller closes it."""
    handle = os.memfd_create(name)
    with os.fdopen(handle, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
