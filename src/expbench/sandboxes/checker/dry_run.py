"""The script in a copy of the workspace, much as the clean re-run will run it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from .looking import SCRIPT, Findings, files_of, git, names, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from .looking import Found

KEPT = re.compile(
    r"(PATH|LANG|TZ|USER|VIRTUAL_ENV|MPLBACKEND|CUDA_.*|NVIDIA_.*|OMP_.*|OPENBLAS_.*|PIP_.*|GIT_CONFIG_.*"
    r"|PYTHON(HASHSEED|DONTWRITEBYTECODE|USERBASE|PATH)|.*_PROXY|.*_proxy|SSL_.*|NPM_.*|npm_.*"
    r"|SETUPTOOLS_SCM_.*|PBR_.*|UV_.*)\Z"
)
"""Variables that the script sees also in its re-run; what an agent's shell has set is not there."""

OURS = "/opt/expbench/"
SHOWN_LINES = 40
SHOWN_BYTES = 64 * 1024
TEXT_BYTES = 1024**2


def dry_run(
    root: str,
    base: set[bytes],
    files: list[Found],
    changed: set[bytes],
    variables: dict[str, str],
    seconds: float,
    found: Findings,
) -> None:
    """Run the script in a copy, and say what became of it."""
    taken = [path for path, reason, _ in files if not reason]
    size = sum(size for _, reason, size in files if not reason)
    folder = tempfile.mkdtemp(prefix="expbench-check-", dir=roomy(root, size))
    try:
        copy = os.path.join(folder, "workspace")
        try:
            make_copy(root, copy, taken, changed)
        except OSError as error:
            found.wrong(f"a copy of the workspace could not be made: {error.strerror}.")
            return
        if base and not os.path.isdir(os.path.join(copy, ".git")):
            found.note("the copy has no git repository; in the re-run there is one.")
        before = snapshot(root)
        run_script(copy, folder, variables, seconds, found)
        made = sorted({path for path, _, _ in files_of(copy, base)} - set(taken))
        if made:
            found.note(f"it made {len(made)} files{names(made)}.")
        touched = sorted(changes(before, snapshot(root)))
        if touched:
            found.note(
                f"files of the workspace itself changed meanwhile{names(touched)}: if it was the script, "
                "use paths that are relative to the repository's root."
            )
        found.note(
            "packages that you installed were there in this run; in the re-run they are not."
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clean(variables: dict[str, str]) -> dict[str, str]:
    """An environment without what the agent's shell has set."""
    kept = {name: value for name, value in variables.items() if KEPT.match(name)}
    python_path = [each for each in kept.pop("PYTHONPATH", "").split(":") if each.startswith(OURS)]
    return {**kept, "PYTHONPATH": ":".join(python_path)} if python_path else kept


def roomy(root: str, size: int) -> str:
    """A folder with room for a copy: in memory where it is small, else in git's own, which is not taken."""
    place = tempfile.gettempdir()
    inner = os.path.join(root, ".git")
    if 2 * size > shutil.disk_usage(place).free / 2 and os.access(inner, os.W_OK | os.X_OK):
        return inner
    return place


def make_copy(root: str, copy: str, taken: list[bytes], changed: set[bytes]) -> None:
    """What is handed in, over a clone of the repository; absolute paths in it lead to the copy."""
    git(os.path.dirname(copy), "clone", "--quiet", "--shared", "--no-checkout", root, copy)
    os.makedirs(copy, exist_ok=True)
    for path in taken:
        source = os.path.join(os.fsencode(root), path)
        target = os.path.join(os.fsencode(copy), path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if path in changed and not os.path.islink(target) and os.path.getsize(target) <= TEXT_BYTES:
            redirect(target, os.fsencode(root), os.fsencode(copy))
    if os.path.isdir(os.path.join(copy, ".git")):
        git(copy, "reset", "--quiet")
        git(copy, "remote", "remove", "origin")


def redirect(file: bytes, root: bytes, copy: bytes) -> None:
    with open(file, "rb") as opened:
        text = opened.read()
    moved = re.sub(rb"(?<![\w.-])" + re.escape(root) + rb"(?![\w.-])", lambda _: copy, text)
    if moved != text and b"\0" not in text:
        with open(file, "wb") as opened:
            opened.write(moved)


def run_script(
    copy: str, folder: str, variables: dict[str, str], seconds: float, found: Findings
) -> None:
    home, temporary = (os.path.join(folder, name) for name in ("home", "tmp"))
    os.mkdir(home)
    os.mkdir(temporary)
    environment = dict(variables)
    environment.update(HOME=home, TMPDIR=temporary)
    say(f"-------  bash {SCRIPT} in a copy, at most {seconds / 60:g} minutes")
    started = time.monotonic()
    with open(os.path.join(folder, "output"), "w+b") as output:
        process = subprocess.Popen(
            ["bash", SCRIPT],
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process)
        took = time.monotonic() - started
        shown = tail(output)
    for line in shown:
        say("  | " + line)
    if code is None:
        found.wrong(f"{SCRIPT} did not end within {seconds / 60:g} minutes.")
    elif code != 0:
        found.wrong(f"{SCRIPT} ended with exit code {code} after {took:.1f} s.")
    elif not shown:
        found.wrong(SCRIPT + " printed nothing: it must print the experiment's results.")
    else:
        found.well(f"{SCRIPT} ended with exit code 0 after {took:.1f} s.")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill what the script started and left."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tail(output: IO[bytes]) -> list[str]:
    """The last lines that were printed."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - SHOWN_BYTES))
    lines = output.read().decode("utf-8", "replace").splitlines()
    cut = size > SHOWN_BYTES or len(lines) > SHOWN_LINES
    return (["[…]"] if cut else []) + [line[:500] for line in lines[-SHOWN_LINES:]]


def snapshot(root: str) -> dict[bytes, tuple[int, int]]:
    """Size and time of change of every file but git's."""
    found = {}
    top = os.fsencode(root)
    for parent, folders, files in os.walk(top):
        if parent == top and b".git" in folders:
            folders.remove(b".git")
        for name in files:
            full = os.path.join(parent, name)
            try:
                status = os.lstat(full)
            except OSError:
                continue
            found[os.path.relpath(full, top)] = (status.st_size, status.st_mtime_ns)
    return found


def changes(
    before: dict[bytes, tuple[int, int]], after: dict[bytes, tuple[int, int]]
) -> set[bytes]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
