"""What kind of claim a clause is, and whether a conclusion can be right without it."""

from __future__ import annotations

import re
from typing import Literal

from expbench.dataset.claims.grammar import SURE_VERBS

Kind = Literal["relation", "number", "condition", "statement"]

_NUMBER = re.compile(r"(?<![\w.-])[-+±~≈<>]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?\s*(?:%|×|x\b|points?\b)?")
_RESULT = re.compile(
    r"\d\.\d|\d\s*%|\d\s*(?:×|x\b|points?\b|times\b|ms\b|seconds?\b|GB\b|MB\b|s\b|hours?\b|M\b|K\b)|"
    r"(?:≈|~|approximately|around|about|roughly|nearly|almost|by|to|from|above|below|=)\s*\d"
)
_RELATION = re.compile(
    r"\b(?:\w+er than|than|(?:high|low|great|larg|small|fast|slow|bett|strong|weak|few|clos|smooth|"
    r"wors|long|short|wid|narrow|easi|rich|sharp)e?r|best|worst|(?:high|low|great|larg|small|fast|slow|"
    r"strong|weak|few)est|most|least|more|less|outperform\w*|underperform\w*|surpass\w*|exceed\w*|"
    r"superior\w*|inferior\w*|improve\w*|increas\w*|decreas\w*|reduc\w*|declin\w*|drop\w*|degrad\w*|"
    r"enhanc\w*|compar\w*|similar\w*|match\w*|competitive|on par|equal\w*|gains?|boost\w*|beats?|"
    r"monotonic\w*|grow\w*|rise\w*|fall\w*|comparable|correlat\w*|advantage\w*|gap|trade-offs?|"
    r"unchanged|versus|vs\.?|rank\w*|lead\w*|lags?|trails?|minimal|significant\w*|substantial\w*)\b|[<>≥≤]",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:when(?:ever)?|if|unless|only (?:when|if|at|for|from|under)|except|provided that|in the "
    r"(?:absence|presence) of|as the [\w\s-]{2,40}? (?:increase|decrease|grow|rise)s?|beyond|up to a)\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

_MAKES_OF_IT = re.compile(
    r"(?:Thus|Hence|Therefore|Overall|Collectively|Together|Also|Additionally|Furthermore)?,?\s*"
    r"(?:(?:(?:This|These|Such|That|Those|All these|The (?:above|observed|combined|improvements?|gains?))\b"
    r"(?:\s[\w’'/-]+){0,5}?|It(?! is expected))\s(?:{auxiliary})*"
    r"(?:confirm|validate|demonstrate|indicate|suggest|imply|verify|reflect|prove|illustrate|showcase"
    r"|affirm|show|be attributed|is attributed|are attributed|stem|{backing})"
    r"|(?:The\s)?(?:[\w-]+\s){0,3}?(?:results?|findings?|outcomes?|comparisons?|trends?|analys[ei]s"
    r"|experiments?|metrics|data)\s(?:{auxiliary})*(?:validate|{backing}))"
    r"(?:e?s|ies)?\b".replace(
        "{auxiliary}",
        r"(?:would|will|should|could|may|can|also|further|thereby|thus|collectively|clearly|in turn"
        r"|(?:is|are) expected to)\s",
    ).replace(
        "{backing}",
        r"support|reinforce|underscore|underline|corroborate|justify|highlight|emphasi[sz]e|offer insight"
        r"|provide (?:evidence|insight|support)",
    ),
    re.IGNORECASE,
)
_BACKS = re.compile(
    r"\b(?:should|will|would|may|(?:is|are) (?:expected|anticipated|likely) to)\s(?:\w+ly\s|also\s"
    r"|further\s)?(?:(?:confirm|validate|reinforce|underscore|underline|corroborate|verify|establish)"
    r"\s(?!that\b|whether\b)|provide (?:\w+ )?(?:insights?|evidence|support)\b"
    r"|support (?:the|this|that|our|these) (?:claim|conclusion|hypothes|observation|notion|idea|finding))",
    re.IGNORECASE,
)
_SUBJECTLESS = re.compile(
    r"(?:Demonstrates|Suggests|Confirms|Indicates|Validates|Highlights|Supports|Proves)\b"
)
_PRAISE = re.compile(
    r"(?:The )?(?:results?|findings?|outcomes?) (?:demonstrate|highlight|show|indicate|confirm)s?\s"
    r"(?:the|\w+[’']s?)\s(?:\w+\s){0,2}(?:effectiveness|efficacy|robustness|importance|benefits?|value)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:For (?:example|instance)|E\.g|In (?:some|certain) cases)\b", re.IGNORECASE
)
_DOUBT = re.compile(r"\b(?:may|might|could|possibly|perhaps|potentially)\b", re.IGNORECASE)
_SUBORDINATE = re.compile(r"(?<=\w)[—,\s]+(?:even )?(?:when|if|although|though|because|which)\b")
_REPORTING = re.compile(
    r"\b(?:(?:should|will|would|to) be (?:reported|quantified|recorded|documented|plotted|visuali[sz]ed|"
    r"presented|summari[sz]ed|tabulated|compared|displayed|analy[sz]ed)|(?:result|outcome)s? (?:should|will) "
    r"(?:look similar|be similar|resemble|mirror|align)|(?:should|will) (?:mirror|echo|align with|follow) "
    r"(?:the )?(?:\w+ )?(?:trends?|observations?|reported)|aims? to|whether"
    r"|provides? (?:\w+ )?(?:insights?|quantification))\b",
    re.IGNORECASE,
)


def kind_of(words: str, lead: str = "") -> Kind:
    """A condition's effect, a relation, a number, or what is none of them.

    Numbers in brackets belong to what they are put beside and make no claim a number.
    """
    bare = _BRACKETED.sub(" ", words)
    if _CONDITION.search(f"{lead} {bare}"):
        return "condition"
    if _RESULT.search(bare) and _NUMBER.search(bare):
        return "number"
    return "relation" if _RELATION.search(bare) else "statement"


def explains(sentence: str) -> bool:
    """Whether a sentence only says what the authors make of what was found."""
    if _MAKES_OF_IT.match(sentence) or _SUBJECTLESS.match(sentence) or _PRAISE.match(sentence):
        return True
    backs = _BACKS.search(sentence)
    before = sentence[: backs.start()].lower() if backs else ""
    return backs is not None and not SURE_VERBS & set(re.findall(r"\w+", before))


def beside_the_point(sentence: str, words: str) -> bool:
    """Whether a clause is an example, a doubt, or says how results are to be shown."""
    return bool(
        _EXAMPLE.match(sentence)
        or _DOUBT.search(_SUBORDINATE.split(_BRACKETED.sub(" ", words))[0])
        or _REPORTING.search(words)
    )


def only_a_number(words: str) -> bool:
    """Whether a list's item is a name with its number, like a table's row: *A-7B: 90 % → 64 %*."""
    tokens = re.findall(r"[A-Za-z][\w-]*|\d[\d.,]*", words)
    figures = sum(token[0].isdigit() for token in tokens)
    spoken = {token.lower() for token in tokens} & SURE_VERBS
    return bool(figures) and not spoken and len(tokens) - figures <= 4
