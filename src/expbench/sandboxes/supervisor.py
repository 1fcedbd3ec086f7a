"""The one process of ours inside a sandbox: starts commands, and kills all that they started.

Run by a Python of the sandbox as ``supervisor.py FD``, where FD is one end of a SOCK_SEQPACKET pair.
What follows ``--`` is another Python program of ours with its arguments, which runs beside it (the
network's forwarder). As the first process of its namespace no signal from inside ends it. Each message
``run N`` brings six file descriptors: the request, a memory file with a marshalled dictionary, for a
command line may be longer than a message; and five pipes::

    {"argv": […], "cwd": "/workspace", "env": {…}, "rlimits": {"NPROC": 512, …}}
    stdin, stdout, stderr of the command · status (we write) · control (we read)

Each command has a *keeper*, a child subreaper that is forked before it is needed: whatever the command
starts, also daemons that forked twice, stays below it. The keeper writes one line to ``status`` when the
command itself ends (``exit 0 SECONDS KIB``, its processor time and the memory of its largest process, or
``error …``), goes on as long as background jobs live, and kills
everything below it when ``control`` is closed, which also happens when the harness dies. What is inside
can stop or kill a keeper, but not this process: ``end N`` kills the tree of that command whatever its
keeper does. When the channel ends, so does the supervisor, and with it all that is left.

Every sandbox waits for this file to be compiled and its imports to be done, so it imports only what is
written in C until it has answered.
"""

from __future__ import annotations

import _ctypes
import errno
import marshal
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from typing import Any
else:
    import _signal as signal
    import _socket as socket

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_MESSAGE_CAP = 64
_FDS = 6
_SOON, _LATE = 0.5, 5.0
"""Seconds for a keeper that waited, and for a new one, to take a command: what is inside may stop either."""
_FD_BYTES = 4


def main(words: list[str]) -> None:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, int(words[0]))
    os.set_inheritable(channel.fileno(), False)
    beside = words[words.index("--") + 1 :] if "--" in words else []
    if beside and os.fork() == 0:
        channel.close()
        os.execv(sys.executable, [sys.executable, "-I", "-S", *beside])
    # The kernel then takes away what ended at once, also what was left to this process.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Python's own answer to it is an exception; the kernel's, for a first process, is nothing.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _answer_first(channel)
    _raise_files()
    # Nothing may write there once this process cannot be looked into.
    with open("/proc/self/oom_score_adj", "r+b", buffering=0) as score:
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _serve(channel, Score(score, int(score.read())))
    _kill_all()


def _answer_first(channel: socket.socket) -> None:
    message, _ = _receive(channel)
    if message != b"ping":
        sys.exit(0)
    channel.send(b"pong")


class Score:
    """What this process has in the choice of whom to kill where memory runs out."""

    def __init__(self, file: Any, own: int) -> None:
        self._file, self._own = file, own

    def of_commands(self) -> None:
        """Children are born with a higher one: a command goes before what keeps the sandbox."""
        self._write(max(self._own, 500))

    def of_ours(self) -> None:
        self._write(self._own)

    def _write(self, value: int) -> None:
        try:
            self._file.write(b"%d" % value)
        except OSError:
            return


def _serve(channel: socket.socket, score: Score) -> None:
    """Serve until the channel ends, with one keeper always ready for the next command."""
    keepers: dict[bytes, int] = {}
    spare = _new_keeper(channel, score)
    while True:
        message, fds = _receive(channel)
        word, _, number = message.partition(b" ")
        if not message:
            return
        if word == b"ping":
            channel.send(b"pong")
        elif word == b"end":
            _kill_tree(keepers.pop(number, 0))
        else:
            # What is inside can have killed the one that waited, or taken every process there may be.
            keepers[number] = _handed(spare, fds, _SOON)
            if keepers[number] <= 0:
                keepers[number] = _handed(_new_keeper(channel, score), fds, _LATE)
            if (failed := -keepers[number]) >= 0:
                why = errno.errorcode.get(failed, "EIO")
                _say(fds.pop(4), f"error {why}: no command could be started")
            for each in fds:
                os.close(each)
            spare = _new_keeper(channel, score)


def _receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    """A message and its file descriptors; empty at the end."""
    try:
        message, ancillary, _, _ = channel.recvmsg(
            _MESSAGE_CAP, socket.CMSG_SPACE(_FDS * _FD_BYTES)
        )
    except OSError:
        return b"", []
    fds: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += [
                int.from_bytes(data[place : place + _FD_BYTES], sys.byteorder)
                for place in range(0, len(data) - len(data) % _FD_BYTES, _FD_BYTES)
            ]
    for each in fds:
        os.set_inheritable(each, False)
    return message, fds


