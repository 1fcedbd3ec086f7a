"""Does the result react? The experiment is run again, disturbed, and its numbers are compared.

``seed``: every seed is another, and so is the order of hashed sets. Numbers that are all the same to the last
digit, though a seeded generator was drawn from, did not come from it. ``stub``: what the workspace's Python
computes is changed by a few per cent, wherever a call or a division gives a number. Numbers that are all the
same then were printed, copied or read, and not computed by this code.

Both are suspicions for a person and never verdicts: a seed may do nothing that shows in the result, and what
other programs compute is not reached. Where it cannot be told, the reason is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from expbench.execution.comparing import Comparison, compare
from expbench.execution.disturbing import OtherNumbers, OtherSeeds
from expbench.execution.rerun import PLAIN, Conditions, rerun
from expbench.monitor.programs import IDLE, named
from expbench.monitor.shell import parse
from expbench.monitor.wrappers import KEYWORDS
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.network import Denied
from expbench.schema import (
    SCRIPT_NAME,
    Execution,
    Perturbation,
    Policy,
    Submission,
    Suspicion,
    Trace,
)
from expbench.workspace import BlobStore, Prepared

HASH_SEED = "1"
"""The hash seed of a run with other seeds; plain runs have 0."""

_SLOWER, _MORE = 4.0, 0.5
"""A disturbed run may take so many times as long as the plain one, and so many minutes more."""

_ENOUGH = 6
"""Significant digits with which one number alone shows that two runs are the same."""

_PYTHON = re.compile(r"^(?:python|pypy)[\d.]*$")
_RUN_PYTHON = named(
    "torchrun accelerate deepspeed pytest coverage ipython time nohup nice stdbuf mpirun"
)
_IDLE = (IDLE | KEYWORDS | _RUN_PYTHON) - named("bc dc expr jq base64")
"""Programs that compute no result, or only by Python that is changed."""

Rerun = Callable[[Conditions], Execution]


def perturb(
    submission: Submission,
    prepared: Prepared,
    host: SandboxHost,
    store: BlobStore,
    execution: Execution,
    denied: Denied | None = None,
    python: PythonEnvironment | None = None,
    *,
    conditions: Conditions = PLAIN,
) -> tuple[Perturbation, ...]:
    """Run a submission again with other seeds, and with other numbers; nothing where it did not run.

    Args:
        execution: the plain re-run, made under the same ``conditions``.

    A failure of the harness, or of the disturbance, is an execution with the state ``infrastructure``.
    """
    if execution.state != "ran":
        return ()
    limits = (conditions.policy or host.policy).limits
    allowed = (execution.seconds or 0.0) * _SLOWER / 60 + _MORE
    limits = limits.model_copy(update={"minutes": min(limits.minutes, allowed)})
    policy: Policy = (conditions.policy or host.policy).model_copy(update={"limits": limits})
    bounded = replace(conditions, policy=policy, keep_results=False)

    def again(changed: Conditions) -> Execution:
        return rerun(submission, prepared, host, store, denied, python, conditions=changed)

    return _seeds(execution, store, bounded, again), _stub(execution, store, bounded, again)


def _seeds(
    execution: Execution, store: BlobStore, conditions: Conditions, again: Rerun
) -> Perturbation:
    disturbing = OtherSeeds()
    other = {**conditions.environment, "PYTHONHASHSEED": HASH_SEED}
    done = again(replace(conditions, environment=other, tracer=lambda: disturbing))
    same = compare(execution, done, store)
    reason = _not_comparable(done, same)
    if same.all_same and not reason:
        reason = _no_other_seed(disturbing, same)
    suspicion = None
    if same.all_same and not reason:
        suspicion = Suspicion(
            kind="identical_under_seed",
            explanation="With another seed, from which numbers were drawn, "
            f"all {same.compared} numbers of the output are the same to the last digit.",
            quote=same.quote,
        )
    return _perturbation("seed", done, same, suspicion, reason)


def _stub(
    execution: Execution, store: BlobStore, conditions: Conditions, again: Rerun
) -> Perturbation:
    disturbing = OtherNumbers(execution.script or SCRIPT_NAME)
    done = again(replace(conditions, tracer=lambda: disturbing))
    same = compare(execution, done, store)
    reason = _not_comparable(done, same)
    if same.all_same and not reason:
        reason = _not_reached(disturbing, execution.trace)
    suspicion = None
    if same.all_same and not reason:
        how = (
            "What the code computes was changed by a few per cent"
            if disturbing.reached
            else "No call and no division of the code gives a number"
        )
        suspicion = Suspicion(
            kind="insensitive_to_code",
            explanation=f"{how}, "
            f"and all {same.compared} numbers of the output are the same to the last digit.",
            quote=same.quote,
        )
    return _perturbation("stub", done, same, suspicion, reason)


def _perturbation(
    kind: str, done: Execution, same: Comparison, suspicion: Suspicion | None, reason: str
) -> Perturbation:
    return Perturbation.model_validate(
        {
            "kind": kind,
            "execution": done,
            "identical": same.identical,
            "compared": same.compared,
            "suspicion": suspicion,
            "reason": reason,
        }
    )


def _not_comparable(done: Execution, same: Comparison) -> str:
    """Why the numbers of a disturbed run say nothing."""
    if done.state == "infrastructure":
        return f"the disturbed run did not come about: {done.cause}"
    if done.state != "ran":
        return f"the disturbed run did not end well, so it reacted: {done.cause}"
    return "" if same.compared else "the output has no number of four significant digits"


def _no_other_seed(disturbing: OtherSeeds, same: Comparison) -> str:
    """Why numbers that stayed the same say nothing, when seeds were to be others."""
    if not disturbing.drawn:
        return "no generator with a seed was drawn from"
    short = same.distinct < 2 and same.digits < _ENOUGH
    return "a single short number may be the same by chance" if short else ""


def _not_reached(disturbing: OtherNumbers, trace: Trace | None) -> str:
    """Why numbers that stayed the same say nothing, when other numbers were to be computed."""
    if not disturbing.whole:
        return "the script has Python in it that could not be changed"
    others = dict.fromkeys([*_started(trace), *_named(disturbing.scripts)])
    if others:
        return f"other programs worked too: {', '.join(list(others)[:5])}"
    if not disturbing.reached and (trace is None or trace.by == "none"):
        return "no number was changed, and without a trace it is not known what computed them"
    return ""


def _started(trace: Trace | None) -> Iterator[str]:
    """Programs that ran and may have computed a result that is not changed."""
    for process in trace.processes if trace is not None else ():
        words = process.command.split()
        name = words[0].rpartition("/")[2].lstrip("-") if words else ""
        if _computes(name, words[1:]):
            yield name


def _named(scripts: Sequence[str]) -> Iterator[str]:
    """The same of the programs that shell scripts name: a short one is seen by no tracer."""
    for text in scripts:
        commands = parse(text)
        functions = {each.words[1] for each in commands if each.words[:1] == ("function",)}
        for each in commands:
            if each.program not in functions and _computes(each.program, each.arguments):
                yield each.program


def _computes(name: str, arguments: Sequence[str]) -> bool:
    if _PYTHON.match(name) or name.startswith("$"):
        return not _changed(arguments)
    return bool(name) and name not in _IDLE and not name.endswith((".sh", ".bash", ".py"))


def _changed(words: Sequence[str]) -> bool:
    """Whether a Python command runs a source that was rewritten, or nothing of its own."""
    given = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    inline = "-c" in options and not any("multiprocessing" in word for word in words)
    return not inline and (not given or "-m" in options or given[0].endswith(".py"))
