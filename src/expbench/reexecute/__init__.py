"""Executing a run's stored submissions again: at any time, on any machine, as often as wanted.

The run is read and never changed. Its executions anew are a folder ``executed/NAME`` in it, with a manifest,
a journal and outcomes of its own over the same store, or a whole run's folder elsewhere. What was executed
already under the same conditions is not executed again: the digest of all that shapes an execution says so.
"""

from expbench.reexecute.folder import Reexecution, open_reexecution
from expbench.reexecute.summary import ExecutedRun, ExecutedSubmission, summary
from expbench.reexecute.working import Listener, reexecute

__all__ = [
    "ExecutedRun",
    "ExecutedSubmission",
    "Listener",
    "Reexecution",
    "open_reexecution",
    "reexecute",
    "summary",
]