def _handed(keeper: tuple[int, socket.socket] | None, fds: list[int], seconds: float) -> int:
    """Give a command to a keeper that says it has it: its process, or minus the error's number.

    One that was killed a moment ago still takes a message, and the command would be lost with it.
    """
    if keeper is None:
        return -errno.EAGAIN
    pid, hand = keeper
    data = b"".join(each.to_bytes(_FD_BYTES, sys.byteorder) for each in fds)
    try:
        hand.sendmsg([b"run"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, data)])
        if not select.select([hand], [], [], seconds)[0]:
            os.kill(pid, signal.SIGKILL)
            return -errno.ETIMEDOUT
        return pid if hand.recv(_MESSAGE_CAP) else -errno.EIO
    except OSError as error:
        return -(error.errno or errno.EIO)
    finally:
        hand.close()


def _new_keeper(channel: socket.socket, score: Score) -> tuple[int, socket.socket] | None:
    """A process that waits for a command to keep, and the socket by which it gets one.

    None when no more processes may be made.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    score.of_commands()
    try:
        pid = os.fork()
    except OSError:
        ours.close()
        theirs.close()
        return None
    finally:
        score.of_ours()
    if pid:
        theirs.close()
        return pid, ours
    try:
        channel.close()
        ours.close()
        os.setsid()
        signal.signal(signal.SIGCHLD, _nothing)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        wakeup, wakener = os.pipe()
        os.set_blocking(wakener, False)
        signal.set_wakeup_fd(wakener)
        message, fds = _receive(theirs)
        if message:
            theirs.send(b"taken")
        theirs.close()
        if message:
            _keep(_request(fds[0]), fds[1:], wakeup)
    finally:
        os._exit(0)


def _request(memory: int) -> dict[str, Any]:
    with open(memory, "rb") as file:
        request: dict[str, Any] = marshal.loads(file.read())
    return request


def _keep(request: dict[str, Any], fds: list[int], wakeup: int) -> None:
    stdin, stdout, stderr, status, control = fds
    try:
        child = _start(request, (stdin, stdout, stderr))
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "EIO")
        _say(status, f"error {name}: {error.strerror}")
        return
    except Exception as error:
        _say(status, f"error EIO: {error}")
        return
    for each in (stdin, stdout, stderr):
        os.close(each)
    ended = False
    while True:
        gone, code = _wait_any()
        while gone:
            if gone == child:
                _say(status, f"exit {code} {_used()}")
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


def _start(request: dict[str, Any], streams: tuple[int, int, int]) -> int:
    """Start the command, which has this process's folder, limits and search path."""
    for name, value in request["rlimits"].items():
        _limit(getattr(resource, "RLIMIT_" + name), value)
    os.chdir(request["cwd"])
    os.putenv("PATH", request["env"].get("PATH", os.defpath))
    actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(streams)]
    return os.posix_spawnp(
        request["argv"][0],
        request["argv"],
        request["env"],
        file_actions=actions,
        setsid=True,
        setsigdef=[signal.SIGCHLD, signal.SIGPIPE],
    )


def _used() -> str:
    """What all that has ended below this keeper used: processor seconds, KiB of the largest process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss}"


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
            _kill(pid)
        while (_wait_any()[0] or 0) > 0:
            pass
        time.sleep(0.005)


def _kill_tree(keeper: int) -> None:
    """Kill all below a keeper, however they go on forking, and it at last: they stay below it till then.

    One look can miss what forks and ends while it looks; but as a stopped keeper buries nobody, two
    looks that find the same dead and nobody alive are proof that nobody was.
    """
    if keeper <= 0:
        return
    _kill(keeper, signal.SIGSTOP)
    buried: set[int] | None = None
    while True:
        living, dead = _children_killed(keeper)
        for pid in _descendants(keeper, waiting=False):
            _kill(pid)
            living = True
        if not living and dead == buried:
            break
        buried = dead
    _kill(keeper)


def _children_killed(keeper: int) -> tuple[bool, set[int]]:
    """Kill a process's children as they are seen, the youngest first; whether any lived, and the dead."""
    living, dead = False, set()
    for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc"))), reverse=True):
        state, parent = _state(pid)
        if parent == keeper and state == b"Z":
            dead.add(pid)
        elif parent == keeper:
            _kill(pid)
            living = True
    return living, dead


def _kill(pid: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


def _descendants(root: int, waiting: bool = True) -> list[int]:
    """Everything below a process; of what has ended its own children, where ``waiting`` for them."""
    children: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        state, parent = _state(pid)
        if state and (state != b"Z" or (waiting and parent == root)):
            children.setdefault(parent, []).append(pid)
    found, pending = [], [root]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _state(pid: int) -> tuple[bytes, int]:
    """A process's state and its parent; nothing and -1 of one that is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return b"", -1
    return fields[0], int(fields[1])


def _nothing(*_: object) -> None:
    """A handler of ours, so that waiting calls are woken up."""


def _say(status: int, message: str) -> None:
    try:
        os.write(status, message.encode("utf-8", "replace") + b"\n")
    except OSError:
        return
    os.close(status)


def _prctl(option: int, value: int) -> None:
    """The system call; ``ctypes`` itself would take longer to import than everything else here."""
    function = _ctypes.dlsym(_ctypes.dlopen("", 0), "prctl")
    _ctypes.call_cdeclfunction(function, (option, value, 0, 0, 0))


def _raise_files() -> None:
    """Files in flight count for all sandboxes of a user together, against the sender's own limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
