"""The one process of ours inside a sandbox: starts commands, and kills all that they started.

Run by a Python of the sandbox as ``supervisor.py FD``, where FD is one end of a SOCK_SEQPACKET pair; it
uses the standard library only and nothing of this package. Each message brings six file descriptors:
the request, a memory file with a JSON object, for a command line may be longer than a message; and
five pipes::

    {"argv": […], "cwd": "/workspace", "env": {…}, "rlimits": {"NPROC": 512, …}}
    stdin, stdout, stderr of the command · status (we write) · control (we read)

For each command a *keeper* is forked, a child subreaper: whatever the command starts, also daemons that
forked twice, stays below it. The keeper writes one JSON line to ``status`` when the command itself ends
(``{"exit": n}`` or ``{"error": "…"}``), goes on as long as background jobs live, and kills everything
below it when ``control`` is closed, which also happens when the harness dies.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_MESSAGE_CAP = 64


def main(fd: int) -> None:
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    channel = socket.socket(fileno=fd)
    channel.set_inheritable(False)
    while True:
        _reap()
        try:
            message, fds, _, _ = socket.recv_fds(channel, _MESSAGE_CAP, 6)
        except InterruptedError:
            continue
        if not message:
            return
        if message == b"ping":
            channel.send(b"pong")
            continue
        for each in fds:
            os.set_inheritable(each, False)
        if os.fork() == 0:
            channel.close()
            try:
                _keep(_request(fds[0]), fds[1:])
            finally:
                os._exit(0)
        for each in fds:
            os.close(each)


def _request(memory: int) -> dict[str, Any]:
    with os.fdopen(memory, "rb") as file:
        request: dict[str, Any] = json.load(file)
    return request


def _keep(request: dict[str, Any], fds: list[int]) -> None:
    stdin, stdout, stderr, status, control = fds
    os.setsid()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wakeup, wakener = os.pipe()
    os.set_blocking(wakener, False)
    signal.set_wakeup_fd(wakener)
    failed, failure = os.pipe()
    child = os.fork()
    if child == 0:
        _run(request, (stdin, stdout, stderr), failure)
    for each in (stdin, stdout, stderr, failure):
        os.close(each)
    if reason := os.read(failed, 4096):
        _say(status, {"error": reason.decode(errors="replace")})
        return
    ended = False
    while True:
        gone, code = _wait_any()
        while gone:
            if gone == child:
                _say(status, {"exit": code})
                ended = True
            gone, code = _wait_any()
        if gone is None and ended:
            return
        ready, _, _ = select.select([control, wakeup], [], [], 1.0)
        if wakeup in ready:
            os.read(wakeup, 4096)
        if control in ready:
            _kill_all()
            return


def _run(request: dict[str, Any], streams: tuple[int, int, int], failure: int) -> None:
    """In the child: become the command, or write why that is not possible."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for target, source in enumerate(streams):
            os.dup2(source, target)
        for name, value in request["rlimits"].items():
            _limit(getattr(resource, f"RLIMIT_{name}"), value)
        os.chdir(request["cwd"])
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except OSError as error:
        os.write(
            failure, f"{errno.errorcode.get(error.errno or 0, 'EIO')}: {error.strerror}".encode()
        )
    except BaseException as error:
        os.write(failure, f"EIO: {error}".encode())
    finally:
        os._exit(127)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (bound, bound))


def _wait_any() -> tuple[int | None, int]:
    """A child that ended and its exit code; (0, 0) while children live, (None, 0) without any."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None, 0
    if pid == 0:
        return 0, 0
    code = os.waitstatus_to_exitcode(status)
    return pid, 128 - code if code < 0 else code


def _kill_all() -> None:
    """SIGKILL every descendant of this process until none is left."""
    while descendants := _descendants(os.getpid()):
        for pid in descendants:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        while (_wait_any()[0] or 0) > 0:
            pass
        time.sleep(0.005)


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z" or int(fields[1]) == root:
                children.setdefault(int(fields[1]), []).append(int(name))
    found, pending = [], [root]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _reap() -> None:
    while (_wait_any()[0] or 0) > 0:
        pass


def _say(status: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(message).encode() + b"\n")
    os.close(status)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
