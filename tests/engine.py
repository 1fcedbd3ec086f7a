"""A container engine of the tests' own: a daemon in a temporary folder, and an image made offline.

The image holds this machine's Python and shell with the libraries that they load, at the same paths.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from expbench.sandboxes.containers import Engine, Program

IMAGE = "expbench-test:latest"

_PROGRAMS = (
    "sh",
    "bash",
    "cat",
    "env",
    "id",
    "ls",
    "mkdir",
    "rm",
    "setsid",
    "sleep",
    "touch",
    "true",
)
_START_SECONDS = 30
_LIBRARY = re.compile(r"(/\S+) \(0x")


def image_tar(file: Path) -> None:
    """Write a small root file system with Python and a shell."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    interpreter = Path(sys.executable).resolve()
    programs = [Path(found) for name in _PROGRAMS if (found := shutil.which(name))]
    extensions = list((stdlib / "lib-dynload").glob("*.so"))
    with tarfile.open(file, "w") as archive:
        for each in ("tmp", "var/tmp", "workspace", "home/agent", "proc", "sys", "dev", "etc"):
            _folder(archive, each)
        for path in _with_libraries([interpreter, *programs, *extensions]):
            archive.add(path.resolve(), str(path).lstrip("/"))
        for path in sorted(stdlib.rglob("*.py")):
            if not {"test", "tests", "site-packages", "dist-packages"} & set(path.parts):
                archive.add(path, str(path).lstrip("/"))
        _text(
            archive,
            "etc/passwd",
            "root:x:0:0::/:/bin/sh\nagent:x:64001:64001::/home/agent:/bin/sh\n",
        )
        _text(archive, "etc/group", "root:x:0:\nagent:x:64001:\n")
        link = tarfile.TarInfo("usr/local/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, str(interpreter)
        archive.addfile(link)


def _with_libraries(files: Iterable[Path]) -> list[Path]:
    """The files and all shared libraries that they need, loader included."""
    found = dict.fromkeys(files)
    listed = subprocess.run(
        ["ldd", *map(str, found)], capture_output=True, text=True, check=False, timeout=60
    )
    for line in listed.stdout.splitlines():
        if match := _LIBRARY.search(line):
            found[Path(match.group(1))] = None
    return list(found)


def _folder(archive: tarfile.TarFile, name: str) -> None:
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, 0o1777 if name.endswith("tmp") else 0o755
    archive.addfile(info)


def _text(archive: tarfile.TarFile, name: str, text: str) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text.encode()))


@contextmanager
def docker() -> Iterator[Engine]:
    """A Docker daemon without networks, in a folder that is removed at the end."""
    _need("docker", "dockerd")
    # A short path, for the daemon's sockets.
    root = Path(tempfile.mkdtemp(prefix="expbench-docker-"))
    address = f"unix://{root}/docker.sock"
    log = (root / "log").open("wb")
    daemon = subprocess.Popen(
        [
            *("dockerd", "--data-root", str(root / "data"), "--exec-root", str(root / "exec")),
            *("--pidfile", str(root / "pid"), "--host", address, "--bridge=none"),
            *("--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    engine = Engine("docker", host=address, deadline=60)
    try:
        _wait(engine, daemon, root / "log")
        _import(engine)
        yield engine
    finally:
        _empty(engine)
        daemon.terminate()
        try:
            daemon.wait(30)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
        log.close()
        _forget(root)


@contextmanager
def podman() -> Iterator[Engine]:
    """Podman as root, which needs no daemon, with a store of its own."""
    _need("podman")
    root = Path(tempfile.mkdtemp(prefix="expbench-podman-"))
    options = ["--root", str(root / "root"), "--runroot", str(root / "run")]
    options += ["--cgroup-manager", "cgroupfs"]
    if not shutil.which("crun") and shutil.which("runc"):
        options += ["--runtime", "runc"]
    engine = Engine("podman", options=tuple(options), deadline=60)
    try:
        _import(engine)
        yield engine
    finally:
        _empty(engine)
        _forget(root)


def _need(*programs: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("a container engine of the tests' own needs root")
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def _wait(engine: Engine, daemon: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and daemon.poll() is None:
        if engine.call("version").code == 0:
            return
        time.sleep(0.2)
    tail = log.read_text(errors="replace").splitlines()[-1:]
    pytest.skip(f"dockerd does not start on this machine: {tail}")


def _import(engine: Engine) -> None:
    with tempfile.TemporaryDirectory() as folder:
        image_tar(Path(folder, "image.tar"))
        answer = engine.call("import", str(Path(folder, "image.tar")), IMAGE)
    if answer.code != 0:
        pytest.skip(f"{engine.program} cannot import an image on this machine: {answer.why}")


def _empty(engine: Engine) -> None:
    with suppress(Exception):
        if left := engine.call("ps", "--all", "--quiet").stdout.split():
            engine.remove(left)


def _forget(root: Path) -> None:
    """Unmount what an engine has left mounted below its folder, and remove it."""
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(f"{root}/")), reverse=True):
        subprocess.run(["umount", "--lazy", mount], check=False, capture_output=True, timeout=30)
    shutil.rmtree(root, ignore_errors=True)


ENGINES: dict[Program, object] = {"docker": docker, "podman": podman}
