"""Relations that a conclusion states: comparisons, bests, rankings, trends, crossings, significance.

Only plain wordings are read; what is hedged or quoted is no claim. A relation keeps its passage's words, so
that conditions and metrics can be looked for in it, and what is compared as its sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from expbench.grounding.passages import Conclusion, Passage
from expbench.grounding.quality import POLARITY
from expbench.grounding.settings import HEDGED, QUOTED
from expbench.judges.words import stem
from expbench.schema import ReportedClaim

Axis = Literal["size", "quality", "speed"]
_UP = "higher|greater|larger|bigger|longer|slower|wider|costlier|steeper"
_DOWN = "lower|smaller|fewer|shorter|faster|narrower|cheaper"
_SPEED = re.compile(r"\b(?:(?P<fast>fast(?:er|est))|(?P<slow>slow(?:er|est)))\b", re.IGNORECASE)
_THAN = re.compile(
    r"\b(?:(?P<better>better|stronger|superior|more (?:accurate|robust|reliable|precise))|"
    r"(?P<worse>worse|weaker|inferior|less (?:accurate|robust|reliable|precise))|"
    rf"(?P<up>{_UP}|more)|(?P<down>{_DOWN}|less))\b"
    rf"(?P<between>(?:(?!\b(?:better|worse|{_UP}|{_DOWN}|more|less)\b)[^.;:()]){{0,50}}?)"
    r"\b(?:than|compared (?:to|with)|to(?= that))\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:(?P<up>exceeds?|exceeded|(?:is|stays?|remain(?:s|ed)?) (?:well |far |clearly )?above|"
    r"are above|lies? above)|"
    r"(?P<down>(?:is|remain(?:s|ed)?) (?:well |far |clearly )?below|are below|"
    r"lies? below|stays? below)|"
    r"(?P<better>beats?|beating|outperform(?:s|ed|ing)?|surpass(?:es|ed)?|dominates?|wins? against|(?:is|"
    r"are|was|were|stays?|comes?|remain(?:s|ed)?|finish(?:es|ed)?) "
    r"(?:well |clearly |just |far |slightly |still )?ahead of|improves? (?:up)?on|"
    r"gains?\b[^.;,]{0,30}?\bover)|"
    r"(?P<worse>underperform(?:s|ed)?|trails?|(?:lags?|falls?|is|are|stays?) behind|loses? to|lost to))\b",
    re.IGNORECASE,
)
_BEST = re.compile(
    r"\b(?P<up>highest|largest|greatest|biggest|longest|slowest|widest)\b|\b(?P<down>lowest|smallest|"
    r"fewest|least|shortest|"
    r"fastest|narrowest)\b|"
    r"\b(?:has|have|had|with) the (?:(?P<higher>higher|larger|greater|longer)|(?P<lower>lower|smaller|"
    r"shorter))\b(?![^.;,]*\bthan\b)|"
    r"\b(?P<most>the most(?=\s[a-z]+s\b))|"
    r"\b(?P<better>best|wins?|winner|leads(?=\s(?:with|at|by|in|for|everywhere|"
    r"throughout)\b|\s?[(,.]|$)|(?:is|are|comes?|ranks?|stays?|remains?) first|strongest|most accurate|"
    r"on top)\b|\b(?P<worse>worst|(?:is|are|comes?|ranks?) last|weakest|least accurate)\b",
    re.IGNORECASE,
)
_NOT_BEST = re.compile(
    r"\b(?:not|never|no|none|neither|second|third|next|runner-up|at best|at least|at most|if|which|whose|"
    r"among|last (?:of|two|three)|"
    r"first (?:of all|time))\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(
    r"\b(?:at|in|for|with|on|under|to|from|of|than|below|above|over|beats?|against|between|once|"
    r"where)\s(?:the|its|their)\s$",
    re.IGNORECASE,
)
"""Before a superlative these make it a condition or an object: *at the largest gap*, *below the best*."""
_HAS_THE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|gives?|gave|reach\w*|achiev\w*|obtain\w*|shows?|yields?|gets?|got|"
    r"delivers?|attains?|remains?|stays?|becomes?|produc\w*|needs?|serves?|makes?|takes?|incurs?|suffers?)"
    r"\s(?:\w+\s)?the\s$",
    re.IGNORECASE,
)
_CHAIN = re.compile(
    r"(?P<first>[\w^+./-]+(?:[ -][\w^+./-]+){0,3}?)"
    r"(?P<rest>(?:\s*(?P<sign>[<>≻≺])\s*[\w^+./-]+(?:[ -](?!and\b|at\b|for\b|in\b|on\b|with\b)"
    r"[\w^+./-]+){0,3}?){1,8})(?=\s*(?:$|[,;:.()]|\s(?:at|for|in|on|with|and|everywhere|throughout)\b))"
)
_LISTED = re.compile(
    r"\b(?:ranking|order|ranked|rank)\b(?:[^.;:]{0,40}?(?:\bis\b|\bare\b|\bas\b)|"
    r"[^.;:]{0,30}:)\s*(?P<names>[^.;:()]{5,160})",
    re.IGNORECASE,
)
_FOLLOWED = re.compile(
    r"(?P<first>[^.;:()]{3,60}?),?\s(?:is\s)?followed by\s(?P<names>[^.;:()]{3,120})", re.IGNORECASE
)
_TREND = re.compile(
    r"(?P<subject>[^.;:()]{2,90}?)\s(?:also |then |only |steadily |monotonically |strongly |slowly |"
    r"strictly |clearly )*"
    r"(?:(?P<up>increases?|increased|grows?|grew|rises?|rose|climbs?|goes up)|(?P<down>decreases?|"
    r"decreased|falls?|fell|drops?|"
    r"dropped|shrinks?|shrank|declines?|declined|goes down)|(?P<better>improves?|improved|gets? better)|"
    r"(?P<worse>degrades?|"
    r"degraded|worsens?|worsened|deteriorates?|gets? worse|suffers?))"
    r"\s(?:steadily |monotonically |strictly |strongly |slightly |roughly )*(?:with|"
    r"as)\s(?P<variable>[^.;:()]{1,60})",
    re.IGNORECASE,
)
_COURSE = re.compile(
    r"(?P<subject>[^.;:()]{2,90}?)\s(?:(?P<up>increases?|increased|grows?|grew|rises?|rose|climbs?)|"
    r"(?P<down>decreases?|decreased|falls?|fell|drops?|dropped|shrinks?|shrank|declines?|declined)|"
    r"(?P<better>improves?|improved)|(?P<worse>degrades?|degraded|worsens?|worsened))\s"
    r"(?:throughout|steadily|continuously|monotonically|(?:during|over|in the course of)(?:\sthe)?\s"
    r"(?P<variable>training|epochs|time|rounds|steps|iterations|run))\b(?!\s(?:with|as)\b)",
    re.IGNORECASE,
)
"""A trend over the course of a run."""
_CROSSING = re.compile(
    r"\b(?:overtakes?|overtaken|cross(?:es|ed|ing|over)?|flips?|flipped|revers(?:e|es|ed|al)|swaps?|"
    r"chang(?:e|es|ed) (?:places|hands)|"
    r"switch(?:es|ed)?|order (?:changes?|turns?)|lead (?:changes?|passes)|passes)\b",
    re.IGNORECASE,
)
_SIGNIFICANT = re.compile(
    r"\b(?P<not>not |no |in|non-?)?(?:statistically |highly )?(?P<word>significan(?:t(?:ly)?|"
    r"ce))\b(?! (?:digits?|figures?|bits?|part|role|amount))"
    r"|\bp\s?[<≤]\s?0?\.\d+",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|no|never|nor|neither|without|hardly)\b[^.;,]{0,30}$", re.IGNORECASE)
_EQUAL = re.compile(
    r"\b(?:ties? with|tied with|equal to|equals|the same as|on par with|level with|indistinguishable from|"
    r"matches|as good as)\b",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r",(?!\s?\d)\s?|[;:()]\s?|\.\s|\b(?:while|whereas|but|although|though|because|since|so that|so|which)\b"
)
_PLACED = re.compile(r"\s(?:for|at|on|in|with|under|of)\s")
"""In *higher for A than for B* the first side stands behind the comparing word."""
_AND_VERB = re.compile(r"\s(?:and|or)\s(?=\w+s\b|\w+ed\b|is\b|are\b|has\b|then\b)")


@dataclass(frozen=True)
class Found:
    """A comparing wording in a passage: what it says, and where its sides stand."""

    axis: Axis
    sign: int
    """1 when the first side is more, or better."""
    start: int
    end: int
    sides: tuple[tuple[int, int], ...]


def relations(text: Conclusion) -> list[ReportedClaim]:
    """The relations of a conclusion in their order."""
    found: list[ReportedClaim] = []
    for passage in text.passages:
        if not passage.row:
            found += _of_passage(text.text, passage)
    return found


def direction(words: str) -> tuple[Axis, int] | None:
    """What the comparing word of a claim's text says: size or quality, and which way."""
    for pattern in (_THAN, _VERB, _TREND, _COURSE, _BEST):
        match = pattern.search(words)
        if match is not None:
            return _says(match)
    return None


