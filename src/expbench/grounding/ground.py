"""Grounding a conclusion: does it follow from what a clean re-run put out?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from expbench.errors import DataError
from expbench.grounding.courses import Relations
from expbench.grounding.extraction import extract
from expbench.grounding.literals import Literals, literals_of
from expbench.grounding.numbers import Numbers
from expbench.grounding.outputs import Outputs
from expbench.grounding.passages import Conclusion
from expbench.grounding.scene import Scene, is_number
from expbench.grounding.witnesses import Witnesses
from expbench.schema import (
    Execution,
    Extraction,
    GroundedClaim,
    Grounding,
    ReportedClaim,
    ResearchTask,
    Score,
    SubmissionText,
)
from expbench.workspace import BlobStore

_MOST = 300
_TOO_MANY = f"only the first {_MOST} claims of a conclusion are looked up"
_EXCHANGED = "there it is the number of the other name that its sentence compares"


def ground(
    conclusion: str,
    claims: Sequence[ReportedClaim],
    outputs: Outputs,
    literals: Literals | None = None,
    context: str = "",
) -> Grounding:
    """A verdict for each claim of a conclusion against the outputs of one or more re-runs.

    Args:
        context: what the conclusion answers; it may name the metric that the outputs leave out.
    """
    scene = Scene(Conclusion(conclusion), outputs, claims, context)
    numbers = Numbers(scene, literals or Literals())
    compared = Relations(scene, literals or Literals())
    first: dict[int, GroundedClaim] = {}
    for _ in range(2):  # what follows from other numbers of its sentence needs those first
        for at, claim in enumerate(claims[:_MOST]):
            known = first.get(at)
            if claim.kind == "number" and (known is None or known.state != "grounded"):
                first[at] = _count(numbers.ground(claim), scene, compared)
            elif known is None:
                first[at] = compared.ground(claim)
    _tell(first, scene, Witnesses(scene, compared, numbers.pairs))
    found = [first[at] for at in sorted(first)]
    found += map(_not_looked_up, claims[_MOST:])
    return Grounding(claims=tuple(found), runs=max(1, len(outputs.runs)))


def _tell(first: dict[int, GroundedClaim], scene: Scene, witnesses: Witnesses) -> None:
    """Judge relations by the numbers that are told with them, and those by their order."""
    exchanged: set[int] = set()
    for at, each in first.items():
        if each.claim.kind != "number":
            exchanged |= {start for start, _ in witnesses.exchanged(each.claim)}
            first[at] = witnesses.judged(each.claim, each)
    for at, each in first.items():
        figure = scene.figure(each.claim) if each.claim.kind == "number" else None
        if figure is not None and figure.start in exchanged and each.state == "grounded":
            told = {"state": "contradicted", "reason": _EXCHANGED}
            first[at] = each.model_copy(update=told)


def _not_looked_up(claim: ReportedClaim) -> GroundedClaim:
    """A claim too many: it counts, so that nothing is hidden behind hundreds of others."""
    essential = claim.model_copy(update={"essential": True})
    return GroundedClaim(claim=essential, state="not_found", reason=_TOO_MANY)


def _count(found: GroundedClaim, scene: Scene, compared: Relations) -> GroundedClaim:
    """*In 3 of 5 seeds*: counted where the outputs do not say it themselves."""
    figure = scene.figure(found.claim)
    passage = scene.conclusion.passage(found.claim.start)
    if found.state == "grounded" or figure is None or figure.total is None or passage is None:
        return found
    names = [
        m for m in scene.within(*passage.sentence) if m.end <= figure.start and not is_number(m)
    ]
    k, n = int(figure.value), int(figure.total)
    return (
        compared.counted(found.claim, names, k, n)
        or compared.won(found.claim, names, k, n)
        or found
    )


def ground_execution(
    task: ResearchTask,
    submission: SubmissionText,
    executions: Execution | Sequence[Execution],
    store: BlobStore,
    shipped: Mapping[str, str] | None = None,
    claims: Extraction | None = None,
) -> Grounding:
    """Ground a submission's conclusion in its clean re-runs.

    Args:
        executions: one re-run, or k of them, of which those that ended well count.
        store: where the outputs of the re-runs are kept.
        shipped: documents and result files of the repository by path
            (:func:`expbench.workspace.shipped_documents`).
        claims: what was taken from the conclusion with a model; by rules otherwise. One that failed is
            not made good by the rules: the grounding is then unscored.
    """
    if claims is not None and claims.reason:
        return Grounding(by=claims.by, reason=f"infrastructure: no claims: {claims.reason}")
    given = [executions] if isinstance(executions, Execution) else list(executions)
    found = extract(submission.conclusion, task) if claims is None else claims.claims
    by = "rules" if claims is None else claims.by
    ran = [each for each in given if each.state == "ran"]
    if not ran and any(each.state == "infrastructure" for each in given):
        cause = next(each.cause for each in given if each.state == "infrastructure")
        return Grounding(by=by, reason=f"infrastructure: {cause}")
    if not found:
        return Grounding(
            by=by, reason="the conclusion has no number or relation that a run could show"
        )
    if not ran:
        return Grounding(claims=_unproduced(found, given), by=by, reason=_why_not(given))
    try:
        outputs = Outputs.of_executions(ran, store)
    except DataError as error:
        return Grounding(by=by, reason=f"infrastructure: {error}")
    made = {file.path for each in ran for file in each.made}
    aside = {path for each in ran for path in each.set_aside}
    literals = literals_of(submission, shipped, made, aside)
    asked = f"{task.question}\n{task.method}"
    result = ground(submission.conclusion, found, outputs, literals, asked)
    return result.model_copy(update={"by": by})


def grounding_score(grounding: Grounding) -> Score:
    """G: 1 when every essential claim that a run can show is grounded, else 0.

    Without such a claim, or when the harness failed, there is no score.
    """
    checked = [
        each for each in grounding.claims if each.claim.essential and each.state != "not_checkable"
    ]
    unscored = sum(each.state == "not_checkable" for each in grounding.claims)
    if not checked:
        reason = grounding.reason or "no claim of the conclusion can be checked against a run"
        return Score(reason=reason, unscored=max(1, unscored))
    met = sum(each.state == "grounded" for each in checked)
    missed = [each for each in checked if each.state != "grounded"]
    reason = grounding.reason
    if missed and not reason:
        first = missed[0]
        reason = f"{first.state.replace('_', ' ')}: {first.claim.text[:120]}"
        reason += f" ({first.reason})" if first.reason else ""
    return Score(
        value=float(not missed), reason=reason, met=met, not_met=len(missed), unscored=unscored
    )


def _unproduced(
    claims: Sequence[ReportedClaim], executions: Sequence[Execution]
) -> tuple[GroundedClaim, ...]:
    reason = _why_not(executions)
    return tuple(GroundedClaim(claim=claim, state="not_found", reason=reason) for claim in claims)


def _why_not(executions: Sequence[Execution]) -> str:
    if not executions:
        return "nothing was executed"
    one = executions[0]
    words = {
        "no_script": "there is no script to run",
        "timed_out": "the re-run did not end in time",
    }
    return words.get(one.state, "the re-run failed") + (f": {one.cause}" if one.cause else "")
