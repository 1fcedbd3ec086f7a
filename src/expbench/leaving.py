"""Leaving at once: the end of a harness that cannot or must not wait, with nothing left behind.

Everything is in the run's journal already. What is left to do is to kill what was started and to remove
what lies in the cache, in the few seconds that there are; what takes longer is removed by the next start.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from expbench.errors import ExpbenchError
from expbench.evaluation import Evaluation
from expbench.sandboxes.processes import Table
from expbench.workspace.keeping import kept_for
from expbench.workspace.owners import lives, self_name, temporary_folders

SECONDS = 5.0
"""For removing what was made."""


def leave(evaluation: Evaluation, code: int) -> NoReturn:
    """End this process with an exit code, from any of its threads."""
    _kill_children()
    cleaner = threading.Thread(target=_clean, args=(evaluation,), daemon=True)
    cleaner.start()
    cleaner.join(SECONDS)
    os._exit(code)


def _kill_children() -> None:
    """Kill every process that this one started, and those that they did."""
    for _ in range(3):
        below = [pid for pid in Table.read().below(os.getpid()) if pid != os.getpid()]
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not below:
            return


def _clean(evaluation: Evaluation) -> None:
    run, host = evaluation.run, evaluation.host
    # Kept for good: no further pulse is written.
    evaluation.activity.writing.acquire(timeout=1.0)
    steps: list[Callable[[], object]] = [
        run.write_outcomes,
        lambda: run.paths.pulse.unlink(missing_ok=True),
        lambda: run.store.sweep(self_name()),
        lambda: _remove_own(evaluation),
        lambda: host.provider.sweep(
            lambda owner: owner != self_name() and lives(host.cache.owners, owner)
        ),
        lambda: (host.cache.owners / f"{self_name()}.lock").unlink(missing_ok=True),
        lambda: run.paths.lock.unlink(missing_ok=True),
    ]
    for step in steps:
        with contextlib.suppress(OSError, ExpbenchError):
            step()


def _remove_own(evaluation: Evaluation) -> None:
    host = evaluation.host
    for folder in host.cache.work.glob(f"{self_name()}-*"):
        if kept_for(folder) is None:
            host.discard(folder)
    for folder, owner in temporary_folders(Path(tempfile.gettempdir())):
        if owner == self_name():
            host.discard(folder)
