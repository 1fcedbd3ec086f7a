"""Programs that work for a build: bounded, and gone when the build is, however that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_FILE_CAP = 16 * 1024**3
_START = """\
import ctypes, os, resource, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    os._exit(137)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
cap = int(sys.argv[2])
if hard == resource.RLIM_INFINITY or hard > cap:
    resource.setrlimit(resource.RLIMIT_FSIZE, (cap, cap))
os.umask(0o022)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Ends with our thread, writes no file larger than a cap, and what it writes others can read."""


def run_bounded(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; nothing that it started in its group is left.

    Raises:
        TimeoutError: it took longer than ``seconds``.
    """
    start = [sys.executable, "-I", "-S", "-c", _START, str(os.getpid()), str(_FILE_CAP)]
    with subprocess.Popen(
        [*start, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=cwd,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{Path(argv[0]).name} took longer than {seconds:.0f} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(list(argv), process.returncode, stdout, stderr)
