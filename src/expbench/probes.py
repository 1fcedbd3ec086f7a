"""One attempt at breaking each limit, bounded to about a second and harmless where nothing stops it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping

from expbench.errors import SandboxError
from expbench.sandboxes.session import Session
from expbench.schema import Limits

TINY = Limits(
    minutes=1,
    cpus=0.5,
    memory_mib=256,
    processes=40,
    disk_mib=8,
    files=200,
    file_mib=16,
    output_mib=1,
)
"""The limits that the probes break."""

_MEMORY = (
    "held = bytearray(512 << 20)\nfor i in range(0, len(held), 4096): held[i] = 1\nprint('kept')"
)
_PROCESSES = """\
import os, time
born = 0
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        born += 1
except OSError:
    pass
print(born)
"""
# One process or session alone would get little on a busy machine and seem to be held.
_PROCESSOR = """\
import os, time
start = time.perf_counter()
for _ in range(16):
    if os.fork() == 0:
        os.setsid()
        while time.perf_counter() - start < 0.8:
            pass
        os._exit(0)
for _ in range(16):
    os.wait()
used = os.times()
print((used.children_user + used.children_system) / (time.perf_counter() - start))
"""
_DISK = """\
import time
for number in range(40):
    open(f"fill{number}", "wb").write(b"x" * (2 << 20))
    time.sleep(0.1)
"""
_FILES = """\
import time
for number in range(1600):
    open(f"many{number}", "wb").close()
    if number % 40 == 0:
        time.sleep(0.1)
"""
_KEYRING = """\
import ctypes, platform
number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
print(ctypes.CDLL(None, use_errno=True).syscall(number, 0, -3, 0))
"""


def _minutes(session: Session) -> bool:
    return session.run(["/bin/sleep", "20"], timeout=0.3).timed_out


def _memory(session: Session) -> bool:
    return b"kept" not in _python(session, _MEMORY)


def _processes(session: Session) -> bool:
    return int(_python(session, _PROCESSES) or 0) <= (TINY.processes or 0)


def _processors(session: Session) -> bool:
    return float(_python(session, _PROCESSOR) or 1) < 0.65


def _disk(session: Session) -> bool:
    return _ends(session, _DISK, "disk_mib")


def _files(session: Session) -> bool:
    return _ends(session, _FILES, "files")


def _ends(session: Session, code: str, limit: str) -> bool:
    """Whether it is that limit that ends the sandbox."""
    try:
        _python(session, code)
    except SandboxError:
        return session.excess is not None and session.excess.limit == limit
    return False


def _file(session: Session) -> bool:
    done = session.run(["/bin/dd", "if=/dev/zero", "of=large", "bs=1M", "count=17"], timeout=10)
    return done.exit_code != 0


def _output(session: Session) -> bool:
    done = session.run(["/usr/bin/head", "-c", "4M", "/dev/zero"], timeout=10)
    return len(done.stdout) < 2 << 20


def _network(session: Session) -> bool:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection({server.getsockname()}, 1); print('in')"
        return b"in" not in _python(session, code)


def _filesystem(session: Session) -> bool:
    done = session.run(["/bin/sh", "-c", "test -w /usr || test -w /etc || test -w /"], timeout=10)
    return done.exit_code != 0


def _system_calls(session: Session) -> bool:
    return _python(session, _KEYRING).strip() == b"-1"


def _python(session: Session, code: str) -> bytes:
    return session.run(["python3", "-c", code], timeout=10).stdout


PROBES: Mapping[str, Callable[[Session], bool]] = {
    "minutes": _minutes,
    "memory_mib": _memory,
    "processes": _processes,
    "cpus": _processors,
    "disk_mib": _disk,
    "files": _files,
    "file_mib": _file,
    "output_mib": _output,
    "network": _network,
    "filesystem": _filesystem,
    "system calls": _system_calls,
}
"""By the limit's name: whether what breaks it was stopped."""
