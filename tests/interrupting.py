"""A process that runs ``expbench`` in forks of itself, each killed at a chosen moment or not at all.

Everything is imported once, so that a run costs little more than its work. Jobs are JSON lines on standard
input; each is answered by a line with the exit code, negative for a signal. A fork kills itself (SIGKILL)
at the ``count``-th event (a file that is opened for writing, renamed or removed, a process that is
started) after the journal got a line of the kind ``after``, or in the middle of writing such a line
(``torn``); the parent kills it after ``seconds``, or sends its process group as many SIGINT as
``interrupts`` says when the file ``watch`` has the text ``at``. ``patch`` sets names of modules.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "subprocess.Popen", "os.posix_spawn"}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def is_event(name: str, args: tuple[Any, ...]) -> bool:
    if name == "open":
        flags = args[2] if len(args) > 2 and isinstance(args[2], int) else 0
        return bool(flags & (os.O_WRONLY | os.O_RDWR))
    return name in EVENTS


class Killer:
    """Counts events; see the module."""

    def __init__(self, after: str, count: int, torn: bool, log: Path) -> None:
        self.after, self.left, self.torn, self.log = after, count, torn, log
        self.armed = after == "start"
        self.seen = 0
        self.lock = threading.Lock()

    def install(self) -> None:
        from expbench import runs

        append = runs.append

        def appended(journal: Path, entry: Any) -> None:
            kind = kind_of(json.loads(entry.model_dump_json(exclude_none=True)))
            if self.torn and kind == self.after:
                with journal.open("ab") as file:
                    file.write(entry.model_dump_json(exclude_none=True).encode()[:-20])
                die()
            append(journal, entry)
            self.note(kind)
            self.armed = self.armed or kind == self.after

        runs.append = appended
        sys.addaudithook(self.hear)

    def hear(self, name: str, args: tuple[Any, ...]) -> None:
        if not is_event(name, args):
            return
        with self.lock:
            self.seen += 1
            if self.armed and self.left:
                self.left -= 1
                if not self.left:
                    die()

    def note(self, kind: str) -> None:
        """Write at which event a journal's line was written."""
        with self.lock:
            text = f"{kind} {self.seen}\n"
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, text.encode())
        os.close(handle)


def kind_of(entry: dict[str, Any]) -> str:
    """What a journal's line is of: its kind, of a finding what was found."""
    (kind,) = entry
    if kind != "finding":
        return kind
    parts = {"monitor", "judgement", "execution", "grounding"}
    return next(iter(parts & entry[kind].keys()))


def child(job: dict[str, Any]) -> int:
    os.setsid()
    os.chdir(job["folder"])
    os.environ.update(job["environment"])
    output = os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(output, number)
    killer = Killer(
        job.get("after", ""), job.get("count", 0), job.get("torn", False), Path(job["log"])
    )
    killer.install()
    for place, value in job.get("patch", {}).items():
        module, _, name = place.rpartition(".")
        setattr(importlib.import_module(module), name, value)
    from expbench.cli.main import app

    try:
        app(prog_name="expbench", args=job["args"])
    except SystemExit as end:
        killer.note("end")
        return int(end.code or 0)
    return 0


def wait(pid: int, job: dict[str, Any]) -> int:
    """Do to a fork what is to be done to it; its exit code. None lives longer than five minutes."""
    end = time.monotonic() + job.get("seconds", 300.0)
    watched, left, at = Path(job.get("watch", "")), job.get("interrupts", 0), 0.0
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if (
            left
            and time.monotonic() > at
            and watched.is_file()
            and job["at"] in watched.read_text()
        ):
            os.killpg(pid, signal.SIGINT)
            left, at = left - 1, time.monotonic() + 0.3
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def counted_model() -> None:
    """Register a model for judges, ``counted/NAME``, that writes a line for each of its answers.

    ``counted/hang…`` gives none before there is a file ``LOG.go``.
    """
    import anyio
    from inspect_ai.model import ModelAPI, ModelOutput, modelapi

    @modelapi(name="counted")
    class Counted(ModelAPI):
        async def generate(
            self,
            input: Any,  # noqa: A002
            tools: Any,
            tool_choice: Any,
            config: Any,
        ) -> ModelOutput:
            with Path(os.environ["COUNTED_LOG"]).open("a") as file:
                file.write(f"judge {hash_of(input[0].text)}\n")
            if (
                self.model_name.startswith("hang")
                and not Path(f"{os.environ['COUNTED_LOG']}.go").exists()
            ):
                await anyio.sleep_forever()
            reply = {
                "verdict": "not_met",
                "evidence": "",
                "reason": "it is not there",
                "alternative": False,
            }
            return ModelOutput.from_content("counted", json.dumps(reply))


def hash_of(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> int:
    import expbench.cli.judging
    import expbench.cli.running
    import expbench.report
    import expbench.tasks

    assert expbench
    counted_model()
    answer: Callable[[object], None] = lambda what: print(json.dumps(what), flush=True)  # noqa: E731
    answer("ready")
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if not pid:
            return child(job)
        answer(wait(pid, job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
