"""Names as tokens: labels of outputs, and where a conclusion mentions them.

A label such as ``eps-greedy``, ``slope_sdrift_h12`` or ``regret ucb1 gap=0.3`` becomes words and
numbers. People write the same names otherwise: *epsilon-greedy*, *seasonal drift*, *explore-then-commit*
for ``etc``. A word of a label is mentioned by the same stem, by words written together, by a prefix, or by
the beginnings of words that follow one another.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from expbench.grounding.compounds import compounds, is_compound, sizes
from expbench.grounding.figures import figures
from expbench.judges.lexicon import ABBREVIATIONS
from expbench.judges.words import stem

Token = str | float
"""A word in lower case, or a number that stands in a label."""

_PIECE = re.compile(
    r"[A-Za-z]+(?=[0-9])|[^\W0-9_]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|(?<![.0-9])\.[0-9]+(?:[eE][-+]?[0-9]+)?"
)
DENIAL = "¬"
_DENIED = re.compile(rf"{DENIAL}([^\W_]+)")
NEGATED = re.compile(r"(?:^|(?<=[\W_]))(?:non|no|not|without)[\s_-]+([a-z]{2,})", re.IGNORECASE)
"""A word of a label that is denied: *non-iid*, *no_dropout*."""
_ABBREVIATED = {
    **{"em": "exact match", "hr": "hazard ratio", "bs": "batch size", "ft": "fine tuning"},
    **{"params": "parameters", "acc": "accuracy", "wg": "worst group", "sr": "success rate"},
    **{"ep": "episode", "rew": "reward"},
    **{"ap": "average precision", "map": "mean average precision", "oa": "overall accuracy"},
}
_LETTERED = re.compile(
    r"(?<![A-Za-z])(run|model|method|arm|variant|group|option|setting|system|config|team|site|policy|version)"
    r"[\s_-]([a-z])(?![\w-])",
    re.IGNORECASE,
)
"""Things that are told apart by a letter: *run a*."""
_STARRED = re.compile(r"(?<![\w*])([A-Za-z])\*(?![\w*])")
"""A letter with a star, which programs write as one word: ``astar``."""
_THRESHOLD = re.compile(r"\biou\s?=\s?0?\.(\d\d)(?![\d:])", re.IGNORECASE)
"""An overlap at which a detection counts, as COCO's tools print it: AP50 is there at 0.50."""
_T_VALUE = "t-value"
_COMPACT = re.compile(r"([a-z]{2,})(\d{1,2})|(\d+(?:\.\d+)?)([a-z])")
"""Names and numbers written as one: *seed2*, *7b*."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = re.compile(
    rf"\b({'|'.join(_ORDINALS)})\s(?:epoch|fold|seed|run|round|iteration|trial|layer|generation)\b",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(
    rf"\b(?:after|in|at|on|by) the ({'|'.join(_ORDINALS)})(?=[,.;)]|\s(?:and|while|but)\b|$)",
    re.IGNORECASE,
)
_OUR = re.compile(
    r"\b[Oo]ur\b(?!\s(?:\w+\s)?(?:experiments?|results?|findings?|runs?|evaluations?|setup|setting|study|"
    r"analysis|reproductions?|data|tests?|conclusions?|baselines?|measurements?|hypothes\w+|question)\b)"
)
"""What is *ours* in the outputs: *our model*."""
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_CAMEL = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{2,}(?![a-z])")
_NAMES_WITH_DIGITS = re.compile(r"[flrpc]\d{1,2}$", re.IGNORECASE)


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


STOP = words(
    """
    a an the this that these those it its they them their we our is are was were be been
    being has have had having do does did of in on at by for from to into with within as
    than then so such and or but if while when where which who whose what how why because
    since although though however also both either neither nor not no only just even still
    very quite rather about around up down out off per via each every any some other another
    there here can could may might must will would shall should over under between again
    more most less least all one ones same own i e g eg ie s t
    """
)
_LABEL_WORDS = frozenset({"or", "all"})
"""Short words that name things in labels: outcome regression, all of the data."""
_IDIOM = re.compile(
    r"\blevel(?= with\b)|\bin (?:line|order|turn|front|place|general|total)\b|\bon par\b|\bby far\b|"
    r"\ba (?:bit|lot)\b|"
    r"\bas (?:long|soon|well) as\b|\bfirst place\b|\bat (?:least|most|all)\b|\bof course\b",
    re.IGNORECASE,
)
"""Words that name nothing in these phrases."""
_ALL = re.compile(r"\b[Aa]ll(?=-\w|\s(?:months|data|history|known|observations|features|layers)\b)")
_LONGEST_PHRASE = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A token of a label that a text names, and the place where it does."""

    token: Token
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


