"""The clean re-run: does what was handed in run by itself, and what comes out?

The pinned masked tree with the submitted patch is written to a new folder, the results that came with it
are set aside, and the reproduce script runs there in a fresh sandbox: nothing that the agent installed,
cached or left running is there. The paper's E is the script's exit code (paper, section 4); E+ is that
it also produced something. What the script does to be unkind is bounded and scored as what it is.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from expbench.errors import InfrastructureError, SandboxError
from expbench.execution.aside import Aside, missed, set_aside
from expbench.execution.causes import cause_of
from expbench.execution.meter import Meter
from expbench.execution.outputs import Before, Made, digests, facts_of, made_files
from expbench.execution.preparing import placed, written
from expbench.execution.script import Script, Tree
from expbench.execution.tracer import NoTracer, Observed, Scene, Tracer
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.network import Denied
from expbench.sandboxes.session import Completed, SandboxEndedError, Session
from expbench.schema import (
    SCRIPT_NAME,
    Execution,
    Failure,
    Policy,
    Refusal,
    Score,
    Submission,
    Suspicion,
    Trace,
)
from expbench.workspace import BlobStore, Prepared, View
from expbench.workspace.submission.names import printable

FIXED = {"TZ": "UTC", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""The same in every re-run, whatever the sandbox has (R51)."""

_QUICK = 0.25
"""Of the time limit: a run that failed in less is worth a second one."""


def nothing(session: Session) -> None:
    """Arranges nothing."""


@dataclass(frozen=True)
class Conditions:
    """How a re-run is done where it differs from the plain one.

    ``script`` is the file that is looked for. ``tracer`` makes what looks on, anew for each run.
    ``environment`` are variables over all others; paths of its ``PYTHONPATH`` come first and hide none.
    ``arrange`` may change the sandbox after everything is in place and before the script starts.
    ``policy`` is used instead of the host's. Setting ``cancelled`` ends it, with the state
    ``infrastructure``. With ``keep_results`` the results that came with the submission stay.
    """

    script: str = SCRIPT_NAME
    tracer: Callable[[], Tracer] = NoTracer
    environment: Mapping[str, str] = field(default_factory=dict)
    arrange: Callable[[Session], None] = nothing
    policy: Policy | None = None
    cancelled: threading.Event | None = None
    keep_results: bool = False


PLAIN = Conditions()


def rerun(
    submission: Submission,
    prepared: Prepared,
    host: SandboxHost,
    store: BlobStore,
    denied: Denied | None = None,
    python: PythonEnvironment | None = None,
    *,
    conditions: Conditions = PLAIN,
) -> Execution:
    """Run the submission's script on a clean tree; what comes out is kept in the store.

    A script that fails for want of a result that came with it is run once more with those results, to
    know it; the first run is what counts. A failure of the harness is the state ``infrastructure``, never
    an exception and never a zero.
    """
    rerunning = _Rerun(submission, prepared, host, store, denied, python, conditions)
    execution, aside = rerunning.once()
    if conditions.keep_results:
        return execution
    names, line = missed(execution, aside, store)
    if execution.state == "ran" and names:
        return _suspected(execution, names, line, "complains that it misses")
    if execution.state != "failed" or not (
        names or _worth_knowing(execution, aside, line, rerunning)
    ):
        return execution
    with_them = replace(conditions, keep_results=True, tracer=NoTracer)
    again, _ = replace(rerunning, conditions=with_them).once()
    if again.state != "ran":
        return execution
    return _suspected(execution, names or aside.results, line, "runs only with")


def _worth_knowing(execution: Execution, aside: Aside, line: str, rerunning: _Rerun) -> bool:
    """Whether a failure that names no result may be for want of one, and a second run is not too long."""
    quarter = rerunning.policy.limits.minutes * 60 * _QUICK
    return bool(aside.results) and (bool(line) or (execution.seconds or 0) <= quarter)


def execution_score(execution: Execution) -> Score:
    """E: 1 when the script ended with exit code 0; unscored when the harness failed."""
    return _score(execution, execution.state == "ran", execution.cause)


def produced_score(execution: Execution) -> Score:
    """E+: 1 when it ended with exit code 0 and produced outputs that were not in the submission."""
    silent = "it ended with exit code 0 and made no output" if execution.state == "ran" else ""
    reason = "" if execution.produced else execution.cause or silent
    return _score(execution, execution.produced, reason)


