"""A judge without a model: offline, free, and always the same.

It compares words, values, directions and code, as :mod:`~expbench.judges.prose` and
:mod:`~expbench.judges.code` describe. It is made for tests, for checking that a task can be passed
at all, and for comparing runs cheaply; it understands nothing, and its scores are not scores of the
benchmark. What it looks for is what the item says; instructions inside a submission are just more
words.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyio import to_thread

from expbench.judges.base import decided_without_judge, verdict_on
from expbench.judges.code import CodeMatcher
from expbench.judges.excerpt import excerpt
from expbench.judges.prose import Match, match_claim, match_design
from expbench.judges.source import added_code
from expbench.schema import Judgement, ResearchTask, RubricItem, SubmissionText, Verdict

_BUDGET = 100_000
"""Characters of prose that are compared with one item; of more, the parts nearest to it."""


class BaselineJudge:
    """The lexical judge."""

    name = "baseline"

    async def judge(
        self, items: Sequence[RubricItem], submission: SubmissionText, task: ResearchTask
    ) -> Judgement:
        """One verdict for each item, in their order; in a thread, since it only computes."""
        return await to_thread.run_sync(self._judge, items, submission)

    def _judge(self, items: Sequence[RubricItem], submission: SubmissionText) -> Judgement:
        decided = decided_without_judge(items, submission)
        code = CodeMatcher(added_code(submission))
        verdicts = [decided.get(item.id) or _decide(item, submission, code) for item in items]
        return Judgement(judge=self.name, verdicts=tuple(verdicts))


def _decide(item: RubricItem, submission: SubmissionText, code: CodeMatcher) -> Verdict:
    match = _match(item, submission, code)
    return verdict_on(item, match.met, match.evidence if match.met else "", match.reason)


def _match(item: RubricItem, submission: SubmissionText, code: CodeMatcher) -> Match:
    if item.phase == "implementation":
        return code.match(item.text, item.code, from_method=item.kind == "method")
    if item.phase == "design":
        design = excerpt(submission.design, item.text, _BUDGET).text
        return match_design(item.text, item.kind, design)
    return match_claim(item.text, excerpt(submission.conclusion, item.text, _BUDGET).text)
