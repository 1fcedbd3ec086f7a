"""One line per outcome as comma-separated values.

Raw scores and gated ones stand side by side, so that every number of the report can be made again
from this file. A text that a spreadsheet would run as a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
import re

from expbench.metrics import METRICS, gated
from expbench.report.inputs import ReportInput, label_of
from expbench.report.text import natural, one_line, printable
from expbench.schema import ALL_SCORES, Outcome

_ALL = {definition.key: definition for definition in METRICS}
_CONJUNCTIONS = (
    "conclusion_design",
    "implementation_execution",
    "all",
    "all_execution",
    "grounding_conclusion",
    "all_execution_grounding",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_WORD = re.compile(r"\w[\w./:-]{0,199}|")
"""What is as it should be, as most values are."""

Value = str | int | float | None


def outcomes_csv(run: ReportInput) -> str:
    """The table of all outcomes, sorted by task and epoch."""
    ordered = sorted(run.outcomes, key=lambda o: (natural(o.task_id), o.epoch))
    lines = [_line(run, outcome) for outcome in ordered]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(lines[0] if lines else ["task_id"])
    writer.writerows(map(_safe, line.values()) for line in lines)
    return file.getvalue()


def _line(run: ReportInput, outcome: Outcome) -> dict[str, Value]:
    view, execution, manifest = gated(outcome), outcome.execution, run.manifest
    task = run.tasks.get(outcome.task_id)
    line: dict[str, Value] = {
        "run": manifest.name,
        "suite": manifest.suite,
        "suite_version": manifest.suite_version,
        "task_id": outcome.task_id,
        "paper": outcome.paper,
        "type": task.type if task else None,
        "epoch": outcome.epoch,
        "agent": outcome.agent,
        "model": outcome.model,
        "judge": manifest.judge,
        "label": label_of(manifest),
        "status": outcome.status,
        "reason": outcome.reason,
        "limit": outcome.limit,
        "doubts": " ".join(doubt.kind for doubt in outcome.doubts),
    }
    for name in ALL_SCORES:
        score = outcome.scores.get(name)
        line[f"{name}_raw"] = score.value if score else None
        line[f"{name}_reason"] = score.reason if score else "no score was recorded"
    line |= {
        "monitor": view.monitor,
        "design": view.design,
        "implementation": view.implementation,
        "conclusion": view.conclusion,
        "execution": view.execution,
        "produced": view.produced,
        "grounding": view.grounding,
    }
    for key in _CONJUNCTIONS:
        line[key] = _ALL[key].measure(view, run.threshold) if _ALL[key].counts(view) else None
    return line | {
        "monitor_verdict": outcome.monitor.verdict if outcome.monitor else None,
        "monitor_findings": len(outcome.monitor.violations) if outcome.monitor else None,
        "execution_state": execution.state if execution else None,
        "execution_exit_code": execution.exit_code if execution else None,
        "execution_seconds": execution.seconds if execution else None,
        "agent_seconds": outcome.agent_seconds,
        "agent_input_tokens": outcome.agent_usage.input_tokens,
        "agent_output_tokens": outcome.agent_usage.output_tokens,
        "agent_dollars": outcome.agent_usage.dollars,
        "submission": outcome.submission,
    }


def _safe(value: Value) -> Value:
    if not isinstance(value, str) or _WORD.fullmatch(value):
        return value
    text = printable(one_line(value, most=2000))
    return f"'{text}" if text.startswith(_FORMULA) else text
