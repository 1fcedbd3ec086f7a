"""Claims of a conclusion that a run could show, found by rules: numbers first.

What is said of settings, of other people's results and of the future is no claim
(:mod:`~expbench.grounding.settings`). Relations are found by :mod:`~expbench.grounding.relations`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from expbench.grounding.figures import Figure
from expbench.grounding.passages import Conclusion, Passage
from expbench.grounding.relations import relations
from expbench.grounding.settings import SMALL, Prompt, clause_of, no_claim
from expbench.schema import ReportedClaim, ResearchTask

_ABOVE = re.compile(
    r"(?:\b(?:above|more than|at least|exceed(?:s|ed|ing)?|greater than|higher than|larger than|"
    r"no less than|"
    r"not less than|over)|(?<![-=])[>≥])\s?(?:only |about |±)?$",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"(?:\b(?:below|under|less than|at most|no more than|fewer than|lower than|smaller than|not exceeding|"
    r"never (?:exceeds|reaches|above))|[<≤])\s?(?:only |about )?$",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"\b(?:(?:top-\d|test|train(?:ing)?|validation|mean|final|best|average|log|cumulative|exact)[ -])?"
    r"(?:accurac(?:y|ies)|f1(?:[ -]score)?|auc|auroc|precision|recall|loss(?:es)?|rmse|mae|mse|mase|"
    r"brier(?: scores?)?|"
    r"ece|nll|perplexity|bleu|rouge|rewards?|returns?|regrets?|coverage|width|errors?|bias(?:es)?|variance|"
    r"r\^?2|correlation|scores?|rates?|time|runtime|throughput|latency|memory|speed-?ups?|ratios?|factors?|"
    r"gaps?|shd|suboptimality|winkler|temperature|p-values?|p(?= =))\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:at|for|with|under|when|in|on|after|from)\s(?:an?\s|the\s)?[^,;:()]{1,40}?(?=$|[,;:()]|\s(?:and|"
    r"but|is|was|has|"
    r"reach\w*|with)\s)",
    re.IGNORECASE,
)
_TEXT_BREAK = re.compile(r"[;:(]\s?|,\s|\.\s")
LONGEST = 20_000
"""Characters of a conclusion that are read."""
_MOST_CLAIMS = 2_000
_LONGEST = 200


def extract(conclusion: str, task: ResearchTask | None = None) -> tuple[ReportedClaim, ...]:
    """All claims by rules, in the order of the text."""
    text = Conclusion(conclusion[:LONGEST])
    found = [*_numbers(text, Prompt(task)), *relations(text)]
    return tuple(sorted(found, key=lambda claim: (claim.start, claim.end))[:_MOST_CLAIMS])


def _numbers(text: Conclusion, prompt: Prompt) -> list[ReportedClaim]:
    kept: list[tuple[Figure, Passage]] = []
    reasons: dict[int, str] = {}
    for at, figure in enumerate(text.figures):
        passage = text.passage(figure.start)
        if passage is None:
            continue
        reason = no_claim(text, figure, passage, prompt) or _listed(text, at, reasons)
        if reason == SMALL and _goes_on_counts(text, kept, figure, passage):
            reason = ""
        reasons[at] = reason
        if not reason:
            kept.append((figure, passage))
    around = [None, *(figure for figure, _ in kept), None]
    return [
        _number_claim(text, figure, passage, around[at], around[at + 2])
        for at, (figure, passage) in enumerate(kept)
    ]


def _goes_on_counts(
    text: Conclusion, kept: Sequence[tuple[Figure, Passage]], figure: Figure, passage: Passage
) -> bool:
    """Whether a small number goes on the counts before it, perhaps behind a share: *A 88 (29 %), B 83*."""
    counted = next((f for f, _ in reversed(kept) if f.unit != "percent"), None)
    return counted is not None and _goes_on(text, counted, kept[-1][0].end, figure, passage)


def _goes_on(text: Conclusion, before: Figure, end: int, figure: Figure, passage: Passage) -> bool:
    """Whether a small number goes on counts of one sentence: *A solves 88 of 100, B 83 and C 61*."""
    between = text.text[end : figure.start]
    counted = before.whole and (before.total is not None or before.unit == "")
    named = re.fullmatch(
        r"[^.;:\d]{0,20},\s(?:and\s)?[^.;:]{2,50}\s|\sand\s[^.;:\d]{2,40}\s", between
    )
    placed = re.search(r"\b(?:at|in|for|with|from|to|over|than|of|=)\s$|=$", between)
    ended = re.match(r"\s?(?:[,.;()]|and\b|but\b|$)", text.text[figure.end : passage.end])
    return bool(counted and named and ended and not placed)


def _listed(text: Conclusion, at: int, reasons: dict[int, str]) -> str:
    """A figure that goes on a list of settings is one: *learning rates 0.1, 0.3 and 0.5*."""
    before = reasons.get(at - 1, "") if at else ""
    if before not in ("a setting", SMALL):
        return ""
    one, other = text.figures[at - 1], text.figures[at]
    between = text.text[one.end : other.start]
    joined = re.fullmatch(r"\s*(?:,|/|and|or|to|up to|,\s*and|[–-])\s*", between)
    alike = other.unit == "" and other.total is None and (other.whole or not one.whole)
    if re.match(r"\s(?:at|for|with|in)\s|\s\(", text.text[other.end :]) and "to" in between:
        return ""
    return before if joined and alike else ""


def _number_claim(
    text: Conclusion, figure: Figure, passage: Passage, before: Figure | None, after: Figure | None
) -> ReportedClaim:
    start, end = _span(text.text, figure, passage, before, after)
    clause, _ = clause_of(text.text, figure, passage)
    head = text.text[max(passage.start, figure.start - 30) : figure.start]
    metric = _nearest(_METRIC, text.text, figure, passage)
    condition = _CONDITION.search(
        text.text[figure.end : min(passage.end, figure.end + _LONGEST)]
    ) or _CONDITION.search(clause)
    bound = (
        ">" if _is_bound(_ABOVE, head, figure) else "<" if _is_bound(_BELOW, head, figure) else ""
    )
    return ReportedClaim(
        text=text.text[start:end],
        kind="number",
        start=start,
        end=end,
        value=figure.value,
        error=figure.error,
        unit=figure.unit or ("fraction" if not figure.whole and abs(figure.value) < 1 else ""),
        metric=metric,
        condition=condition[0].strip() if condition else "",
        relation=bound,
        essential=figure.unit != "seconds",
    )  # fmt: skip


def _is_bound(pattern: re.Pattern[str], head: str, figure: Figure) -> bool:
    match = pattern.search(head)
    if match is None:
        return False
    if match[0].lower().startswith(("over", "under")):
        return figure.unit == "percent" or not figure.whole
    return not re.search(
        r"\b(?:times|points?|percent|%|x|fold|\d)\s(?:as\s)?$", head[: match.start()]
    )


def _span(
    text: str, figure: Figure, passage: Passage, before: Figure | None, after: Figure | None
) -> tuple[int, int]:
    """The words around a figure that belong to no other claim."""
    floor = max(passage.start, before.end if before else 0)
    ceiling = min(passage.end, after.start if after else len(text))
    start = floor
    for match in _TEXT_BREAK.finditer(text, floor, figure.start):
        start = match.end()
    if after and after.start < passage.end:
        ceiling = max(figure.end, min(ceiling, _joint(text, figure.end, after.start)))
    stop = _TEXT_BREAK.search(text, figure.end, ceiling)
    closing = text.find(")", figure.end, ceiling)
    ends = [stop.start() if stop else ceiling]
    end = min([*ends, closing] if closing >= 0 else ends)
    start, end = max(start, figure.start - _LONGEST), min(end, figure.end + _LONGEST)
    while start < figure.start and text[start] in " \n\t,;:)/–-.(":
        start += 1
    while end > figure.end and text[end - 1] in " \n\t,;:(/.":
        end -= 1
    return start, end


def _joint(text: str, start: int, end: int) -> int:
    """Where a claim ends and the next one's words begin."""
    match = re.compile(r",|;|\s(?:and|vs\.?|versus|against|to|while|but)\s|/|\s\(").search(
        text, start, end
    )
    return match.start() if match else end


def _nearest(pattern: re.Pattern[str], text: str, figure: Figure, passage: Passage) -> str:
    """The match that stands nearest before the figure in its sentence, else right behind it."""
    start = max(passage.sentence[0], figure.start - _LONGEST)
    before: Sequence[re.Match[str]] = list(pattern.finditer(text, start, figure.start))
    after = pattern.match(text, figure.end + 1, passage.end)
    if after:
        return after[0]
    return before[-1][0] if before else ""