def _score(execution: Execution, full: bool, reason: str) -> Score:
    if execution.state == "infrastructure":
        return Score(reason=f"infrastructure: {execution.cause}", unscored=1)
    return Score(value=float(full), reason=reason, met=int(full), not_met=int(not full))


def _suspected(execution: Execution, names: tuple[str, ...], line: str, how: str) -> Execution:
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    suspicion = Suspicion(
        kind="needs_its_own_results",
        explanation=f"The script {how} results that came with the submission: {listed}.",
        quote=line,
    )
    return execution.model_copy(update={"suspicions": (*execution.suspicions, suspicion)})


@dataclass(frozen=True)
class _Rerun:
    """One submission with all that it is run again with."""

    submission: Submission
    prepared: Prepared
    host: SandboxHost
    store: BlobStore
    denied: Denied | None
    python: PythonEnvironment | None
    conditions: Conditions

    @property
    def policy(self) -> Policy:
        return self.conditions.policy or self.host.policy

    def once(self) -> tuple[Execution, Aside]:
        """One run, and what was set aside for it."""
        view = None
        try:
            view = self.host.open(self.prepared, self.store.get(self.submission.patch))
            return self._in(view)
        except InfrastructureError as error:
            return Execution(state="infrastructure", cause=str(error)), Aside()
        except OSError as error:
            why = f"{type(error).__name__}: {error}"
            return Execution(state="infrastructure", cause=why), Aside()
        finally:
            if view is not None:
                self.host.discard(view.folder)

    def _in(self, view: View) -> tuple[Execution, Aside]:
        facts = facts_of(view)
        changed = set(self.submission.changed)
        handed_in = [path for path in facts if printable(path) in changed]
        aside = Aside()
        if not self.conditions.keep_results:
            aside = set_aside(view, self.prepared, handed_in)
        kept = [path for path in handed_in if path not in aside.files]
        tree = Tree(
            frozenset(os.fsdecode(e.path) for e in self.prepared.entries if _there(e.path, changed))
            | frozenset(map(os.fsdecode, kept)),
            frozenset(map(os.fsdecode, kept)),
        )
        script = placed(self.conditions.script, tree, view, self.submission, self.store)
        if script is None:
            return _no_script(self.conditions.script, aside), aside
        before = Before(facts_of(view), digests(view, kept), aside.files)
        refused: list[Refusal] = []
        with self._session(view, refused) as session:
            run = _Run(self, session, script, tree, before, aside)
            execution, observed, before = run.execute()
        if execution.state == "infrastructure":
            return execution, aside
        made = made_files(view, self.prepared, before, self.store, observed.writers)
        return _with_outputs(execution, made, refused), aside

    def _session(self, view: View, refused: list[Refusal]) -> Session:
        return self.host.start(
            view,
            policy=self.policy,
            environment=self.prepared.environment,
            python=self.python,
            denied=self.denied,
            refused=refused.append,
        )


