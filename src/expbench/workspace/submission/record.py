"""What was collected from a workspace as the records that judges and re-runs work on."""

from __future__ import annotations

from expbench.schema import Blob, Submission, SubmissionText
from expbench.workspace.prepare import Prepared
from expbench.workspace.store import BlobStore
from expbench.workspace.submission.collect import Collected
from expbench.workspace.submission.response import parse_response


def record_submission(
    found: Collected,
    task_id: str,
    prepared: Prepared,
    store: BlobStore,
    trajectory: Blob | None = None,
) -> tuple[Submission, SubmissionText]:
    """A submission with its parts in the store, and its text for judges. Raises OSError."""
    response = parse_response(found.response)
    text = SubmissionText(
        design=response.design or "",
        conclusion=response.conclusion or "",
        diff=found.diff,
        script=(found.script or b"").decode("utf-8", errors="replace"),
        changed=found.changed,
    )
    submission = Submission(
        task_id=task_id,
        base_tree=prepared.tree,
        design=response.design,
        conclusion=response.conclusion,
        patch=store.put(found.patch),
        text=store.put(text.model_dump_json().encode()),
        script=store.put(found.script) if found.script is not None else None,
        response=store.put(found.response) if found.response is not None else None,
        trajectory=trajectory,
        changed=found.changed,
        left_out=found.left_out,
        problems=response.problems,
    )
    return submission, text
