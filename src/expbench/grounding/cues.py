"""Wordings around a number that tell which names it belongs to: what binding looks for between them."""

from __future__ import annotations

import re

LEADS_ON = re.compile(r"(?:(?!\b(?:and|to|vs|but|or)\b)[\w%\s=:()]){1,12}")
BECAUSE = re.compile(r"\b(?:because|since|as a result of|due to)\s")
BELONGS = re.compile(
    r"\s(?:for|of|on|at|in|with|under|after|by)\s(?:the\s|an?\s)?(?:[\w=-]+\s?){0,2}"
)
ASIDE = re.compile(
    r",\s+(?:is|was|are|were|has|had|becomes?|then|remains?|stays?|falls?|drops?|comes?|now|which|where|"
    r"still)\b"
)
LABEL = re.compile(r"\w[^\w]*:\s")
OBJECT = re.compile(
    r"\b(?:(?:level|ties?|tied|par|equal|compared|along|place|shared?s?) with|than|over|against|beats?|"
    r"beating|outperforms?|to|by|behind|from|versus|"
    r"vs\.?)\s(?:the\s|an?\s|its\s)?$",
    re.IGNORECASE,
)
DIRECT = re.compile(
    r"[\s(\[]*(?:(?:for|of|by|with|at|in|on|under|when|using|after|is|was|near|beyond|once)\s)?"
    r"(?:(?:[\w.=/'’^+-]+|=)\s?|[(=\"'`*≥≤]\s?){0,5}"
)
BREAK = re.compile(
    r"[,;.:)]\s|\b(?:and|vs\.?|versus|against|while|but|whereas|than|over|to|compared)\b"
)
LIST = re.compile(
    r"\s*(?:%|,|/|and|or|,\s*and|then|–|-|→|->|to|,?\s*vs\.?|,?\s*versus|,?\s*against|"
    r",?\s*compared (?:with|to))\s*(?:then\s|only\s)?"
)
MENTION_LIST = re.compile(
    r"\s*(?:,|/|and|or|to|,\s*and|\||vs\.?|versus)\s*(?:the\s|with\s|at\s|for\s|in\s)?[\w.]{0,12}[\s=(]*"
)
BEHIND_A_LIST = re.compile(
    r"[\s)]*(?:(?:for|at|with|on|in|of|between|when|under|as)\s)?(?:\w+[\s=(]{1,3}){0,3}"
    r"|[\s)]*(?:when|as|if)\s(?:\w+\s){1,4}from\s"
)
DENIAL = re.compile(
    r"\b(?:without|before|no|not|lacking|except)\s(?:the\s|an?\s|any\s)?(?:\w+\s)?$", re.IGNORECASE
)
TOWARDS = re.compile(r"\s?%?\s?(?:to|→|->|instead of|rather than|vs\.?|versus|against)\s")
NOT_CARRIED = re.compile(
    r"\b(?:from|by|of|than|to|was|were|is|are)\s(?:only |about |the )?$", re.IGNORECASE
)
PER = re.compile(r"\bper\s$|\w/$")
"""Before what a quantity is counted by: *16.3 s per problem*."""
AND_ITS = re.compile(
    r"\s?%?\)?,?\s(?:and|with|but|at|while)\s(?:only\s)?(?:an?|its|the)\s(?:[\w-]+\s){1,3}(?:of|is|was|at|=)\s"
)
"""Between two numbers of one name: another of its quantities."""
GOES_TO = re.compile(
    r"\b(?:fall|fell|drop|ris|rose|climb|declin|decreas|increas|recover|go|went|grow|grew|sink|sank)\w*\s"
    r"(?:back |again |only |slightly |sharply )*to\s(?:only |about |just )?$",
    re.IGNORECASE,
)
"""Before a number at which a course arrives, under another condition than the one before it."""
CUE = re.compile(
    r"\b(?:ends?|ended|final(?:ly)?|last|finish\w*|converge\w*|overall|on average|averag\w+|at worst|at "
    r"best|minimum|maximum)\b",
    re.IGNORECASE,
)
"""Words that take a number out of the condition that an earlier one of the sentence has."""
COUNTED = re.compile(r"\s(?:[a-z]+\s)?")
"""Behind a count: what follows is what was counted."""
TEST = re.compile(r"[\w-]*\s?(?:squared?\s|-?\w*\s)?(?:test)?,?\s?p\s?[=<]", re.IGNORECASE)
"""Behind a name that is a test's: *(chi-squared test, p = 0.02)*."""
OF = re.compile(r"\s?%?\s(?:for|of|by)\s")
CHANGE = re.compile(r"[^()]*\((?:[-+−][^()]*|[^()]*(?:points?|x|×|times))")
"""Behind a condition: a change in brackets, which is of nothing named there: *with 5 clients (+3 points)*."""
BASE = re.compile(r"\s(?:its|their|the|that|those|as|more|less|an?)\b", re.IGNORECASE)
"""Behind a ratio: what follows is what it is a multiple of."""
ADJACENT = re.compile(r"[\w\s-]{0,14}[\s(:,=]{0,3}")
UNIT = re.compile(r"[kKMGT]i?[Bb]|[munµ]?s|sec|[kMG]?Hz|[mk]?W|[mk]?J|dB")
"""What a number is measured in, which names nothing."""
SLASHED = re.compile(r"(?<![\w./])\d[\d.,]*%?(?:\s?/\s?\d[\d.,]*%?)+(?![\w/])")
"""A row of numbers that is written as one: *0.05 / 0.25 / 1*."""
