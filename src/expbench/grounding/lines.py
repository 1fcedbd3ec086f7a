"""Numbers in lines of prose and logs: ``accuracy of A: 0.91``, ``epoch 3 loss=0.41 acc=0.87``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from expbench.grounding.cells import SETTING, Cell, Label
from expbench.grounding.figures import Figure, figures
from expbench.grounding.quality import is_metric

_MOST_WORDS = 8
_FOLLOWING = 4
_STAMP = re.compile(
    r"^(?!\s*\[\s*[-+\d.eE]+(?:,\s*|\s+)[-+\d.eE][-+\d.eE,\s]*\])"
    r"\s*(?:\[(?:[^\]=]{0,30}\d[:.\d][^\]=]{0,30}|\s*[A-Z]{4,8}\s*)\]\s*)?"
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?\s*)?"
    r"(?:(?:-\s*)?[\w.]{0,40}\s*-?\s*(?:INFO|DEBUG|WARNING)\b[\s:\-|\]]*)?"
)
_PART = re.compile(r"(?:^|\s{2,}|[;|,]\s)([A-Za-z][\w -]{1,40}):\s+[A-Za-z]")
"""A name in the middle of a line that its next numbers are of: *tried: mean 623 median 367*."""
_SAID = re.compile(
    r"(?<![\w.])([A-Za-z_]\w{0,20})\s?[=:]\s{0,4}([A-Za-z][\w.+-]{0,30})(?=\s{2,}|[,;|)]|\s+\w+\s?[=:]|$)"
)
"""What a line says of its numbers in words: *model=ridge acc=0.81*."""
_TAG = re.compile(r"\s*\[([A-Za-z][\w ./=,:+-]{0,60})\]\s+(?=\S)")
"""What a line is of, in brackets before it: *[rings] accuracy 0.91*, *[sampler=ddim nfe=10] FID = 13.4*."""
_PADDED = re.compile(
    r"^(\s*\[?(?:epoch|step|iter(?:ation)?|round|fold|seed|trial|episode|gen(?:eration)?)s?[:=]?)\s{2,}"
    r"(?=\d+(?:/\d+)?(?:[]:|]|\s{2,}|\s\|))",
    re.IGNORECASE,
)
"""A counter that is set flush with longer ones: *epoch   1/200*."""
_COUNTER = re.compile(
    r"(?:epoch|step|iter(?:ation)?|round|episode|gen(?:eration)?)s?\s\d+", re.IGNORECASE
)
_ABOUT = re.compile(r"\s((?:[\w.+-]+/)+[\w.+-]+)\s*$")
"""A file or folder at a line's end, which all its numbers are of."""
_TWO_COLUMNS = re.compile(r"[^:]{2,30}:\s{2,}\S+(?:\s\S+)*\s{2,}([A-Za-z][^:]{0,30}):\s*")
"""Two columns of names and values, of which the first value is no number."""
_NAMED_HEAD = re.compile(r"\s*[A-Za-z][\w ./@-]*?[\s=]\d[\d.]*\s?%?:?\s*")
_PAIR = re.compile(r"(?<![\w.])([A-Za-z_][\w@-]*)(?:=|:? )(-?\d[\d.]*)(?=[\s,;|)]|$)")
_BEFORE_EQUALS = re.compile(r"\[\s*([^\[\]=]+=[^\[\]]{2,120}?)\s*\]\s*[=:]\s*[-+]?\d")
"""Settings in brackets before what they give: *AP @[ IoU=0.50 | area=all ] = 0.58*."""
_NAMED_METRIC = re.compile(r"\s*[\w.+/-]+\s+[A-Za-z]\w*\s*[=]?\s*")
"""A name and a quantity before a line's first number: *groupdro acc 0.91  loss 0.3*."""
_GIVEN = re.compile(
    r"\b(?:param(?:eter)?s?|config(?:uration)?|settings?|args|with)\b[\s:=]{0,3}[{(]([^{}()]{3,300})"
    r"[})](?:\W*|\.\sBest is trial.*)$",
    re.IGNORECASE,
)
"""Settings at a line's end, under which its other numbers were measured: *params: {'lr': 0.1}*."""
_LISTED = re.compile(r"\s[A-Za-z]{2,}\s?(?:[,;)\]]|$)")
"""Behind a number of a list of counts: *312 ins, 241 del, 2323 sub*."""
_SIDES = frozenset(
    (
        *("before", "after", "old", "new", "train", "test", "val", "valid", "validation", "dev"),
        *("mean", "median", "min", "max", "std", "low", "high", "first", "last", "best", "worst"),
    )
)
"""Last words of a name that the next number of the line has another one for."""
_VERSUS = re.compile(r"\s?(?:vs\.?|versus|of|/|->|→|to)\s?")
_MOST_ROWS, _LONGEST_ROW = 20_000, 2_000
_FEWEST_ROWS = 4
_SHORT, _LONGEST_SETTING = 2, 3
_EDGES = " \t()[]{}<>,;:=|/*_'\"`~±→-"


