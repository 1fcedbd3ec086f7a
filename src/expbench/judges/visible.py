"""Text as a judge sees it: nothing in it is invisible, and only a line feed ends a line."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with every control, format and separator character but tab and line feed escaped.

    These can turn the order of what is read (``\\u202e``), hide words or break lines; a lone surrogate
    cannot even be sent. Line ends of two characters become one.
    """
    text = text.replace("\r\n", "\n")
    unseen = {
        ord(each): f"\\u{ord(each):04x}" if ord(each) < 0x10000 else f"\\U{ord(each):08x}"
        for each in set(text)
        if each not in "\n\t" and unicodedata.category(each) in _UNSEEN
    }
    return text.translate(unseen) if unseen else text


def on_one_line(name: str) -> str:
    """A name of a file in one line."""
    return visible(name).replace("\n", "\\n")
