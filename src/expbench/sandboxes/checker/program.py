"""The command line, and the form of the two deliverables."""

from __future__ import annotations

import argparse
import json
import os
import re
import stat
import subprocess

from .dry_run import clean, dry_run
from .looking import (
    RESPONSE,
    SCRIPT,
    SHOWN_NAMES,
    Findings,
    base_files,
    files_of,
    git,
    names,
    say,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .looking import Found

WORKSPACE = "/workspace"
ELSEWHERE = re.compile(r"(?<![\w./-])(?:/tmp/|/var/tmp/|/home/|~/|\$HOME\b|\$\{HOME\})[\w./-]*")


def main(words: list[str], variables: dict[str, str]) -> int:
    """0 when nothing is wrong, 1 when something is, 2 for a wrong call; ``variables`` is the environment."""
    parser = argparse.ArgumentParser(
        prog="expbench-check",
        description="Check the form of what you will hand in. Nothing here knows the right answer.",
    )
    parser.add_argument(
        "--run", action="store_true", help="also run the script in a copy of the workspace"
    )
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="time limit of that run [default: 10]"
    )
    asked = parser.parse_args(words)
    if not 0 < asked.minutes < 1e5:
        parser.error("--minutes must be more than 0")
    root = workspace(variables)
    found = Findings()
    check_response(os.path.join(root, RESPONSE), found)
    usable = check_script(os.path.join(root, SCRIPT), found)
    base = base_files(root)
    files = list(files_of(root, base))
    changed = check_changes(root, base, files, found)
    if asked.run and usable:
        dry_run(root, base, files, changed, clean(variables), asked.minutes * 60, found)
    elif asked.run:
        found.note("the script was not run.")
    if found.problems:
        say("{} problem{}.".format(found.problems, "" if found.problems == 1 else "s"))
        return 1
    say("No problem of form. Whether the answer is right is not known here.")
    return 0


def workspace(variables: dict[str, str]) -> str:
    """The workspace, wherever this was called from."""
    named = variables.get("EXPBENCH_WORKSPACE", WORKSPACE)
    return os.path.realpath(named if os.path.isdir(named) else os.getcwd())


def content(path: str, found: Findings) -> bytes | None:
    """A deliverable's bytes; None where there is no regular file."""
    name = os.path.basename(path)
    try:
        status = os.lstat(path)
    except OSError:
        found.wrong(name + " is missing: it belongs into the repository's root.")
        return None
    if not stat.S_ISREG(status.st_mode):
        found.wrong(name + " must be a regular file, not a link or folder.")
        return None
    with open(path, "rb") as file:
        return file.read()


def check_response(path: str, found: Findings) -> None:
    raw = content(path, found)
    if raw is None:
        return
    try:
        value = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        found.wrong(RESPONSE + " is not UTF-8.")
        return
    except ValueError as error:
        found.wrong(f"{RESPONSE} is not valid JSON: {error}.")
        return
    if not isinstance(value, dict):
        found.wrong(RESPONSE + ' must hold one JSON object, {"design": "…", "conclusion": "…"}.')
        return
    before = found.problems
    sizes = [check_field(value, name, found) for name in ("design", "conclusion")]
    if found.problems == before:
        found.well(f"{RESPONSE}: design of {sizes[0]} characters, conclusion of {sizes[1]}.")


def check_field(value: dict[str, object], name: str, found: Findings) -> int:
    """The characters of one of the two texts; it may be a list of texts."""
    given = value.get(name)
    parts = given if isinstance(given, list) else [given]
    texts = [part for part in parts if isinstance(part, str)]
    size = sum(len(text.strip()) for text in texts)
    if name not in value:
        found.wrong(f'{RESPONSE} has no "{name}".')
    elif len(texts) != len(parts):
        found.wrong(f'"{name}" in {RESPONSE} must be a text, or a list of texts.')
    elif not size:
        found.wrong(f'"{name}" in {RESPONSE} is empty.')
    return size


def check_script(path: str, found: Findings) -> bool:
    """Whether there is a script that can be run."""
    raw = content(path, found)
    if raw is None:
        return False
    text = raw.decode("utf-8", "replace")
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        found.wrong(SCRIPT + " has no command in it.")
        return False
    if "\r\n" in text:
        found.wrong(
            SCRIPT + " has lines that end in CR LF, which bash takes for a part of each word."
        )
    done = subprocess.run(["bash", "-n", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        said = done.stdout.decode("utf-8", "replace").strip().splitlines()
        found.wrong("{} is no valid bash: {}.".format(SCRIPT, said[0] if said else "bash -n fails"))
        return False
    if "expbench-check" in "\n".join(lines):
        found.wrong(SCRIPT + " calls expbench-check, which is not there when it is run again.")
    for place in sorted(set(ELSEWHERE.findall("\n".join(lines))))[:SHOWN_NAMES]:
        found.note(
            f"{SCRIPT} names {place}: what lies outside of the repository now is not there later."
        )
    if "\r\n" not in text:
        found.well(f"{SCRIPT}: {len(lines)} lines of commands.")
    return True


def check_changes(root: str, base: set[bytes], files: list[Found], found: Findings) -> set[bytes]:
    """The paths of the files that are new or changed, and a word on those that are not handed in."""
    for path, reason, size in files:
        if reason:
            found.note(f"{os.fsdecode(path)} ({size / 1e6:.1f} MB) is not handed in: {reason}.")
    if not base:
        found.note("there is no git repository to compare with, so changes are not listed.")
        return {path for path, reason, _ in files if not reason}
    there = {path for path, reason, _ in files if not reason}
    first = git(root, "rev-list", "--max-parents=0", "HEAD").split()[-1].decode()
    other = set(git(root, "diff", "--name-only", "--no-renames", "-z", first).split(b"\0"))
    changed = (there - base) | (there & other)
    mine = sorted(changed - {os.fsencode(RESPONSE), os.fsencode(SCRIPT)})
    gone = sorted(base - there)
    found.note(
        f"besides the two files: {len(mine)} new or changed{names(mine)}, "
        f"{len(gone)} deleted{names(gone)}."
    )
    return changed