def set_keys(rows: Sequence[str]) -> frozenset[str]:
    """Keys of ``key=value`` lines that have few values, all short: what was varied, not measured."""
    alike: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for row in rows[:_MOST_ROWS]:
        pairs = _PAIR.findall(row[:_LONGEST_ROW])
        if len(pairs) > 1:
            alike[tuple(key for key, _ in pairs)].append([value for _, value in pairs])
    found = set()
    for keys, lines in alike.items():
        for key, values in zip(keys[:-1], zip(*lines, strict=True), strict=False):
            if key == keys[0] and _counts_up(values):
                found.add(key)
            several = 1 < len(set(values)) <= len(values) / 2
            short = all(map(_is_short, values))
            if several and short and len(lines) >= _FEWEST_ROWS and not is_metric(key.lower()):
                found.add(key)
    return frozenset(found)


def _is_short(value: str) -> bool:
    """Whether a number looks chosen: of two digits, or a power of two."""
    power = value.isdigit() and f"{int(value):b}".count("1") == 1
    return power or len(value.replace(".", "").strip("0")) <= _SHORT


def _named_segments(line: str, begin: int) -> list[tuple[int, int, str]]:
    """Parts of a line between bars that begin with a name: *| flash: 1.04 ms, 0.21 GB |*."""
    found = []
    if " | " not in line[begin:]:
        return []
    for match in re.finditer(r"[^|]+", line[begin:]):
        named = re.match(r"\s*([A-Za-z][\w .+/-]{0,30}):\s", match[0])
        if named is not None:
            found.append((begin + match.start(), begin + match.end(), _trimmed(named[1])))
    return found


def _counts_up(values: Sequence[str]) -> bool:
    """Whether the first numbers of some lines go up in short whole steps: *threads=1*, *threads=2*."""
    whole = all(
        value.isdigit() and (len(value.rstrip("0")) <= _SHORT or f"{int(value):b}".count("1") == 1)
        for value in values
    )
    return (
        whole and len(values) > 2 and [int(v) for v in values] == sorted({int(v) for v in values})
    )