@dataclass(frozen=True)
class _Run:
    """One script in one sandbox."""

    of: _Rerun
    session: Session
    script: Script
    tree: Tree
    before: Before
    aside: Aside

    def execute(self) -> tuple[Execution, Observed, Before]:
        """Run the script; the execution without its outputs, and what the workspace was before.

        Raises:
            SandboxError: the sandbox died, and not by a limit.
        """
        tracer = self.of.conditions.tracer()
        script, files = written(self.script, self.tree, self.session, self.before)
        known = {**self.before.known, **files}
        tracer.prepare(self.session)
        own = frozenset(map(os.fsencode, tracer.own))
        self.of.conditions.arrange(self.session)
        began = time.time()
        done, meter = self._command(script, tracer)
        scene = Scene(self.session, script.path, self.tree.submitted, began, time.time())
        cancelled = self.of.conditions.cancelled
        if cancelled is not None and cancelled.is_set():
            raise SandboxError("it was cancelled")
        observed = _observed(tracer, scene)
        execution = self._execution(script, done, meter).model_copy(
            update={
                "enforced": self.session.enforced,
                "script": printable(os.fsencode(script.path)),
                "adapted": script.adapted,
                "set_aside": self.aside.names,
                "trace": observed.trace,
            }
        )
        return execution, observed, replace(self.before, known=known, own=own, since=scene.since)

    def _command(self, script: Script, tracer: Tracer) -> tuple[Completed, Meter]:
        with Meter(self.session) as meter:
            try:
                done = self.session.run(
                    tracer.wrap(script.command),
                    cwd=script.folder or None,
                    env=self._variables(tracer.environment()),
                    timeout=self.of.policy.limits.minutes * 60,
                    cancelled=self.of.conditions.cancelled,
                )
            except SandboxEndedError as error:
                if self.session.excess is None:
                    raise
                done = error.done
            except SandboxError:
                if self.session.excess is None:
                    raise
                done = Completed(137, b"", b"", 0.0)
        return done, meter

    def _variables(self, traced: Mapping[str, str]) -> dict[str, str]:
        given = self.of.conditions.environment
        paths = [each.get("PYTHONPATH", "") for each in (given, traced)]
        joined = ":".join(dict.fromkeys(filter(None, [*paths, self.session.python_path])))
        variables = {**FIXED, **traced, **given}
        return {**variables, "PYTHONPATH": joined} if any(paths) else variables

    def _execution(self, script: Script, done: Completed, meter: Meter) -> Execution:
        """How the command ended, with what it used. An end that the script brought about is its own."""
        if done.error and not done.killed and script.interpreter == ("bash",):
            return Execution(state="infrastructure", cause=f"bash did not start: {done.error}")
        store = self.of.store
        execution = Execution(
            state="ran",
            exit_code=None if done.timed_out else done.exit_code,
            seconds=round(done.seconds, 3),
            stdout=store.put(done.stdout),
            stderr=store.put(done.stderr),
            cpu_seconds=_most(done.cpu_seconds, meter.cpu_seconds, 3),
            peak_memory_mib=_most(done.memory_mib, meter.peak_mib, 1),
        )
        state, cause, failure = _ending(done, self.session)
        return execution.model_copy(update={"state": state, "cause": cause, "failure": failure})


def _observed(tracer: Tracer, scene: Scene) -> Observed:
    """What the tracer saw; nothing where the script has taken the sandbox from under it."""
    try:
        return tracer.collect(scene)
    except SandboxError as error:
        return Observed(Trace(by="none", reason=f"the sandbox did not answer any more: {error}"))


def _ending(done: Completed, session: Session) -> tuple[str, str, Failure | None]:
    """State, cause in a sentence, and the failure."""
    if session.excess is not None:
        kind = "memory" if session.excess.limit == "memory_mib" else "other"
        sentence = session.excess.sentence
        return "failed", sentence, Failure(kind=kind, line=sentence, detail=session.excess.limit)
    if done.timed_out:
        cause = f"no end after {done.seconds:.0f} s"
        return "timed_out", cause, cause_of(done.stdout, done.stderr, None, "timed_out")
    if done.exit_code == 0:
        return "ran", "", None
    if done.error and not done.killed:
        line = f"its interpreter did not start: {done.error}"
        return "failed", line, Failure(kind="environment", line=line)
    if memory := session.memory_kill:
        lack = Failure(kind="memory", line=memory, detail="memory_mib")
        return "failed", f"exit code {done.exit_code}: {memory}", lack
    failure = cause_of(done.stdout, done.stderr, done.exit_code, "failed")
    line = failure.line if failure is not None else ""
    return "failed", f"exit code {done.exit_code}: {line or 'no output'}"[:400], failure


def _with_outputs(execution: Execution, made: Made, refused: list[Refusal]) -> Execution:
    return execution.model_copy(
        update={"made": made.files, "made_more": made.more, "refused": tuple(refused)}
    )


def _no_script(name: str, aside: Aside) -> Execution:
    cause = f"{name} was not handed in, at the repository's root or anywhere else"
    return Execution(state="no_script", cause=cause, set_aside=aside.names)


def _there(path: bytes, changed: set[str]) -> bool:
    """Whether a file of the repository is as it was: what the patch changed, it may have deleted."""
    return printable(path) not in changed


def _most(told: float | None, seen: float | None, digits: int) -> float | None:
    known = [each for each in (told, seen) if each is not None]
    return round(max(known), digits) if known else None
