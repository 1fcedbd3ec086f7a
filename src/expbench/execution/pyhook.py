"""The tracer that lets every Python of the sandbox tell what it does (:mod:`expbench.execution.hook`).

It changes next to nothing for the script: one variable names the folder of the hook, and Python's own
start-up lines lead there. No path, program or descriptor is another, and no process is traced or stopped.
The sandbox's Python has the line already; into others it is written before the script starts, and into
virtual environments when they were made. A Python that does not run it (``-S``, no right to write there,
older than 3.8) is named in the reason, and what is no Python is seen from outside, if it lives long enough.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expbench.errors import SandboxError
from expbench.execution.sightings import Sightings
from expbench.execution.tracer import Observed, Scene
from expbench.execution.watching import Watching
from expbench.sandboxes.environment import START, START_NAME, TRACED
from expbench.sandboxes.session import Session
from expbench.schema import Trace

_HOOK = Path(__file__).with_name("hook.py")
_MODULE = "expbench_hook"
_SECONDS = 60.0
_RECORDS = 16 * 1024**2
"""Bytes of records that are read."""

_MOST = 10_000_000
"""Of anything that is counted: what is more was made up."""
_SCRIPT = "1000000"
_UNHOOKED = re.compile(
    r"\bpython[\d.]*[ \t]+(?:-\w+[ \t]+){0,9}-[A-Zbdiqsuvx]*S\w*|\benv[ \t]+(?:-i|-)[ \t][^\n]{0,80}"
)
"""A start of Python without its start-up lines, or without our variable."""

_PLACE = 'umask 077; mkdir "$1" && cat > "$1/$2"'
_READ = 'find "$1" -maxdepth 1 -type f -name "*.jsonl" -exec cat {} +'
_TRY = """\
seen=
for python in python python3 /usr/bin/python3; do
  found=$(command -v "$python") || continue
  # Two names of one program in one folder are one Python.
  key="|${found%/*} $(readlink -f "$found" || echo "$found")|"
  case "$seen" in *"$key"*) continue ;; esac
  seen="$seen$key"
  "$python" -c "$2" "$1" 2> "$1/errors"