def cells_of(
    line: str,
    number: int,
    source: str,
    titles: Sequence[Label],
    sets: frozenset[str] = frozenset(),
) -> Iterator[Cell]:
    """The numbers of one line, each under the words before it and what was set before it.

    ``sets`` are keys that are settings, besides those that are told by their names.
    """
    shown, line = line, _PADDED.sub(r"\1 ", line)
    stamp = _STAMP.match(line)
    begin = stamp.end() if stamp is not None else 0
    found = [figure.shifted(begin) for figure in figures(line[begin:])]
    if not found:
        return
    tagged = _TAG.match(line, begin)
    if tagged is not None:
        parts = re.split(r"[\s,]+(?=\w+\s?[=:])", tagged[1]) if "=" in tagged[1] else [tagged[1]]
        titles = (*titles, *(("tag", part) for part in parts))
        begin = tagged.end()
        found = [figure for figure in found if figure.start >= begin]
        if not found:
            return
    about = _ABOUT.search(line, found[-1].end)
    if about is not None:
        titles = (*titles, ("of", about[1]))
    head = line[begin : found[0].start]
    lead = _first_column(line[begin:])
    if not lead:
        lead = _lead(head)
        if len(found) > 1 and len(lead.split()) == 1 and not re.search(r":\s|\s{3,}", head):
            lead = ""  # the name of the first number only: *loss 0.31 acc 0.92*
        elif (
            len(found) > 1
            and _NAMED_METRIC.fullmatch(head)
            and (is_metric(head.split()[-1].lower()) or re.search(r"\w=$", head))
        ):
            lead = " ".join(head.split()[:-1])
        elif (columns := _TWO_COLUMNS.fullmatch(head)) is not None:
            lead = columns[1]
    if _COUNTER.fullmatch(lead) and found[0].whole:
        lead = ""  # what is set says it already
    place, quote = f"{source}:{number + 1}", shown.strip()[:300]
    set_before: list[Label] = []
    before, last_key, first = begin, "", ""
    named_head = ":" in head or len(re.split(r"\s{2,}", line[begin:].strip())) > len(found) + 1
    part: list[Label] = []
    given = _GIVEN.search(line, begin)
    if given is not None and given.start() > begin:
        pairs = re.findall(r"['\"]?(\w+)['\"]?\s?[:=]\s?['\"]?([\w.+-]+)", given[1])
        titles = (*titles, *(("set", f"{name} {value}") for name, value in pairs))
        found = [figure for figure in found if figure.end <= given.start()]
    inside = _BEFORE_EQUALS.search(line, begin)
    if inside is not None and any(figure.start >= inside.end() - 1 for figure in found):
        titles = (*titles, ("set", inside[1]))
        found = [f for f in found if not inside.start() <= f.start < inside.end() - 1]
        lead = _trimmed(line[begin : inside.start()].rstrip("@ ")) or lead
    segments = _named_segments(line, begin)
    spoken = list(_SAID.finditer(line, begin))
    for at, figure in enumerate(found):
        between = line[before : figure.start]
        named = _PART.search(between) if at else None
        if named is not None:
            part = [("part", _trimmed(named[1]))]
        if at == 0 and len(found) > 1 and _is_head(line[begin:], figure.shifted(-begin)):
            before, last_key = figure.end, _words(between)
            part = [("lead", _trimmed(line[begin : figure.end]))] if not lead else []
            continue
        words = _words(between)
        if at == 0 and lead and words == f"{lead} {words.rpartition(' ')[2]}":
            words = words.rpartition(" ")[2] if _NAMED_METRIC.fullmatch(head) else words
        after = found[at + 1].start if at + 1 < len(found) else len(line)
        behind = bool(lead) and between.rstrip(" %").endswith(":")
        behind_it = line[figure.end : after]
        if at + 1 < len(found) and _VERSUS.fullmatch(behind_it):
            behind_it = line[found[at + 1].end :]
        following = "" if behind else _following(behind_it)
        if between.rstrip().endswith(",") and following and _LISTED.match(behind_it):
            words = ""
        if figure.unit == "seconds" and re.fullmatch(r"\s*[A-Za-z]+,\s", between):
            words = "time"  # what is before the comma was the name of the number there
        unnamed = "time" if figure.unit == "seconds" and before > begin else last_key
        key = words or following or unnamed
        label = lead if at == 0 and lead and lead != key else ""
        split = lead == first and lead.rpartition(" ")[2].lower() in _SIDES
        quantities = between.rstrip().endswith(":") and all(
            is_metric(name.rpartition(" ")[2].lower()) for name in (lead, words)
        )
        own = at == 1 and (split or quantities or (not named_head and lead.endswith(first)))
        if own and first and words and (not split or len(words.split()) == 1):
            lead = lead.rpartition(" ")[0]  # *NLL before: 0.41 after: 0.34*
        first = first or key
        said = _said(spoken, figure.start)
        labels = [*titles, *said, *set_before, *([("lead", lead)] if lead and not label else [])]
        if label:
            labels.append(("lead", label))
        own_part = [("part", name) for first, end, name in segments if first <= figure.start < end]
        labels += own_part or part
        labels.append(("key", key))
        labels += [("after", tail)] if words and (tail := _tail(line[figure.end : after])) else []
        written = line[figure.start : figure.number_end]
        yield Cell(figure, source, number, place, quote, tuple(labels), "line", written=written)
        if _sets(key, figure) or (words.rpartition(" ")[2] in sets and figure.unit == ""):
            set_before.append(("set", f"{key} {written}"))
        before, last_key = figure.end, key


