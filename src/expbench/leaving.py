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
import time
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
_LOOKS = 3
"""How often nothing more must be found; with a pause of seconds after each."""
_PAUSE = 0.03


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
    """Remove this process's folders, again while its other threads still make and fill some."""
    end, empty = time.monotonic() + SECONDS / 2, 0
    while empty < _LOOKS and time.monotonic() < end:
        found = _own_folders(evaluation)
        empty = 0 if found else empty + 1
        for folder in found:
            with contextlib.suppress(OSError):
                evaluation.host.discard(folder)
        _kill_children()
        time.sleep(_PAUSE)


def _own_folders(evaluation: Evaluation) -> list[Path]:
    mine = f"{self_name()}-*"
    work = [each for each in evaluation.host.cache.work.glob(mine) if kept_for(each) is None]
    temporary = temporary_folders(Path(tempfile.gettempdir()))
    return work + [folder for folder, owner in temporary if owner == self_name()]
