"""Which drafts are finished: verified as they are, and with nothing that a reviewer rejected."""

from __future__ import annotations

from expbench.construct.project import Project
from expbench.construct.records import Draft
from expbench.construct.verifying import seen_draft, verified_now
from expbench.errors import UserError


def finished(project: Project, unanswered: bool) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    """The drafts to export, with reviewers' fixes, and why others are not among them.

    Args:
        unanswered: also those that no program of the repository answers, which have no solution.

    Raises:
        UserError: there is none.
    """
    chosen, left = [], []
    for draft in project.drafts():
        seen = seen_draft(project, draft)
        if why := _left_out(project, draft, seen, unanswered):
            left.append(f"{draft.id} is left out: {why}.")
        else:
            chosen.append(seen)
    if not chosen:
        raise UserError(
            f"No draft of {project.root} is finished: `expbench construct status {project.root}` says "
            "how far each is."
        )
    return tuple(chosen), tuple(left)


def _left_out(project: Project, draft: Draft, seen: Draft, unanswered: bool) -> str:
    if draft.refused:
        return f"refused, {draft.refused[:200]}"
    if seen.rejected:
        return f"a reviewer rejected {', '.join(seen.rejected)}"
    if draft.no_answer:
        return "" if unanswered else "no program of the repository answers it (--unanswered)"
    if not draft.verified:
        return "it is not verified"
    if not verified_now(project, draft):
        return "a reviewer fixed it since it was verified, so verify again"
    return ""
