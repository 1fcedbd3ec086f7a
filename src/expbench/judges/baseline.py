"""A judge without a model: offline, free, and always the same.

It compares words, values, directions and code: :mod:`~expbench.judges.designs`,
:mod:`~expbench.judges.claims` and :mod:`~expbench.judges.code` find what speaks for and against an item,
:mod:`~expbench.judges.weighing` adds it up. It is made for tests, for checking that a task can be passed
at all, and for comparing runs cheaply; it understands nothing, and its scores are not scores of the
benchmark. What it looks for is what the item says; instructions inside a submission are just more
words.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyio import to_thread

from expbench.judges.base import JudgeContext, decided_without_judge, verdict_on
from expbench.judges.code import CodeMatcher
from expbench.judges.excerpt import excerpt
from expbench.judges.prose import Similarity, match_claim, match_design
from expbench.judges.source import added_code
from expbench.judges.weighing import Match
from expbench.schema import Judgement, ResearchTask, RubricItem, SubmissionText, Verdict

_BUDGET = 100_000
"""Characters of prose that are compared with one item; of more, the parts nearest to it."""


BASELINE, EMBEDDED = "baseline", "baseline+embedding"
BASELINES = (BASELINE, EMBEDDED)
"""The judges that ask no model; their scores are no scores of the benchmark."""


class BaselineJudge:
    """The lexical judge. ``alike`` is the similarity that one with the extra ``embedding`` uses too."""

    name = BASELINE
    prompt_digest = ""

    def __init__(self, alike: Similarity | None = None) -> None:
        self._alike = alike

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One verdict for each item, in their order; in a thread, since it only computes."""
        return await to_thread.run_sync(self._judge, items, submission, task)

    def _judge(
        self, items: Sequence[RubricItem], submission: SubmissionText, task: ResearchTask
    ) -> Judgement:
        decided = decided_without_judge(items, submission)
        code = CodeMatcher(added_code(submission, task.mask))
        verdicts = [decided.get(item.id) or self._decide(item, submission, code) for item in items]
        return Judgement(
            judge=self.name, prompt_digest=self.prompt_digest, verdicts=tuple(verdicts)
        )

    def _decide(self, item: RubricItem, submission: SubmissionText, code: CodeMatcher) -> Verdict:
        match = self._match(item, submission, code)
        return verdict_on(item, match.met, match.evidence if match.met else "", match.reason)

    def _match(self, item: RubricItem, submission: SubmissionText, code: CodeMatcher) -> Match:
        if item.phase == "implementation":
            return code.match(item.text, item.code, from_method=item.kind == "method")
        if item.phase == "design":
            design = excerpt(submission.design, item.text, _BUDGET).text
            return match_design(item.text, item.kind, design, self._alike)
        conclusion = excerpt(submission.conclusion, item.text, _BUDGET).text
        return match_claim(item.text, conclusion, self._alike)