@lru_cache(maxsize=100_000)
def label_tokens(label: str) -> frozenset[Token]:
    """The words and numbers of a label."""
    found: set[Token] = {f"non-{word}" for word in _DENIED.findall(label.lower())}
    label = _DENIED.sub(" ", label.lower()) if found else label
    found |= {f"{m[1].lower()} {m[2].lower()}" for m in _LETTERED.finditer(label)}
    found |= {f"ap{m[1]}" for m in _THRESHOLD.finditer(label)}
    found |= {_T_VALUE} if re.fullmatch(r"t(?:[ _.-]?(?:value|stat\w*))?", label) else set()
    found |= {name for name, _ in compounds(label)} | sizes(label)
    pieces = list(_PIECE.finditer(label))
    for at, piece in enumerate(pieces):
        before = pieces[at - 1] if at and pieces[at - 1].end() == piece.start() else None
        after = pieces[at + 1] if at + 1 < len(pieces) else None
        joined = after if after is not None and after.start() == piece.end() else None
        if piece[0][0] in "0123456789.":
            numbers = _number_tokens(piece[0], before, joined)
            found |= numbers
            named = pieces[at - 1] if at and pieces[at - 1][0].isalpha() else None
            if named is not None and len(label[named.end() : piece.start()]) < 4:
                found |= {setting(named[0], n) for n in numbers if isinstance(n, float)}
        else:
            found |= _word_tokens(piece[0], joined)
    return frozenset(found)


def setting(name: str, number: float) -> str:
    """The token of a number that a name is given: ``alpha=0.05``."""
    return f"{stem(name.lower())}={number:.9g}"


def _word_tokens(word: str, joined: re.Match[str] | None) -> set[Token]:
    low = word.lower()
    found: set[Token] = set()
    if low not in STOP or low in _LABEL_WORDS:
        found.add(low)
    if len(word) == 1 and word.isupper():
        found.clear()
        found.add(word)
    if joined is not None and "." not in joined[0] and len(joined[0]) <= 5:
        found.add(low + joined[0])
        if _NAMES_WITH_DIGITS.match(word + joined[0]):
            found.discard(low)
    parts = [part.lower() for part in _CAMEL.findall(word)]
    if len(parts) > 1 and all(len(part) > 3 for part in parts):
        found.update(parts)
    return found


def _number_tokens(
    number: str, before: re.Match[str] | None, after: re.Match[str] | None
) -> set[Token]:
    if after is not None and after[0].isalpha() and len(after[0]) == 1 and before is None:
        return {f"{number}{after[0].lower()}"}
    if before is not None and before[0].isalpha():
        named = _NAMES_WITH_DIGITS.match(before[0] + number)
        if named or (len(before[0]) > 2 and len(number) == 1):
            return set()
    return {float(number)}


