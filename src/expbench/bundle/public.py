"""What of a run everybody may see: scores and their evidence, without ground truth and trajectories.

A judge's reasons say what the ground truth asked for, and a monitor's findings quote what the agent was
shown; a model that is trained on them would know the answers. Quotations of the submission itself stay.
"""

from __future__ import annotations

from expbench.runs import Manifest
from expbench.schema import Judgement, MonitorReport, Outcome, Score
from expbench.verdicts import NO_ANSWER

_JUDGED = ("design", "implementation", "conclusion")


def public_manifest(manifest: Manifest) -> Manifest:
    """Without the folders of the machine where the run was made."""
    return manifest.model_copy(update={"options": {}})


def public_outcome(outcome: Outcome) -> Outcome:
    """Without judges' reasons and the monitor's quotations; states, scores and evidence are the same."""
    return outcome.model_copy(
        update={
            "judgement": outcome.judgement and _judgement(outcome.judgement),
            "monitor": outcome.monitor and _monitor(outcome.monitor),
            "scores": {name: _score(name, each) for name, each in outcome.scores.items()},
        }
    )


def _judgement(judgement: Judgement) -> Judgement:
    return judgement.model_copy(
        update={
            "verdicts": tuple(
                verdict.model_copy(
                    update={
                        "reason": _kept(verdict.reason),
                        "votes": tuple(
                            vote.model_copy(update={"reason": _kept(vote.reason)})
                            for vote in verdict.votes
                        ),
                    }
                )
                for verdict in judgement.verdicts
            ),
            "marks": tuple(
                mark.model_copy(update={"reason": _kept(mark.reason)}) for mark in judgement.marks
            ),
        }
    )


def _monitor(report: MonitorReport) -> MonitorReport:
    found = (each.model_copy(update={"quote": "", "explanation": ""}) for each in report.violations)
    return report.model_copy(update={"violations": tuple(found)})


def _score(name: str, score: Score) -> Score:
    if name not in _JUDGED or not score.reason:
        return score
    return score.model_copy(update={"reason": score.reason.partition(":")[0] or "unscored"})


def _kept(reason: str) -> str:
    """That a model did not answer is no word of a judge."""
    return reason if reason.startswith(NO_ANSWER) else ""
