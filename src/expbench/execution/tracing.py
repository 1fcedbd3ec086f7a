"""Which tracer looks at re-runs here: each is tried in a sandbox, and how much longer a run takes with it.

Python's hook comes first: nothing is stopped, no program that traces itself fails, and it knows which
lines ran. ``strace`` sees every program of any language, and is taken where no Python can be looked at.
Neither can be trusted against a script that looks for it, which is why a trace is evidence and no verdict.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from expbench.errors import ExpbenchError, SandboxError
from expbench.execution.pyhook import PythonTracer
from expbench.execution.strace import StraceTracer
from expbench.execution.tracer import NoTracer, Tracer
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.session import Session

TOO_SLOW = 2.0
"""A run that takes so many times longer with a tracer is done without it."""

_TRIES = 3
_SECONDS = 60.0
_WORK = """\
for n in 1 2 3 4 5 6 7 8; do ls / > /dev/null; done
cd "$1" && mkdir -p traced && cd traced
if command -v python3 > /dev/null; then
  python3 -c '
import json
for n in range(200):
    with open("%d.json" % (n % 50), "w") as file:
        json.dump(list(range(200)), file)
    with open("%d.json" % (n % 50)) as file:
        json.load(file)
print(sum(n * n for n in range(400000)))
'
else
  for n in 1 2 3 4 5 6 7 8; do seq 20000 | sort -n | tail -1 > $n.txt; cat $n.txt; done
fi
"""

Prefer = Literal["auto", "python", "strace", "none"]
Kind = Literal["python", "strace", "none"]


@dataclass(frozen=True)
class Choice:
    """What was chosen for a host's sandboxes.

    ``overhead`` is how many times longer a short piece of work took with it, ``reason`` why others, or
    all, were not chosen. ``make`` makes a tracer for one run.
    """

    by: Kind
    make: Callable[[], Tracer]
    overhead: float | None = None
    reason: str = ""


_choices: dict[object, Choice] = {}
_choosing = threading.Lock()


def choose(host: SandboxHost, prefer: Prefer = "auto") -> Choice:
    """The tracer for a host's sandboxes, tried once for each kind of them in this process.

    ``auto`` takes the first that works and takes less than twice as long; another name that one if it
    works at all. Never raises for what does not work: the choice is then ``none``, with the reason.
    """
    if prefer == "none":
        return Choice("none", NoTracer)
    key = (host.kind, host.rootfs, host.image, host.packages, prefer)
    with _choosing:
        if key not in _choices:
            _choices[key] = _chosen(host, prefer)
        return _choices[key]


def measure(session: Session, tracer: Tracer, work: str = _WORK, tries: int = _TRIES) -> float:
    """How many times longer a shell text takes under a tracer; the fastest of some runs each.

    Processor time is compared where it is told, of the tracer's processes too: a busy machine changes
    seconds more than tracers do.

    Raises:
        SandboxError: the tracer cannot be prepared, or the work fails.
    """
    plain: list[float] = []
    traced: list[float] = []
    tracer.prepare(session)
    command = ["sh", "-c", work, "sh", session.workspace]
    wrapped = tracer.wrap(command)
    for _ in range(tries):
        for words, variables, found in (
            (command, dict[str, str](), plain),
            (wrapped, tracer.environment(), traced),
        ):
            done = session.run(words, env=variables, timeout=_SECONDS)
            if done.exit_code != 0 or done.error:
                said = done.error or done.stderr.decode(errors="replace").strip()
                raise SandboxError(f"it ended with {done.exit_code}: {said[-200:]}")
            found.append(done.cpu_seconds or done.seconds)
    return min(traced) / max(min(plain), 0.001)


def _chosen(host: SandboxHost, prefer: Prefer) -> Choice:
    kinds: tuple[Kind, ...] = ("python", "strace") if prefer == "auto" else (prefer,)
    reasons: list[str] = []
    for kind in kinds:
        try:
            overhead, failed = _tried(host, kind)
        except (ExpbenchError, OSError) as error:
            failed, overhead = str(error), 0.0
        if not failed and prefer == "auto" and overhead >= TOO_SLOW:
            failed = f"runs take {overhead:.1f} times as long"
        if not failed:
            return Choice(kind, _maker(kind, overhead), overhead, "; ".join(reasons))
        reasons.append(f"{kind}: {failed}")
    why = "; ".join(reasons)
    return Choice("none", lambda: NoTracer(why), reason=why)


def _tried(host: SandboxHost, kind: Kind) -> tuple[float, str]:
    """The overhead of a tracer in a sandbox of its own, or why it does not work."""
    policy = host.policy.model_copy(update={"gpus": 0, "network": "none", "allow_hosts": ()})
    tracer: PythonTracer | StraceTracer
    tracer = PythonTracer() if kind == "python" else StraceTracer()
    folder = host.folder()
    try:
        with host.start(folder, policy) as session:
            overhead = measure(session, tracer)
            return round(overhead, 2), tracer.failed
    finally:
        host.discard(folder)


def _maker(kind: Kind, overhead: float) -> Callable[[], Tracer]:
    if kind == "python":
        return lambda: PythonTracer(overhead=overhead)
    return lambda: StraceTracer(overhead=overhead)