def _said(spoken: Sequence[re.Match[str]], start: int) -> list[Label]:
    """What a line says of a number in words; of what it says again and again the last before the number."""
    names = [match[1] for match in spoken]
    before = {match[1]: match for match in spoken if match.start() < start}
    return [
        ("said", f"{match[1]} {match[2]}")
        for match in spoken
        if names.count(match[1]) == 1 or before.get(match[1]) is match
    ]


def _sets(key: str, figure: Figure) -> bool:
    """Whether a number in a line says under what the later ones were measured."""
    short = len(key) < 2 and not figure.whole and (figure.digits > 1 or key in ("p", "P"))
    chosen = figure.whole or figure.digits <= _LONGEST_SETTING
    named = bool(SETTING.search(key)) and chosen and not short
    return named and figure.error is None and figure.unit == ""


def _is_head(text: str, figure: Figure) -> bool:
    """Whether a number is the end of a line's head, such as *depth 8:*, and not measured."""
    head, colon, _ = text.partition(": ")
    inside = bool(colon) and figure.end <= len(head) + 1
    return inside and figure.whole and _NAMED_HEAD.fullmatch(f"{head}:") is not None


def _first_column(text: str) -> str:
    """The first column of a line with wide gaps, or a head with a number before its first colon."""
    parts = re.split(r"\s{2,}", text.strip())
    head = parts[0] if len(parts) > 2 and re.search(r"[A-Za-z]{2}", parts[0]) else ""
    if re.search(r"[a-z]\s[-+]?\d*\.\d+%?$", head):
        head = ""  # it has a number of its own
    before = re.match(r"\s*([^:=(]{1,60}):\s", text)
    if not head and before is not None and re.search(r"\d", before[1]):
        head = before[1]
    return _trimmed(head) if head and not re.search(r"[=:]", head) else ""


def _lead(text: str) -> str:
    """What a line is about: the words before its first colon, else all before its first number."""
    head, colon, _ = text.partition(":")
    return _trimmed(head if colon else text)


def _words(text: str) -> str:
    """The last words of what stands between two numbers, behind a comma, bar or full stop."""
    piece = re.split(r"[,;|(\[{]\s*(?=\S)|\.\s+|\s{3,}|:\s+(?=\w)", text.rstrip(_EDGES))[-1]
    return _trimmed(" ".join(piece.split()[-_MOST_WORDS:]))


def _following(text: str) -> str:
    """The words behind a number that has none before it: *0.91 accuracy*."""
    piece = re.split(r"[],;|.:=]", text)[0]
    return _trimmed(" ".join(piece.split()[:_FOLLOWING]))


def _tail(text: str) -> str:
    """Words that go on behind a number and name no other: *0.91 on the test set*."""
    piece = re.split(r"[,;|:]", text)[0]
    named = re.search(r"[=:]", text[len(piece) : len(piece) + 1]) or "=" in piece
    if named or not re.match(r"\s*\(?(?:on|for|at|in|with|under|of|by|over|per|when)\b", piece):
        return ""
    return _trimmed(" ".join(piece.split()[:_FOLLOWING]))


def _trimmed(text: str) -> str:
    return " ".join(text.strip(_EDGES).split())[-120:]