done
rm -f "$1/errors" "$1"/*.jsonl
"""
_ADD = f"""\
import os, site, sys

sys.dont_write_bytecode = True

def hooked():
    import subprocess
    test = "import sys; sys.exit({_MODULE!r} not in sys.modules)"
    return subprocess.call([sys.executable, "-c", test]) == 0

# Whether this very process has it, so has every other: a process more costs as long as this one.
known = {_MODULE!r} in sys.modules
places = list(getattr(site, "getsitepackages", list)())
if site.ENABLE_USER_SITE:
    places.append(site.getusersitepackages())
while not known and places:
    place = places.pop(0)
    try:
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, {START_NAME!r}), "w") as file:
            file.write({START!r})
    except OSError:
        continue
    known = hooked()
print("hooked" if known else "not hooked")
"""
_KEEPING = {"PYTHONDONTWRITEBYTECODE": ""}
"""Who imports the hook now keeps it compiled, for all that start later."""


@dataclass
class PythonTracer:
    """A tracer of one run. ``own`` is empty: what it needs lies in ``/tmp``."""

    own: tuple[str, ...] = ()
    overhead: float | None = None
    folder: str = field(default_factory=lambda: f"/tmp/.expbench-{secrets.token_hex(4)}")
    failed: str = ""
    """Why no Python can be looked at; empty when one can."""
    command: tuple[str, ...] = ()
    """What is run."""
    _watching: Watching | None = None

    def prepare(self, session: Session) -> None:
        self.failed = self._place(session)
        self._watching = Watching(session, skip=(self.folder,))

    def wrap(self, command: Sequence[str]) -> list[str]:
        self.command = tuple(command)
        if self._watching is not None:
            self._watching.begin()
        return list(command)

    def environment(self) -> dict[str, str]:
        return {} if self.failed else {TRACED: self.folder}

    def collect(self, scene: Scene) -> Observed:
        if self._watching is None:
            return Observed(Trace(by="none", reason="the tracer was not prepared"))
        sightings = Sightings(scene.session.workspace)
        self.seen_from_outside(sightings)
        lost = [self.failed, self.add_told(scene, sightings)]
        if not self.failed and (untold := sightings.untold()):
            lost.append(
                f"{len(untold)} Python processes told nothing, the first: {untold[0][:100]}"
            )
        sightings.root_is(self.command)
        reason = "; ".join(filter(None, lost))
        return sightings.observed("python", reason, scene, self.overhead)

    def seen_from_outside(self, sightings: Sightings, only_known: bool = False) -> None:
        """Add the processes that were seen by looking, or only what they say of known ones."""
        if self._watching is not None:
            self._watching.end()
            self._watching.add_to(sightings, only_known)

    def add_told(self, scene: Scene, sightings: Sightings) -> str:
        """Add what Python processes told; why that may not be all, or nothing."""
        if self.failed:
            return ""
        try:
            lost = self._read(scene.session, sightings)
            told = scene.session.run(["head", "-c", _SCRIPT, "--", scene.script], timeout=_SECONDS)
        except SandboxError as error:
            return f"what Python told is lost with the sandbox: {error}"
        unhooked = _UNHOOKED.search(told.stdout.decode(errors="replace"))
        deaf = (
            f"the script starts Python so that it tells nothing: {unhooked[0]}" if unhooked else ""
        )
        return "; ".join(filter(None, [lost, deaf]))

    def _read(self, session: Session, sightings: Sightings) -> str:
        done = session.run(
            ["sh", "-c", _READ, "sh", self.folder], timeout=_SECONDS, output_cap=_RECORDS
        )
        if done.exit_code != 0 or done.error:
            return "what Python told cannot be read"
        read_records(done.stdout, sightings)
        planted = [path for path in sightings.planted if path.endswith(f"/{START_NAME}")]
        if planted:
            # What we put into virtual environments of the workspace is no output of the script.
            session.run(["rm", "-f", "--", *planted[:100]], timeout=_SECONDS)
        return "" if len(done.stdout) < _RECORDS else "Python told more than is read"

    def _place(self, session: Session) -> str:
        root, folder = session.workspace, self.folder
        text = _HOOK.read_text("utf-8")
        text += f"\n\nbegin({root!r}, {folder!r}, {START!r}, {START_NAME!r})\n"
        words = ["sh", "-c", _PLACE, "sh", folder, f"{_MODULE}.py"]
        done = session.run(words, stdin=text.encode(), timeout=_SECONDS)
        if done.exit_code != 0 or done.error:
            return "nothing can be written to /tmp"
        words = ["sh", "-c", _TRY, "sh", folder, _ADD]
        done = session.run(words, env={TRACED: folder, **_KEEPING}, timeout=_SECONDS)
        answers = done.stdout.decode(errors="replace").splitlines()
        return "" if "hooked" in answers else "no Python here runs a start-up line"


def read_records(told: bytes, sightings: Sightings) -> None:
    """Add the records of :mod:`expbench.execution.hook`; lines that are none are passed over."""
    for line in told.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, list) and len(record) > 2:
            _add(record, sightings)


def _add(record: list[object], sightings: Sightings) -> None:
    match record:
        case ["start", int(pid), int(parent), str(), list(words)]:
            process = sightings.process(pid)
            process.told = True
            process.parent = process.parent or parent
            process.words = tuple(str(word) for word in words)
        case ["run", int(), str(path)]:
            sightings.ran(path)
        case ["lines", int(), str(path), int(count)] if 0 <= count <= _MOST:
            sightings.ran(path, count)
        case ["read", int(), str(path)]:
            sightings.reads[path] = None
        case ["write", int(pid), str(path)]:
            sightings.wrote(pid, path)
        case ["copy", int(pid), str(source), str(target)]:
            sightings.reads[source] = None
            sightings.wrote(pid, target)
        case ["move", int(pid), str(source), str(target)]:
            sightings.moved(pid, source, target)
        case ["spawn", int(pid), list(words)]:
            sightings.spawned.append((pid, tuple(str(word) for word in words)))
        case ["cpu", int(pid), int() | float() as own, float(at)] if 0 <= own <= _MOST:
            process = sightings.process(pid)
            process.seen_at(at)
            process.cpu_seconds = max(process.cpu_seconds or 0.0, own)
        case ["more", int(), int(count)] if 0 <= count <= _MOST:
            sightings.more += count
        case ["planted", int(), str(path)]:
            sightings.planted.append(path)
        case _:
            return
