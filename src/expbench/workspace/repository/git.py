"""git, driven only by us.

A paper's repository and an agent's workspace are hostile: neither their configuration nor the user's
or the system's may run a hook, a filter, a file-system monitor, an external diff or a prompt in a
git process of the harness.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from expbench.errors import InfrastructureError, PrerequisiteError

_SAFE_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.fileMode=true",
    "core.quotePath=false",
    "credential.helper=",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "safe.directory=*",
    "transfer.fsckObjects=false",
)
IDENTITY = {
    "GIT_AUTHOR_NAME": "expbench",
    "GIT_AUTHOR_EMAIL": "expbench@localhost",
    "GIT_AUTHOR_DATE": "2025-01-01T00:00:00+00:00",
    "GIT_COMMITTER_NAME": "expbench",
    "GIT_COMMITTER_EMAIL": "expbench@localhost",
    "GIT_COMMITTER_DATE": "2025-01-01T00:00:00+00:00",
}
_TRUST_ALL = Path(__file__).with_name("gitconfig")


class GitError(InfrastructureError):
    """A git command failed; the text holds its last line of output."""


def git(
    args: Sequence[str | bytes],
    *,
    git_dir: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = 600,
    accept: tuple[int, ...] = (0,),
) -> bytes:
    """Run git without any configuration but ours and return its standard output.

    Args:
        timeout: seconds.
        accept: exit codes that are no error.

    Raises:
        PrerequisiteError: git is not installed.
        GitError: git failed, or took longer than ``timeout``.
    """
    command: list[str | bytes] = ["git"]
    for setting in _SAFE_CONFIG:
        command += ["-c", setting]
    if git_dir is not None:
        command.append(f"--git-dir={git_dir}")
    try:
        done = subprocess.run(
            [*command, *args],
            cwd=cwd or (git_dir if git_dir and git_dir.is_dir() else "/"),
            input=stdin if stdin is not None else b"",
            capture_output=True,
            env=environment(env or {}),
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError:
        raise PrerequisiteError(
            "git is not installed: install it with your package manager."
        ) from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {_name(args)} took longer than {timeout:.0f} s") from None
    if done.returncode not in accept:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(f"git {_name(args)} failed: {lines[-1] if lines else done.returncode}")
    return done.stdout


def split_z(output: bytes) -> Iterator[bytes]:
    """The records of a ``-z`` output."""
    return (record for record in output.split(b"\0") if record)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a git process of ours, with these variables."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(_TRUST_ALL),
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        **IDENTITY,
        **extra,
    }


def _name(args: Sequence[str | bytes]) -> str:
    return str(args[0]) if args else ""