class Text:
    """A text whose words can be asked for by the many ways of writing one name."""

    def __init__(self, text: str) -> None:
        self.text = text
        idle = {at for match in _IDIOM.finditer(text) for at in range(*match.span())}
        found = (m for m in _WORD.finditer(text) if m.start() not in idle)
        plain = [_Word(m[0].lower(), m.start(), m.end()) for m in found]
        starred = (_Word(f"{m[1].lower()}star", *m.span()) for m in _STARRED.finditer(text))
        self.words = sorted([*plain, *starred], key=lambda word: word.start)
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        self._by_text: dict[str, list[int]] = defaultdict(list)
        self._by_start: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self.words):
            self._by_text[word.text].append(at)
            self._by_start[word.text[0]].append(at)
            if word.text not in STOP:
                self._by_stem[stem(word.text)].append(at)
        self._expanded = self._abbreviations()
        self._letters = _letters(text)
        self._compounds: dict[str, set[tuple[int, int]]] = defaultdict(set)
        for name, place in compounds(text):
            self._compounds[name].add(place)
        self._numbers = self._all_numbers()

    def mentions(self, tokens: Iterable[Token]) -> list[Mention]:
        """Where the text names any of the tokens, in the text's order."""
        found: list[Mention] = []
        for token in tokens:
            if isinstance(token, float):
                found += [Mention(token, *place) for place in self._numbers.get(_key(token), ())]
            else:
                found += [Mention(token, *place) for place in self._places(token)]
        return sorted(found, key=lambda each: (each.start, each.end, str(each.token)))

    def _places(self, token: str) -> set[tuple[int, int]]:
        if token == "all":
            return {m.span() for m in _ALL.finditer(self.text)}
        if compact := _COMPACT.fullmatch(token):
            name, number = compact[1] or compact[4], compact[2] or compact[3]
            pattern = rf"(?<![\w.]){name}[\s_-]?{number}(?![\w.]\d|\w)"
            if compact[3]:
                pattern = rf"(?<![\w.]){number}\s?{name}(?!\w)"
            return {m.span() for m in re.finditer(pattern, self.text, re.IGNORECASE)}
        if is_compound(token):
            return self._compounds.get(token, set())
        if _NAMES_WITH_DIGITS.match(token):
            raised = {"2": "(?:2|²)", "3": "(?:3|³)"}.get(token[1:], token[1:])
            pattern = rf"(?<!\w){token[0]}[\^_]?\{{?{raised}(?!\d)"
            return {m.span() for m in re.finditer(pattern, self.text, re.IGNORECASE)}
        if "=" in token:
            return set()
        if " " in token:
            word, letter = token.split(" ")
            pattern = rf"\b{re.escape(word)}s?[\s_-]{letter}\b"
            return {m.span() for m in re.finditer(pattern, self.text, re.IGNORECASE)}
        if token.startswith("non-"):
            pattern = (
                rf"\b(?:non|no|not|without|un)[\s_-]?(?:an?\s|the\s|any\s)?{re.escape(token[4:])}"
            )
            return {m.span() for m in re.finditer(pattern, self.text, re.IGNORECASE)}
        if token == _T_VALUE:
            return {
                m.span()
                for m in re.finditer(r"(?<![\w.])t(?=\s?=\s?-?\d|-?(?:value|stat))", self.text)
            }
        if len(token) == 1 and token.isupper():
            return self._letters.get(token, set())
        if len(token) == 1:
            return {self._span(at, at) for at in self._by_text.get(token, ()) if token not in STOP}
        places = {
            self._span(at, at)
            for at in (*self._by_text.get(token, ()), *self._by_stem.get(stem(token), ()))
            if self.words[at].text not in STOP
        }
        places |= self._expanded.get(stem(token), set())
        if token == "ours":
            places |= {match.span() for match in _OUR.finditer(self.text)}
        if phrase := ABBREVIATIONS.get(token) or _ABBREVIATED.get(token):
            places |= self._phrases([stem(word) for word in phrase.split()])
        if not places:
            whole = set() if token.startswith("non") else self._joined(token)
            return self._prefixed(token) | self._segmented(token) | whole
        return places | self._spelled(token) | self._joined(token)

    def _span(self, first: int, last: int) -> tuple[int, int]:
        return self.words[first].start, self.words[last].end

    def _prefixed(self, token: str) -> set[tuple[int, int]]:
        """Words of which the token is the beginning, or that are the token's beginning."""
        if len(token) < 3 or not token.isalpha():
            return set()
        found = set()
        for at in self._by_start.get(token[0], ()):
            word = self.words[at].text
            if word in STOP or word.startswith("valu"):
                continue
            longer = word.startswith(token) and (len(token) > 3 or len(word) > 4)
            shorter = token.startswith(word) and len(word) > 3
            if longer or shorter:
                found.add(self._span(at, at))
        return found

    def _joined(self, token: str) -> set[tuple[int, int]]:
        """Words that are the token when they are written together: *CNextU-net*."""
        return {
            self._span(at, at + 1)
            for at in self._by_start.get(token[0], ())
            if at + 1 < len(self.words)
            and stem(self.words[at].text + self.words[at + 1].text) == stem(token)
            and self.words[at + 1].start - self.words[at].end == 1
        }

    def _spelled(self, token: str) -> set[tuple[int, int]]:
        """Phrases whose words' first letters are the token, beside the token itself."""
        size = len(token)
        if not 2 <= size <= _LONGEST_PHRASE or not token.isalpha():
            return set()
        said = re.search(rf"\b{token.upper()}\b", self.text)
        if size == 2 and (token in ABBREVIATIONS or not said):
            return set()
        found = set()
        for at in self._by_start.get(token[0], ()):
            words = self.words[at : at + size]
            initials = "".join(word.text[0] for word in words)
            if initials == token and self._abbreviates(token, words):
                found.add((words[0].start, words[-1].end))
        return found

    def _segmented(self, token: str) -> set[tuple[int, int]]:
        """Phrases whose words' beginnings, put together, are the token."""
        found: set[tuple[int, int]] = set()
        if len(token) == 2 and token in ABBREVIATIONS:
            return found
        for at in self._by_start.get(token[0], ()):
            for size in range(2, _LONGEST_PHRASE + 1):
                words = self.words[at : at + size]
                if len(words) == size and self._abbreviates(token, words):
                    found.add((words[0].start, words[-1].end))
                    found |= self._again(words) if size == 2 else set()
        return found

    def _again(self, words: Sequence[_Word]) -> set[tuple[int, int]]:
        """Where the last word of a phrase stands alone later: *identity switches … 140 switches*."""
        last = words[-1]
        again = (self.words[at] for at in self._by_text[last.text] if len(last.text) > 5)
        return {(word.start, word.end) for word in again if word.start > last.start}

    def _abbreviates(self, token: str, words: Sequence[_Word]) -> bool:
        between = self.text[words[0].end : words[-1].start]
        if re.search(r"[.;:()\d]", between) or words[0].text in STOP or words[-1].text in STOP:
            return False
        if len(token) == 2 and any(len(word.text) < 4 for word in words):
            return False
        last = 1 if len(token) == len(words) else 2
        return _segments(token, [word.text for word in words], last)

    def _phrases(self, stems: Sequence[str]) -> set[tuple[int, int]]:
        found = set()
        for at in self._by_stem.get(stems[0], ()):
            following = [stem(word.text) for word in self.words[at : at + len(stems)]]
            if following == list(stems):
                found.add(self._span(at, at + len(stems) - 1))
        return found

    def _abbreviations(self) -> dict[str, set[tuple[int, int]]]:
        """The stems of what the text's abbreviations stand for, at their places."""
        found: dict[str, set[tuple[int, int]]] = defaultdict(set)
        for at, word in enumerate(self.words):
            phrase = ABBREVIATIONS.get(word.text) or _ABBREVIATED.get(word.text, "")
            for part in phrase.split():
                if len(word.text) > 1:
                    found[stem(part)].add(self._span(at, at))
        return found

    def _all_numbers(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for figure in figures(self.text):
            place = (figure.start, figure.end)
            found[_key(abs(figure.value))].append(place)
            if figure.unit == "percent":
                found[_key(abs(figure.value) / 100)].append(place)
        for match in _ORDINAL.finditer(self.text):
            found[_key(float(1 + _ORDINALS.index(match[1].lower())))].append(match.span())
        for match in _ELLIPTIC.finditer(self.text) if _ORDINAL.search(self.text) else ():
            found[_key(float(1 + _ORDINALS.index(match[1].lower())))].append(match.span(1))
        for match in re.finditer(r"(?<![\w.])[pP]?(\d+)(?=th\b|(?<=[pP]\d\d)\b)", self.text):
            found[_key(float(match[1]))].append(match.span(1))
        for match in re.finditer(r"(?<![\w.])\d*\.\d+(?=/[A-Za-z(])", self.text):
            found[_key(float(match[0]))].append(match.span())
        for match in re.finditer(r"(?<![\w.])(\d+)\.\.(\d+)(?!\w)", self.text):
            for part in (1, 2):
                found[_key(float(match[part]))].append(match.span())
        for match in re.finditer(r"(?<![\w.])(\d+(?:\.\d+)?)-[A-Za-z]{2,}", self.text):
            if match.span(1) not in found[_key(float(match[1]))]:
                found[_key(float(match[1]))].append(match.span(1))
        return found


def _letters(text: str) -> dict[str, set[tuple[int, int]]]:
    """Single capitals that are names: at a sentence's start only where there is another such letter."""
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for match in re.finditer(r"(?<![\w^/])[A-Z](?![\w'’^/])", text):
        found[match[0]].add(match.span())
    first = re.compile(r"(?:^|[.!?:]\s|\n\s*[-*]?\s*)$")
    if len(found) == 1:
        (letter, places), *_ = found.items()
        found[letter] = {place for place in places if not first.search(text[: place[0]])}
    return found


def _segments(token: str, words: Sequence[str], last: int) -> bool:
    """Whether ``token`` is made of a beginning of each word; of the last at least ``last`` letters."""
    if len(words) == 1:
        return len(token) >= last and words[0].startswith(token)
    for size in range(1, len(token)):
        if not words[0].startswith(token[:size]):
            return False
        if _segments(token[size:], words[1:], last):
            return True
    return False


def _key(number: float) -> str:
    return f"{number:.9g}"