def negated(words: str) -> bool:
    """Whether a claim of significance denies it."""
    match = _SIGNIFICANT.search(words)
    if match is None:
        return False
    return bool(match.groupdict().get("not")) or _DENIED.search(words[: match.start()]) is not None


def _of_passage(text: str, passage: Passage) -> Iterator[ReportedClaim]:
    ranked = list(_rankings(text, passage))
    taken = [(claim.start, claim.end) for claim in ranked]
    yield from ranked
    for kind, found in (
        *((">" if f.sign > 0 else "<", f) for f in _comparisons(text, passage)),
        *(("ranking", f) for f in _bests(text, passage)),
        *(("trend", f) for f in _trends(text, passage)),
        *(("=", f) for f in _equals(text, passage)),
        *(("crossing", f) for f in _whole(text, passage, _CROSSING)),
        *(("significance", f) for f in _whole(text, passage, _SIGNIFICANT)),
    ):
        inside = any(start <= found.start and found.end <= end for start, end in taken)
        clause = text[found.start : found.end]
        if not inside and not HEDGED.search(clause) and not QUOTED.search(clause):
            sides = tuple(text[start:end].strip() for start, end in found.sides)
            yield _claim(text, found.start, found.end, kind, sides)


def _claim(text: str, start: int, end: int, relation: str, sides: tuple[str, ...]) -> ReportedClaim:
    while start < end and text[start] in " \n\t,;:(":
        start += 1
    while end > start and text[end - 1] in " \n\t,;:(":
        end -= 1
    return ReportedClaim(
        text=text[start:end], kind="relation", start=start, end=end, relation=relation, sides=sides
    )


