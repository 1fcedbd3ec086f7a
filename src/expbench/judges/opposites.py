"""Whether code does the opposite of what a step asks for: the other split, the largest for the smallest."""

from __future__ import annotations

import re
from collections.abc import Mapping

_Group = Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]


def _group(**words: tuple[str, str]) -> _Group:
    return {name: (re.compile(asked), re.compile(done)) for name, (asked, done) in words.items()}


_GROUPS = (
    _group(
        train=(
            r"\btrain(?:ing)? (?:set|split|nodes|data|images|examples|part)",
            r"(?<![a-z])train(?:_?(?:mask|set|idx|loader|x|y|data)|\b)|x_tr|y_tr",
        ),
        val=(r"\bvalidation|held-out", r"(?<![a-z])val(?:id(?:ation)?)?(?![a-z]*ue)(?![a-tv-z])"),
        test=(r"\btest\b", r"(?<![a-z])test(?![a-z])"),
    ),
    _group(
        low=(r"\b(?:lowest|smallest|minim\w+|fewest|least)\b", r"(?:arg)?min(?![a-z])|<"),
        high=(
            r"\b(?:highest|largest|maxim\w+|most|greatest)\b",
            r"(?:arg)?max(?![a-z])|>|reverse=true",
        ),
    ),
    _group(
        mean=(r"\b(?:mean|average)\b", r"mean|average|/ ?len\(|/ ?n\b"),
        median=(r"\bmedian\b", r"median"),
    ),
)
"""Of what excludes each other: how a step names it, and how code does."""


def does_the_opposite(step: str, code: str) -> bool:
    """Whether of one such group the code has something, and nothing that the step names."""
    step, code = step.lower(), code.lower()
    for group in _GROUPS:
        asked = {name for name, (pattern, _) in group.items() if pattern.search(step)}
        done = {name for name, (_, pattern) in group.items() if pattern.search(code)}
        if asked and done and not asked & done:
            return True
    return False
