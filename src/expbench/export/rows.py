"""A run's records as rows: one dict of column and value for each line of a table."""

from __future__ import annotations

from collections.abc import Iterator

from expbench.export.columns import SHARES, Value
from expbench.ledger import read_ledger
from expbench.metrics import gated
from expbench.report.inputs import label_of
from expbench.runs import Run
from expbench.schema import ALL_SCORES, Execution, Outcome

Line = dict[str, Value]


def outcome_rows(run: Run) -> Iterator[Line]:
    """One row for every planned attempt, in the planned order."""
    manifest = run.manifest
    of_run: Line = {
        "suite": manifest.suite,
        "suite_version": manifest.suite_version,
        "judge": manifest.judge,
        "label": label_of(manifest),
    }
    for outcome in run.ordered():
        yield {
            **_attempt(run, outcome),
            **of_run,
            **_facts(outcome),
            **_scores(outcome),
            **_execution(outcome.execution),
        }


def item_rows(run: Run) -> Iterator[Line]:
    """One row for every verdict of a judge, or mark by protocol ``paper``."""
    for outcome in run.ordered():
        if (judgement := outcome.judgement) is None:
            continue
        attempt: Line = {**_attempt(run, outcome), "judge": judgement.judge}
        for verdict in judgement.verdicts:
            yield {
                **attempt,
                **verdict.model_dump(include={"phase", "item", "state", "evidence", "reason"}),
                "alternative": verdict.alternative,
                "votes": len(verdict.votes) or None,
                "votes_met": sum(v.state == "met" for v in verdict.votes)
                if verdict.votes
                else None,
            }
        for mark in judgement.marks:
            yield {
                **attempt,
                "phase": mark.phase,
                "item": "",
                "state": "",
                "mark": mark.value,
                "reason": mark.reason,
            }


def claim_rows(run: Run) -> Iterator[Line]:
    """One row for every claim of a conclusion that was looked for in the re-run's outputs."""
    for outcome in run.ordered():
        if outcome.grounding is None:
            continue
        for number, grounded in enumerate(outcome.grounding.claims, 1):
            yield {
                **_attempt(run, outcome),
                **grounded.claim.model_dump(exclude={"start", "end", "sides"}),
                **grounded.model_dump(exclude={"claim"}),
                "number": number,
                "sides": "; ".join(grounded.claim.sides),
            }


def usage_rows(run: Run) -> Iterator[Line]:
    """One row for every request to a model, in the order in which they ended. Raises DataError."""
    for request in read_ledger(run.paths.ledger):
        fields = request.model_dump(exclude={"task", "epoch", "tokens"})
        tokens = request.tokens.model_dump() if request.tokens else {}
        attempt: Line = {"run": run.manifest.name, "task_id": request.task, "epoch": request.epoch}
        yield {**attempt, **fields, **tokens}


ROWS = {"outcomes": outcome_rows, "items": item_rows, "claims": claim_rows, "usage": usage_rows}


def _attempt(run: Run, outcome: Outcome) -> Line:
    return {"run": run.manifest.name, "task_id": outcome.task_id, "epoch": outcome.epoch}


def _facts(outcome: Outcome) -> Line:
    usage = outcome.agent_usage
    return {
        **outcome.model_dump(include={"paper", "agent", "model", "status", "reason", "limit"}),
        "doubts": " ".join(doubt.kind for doubt in outcome.doubts),
        "monitor_verdict": outcome.monitor.verdict if outcome.monitor else None,
        "agent_seconds": outcome.agent_seconds,
        "agent_input_tokens": usage.input_tokens,
        "agent_output_tokens": usage.output_tokens,
        "agent_dollars": usage.dollars,
        "submission": outcome.submission,
    }


def _scores(outcome: Outcome) -> Line:
    view = gated(outcome)
    line: Line = {"convicted": view.convicted}
    for name in ALL_SCORES:
        score = outcome.scores.get(name)
        line[f"{name}_raw"] = score.value if score else None
        line[f"{name}_reason"] = score.reason if score else "no score was recorded"
        line[name] = view.value(name)
    for definition in SHARES:
        number = definition.measure(view) if definition.counts(view) else None
        line[definition.key] = None if number is None else number == 1.0
    return line


def _execution(execution: Execution | None) -> Line:
    if execution is None:
        return {}
    return {
        "execution_state": execution.state,
        "execution_exit_code": execution.exit_code,
        "execution_seconds": execution.seconds,
        "execution_cpu_seconds": execution.cpu_seconds,
        "execution_peak_mib": execution.peak_memory_mib,
        "execution_failure": execution.failure.kind if execution.failure else None,
    }
