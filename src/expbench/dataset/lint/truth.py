"""Rules over the ground truth: is there a finding to reproduce, and is the graded code really absent?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from expbench.dataset.lint.finding import Finding, finding, span
from expbench.schema import ResearchTask

SHORT_WORDS = 20

_HEDGE = re.compile(
    r"\b(?:(?:is|are|was|were|be)\s+(?:\w+ly\s+)?(?:expected|anticipated|hypothesi[sz]ed|predicted|"
    r"likely)|expect(?:s|ed|ation)?|anticipat\w+|should|hypothesi[sz]\w*|likely)\b",
    re.I,
)
_BUILD = re.compile(
    r"^\W*(?:how (?:can|do|would|could|might) (?:you|i|we|one)\b|how to\b|"
    r"(?:implement|create|build|write|use|develop|run|set up|design|train)\b|can you\b)",
    re.I,
)
_PRODUCT = re.compile(
    r"^\W*(?:(?:an?|the|one|multiple|several)\s+(?:[\w-]+\s+){0,4})?"
    r"(?:script|program|implementation|notebook|visuali[sz]ations?|plots?|figures?|gifs?|files?|"
    r"reports?|command|json|csv|images?|tables?)\b",
    re.I,
)


def truth_findings(task: ResearchTask) -> Iterator[Finding]:
    """All findings in a task's ground truth and structure."""
    yield from _outcome(task)
    yield from _structure(task)


def _outcome(task: ResearchTask) -> Iterator[Finding]:
    outcome = task.reference.conclusion
    if match := _HEDGE.search(outcome):
        place = span("expected_outcome", *match.span())
        yield finding(task.id, "hedged_outcome", place, outcome[max(0, match.start() - 30) :][:90])
    words = len(outcome.split())
    if words < SHORT_WORDS:
        yield finding(task.id, "short_outcome", "expected_outcome", f"{words} words: {outcome}")
    if task.type == 2 and _BUILD.search(task.question):
        yield finding(task.id, "artefact_outcome", "question", task.question)
    elif match := _PRODUCT.search(outcome):
        place = span("expected_outcome", *match.span())
        yield finding(task.id, "artefact_outcome", place, outcome)


def _structure(task: ResearchTask) -> Iterator[Finding]:
    reference = task.reference
    cited = {c.path for step in reference.requirements for c in step.citations}
    if task.mask and cited and not any(_cites(path, task.mask) for path in cited):
        evidence = f"cited: {', '.join(sorted(cited))}; masked: {', '.join(sorted(task.mask))}"
        yield finding(task.id, "requirements_cite_unmasked_only", "requirements", evidence)
    if not reference.requirements:
        yield finding(task.id, "no_requirements", "requirements", f"type {task.type}")
    if not reference.design:
        yield finding(task.id, "no_design", "design_complexity", "no variable")
    if not task.mask:
        yield finding(task.id, "no_mask", "masked_source", f"type {task.type}")


def _cites(path: str, masked: tuple[str, ...]) -> bool:
    """Whether a cited path, which may be a pattern or lack its folder, is a masked one."""
    return any(
        name == path or name.endswith(f"/{path}") or fnmatchcase(name, path) for name in masked
    )
