"""Lines of a paragraph as running text: words that were broken at a line's end are whole again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from expbench.papers.lines import Line

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_GOES_ON = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Vocabulary:
    """How often words and words with hyphens stand inside the lines of a document."""

    counts: Counter[str]

    def joins(self, before: str, behind: str) -> bool:
        """Whether a hyphen at a line's end is the line's and not the word's.

        The document decides, where it has the word elsewhere; else a hyphen between two words that it
        has alone is taken for their own.
        """
        whole, hyphened = f"{before}{behind}".lower(), f"{before}-{behind}".lower()
        if self.counts[whole] or self.counts[hyphened]:
            return self.counts[whole] >= self.counts[hyphened]
        parts = (before.lower().rsplit("-", 1)[-1], behind.lower())
        return not all(self.counts[each] and len(each) > 2 for each in parts)


def vocabulary_of(texts: Iterable[str]) -> Vocabulary:
    """Words of lines; what is broken at a line's end is not counted."""
    counts: Counter[str] = Counter()
    for text in texts:
        inside = text[: -len(match[0])] if (match := _BROKEN.search(text)) else text
        for word in _WORD.findall(inside.lower()):
            counts[word] += 1
            if "-" in word:
                counts.update(word.split("-"))
    return Vocabulary(counts)


def running_text(lines: Sequence[Line], vocabulary: Vocabulary) -> str:
    """The lines as one text."""
    return joined_texts([each.text for each in lines], vocabulary)


def joined_texts(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """Texts that go on with each other as one."""
    text = ""
    for part in texts:
        broken = _BROKEN.search(text)
        behind = _GOES_ON.match(part)
        if broken and behind:
            before = broken[1]
            small = behind[0][0].islower()
            text = text[:-1] if small and vocabulary.joins(before, behind[0]) else text
            text += part
        elif re.search(r"\d-$|\w[/–]$", text):
            text += part
        else:
            text = f"{text} {part}" if text else part
    return text
