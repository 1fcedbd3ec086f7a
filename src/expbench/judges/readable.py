"""Prose as a reader sees it: without hidden text, encoded text, file names and words to the judge.

A design or a conclusion is addressed to nobody. A paragraph that tells a judge what to decide is no part
of it, whatever variables and values it repeats; nor is what stands between signs that turn the direction
of writing, what no eye sees, or a block of encoded text. All of it is blanked, so that every place in the
text stays where it is.
"""

from __future__ import annotations

import re
import unicodedata

_TURNED = re.compile("[\u202d\u202e\u2066-\u2068][^\u202c\u2069\n]*[\u202c\u2069]?")
_ENCODED = re.compile(r"(?<!\S)[A-Za-z0-9+/_-]{60,}={0,2}(?!\S)")
_FILE = re.compile(
    r"[\w./\\-]{0,120}\w\.(?:py|ipynb|sh|json|ya?ml|toml|md|rst|txt|csv|log|cfg)\b", re.IGNORECASE
)
_TO_THE_JUDGE = re.compile(
    r"\b(?:for|to|dear) (?:the |any |our )?grader\b|\bas (?:the|your) (?:grader|judge)\b"
    r"|[\"']verdict[\"']\s*:|\bnot_met\b|\bitem to decide\b"
    r"|\b(?:count|mark|grade|score|treat|regard)(?:s|ed)? (?:\w+ ){0,6}as (?:met|present|fulfilled)\b"
    r"|\b(?:every|each|all)(?: of the)? (?:items?|claims?|requirements?) (?:is|are|was|were|as) met\b"
    r"|\b(?:ignore|disregard|forget) (?:all |any |the |these |those )*"
    r"(?:earlier|previous|prior) (?:instructions|rules|orders)\b",
    re.IGNORECASE,
)


def readable(text: str) -> str:
    """The text with everything blanked that is no prose; as long as it was."""
    text = _TURNED.sub(_blank, text)
    if not text.isascii():
        text = "".join(" " if _is_hidden(sign) else sign for sign in text)
    text = _FILE.sub(_blank, _ENCODED.sub(_blank, text))
    if not _TO_THE_JUDGE.search(text):
        return text
    return "\n".join(
        " " * len(line) if _TO_THE_JUDGE.search(line) else line for line in text.split("\n")
    )


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_hidden(sign: str) -> bool:
    return not sign.isascii() and unicodedata.category(sign) in ("Cf", "Cs", "Co", "Cn")