def _says(match: re.Match[str]) -> tuple[Axis, int]:
    groups = match.groupdict()
    speed = _SPEED.search(match[0])
    if speed is not None:
        return "speed", 1 if speed["fast"] else -1
    if any(groups.get(name) for name in ("up", "down", "higher", "lower", "most")):
        up = groups.get("up") or groups.get("higher") or groups.get("most")
        return "size", 1 if up else -1
    return "quality", 1 if groups.get("better") else -1


def _clause(text: str, passage: Passage, start: int, end: int) -> tuple[int, int]:
    """The clause around a place: back to the last break before it, on to the first one behind."""
    first = passage.start
    for match in _BREAK.finditer(text, passage.start, start):
        first = match.end()
    following = _BREAK.search(text, end, passage.end)
    return first, following.start() if following else passage.end


def _comparisons(text: str, passage: Passage) -> Iterator[Found]:
    for pattern in (_THAN, _VERB):
        for match in pattern.finditer(text, passage.start, passage.end):
            axis, sign = _says(match)
            first, last = _clause(text, passage, match.start(), match.end())
            before = text[first : match.start()]
            if re.match(r"(?:more|less)\s(?!than\b)", match[0].lower()) and not _of_quantity(match):
                continue
            if re.search(r"\b(?:not|never|no|neither|nor|hardly|cannot)\b", before):
                continue
            if _SIGNIFICANT.search(text, first, last) or re.match(
                r"\s*(?:about |only )?[-−.\d]", text[match.end() : last]
            ):
                continue
            stop = _AND_VERB.search(text, match.end(), last)
            last = stop.start() if stop else last
            if match.end() < last and match.start() > first:
                placed = pattern is _THAN and _PLACED.search(match["between"])
                side = match.end("between") if placed else match.start()
                sides = ((first, side), (match.end(), last))
                yield Found(axis, sign, first, last, sides)


