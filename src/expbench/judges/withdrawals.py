"""Whether a text takes back, further down, what it says."""

from __future__ import annotations

import re

_WITHDRAWN = re.compile(
    r"\b(?:no longer (?:true|holds?|valid|the case)|(?:does|do|did)(?: not|n['’]t) (?:hold|survive|"
    r"replicate)|"
    r"(?:was|were|is|are|turned out(?: to be)?) (?:wrong|mistaken|false|a mistake|"
    r"an art[ei]fact|due to a bug)|"
    r"(?:is|was) not true|not true after all|retract\w*|withdr[ae]w\w*|"
    r"(?:take|took) (?:it|this|that) back|disappear\w* (?:after|once) (?:the )?(?:fix|correct)\w*)\b",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"\b(?:correction|erratum|on (?:a )?second (?:look|thought)s?|a second look|"
    r"after (?:fixing|the fix|correcting|the correction)|at first we|first we thought|"
    r"in fact the opposite)\b",
    re.IGNORECASE,
)


def is_withdrawn(sentence: str) -> bool:
    """Whether a sentence says that something does not hold after all."""
    return bool(_WITHDRAWN.search(sentence))


def is_corrected(sentence: str) -> bool:
    """Whether a sentence announces that it corrects what was said."""
    return bool(_CORRECTED.search(sentence))
