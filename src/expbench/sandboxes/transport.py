"""Trees of files in and out of a sandbox that shares no folder with this machine, as tar streams.

Files never go by command lines (R29). What comes out was packed by programs that an agent could have
replaced, so every byte of it is a stranger's: :func:`extract` reads headers one by one, follows no link,
writes regular files and folders only below its folder, and is bounded in bytes and in members (R28).
What it does not take stands in its result, with the reason.
"""

from __future__ import annotations

import os
import secrets
import tarfile
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from anyio import to_thread

from expbench.errors import SandboxError
from expbench.sandboxes.untar import Caps, Taken, extract
from expbench.schema import LeftOut

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironment

__all__ = ["Caps", "Taken", "extract", "get_tree", "put_tree"]

_T = TypeVar("_T")
_PART = 8 * 1024**2
_SECONDS = 1800
_UNPACK = (
    """trap 'rm -rf -- "$1"' EXIT; set -e; mkdir -p -- "$2"; """
    'cat -- "$1"/part-* | tar -xzf - -C "$2" --no-same-owner'
)
_PACK = (
    'mkdir -p -- "$1" && cd -- "$2" && { chmod -R u+rwX . 2>/dev/null; '
    'tar --format=gnu --hard-dereference -cf - . ; echo $? > "$1/status"; } '
    f'| gzip -1 | split -b {_PART} -a 5 - "$1/part-"'
)
_END = 'cat -- "$1/status"; rm -rf -- "$1"'


async def put_tree(env: SandboxEnvironment, folder: Path, dest: str) -> None:
    """Write a folder of ours to ``dest`` in a sandbox, which is made; links stay links.

    Raises:
        SandboxError: the sandbox could not take it.
    """
    box = _place()
    with tempfile.TemporaryFile() as file:
        await to_thread.run_sync(_pack, folder, file)
        file.seek(0)
        for number in range(1_000_000):
            part = await to_thread.run_sync(file.read, _PART)
            if number and not part:
                break
            await _tried(lambda: env.write_file(f"{box}/part-{number:06}", part), dest)  # noqa: B023
    done = await _tried(
        lambda: env.exec(["/bin/sh", "-c", _UNPACK, "sh", box, dest], timeout=_SECONDS), dest
    )
    if not done.success:
        raise SandboxError(f"files could not be brought to {dest}: {done.stderr.strip()[-300:]}")


async def get_tree(env: SandboxEnvironment, path: str, folder: Path, caps: Caps) -> Taken:
    """Bring ``path`` of a sandbox into the new or empty ``folder``, within ``caps``.

    Raises:
        SandboxError: the sandbox gave nothing at all.
    """
    box = _place()
    done = await _tried(
        lambda: env.exec(["/bin/sh", "-c", _PACK, "sh", box, path], timeout=_SECONDS), path
    )
    with tempfile.TemporaryFile() as file:
        complete = await _fetch(env, box, file, caps)
        unread = await _tried(
            lambda: env.exec(["/bin/sh", "-c", _END, "sh", box], timeout=60), path
        )
        if file.tell() == 0:
            why = done.stderr.strip()[-300:] or "no archive was made"
            raise SandboxError(f"{path} could not be taken from the sandbox: {why}")
        file.seek(0)
        taken = await to_thread.run_sync(extract, file, folder, caps)
    if unread.stdout.strip() != "0":
        why = (done.stderr.strip().splitlines() or ["its tar failed"])[-1][:300]
        taken = replace(taken, refused=(*taken.refused, LeftOut(path="", size=0, reason=why)))
    if not complete and not taken.stopped:
        return replace(taken, stopped="the archive is larger than may be taken")
    return taken


async def _fetch(env: SandboxEnvironment, box: str, file: IO[bytes], caps: Caps) -> bool:
    """Append all parts of an archive; False when more than ``caps`` allows was offered."""
    for number in range(26**5):
        try:
            part = await env.read_file(f"{box}/part-{_letters(number)}", text=False)
        except FileNotFoundError:
            return True
        except Exception as error:  # what a sandbox raises is not ours
            raise SandboxError(f"an archive could not be read from the sandbox: {error}") from None
        if len(part) > _PART or file.tell() + len(part) > caps.archive:
            return False
        await to_thread.run_sync(file.write, part)
    return False


def _letters(number: int) -> str:
    """How ``split`` names its parts: aaaaa, aaaab, …"""
    text = ""
    for _ in range(5):
        number, digit = divmod(number, 26)
        text = chr(ord("a") + digit) + text
    return text


def _place() -> str:
    return f"/tmp/expbench-{secrets.token_hex(8)}"


def _pack(folder: Path, file: IO[bytes]) -> None:
    with tarfile.open(
        fileobj=file, mode="w:gz", format=tarfile.GNU_FORMAT, compresslevel=1
    ) as archive:
        for name in sorted(os.listdir(folder)):
            archive.add(folder / name, name)


async def _tried(call: Callable[[], Awaitable[_T]], what: str) -> _T:
    try:
        return await call()
    except Exception as error:
        raise SandboxError(f"{what}: the sandbox does not do as told: {error}") from None
