"""A clean re-run that is looked at while it runs, with what is suspicious about it."""

from __future__ import annotations

from dataclasses import replace

from expbench.execution.evidence import look
from expbench.execution.rerun import PLAIN, Conditions, rerun
from expbench.execution.tracing import Prefer, choose
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.network import Denied
from expbench.schema import Execution, Submission
from expbench.workspace import BlobStore, Prepared

_TIMES = 2


def examine(
    submission: Submission,
    prepared: Prepared,
    host: SandboxHost,
    store: BlobStore,
    denied: Denied | None = None,
    python: PythonEnvironment | None = None,
    *,
    conditions: Conditions = PLAIN,
    trace: Prefer = "auto",
) -> Execution:
    """As :func:`rerun`, under the tracer that works here; once more when the harness failed.

    Raises:
        DataError: the submission is not in the store.
    """
    looked_at = replace(conditions, tracer=choose(host, trace).make)
    execution = Execution(state="infrastructure", cause="it was cancelled")
    for _ in range(_TIMES):
        if conditions.cancelled is not None and conditions.cancelled.is_set():
            break
        execution = rerun(submission, prepared, host, store, denied, python, conditions=looked_at)
        if execution.state != "infrastructure":
            break
    found = look(execution, submission, prepared, store)
    return execution.model_copy(update={"suspicions": (*execution.suspicions, *found)})
