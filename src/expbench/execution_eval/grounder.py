"""The grounding of a case, as a run does it: by rules, with the repository's documents at hand."""

from __future__ import annotations

from expbench.execution_eval.submitting import Submitted
from expbench.grounding import ground_execution, grounding_score
from expbench.schema import Execution, Grounding, Score
from expbench.workspace import BlobStore, shipped_documents


def ground_by_rules(
    given: Submitted, executions: tuple[Execution, ...], store: BlobStore
) -> tuple[Grounding, Score]:
    """Every claim of the conclusion against the re-runs, and G."""
    shipped = shipped_documents(given.prepared)
    grounding = ground_execution(given.task, given.text, executions, store, shipped)
    return grounding, grounding_score(grounding)
