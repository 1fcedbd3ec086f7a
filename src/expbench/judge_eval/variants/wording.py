"""Other words for the same, other numbers, and opposites: by rules that are safe, so few apply."""

from __future__ import annotations

import random
import re
from decimal import Decimal, InvalidOperation

_SAME: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"in order to", ("so as to",)),
    (r"compared (?:to|with)", ("relative to", "in comparison with")),
    (r"with respect to", ("regarding",)),
    (r"due to", ("because of", "owing to")),
    (r"as well as", ("and also",)),
    (r"such as", ("for instance",)),
    (r"approximately", ("about", "roughly")),
    (r"demonstrates", ("shows",)),
    (r"outperforms", ("does better than", "beats")),
    (r"achieves", ("reaches", "attains")),
    (r"leads to", ("results in",)),
    (r"utiliz(?:es|ing)", ("using",)),
    (r"consistently", ("in every case",)),
    (r"therefore", ("hence", "so")),
    (r"however", ("yet", "even so")),
    (r"whereas", ("while",)),
    (r"across", ("over",)),
    (r"various", ("different",)),
)
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]|[.,]\d)", re.IGNORECASE)
_ANY_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[-+]?\d+)?", re.IGNORECASE)
_PLACE = re.compile(
    r"(?:tables?|figs?\.?|figures?|sections?|sec\.?|eq\.?|equations?|steps?|appendix|versions?|v|§|#|"
    r"phase|stage|part|chapter|algorithm|theorem|lemma)\s*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_OPEN = re.compile(
    r"\b(?:e\.g|for example|for instance|such as|possibl[ey]|may|might|like|could|optional(?:ly)?|"
    r"approximately|about|around|roughly|at least|at most|up to|expected|typically|usually)\b|[~≈∼±]",
    re.IGNORECASE,
)
_TURNED = {
    word: opposite
    for a, b in (
        ("higher", "lower"),
        ("better", "worse"),
        ("best", "worst"),
        ("highest", "lowest"),
        ("larger", "smaller"),
        ("largest", "smallest"),
        ("faster", "slower"),
        ("outperforms", "underperforms"),
        ("outperform", "underperform"),
        ("increases", "decreases"),
        ("rises", "falls"),
        ("improves", "worsens"),
        ("stronger", "weaker"),
    )
    for word, opposite in ((a, b), (b, a))
}
_DIRECTION = re.compile(rf"\b(?:{'|'.join(_TURNED)})\b", re.IGNORECASE)
_NOT_PLAIN = re.compile(
    r"\b(?:not|no|never|without|neither|nor|none|cannot|rather|instead|whether|if|unless|but|although|"
    r"though|while|whereas|except|despite|hardly|fail(?:s|ed)?|trade-?off|may|might|could|or|either)\b|"
    r"n't\b|is better|[↑↓?]",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][A-Za-z]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_STOPS = """
    the and for with from that this are was were will been its each all any both same other than into over
    per one two used use using based set sets value values which where when where their they not but can
    may has have had also such via between across different various must should being our well more most
"""
_STOP = frozenset(_STOPS.split())


def reworded(text: str, chance: random.Random) -> str:
    """The same in other words: stock phrases by their synonyms, numbers written otherwise."""
    for pattern, words in _SAME:
        text = re.sub(
            rf"\b{pattern}\b",
            lambda match, words=words: _cased(match.group(), chance.choice(words)),  # type: ignore[misc]
            text,
            flags=re.IGNORECASE,
        )
    return rewritten_numbers(text)


def rewritten_numbers(text: str) -> str:
    """Numbers in another way of writing: percent in words, 0.001 for 1e-3, groups of digits."""
    text = re.sub(r"(?<=\d)\s?%", " percent", text)
    text = re.sub(r"(?<![\w.])[1-9]e-[1-6](?![\w.])", _plain_decimal, text, flags=re.IGNORECASE)
    text = re.sub(r"(?<![\w.])\d{1,3}(?:,000)+(?![\w,.])", lambda m: m[0].replace(",", ""), text)
    return re.sub(r"(?<![\w.,-])[1-9]\d{4,6}(?![\w,.-])", lambda m: f"{int(m[0]):,}", text)


def other_numbers(text: str, chance: random.Random) -> str | None:
    """The text with every number changed by a third or more; ``None`` where that proves nothing.

    Numbers that name a place (Table 3), a year, a guess or a bound are no values, and 0 and 1 are too
    common.
    """
    found = list(_NUMBER.finditer(text))
    if not found or _OPEN.search(text):
        return None
    if any(_YEAR.fullmatch(match[0]) or _PLACE.search(text[: match.start()]) for match in found):
        return None
    telling = [match for match in found if match[0].lstrip("-") not in ("0", "1")]
    if not telling:
        return None
    factor = chance.choice((Decimal("1.7"), Decimal("2.6"), Decimal("0.4")))
    return _NUMBER.sub(lambda match: _scaled(match[0], factor), text)


def turned(text: str) -> str | None:
    """The text with its one direction turned round; ``None`` unless that surely is the opposite."""
    found = list(_DIRECTION.finditer(text))
    if len(found) != 1 or _NOT_PLAIN.search(text):
        return None
    match = found[0]
    opposite = _cased(match.group(), _TURNED[match.group().lower()])
    return text[: match.start()] + opposite + text[match.end() :]


def words_of(text: str) -> frozenset[str]:
    """What a text is about: its words of three letters or more, stems roughly, and its numbers."""
    found = set()
    for word in _WORD.findall(text.replace("_", " ")):
        low = word.lower()
        if low[0].isdigit() or (len(low) > 2 and low not in _STOP):
            found.add(low if low[0].isdigit() else low.removesuffix("s"))
    return frozenset(found)


def numbers_of(text: str) -> frozenset[str]:
    """The numbers of a text as they are written, without the commonest."""
    return frozenset(_ANY_NUMBER.findall(text)) - {"0", "1", "2"}


def absent(text: str, rest: str) -> float:
    """The share of a text's words that the rest does not have."""
    own = words_of(text)
    return len(own - words_of(rest)) / len(own) if own else 0.0


def without(text: str, *parts: str) -> str:
    """The text with each of the parts taken out once."""
    for part in filter(None, parts):
        text = text.replace(part, " ", 1)
    return text


def alike(a: str, b: str) -> float:
    """How much of the smaller text's words the other has."""
    one, two = words_of(a), words_of(b)
    smaller = min(len(one), len(two))
    return len(one & two) / smaller if smaller else 1.0


def listed(values: list[str]) -> str:
    """``a, b and c``; by semicolons where a value has commas of its own."""
    if len(values) < 2 or any("," in value or " and " in value for value in values):
        return "; ".join(values)
    return f"{', '.join(values[:-1])} and {values[-1]}"


def _cased(model: str, text: str) -> str:
    return text[0].upper() + text[1:] if model[:1].isupper() else text


def _plain_decimal(match: re.Match[str]) -> str:
    return format(Decimal(match[0]), "f")


def _scaled(written: str, factor: Decimal) -> str:
    """The number times the factor, written alike; small whole numbers move by what can be seen."""
    try:
        value = Decimal(written)
    except InvalidOperation:
        return written
    if "e" in written.lower():
        return f"{value * factor:.1e}"
    if "." in written:
        places = len(written.partition(".")[2])
        scaled = round(value * factor, places)
        return str(scaled if scaled != value else value + 1)
    whole = int(value * factor)
    return str(whole if abs(whole - int(value)) > 1 else int(value) + 3)
