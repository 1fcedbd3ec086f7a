"""What a sentence says about its own statement: that it is open, unreported, denied or limited."""

from __future__ import annotations

import re
from bisect import bisect_left

from expbench.judges.lexicon import NEGATIONS

_DECIDE = (
    r"(?:say|tell(?! (?:\w+ ){0,6}(?:apart|from)\b)|decide|know|"
    r"commit|judge|call|conclude|determine|settle|claim|confirm|"
    r"answer|rank|separate|establish|see a pattern|distinguish|make out|find out|"
    r"be (?:said|told(?! apart)|decided|called|judged|determined|settled|"
    r"concluded|confirmed|answered|established))"
)
_OPEN = re.compile(
    r"\b(?:unclear|unsure|undecided|inconclusive|uncertain|ambiguous|unknown|undetermined|unresolved|"
    r"open question|left open|leaves? (?:it |this |that )?open|remains? (?:open|to be seen)|toss-?up|"
    r"not (?:clear|sure|certain|obvious|known|decided?|conclusive|settled|evident|possible to)|"
    rf"(?:(?:can|could|would|do|did|does|may)(?: ?not|n['’]t)|can['’]t) (?:\w+ ){{0,2}}{_DECIDE}|"
    rf"(?:hard|difficult|impossible|unable|too early|not enough|not possible) (?:\w+ )?to {_DECIDE}|"
    r"may or may not|might or might not|(?:both|either) ways?|"
    r"(?:arguments?|evidence|signs?) (?:for|on|in) both|in both directions|"
    r"(?:either|neither|any of them|each) (?:may|might|can|could|one)|point in different|"
    r"contradict(?:s|ory|ing)? (?:each other|one another)|conflicting|"
    r"mixed (?:results?|picture|evidence|signals?)|"
    r"no (?:clear|firm|definite|consistent|conclusive|reliable) \w+|"
    r"depend(?:s|ing)? on (?:how|the (?:seed|split|draw|run|day|reading))|no verdict|varies from run|"
    r"(?:too|very) (?:few|little|small|noisy|short) (?:\w+ )?(?:for|to)|not (?:enough|sufficient)|"
    r"within (?:the )?noise|"
    r"speculative|tentative|up for debate|no conclusion|needs? (?:more|further) (?:runs|data|work)|"
    r"sometimes .{1,60} (?:and )?sometimes|in some (?:runs|cases|seeds).{1,60}in others)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:may|might|maybe|perhaps|possibl[ey]|could(?!n)|can(?!not| ?['’]t)|sometimes|some|"
    r"occasionally|partly|suspects?|seems?|appears?|presumably|probably|likely|whether|tends?|"
    r"speculate|conjecture|hypothesi[sz]e|would expect|should)\b",
    re.IGNORECASE,
)
_DID = (
    r"(?:look|looked|measured?|test(?:ed)?|check(?:ed)?|comput(?:e|ed)|record(?:ed)?|note[ds]?|run|ran|"
    r"compared?|tried|try|analy[sz]ed?|stud(?:y|ied)|report(?:ed)?|evaluated?|includ(?:e|ed)|"
    r"investigated?|done|examined?|considered|quantif(?:y|ied)|determined?|pursued?|finish(?:ed)?|"
    r"complet(?:e|ed)|obtain(?:ed)?|collect(?:ed)?|available|assess(?:ed)?|explor(?:e|ed)|cover(?:ed)?|"
    r"logged|saved?|kept|shown?|plotted|reproduced?)"
)
_UNREPORTED = re.compile(
    rf"\b(?:not (?:\w+ )?{_DID}|n['’]t (?:\w+ )?{_DID}|never {_DID}|"
    r"(?:no|without any?) (?:figures?|statement|results?|measurements?|information|numbers? (?:for|on))|"
    r"have(?:n['’]t| not) (?:got|any)|forgot|(?:was|were|got|are|is) (?:lost|missing|killed)|left out|"
    r"omitted|skipped|ran out|crashed|timed out|out of memory|unavailable|unfinished|"
    r"no (?:run|experiment|measurement|data|log)s? (?:\w+ ){0,6}(?:finished|was|were|exists?|available)|"
    r"(?:was|were|is|are) (?:kept|held) (?:fixed|constant)|will follow|under way|too expensive|not stored|"
    r"beyond (?:our|the) budget|out of (?:our )?budget|pending|to be done|"
    r"only (?:recorded|measured|looked|reported|ran|tested|checked|have)|not part of|nothing of it|"
    r"(?:remains? to be|left (?:for|to)) \w+|future work|beyond (?:the|our) scope|out of reach|"
    r"for lack of|no time (?:for|to))\b",
    re.IGNORECASE,
)
_EXCEPTED = re.compile(
    r"\b(?:except|apart from|aside from|with (?:one|two|the) exceptions?|the exceptions?|all but|"
    r"but not|not (?:at|for|on|in|under|with) |only (?:at|for|on|in|under|with|when)|"
    r"(?:the )?other way (?:round|around)|vice versa|the reverse|no longer|reversed|unlike|"
    r"in(?: only)? (?:one|two|some|most|half|part) of|not all|not every(?:where)?|with the exception)",
    re.IGNORECASE,
)
_PAST = (
    r"(?:used|computed|reported|measured|considered|included|applied|done|varied|related|tuned|needed|"
    r"touched|evaluated|tested|trained|studied|recorded|looked|given|part|shown|moved|a factor)"
)
_BEFORE = (
    rf"(?:is|are|was|were|be|been|being)(?: not|n['’]t)(?: \w+)?|(?:not|never) (?:\w+ )?{_PAST}|"
    r"(?:is|are|was|were|be|been) (?:\w+ )?(?:omitted|left out|skipped|ignored|excluded|dropped|"
    r"switched off|disabled|removed|replaced|meaningless)|omitted|left out|switched off"
)
"""What is denied or left out stands before these words."""
_WITHIN = r"no \w+(?: \w+){0,2} (?:is|was|were|are)|none of the \w+(?: \w+)?|there (?:is|was) no \w+(?: \w+)?"
"""It stands within these words."""
_AFTER = (
    r"instead(?: of)?|rather than|omit|leave out|skip|refrain(?:ed)?(?: from)?|decided against|"
    r"(?:do|does|did)(?: not|n['’]t)|no longer|without|nothing of|never|except|deliberately|"
    r"exclud(?:e|ing)|ignor(?:e|ing)|not"
)
"""It stands after these words."""
_OMITTED = re.compile(
    rf"\b(?:(?P<before>{_BEFORE})|(?P<within>{_WITHIN})|(?P<after>{_AFTER}))\b", re.IGNORECASE
)
_EMPTY = re.compile(
    r"(?:\W|\b(?:it|this|that|they|these|those|them|of|to|in|we|i|the|a|so|and|which|is|was)\b)*",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\W*(?:it|this|that|these|those|they|(?:nothing|none) of (?:it|this|that|them|these))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_DENIALS = NEGATIONS | {"none", "nothing", "without", "nor"}
_CLAUSE_END = re.compile(r"[,;:()]|\b(?:but|and|which|that|since|because|as)\b")


def is_open(text: str) -> bool:
    """Whether it says that it does not decide."""
    return bool(_OPEN.search(text))


def is_modal(text: str) -> bool:
    """Whether it says that something may be, or is so for some."""
    return bool(_MODAL.search(text))


def is_unreported(text: str) -> bool:
    """Whether it says that something was not done or has no result."""
    return bool(_UNREPORTED.search(text))


def is_excepted(text: str) -> bool:
    """Whether it makes an exception."""
    return bool(_EXCEPTED.search(text))


def is_omitted(text: str) -> bool:
    """Whether it says that something is not part of the experiment, or was replaced."""
    return bool(_OMITTED.search(text))


def denies(text: str) -> bool:
    """Whether a word of it denies."""
    return not _DENIALS.isdisjoint(word.lower() for word in _WORD.findall(text))


def refers_back(text: str) -> bool:
    """Whether what it denies or leaves out is what the sentence before speaks of."""
    return bool(_BACK.match(text)) and is_omitted(text)


def scopes(text: str) -> list[tuple[int, int]]:
    """The stretches of a sentence that its words of denial or omission speak of."""
    ends = [match.span() for match in _CLAUSE_END.finditer(text)]
    starts = [start for start, _ in ends]
    found = []
    for match in _OMITTED.finditer(text):
        before, after = bisect_left(starts, match.start()), bisect_left(starts, match.end())
        begin = ends[before - 1][1] if before else 0
        after += after < len(starts) and text[starts[after]] == ":"
        end = starts[after] if after < len(starts) else len(text)
        if match["within"]:
            found.append(match.span())
        elif match["after"] and not _EMPTY.fullmatch(text, match.end(), end):
            found.append((match.end(), end))
        elif not _EMPTY.fullmatch(text, begin, match.start()):
            found.append((begin, match.start()))
        elif not _EMPTY.fullmatch(text, 0, match.start()):
            found.append((0, match.start()))
        else:
            found.append((match.end(), len(text)))
    return found
