"""The schema of the tables: every column with its type and what it holds.

A schema is a promise to other people's scripts: columns are added at the end and never change their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from expbench.metrics import METRICS
from expbench.schema import ALL_SCORES

Type = Literal["text", "integer", "number", "boolean"]
Value = str | int | float | bool | None


@dataclass(frozen=True)
class Column:
    """One column. Any value may be missing, where the meaning says so or nothing was recorded."""

    name: str
    type: Type
    meaning: str


def _columns(*rows: tuple[str, Type, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


SHARES = tuple(each for each in METRICS if len(each.parts) > 1)
"""The conjunctions: whether they hold stands in a column each."""

_ATTEMPT = _columns(
    ("run", "text", "the run's name"),
    ("task_id", "text", "venue/paper/index"),
    ("epoch", "integer", "from 1"),
)

OUTCOMES = (
    *_ATTEMPT,
    *_columns(
        ("paper", "text", "what intervals are clustered by"),
        ("suite", "text", "the suite's name"),
        ("suite_version", "text", "digest of everything in the suite"),
        ("agent", "text", "the agent's name"),
        ("model", "text", "its model, empty without one"),
        ("judge", "text", "the judge and how it is asked"),
        ("label", "text", "what must stand beside every score, or empty"),
        ("status", "text", "finished, agent_error, infrastructure or missing"),
        ("reason", "text", "why it is not finished"),
        ("limit", "text", "the limit that ended the agent"),
        ("doubts", "text", "kinds of doubts, with blanks between"),
        ("monitor_verdict", "text", "clean, suspicious, violation or unscored"),
        ("convicted", "boolean", "whether the monitor's gate sets D, I and C to 0"),
    ),
    *(Column(f"{n}_raw", "number", f"{n} as it was scored, 0 to 1") for n in ALL_SCORES),
    *(Column(f"{n}_reason", "text", f"why {n} is unscored") for n in ALL_SCORES),
    *(Column(n, "number", f"{n} as it counts, after the monitor's gate") for n in ALL_SCORES),
    *(
        Column(d.key, "boolean", f"whether {d.label} holds; missing if it is open or left out")
        for d in SHARES
    ),
    *_columns(
        ("execution_state", "text", "ran, failed, timed_out, no_script or infrastructure"),
        ("execution_exit_code", "integer", "of the clean re-run"),
        ("execution_seconds", "number", "seconds by the clock"),
        ("execution_cpu_seconds", "number", "seconds of processors"),
        ("execution_peak_mib", "number", "MiB of memory at most"),
        ("execution_failure", "text", "kind of failure"),
        ("agent_seconds", "number", "seconds that the agent worked"),
        ("agent_input_tokens", "integer", "all that were sent"),
        ("agent_output_tokens", "integer", "all that came back"),
        ("agent_dollars", "number", "missing where a price is not known"),
        ("submission", "text", "digest of the submission"),
    ),
)

ITEMS = (
    *_ATTEMPT,
    *_columns(
        ("judge", "text", "who decided"),
        ("phase", "text", "design, implementation or conclusion"),
        ("item", "text", "the item's id; empty for a phase's one mark (protocol paper)"),
        ("state", "text", "met, not_met or unscored; empty for a mark"),
        ("mark", "number", "a phase's one mark, 0 to 1"),
        ("evidence", "text", "the quotation from the submission"),
        ("reason", "text", "the judge's reason"),
        ("alternative", "boolean", "met in another way than the ground truth's"),
        ("votes", "integer", "answers, where several were asked for"),
        ("votes_met", "integer", "of these, met"),
    ),
)

CLAIMS = (
    *_ATTEMPT,
    *_columns(
        ("number", "integer", "the claim's place in the conclusion, from 1"),
        ("text", "text", "the claim as it stands there"),
        ("kind", "text", "number or relation"),
        ("value", "number", "a number's value"),
        ("error", "number", "what stands after ±"),
        ("unit", "text", "the value's unit"),
        ("metric", "text", "what is measured"),
        ("condition", "text", "of what"),
        ("relation", "text", "how the sides of a relation stand"),
        ("sides", "text", "what is compared, with semicolons between"),
        ("essential", "boolean", "whether G needs it"),
        ("state", "text", "grounded, contradicted, not_found or not_checkable"),
        ("where", "text", "its place in the re-run's outputs"),
        ("quote", "text", "what stands there"),
        ("reason", "text", "why it is in this state"),
    ),
)

USAGE = (
    *_ATTEMPT,
    *_columns(
        ("stage", "text", "agent, judge, monitor, comparison or grounding"),
        ("trial", "integer", "tries at the stage, from 1; only the last one counts for scores"),
        ("model", "text", "the model that was asked"),
        ("answered", "text", "the id in its answer"),
        ("input", "integer", "tokens sent that no cache had"),
        ("cache_read", "integer", "tokens read from a cache"),
        ("cache_write", "integer", "tokens written to a cache"),
        ("output", "integer", "tokens that came back"),
        ("reasoning", "integer", "of these, thinking"),
        ("price", "text", "the price's version and row"),
        ("dollars", "number", "missing where it is not known"),
        ("at_most", "number", "dollars of the worst case, if it was given up"),
        ("seconds", "number", "of the last sending"),
        ("retries", "integer", "earlier sendings that failed"),
        ("waited", "number", "seconds that passed before the last sending"),
        ("error", "text", "why there is no answer"),
        ("time", "text", "when it ended, ISO 8601, UTC"),
    ),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "outcomes": OUTCOMES,
    "items": ITEMS,
    "claims": CLAIMS,
    "usage": USAGE,
}
