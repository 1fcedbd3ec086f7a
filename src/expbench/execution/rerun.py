"""The clean re-run: does what was handed in run by itself?

The pinned masked tree with the submitted patch is written to a new folder, and the reproduce script
runs there in a fresh sandbox: nothing that the agent installed, cached or left running is there. The
paper's E is the script's exit code (paper, section 4).
"""

from __future__ import annotations

from expbench.errors import InfrastructureError
from expbench.sandboxes.host import SandboxHost, remove
from expbench.sandboxes.session import Completed
from expbench.schema import SCRIPT_NAME, Execution, Limits, Score, Submission
from expbench.workspace import BlobStore, Prepared


def rerun(
    submission: Submission,
    prepared: Prepared,
    host: SandboxHost,
    store: BlobStore,
    limits: Limits,
) -> Execution:
    """Run the submission's script on a clean tree; its output is kept in the store.

    A failure of the harness is the state ``infrastructure``, never an exception and never a zero.
    """
    if submission.script is None:
        return Execution(state="no_script", cause=f"{SCRIPT_NAME} was not handed in")
    view = None
    try:
        view = host.open(prepared, store.get(submission.patch))
        with host.start(view, limits, prepared.environment) as session:
            done = session.run(["bash", SCRIPT_NAME], timeout=limits.minutes * 60)
            return _execution(done, store).model_copy(update={"enforced": session.enforced})
    except InfrastructureError as error:
        return Execution(state="infrastructure", cause=str(error))
    except OSError as error:
        return Execution(state="infrastructure", cause=f"{type(error).__name__}: {error}")
    finally:
        if view is not None:
            remove(view.folder)


def execution_score(execution: Execution) -> Score:
    """E: 1 when the script ended with exit code 0; unscored when the harness failed."""
    if execution.state == "infrastructure":
        return Score(reason=f"infrastructure: {execution.cause}", unscored=1)
    ran = execution.state == "ran"
    return Score(value=float(ran), reason=execution.cause, met=int(ran), not_met=int(not ran))


def _execution(done: Completed, store: BlobStore) -> Execution:
    if done.error:
        return Execution(state="infrastructure", cause=f"bash did not start: {done.error}")
    facts = {
        "exit_code": done.exit_code,
        "seconds": round(done.seconds, 3),
        "stdout": store.put(done.stdout),
        "stderr": store.put(done.stderr),
    }
    if done.timed_out:
        return Execution(state="timed_out", cause=f"no end after {done.seconds:.0f} s", **facts)
    if done.exit_code != 0:
        return Execution(state="failed", cause=_last_line(done), **facts)
    return Execution(state="ran", **facts)


def _last_line(done: Completed) -> str:
    lines = (done.stderr or done.stdout).decode("utf-8", errors="replace").strip().splitlines()
    return f"exit code {done.exit_code}: {lines[-1][:300] if lines else 'no output'}"