def _of_quantity(match: re.Match[str]) -> bool:
    """Whether *more … than* is said of something that is measured: no *more stable than*."""
    between = match.groupdict().get("between") or ""
    known = match.groupdict().get("better") or match.groupdict().get("worse")
    return bool(known) or any(
        stem(word) in POLARITY for word in re.findall(r"[a-z]\w+", between.lower())
    )


def _bests(text: str, passage: Passage) -> Iterator[Found]:
    for match in _BEST.finditer(text, passage.start, passage.end):
        axis, sign = _says(match)
        first, last = _clause(text, passage, match.start(), match.end())
        before = text[max(first, match.start() - 40) : match.start()]
        within = _CONDITIONAL.search(before) or (
            before.endswith("the ") and not _HAS_THE.search(before)
        )
        if not _NOT_BEST.search(text[first:last]) and match.start() > first and not within:
            begin, subject = first, match.start()
            for joint in _AND_VERB.finditer(text, first, match.start()):
                begin, subject = joint.end(), joint.start()
            yield Found(axis, sign, begin, last, ((first, subject),))


def _trends(text: str, passage: Passage) -> Iterator[Found]:
    found = [
        match
        for pattern in (_TREND, _COURSE)
        for match in pattern.finditer(text, passage.start, passage.end)
    ]
    for match in found:
        axis, sign = _says(match)
        if not re.search(r"\b(?:not|never|no|hardly)\b", match["subject"]):
            yield Found(
                axis,
                sign,
                match.start(),
                match.end(),
                (match.span("subject"), *([match.span("variable")] if match["variable"] else [])),
            )


def _equals(text: str, passage: Passage) -> Iterator[Found]:
    for match in _EQUAL.finditer(text, passage.start, passage.end):
        first, last = _clause(text, passage, match.start(), match.end())
        if first < match.start() and match.end() < last:
            yield Found("size", 1, first, last, ((first, match.start()), (match.end(), last)))


def _whole(text: str, passage: Passage, pattern: re.Pattern[str]) -> Iterator[Found]:
    match = pattern.search(text, passage.start, passage.end)
    if match is not None:
        first, last = passage.start, passage.end
        if pattern is _SIGNIFICANT:
            first, last = _clause(text, passage, match.start(), match.end())
            yield Found("size", 1, first, last, _compared(text, first, last))
            return
        yield Found("size", 1, first, last, ())


def _compared(text: str, first: int, last: int) -> tuple[tuple[int, int], ...]:
    """The sides of a comparison in a clause, if it has one."""
    for pattern in (_THAN, _VERB):
        match = pattern.search(text, first, last)
        if match is not None and first < match.start() and match.end() < last:
            return (first, match.start()), (match.end(), last)
    return ()


def _rankings(text: str, passage: Passage) -> Iterator[ReportedClaim]:
    for match in _CHAIN.finditer(text, passage.start, passage.end):
        names = re.split(r"\s*[<>≻≺]\s*", match[0].strip())
        signs = set(re.findall(r"[<>≻≺]", match["rest"]))
        worded = all(re.search(r"[A-Za-z]{2}|[A-Za-z]\d|^[A-Z]$", name) for name in names)
        if (
            len(signs) == 1
            and worded
            and (len(names) > 2 or not re.search(r"\bp\s?[<≤]", match[0]))
        ):
            if len(names) == 2:
                yield _claim(
                    text,
                    *match.span(),
                    match["sign"].replace("≻", ">").replace("≺", "<"),
                    tuple(names),
                )
            else:
                yield _claim(text, *match.span(), "ranking", tuple(names))
    for match in _LISTED.finditer(text, passage.start, passage.end):
        names = _split(match["names"])
        if len(names) > 2:
            yield _claim(text, *match.span(), "ranking", tuple(names))
    for match in _FOLLOWED.finditer(text, passage.start, passage.end):
        names = [match["first"], *_split(match["names"])]
        yield _claim(text, *match.span(), "ranking", tuple(names))


def _split(names: str) -> list[str]:
    parts = re.split(
        r",\s*(?:then\s|and\s|followed by\s)?|\s(?:and|then|followed by|before)\s|\s[>≻]\s", names
    )
    return [part.strip() for part in parts if part.strip()]
