"""Words of a shell's command line: variables, ``basename``, braces, with every value they may have."""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping

MOST_VALUES = 24
_LONGEST = 4_000
"""Characters of an expanded text that are kept."""

_NAME = re.compile(
    r"\$(?:\{([A-Za-z_]\w*|\d|[@*#])(?:(:?[-=+?]|##?|%%?|\[[^]]*\]|/)([^{}]*))?\}|([A-Za-z_]\w*|\d|[@*#]))"
)
_PART = re.compile(
    r"""\$\(\s*(basename|dirname)\s+(?:-s\s+(\S+)\s+)?["']?([^\s"'()]+)["']?(?:\s+["']?([^\s"'()]+)["']?)?\s*\)"""
)
_EITHER = re.compile(r"(?<=/)\[(\w+(?:,\w+)+)\](?=\.(?:sh|py)\b)")
"""How READMEs write that one of some scripts is run."""


def names_in(text: str) -> list[str]:
    """The variables that a text has, each once."""
    return list(dict.fromkeys(match[1] or match[4] for match in _NAME.finditer(text)))


def combined(
    text: str, variables: Mapping[str, tuple[str, ...]], ties: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """The command's words for every combination of what its variables may be.

    Variables that come together (``$model`` twice) have the same value in one combination, and so have
    those that are made of each other (``ties``).
    """
    names = [name for name in names_in(text) if len(variables.get(name, ())) > 1]
    if not names:
        return [tuple(expanded_words(text, variables))]
    first = list(dict.fromkeys(ties.get(name, name) for name in names))
    counts = [
        range(min(len(variables[n]) for n in names if ties.get(n, n) == each)) for each in first
    ]
    found: list[tuple[str, ...]] = []
    for chosen in itertools.islice(itertools.product(*counts), MOST_VALUES):
        place = dict(zip(first, chosen, strict=True))
        one = {name: (variables[name][place[ties.get(name, name)]],) for name in names}
        found.append(tuple(expanded_words(text, {**variables, **one})))
    return list(dict.fromkeys(found)) or [()]


def expanded_words(text: str, variables: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The words of a text after expansion; a variable that stands alone may be several words."""
    for word in split(_PART.sub(lambda part: _one(part, variables), text)):
        for value in expand(word, variables):
            if "$" in word and " " in value and re.fullmatch(r"[\w$@{}\[\]*]*", word):
                yield from split(value)
            else:
                yield from _braces(value)


def _one(part: re.Match[str], variables: Mapping[str, tuple[str, ...]]) -> str:
    """A ``$(basename ...)`` whose parts have one value each; others stay, to be expanded first."""
    values = expand(part[0], variables)
    return values[0] if len(values) == 1 else part[0]


def expand(text: str, variables: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Every value of a text with variables in it; unknown ones stay as they are written."""
    done = [""]
    place = 0
    for match in _NAME.finditer(text):
        values = _values(match, variables)
        plain = text[place : match.start()]
        done = [(before + plain + value)[:_LONGEST] for before in done for value in values]
        done = done[:MOST_VALUES]
        place = match.end()
    return [_PART.sub(_named, value + text[place:]) for value in done]


def _named(part: re.Match[str]) -> str:
    """What ``basename`` or ``dirname`` makes of a path without variables."""
    which, before, path, after = part.groups()
    if "$" in path:
        return part[0]
    if which == "dirname":
        return posixpath.dirname(path) or "."
    name = posixpath.basename(path.rstrip("/"))
    return name.removesuffix(after or before or "")


def _values(match: re.Match[str], variables: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    name, sign, other = match[1] or match[4], match[2] or "", match[3] or ""
    values = variables.get(name, ())
    if sign in (":-", "-", ":=", "=") and not any(values):
        return (other,)
    if not values:
        return ("",) if name in "@*" else (match[0],)
    if sign in ("%", "%%") and other == ".*":
        return tuple(value.rpartition(".")[0] or value for value in values)
    if sign in ("%", "%%") and "*" not in other:
        return tuple(value.removesuffix(other) for value in values)
    if sign in ("#", "##") and other == "*/":
        return tuple(posixpath.basename(value) for value in values)
    return values


def _braces(word: str) -> Iterator[str]:
    """``{1..3}`` and ``{a,b}`` as the shell has them."""
    if numbers := re.search(r"\{(-?\d{1,6})\.\.(-?\d{1,6})\}", word):
        found = [str(value) for value in range(int(numbers[1]), int(numbers[2]) + 1)[:MOST_VALUES]]
        start, end = numbers.span()
    elif listed := re.search(r"(?<!\$)\{([^{}\s]*,[^{}\s]*)\}", word) or _EITHER.search(word):
        found = listed[1].split(",")[:MOST_VALUES]
        start, end = listed.span()
    else:
        yield word
        return
    for value in found:
        yield word[:start] + value + word[end:]


def split(text: str) -> list[str]:
    """Words of a command line; quotes that do not close are taken as they stand."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)
    except ValueError:
        return text.split()


def unquoted(word: str) -> str:
    """A word without the quotes around it."""
    if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
        return word[1:-1]
    return word
