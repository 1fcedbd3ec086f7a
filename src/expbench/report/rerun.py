"""What the clean re-run of a script was, used and made, as names with values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from expbench.report.facts import Fact
from expbench.report.text import Cut, cut, seconds
from expbench.schema import Blob, Execution, Outcome

_LISTED = 12
"""Files, processes and claims of each kind that are listed."""


def execution_facts(outcome: Outcome) -> tuple[Fact, ...]:
    """How the re-run ended, what it used and under which limits."""
    execution = outcome.execution
    if execution is None:
        return (Fact("State", "not executed"),)
    facts = [
        Fact("State", execution.state.replace("_", " ")),
        Fact("Exit code", "–" if execution.exit_code is None else str(execution.exit_code)),
        Fact("Time", seconds(execution.seconds)),
    ]
    if execution.cause:
        facts.append(Fact("Cause", execution.cause))
    if execution.failure is not None:
        detail = f" ({execution.failure.detail})" * bool(execution.failure.detail)
        facts.append(Fact("Kind of failure", execution.failure.kind.replace("_", " ") + detail))
    facts += _evidence_facts(execution)
    if execution.enforced is not None:
        limits = execution.enforced.limits.items()
        words = "; ".join(f"{name.replace('_', ' ')}: {how}" for name, how in limits)
        facts.append(Fact("Limits enforced", f"{execution.enforced.provider}: {words or 'none'}"))
        if execution.enforced.workspace:
            facts.append(Fact("Workspace", execution.enforced.workspace))
    return tuple(facts)


def output(blob: Blob | None, outputs: Mapping[str, str], most: int) -> Cut:
    """What a re-run printed, or that it is not at hand."""
    if blob is None or blob.size == 0:
        return Cut()
    text = outputs.get(blob.digest)
    return Cut(note=f"{blob.size:,} bytes, not at hand") if text is None else cut(text, most)


def shown_digests(execution: Execution | None) -> Iterator[str]:
    """The digests of all texts that a re-run printed and wrote."""
    if execution is not None:
        blobs = (execution.stdout, execution.stderr, *(each.content for each in execution.made))
        yield from (blob.digest for blob in blobs if blob is not None)


def disturbed(outcome: Outcome) -> tuple[str, ...]:
    """What each disturbed re-run showed."""
    return tuple(each.told for each in outcome.perturbations)


def _evidence_facts(execution: Execution) -> list[Fact]:
    """What the re-run used and made, and what is suspicious about it."""
    facts = [
        Fact("Suspicious", f"{each.explanation} {each.quote}") for each in execution.suspicions
    ]
    if execution.adapted:
        facts.append(Fact("Mended to start it", "; ".join(execution.adapted)))
    if execution.set_aside:
        facts.append(Fact("Set aside", _some(execution.set_aside)))
    if execution.cpu_seconds is not None:
        memory = execution.peak_memory_mib
        peak = f", at most {memory:.0f} MiB" if memory is not None else ""
        facts.append(Fact("Used", f"{execution.cpu_seconds:.1f} s of processor time{peak}"))
    if execution.made:
        made = [
            f"{each.path} ({each.size} bytes{', as submitted' * each.same})"
            for each in execution.made
        ]
        facts.append(Fact("Made", _some(made)))
    if (trace := execution.trace) is not None:
        ran = [each.path for each in trace.files if each.use == "executed"]
        seen = _some(ran) if trace.by != "none" else trace.reason
        facts.append(Fact("Source files that ran", seen or "none"))
        facts.append(Fact("Processes", _some([each.command for each in trace.processes]) or "–"))
    return facts


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(cut(name, 120).text for name in names[:_LISTED]) + more
