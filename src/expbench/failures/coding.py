"""Pass 2 without a model: an insight's code by rule, by words that tell it, or by the nearest description.

A cause that a rule knows decides. What a judge said in its own words is held against the cues of the
phase's codes, longest first, and then against their descriptions. Which of them decided is kept, since they
are not equally good.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from expbench.failures.codebook import OTHER, Code, Codebook, FailurePhase
from expbench.failures.insights import Insight
from expbench.failures.similarity import Prototypes
from expbench.schema import Record

_READ = 2_000
"""Characters in which words are looked for; an error is told in its first sentences."""
_SPEAKS = 12
"""What a topic or a pattern speaks for a code, as so many characters of its cues."""
_NEAR = 0.12
"""The least likeness that counts; below it an insight fits no code."""

How = Literal["rule", "words", "likeness", "none", "model", "unanswered"]


class Coded(Record):
    """An insight with its code, and what decided: a rule, telling words, likeness, or a model.

    ``none``: no code fits. ``unanswered``: a model was asked and gave no usable answer; that is no code.
    """

    insight: Insight
    code: str
    by: How


class Coder:
    """The rule coder over one codebook."""

    def __init__(self, book: Codebook) -> None:
        self.book = book

    def code(self, insights: Iterable[Insight]) -> tuple[Coded, ...]:
        """Each insight with a code of its phase, or ``PHASE/other``."""
        return tuple(self._code(insight) for insight in insights)

    def _code(self, insight: Insight) -> Coded:
        codes = self._phases.get(insight.phase, [])
        for known, code in codes:
            if insight.cause and insight.cause in code.causes:
                return Coded(insight=insight, code=known, by="rule")
        said = (insight.cause or insight.text).lower()
        if told := self._by_words(codes, said):
            return Coded(insight=insight, code=told, by="words")
        if codes:
            near = self._prototypes[insight.phase].nearness(said)
            best = max(range(len(codes)), key=near.__getitem__)
            if near[best] >= _NEAR:
                return Coded(insight=insight, code=codes[best][0], by="likeness")
        return Coded(insight=insight, code=f"{insight.phase}/{OTHER}", by="none")

    @staticmethod
    def _by_words(codes: list[tuple[str, Code]], said: str) -> str:
        """The code that most speaks for, of equal ones the first; empty without any."""
        said = said[:_READ]
        best, most = "", 0
        for known, code in codes:
            cues = sum(len(cue) for cue in code.cues if _there(cue, said))
            about = sum(_there(topic, said) for topic in code.topics)
            told = cues + _SPEAKS * (
                about + sum(re.search(each, said) is not None for each in code.patterns)
            )
            if told > most:
                best, most = known, told
        return best

    @cached_property
    def _phases(self) -> dict[FailurePhase, list[tuple[str, Code]]]:
        found: dict[FailurePhase, list[tuple[str, Code]]] = {}
        for known, phase, _, code in self.book.codes():
            found.setdefault(phase, []).append((known, code))
        return found

    @cached_property
    def _prototypes(self) -> dict[FailurePhase, Prototypes]:
        return {
            phase: Prototypes([code.prototype for _, code in codes])
            for phase, codes in self._phases.items()
        }


def _there(words: str, said: str) -> bool:
    """Whether words stand in a text, from the beginning of a word on."""
    return re.search(rf"(?<![a-z0-9_]){re.escape(words)}", said) is not None
