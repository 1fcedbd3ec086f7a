"""What every judge is shown beside: a coin, and a judge to whom everything is met."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from expbench.judges.base import JudgeContext, verdict_on
from expbench.schema import Judgement, ResearchTask, RubricItem, SubmissionText

RANDOM = "random"
ALWAYS_MET = "always met"


class RandomJudge:
    """Tosses a fair coin for each item; the same seed, submission and item fall the same way."""

    name = RANDOM

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One verdict for each item, in their order."""
        start = hashlib.sha256(f"{self._seed}\0{task.id}\0".encode())
        start.update(submission.model_dump_json().encode(errors="surrogatepass"))
        verdicts = []
        for item in items:
            toss = start.copy()
            toss.update(f"\0{item.id}\0{item.text}".encode(errors="surrogatepass"))
            verdicts.append(verdict_on(item, met=bool(toss.digest()[0] & 1)))
        return Judgement(judge=self.name, verdicts=tuple(verdicts))


class AlwaysMetJudge:
    """Finds everything met."""

    name = ALWAYS_MET

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One verdict for each item, in their order."""
        return Judgement(
            judge=self.name, verdicts=tuple(verdict_on(item, met=True) for item in items)
        )
