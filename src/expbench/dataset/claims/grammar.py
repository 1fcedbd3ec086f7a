"""Word lists of the claim splitter: general research English, nothing about any one task."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODALS = _words("will would should shall can could may might must")
BE_HAVE_DO = _words("is are was were be been has have had does do did isn't aren't doesn't don't")
AUXILIARY = (
    MODALS
    | BE_HAVE_DO
    | _words("expected anticipated predicted projected supposed likely assumed to not also still")
)
"""Words that may stand between a subject and its main verb."""

_REGULAR = _words(
    """
    achieve attain obtain reach yield produce deliver provide exhibit demonstrate display
    maintain retain preserve outperform underperform surpass exceed improve enhance reduce
    degrade remain perform require suffer struggle excel fail tend lead enable allow reveal
    confirm validate capture generate contain include detect identify converge generalize
    generalise scale adapt incur enjoy show decrease increase drop decline rise fall trail lag
    match approach lose win beat bring cause become stay keep use need receive see support
    contribute offer gain save rank score plateau saturate peak stabilize stabilise stabilizes
    vary depend correlate align recover reproduce oversmooth follow converges diverge hold
    outweigh dominate succeed work run mitigate avoid ensure accelerate record leverage
    eliminate compromise present give make take get store print output load return create draw
    start begin cross tie cost react differ equal overtake trail turn change retain coincide
    predict respond refuse handle complete serve boost manifest illustrate highlight indicate
    suggest confirm verify help minimize maximize impact influence fluctuate worsen
    deteriorate collapse benefit shift suppress affect raise
    """
)
_IRREGULAR = _words("lost won rose fell led became kept gave took made got beat grew grow grows")
_NOUNS_TOO = _words(
    """
    increase decrease drop decline rise fall gain score rank work run use need record output
    support match approach benefit shift peak offer scale boost lead test show win loss save
    plateau store print load return draw start cross tie cost equal turn change help highlight
    hold present complete lag keep display
    """
)
"""Verbs that are also nouns or adjectives, so that they prove no clause by themselves."""


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x")):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


def _past(verb: str) -> str:
    return verb + "d" if verb.endswith("e") else verb + "ed"


BARE = _REGULAR
"""Verbs as they follow *to* or a modal."""

FINITE_S = frozenset(map(_third_person, _REGULAR)) - _words("scores gains ranks runs uses needs")
PAST = frozenset(map(_past, _REGULAR)) | _IRREGULAR
SURE_VERBS = (
    MODALS
    | _words("is are was were has have had does do did")
    | (FINITE_S - frozenset(map(_third_person, _NOUNS_TOO)))
    | (BARE - _NOUNS_TOO)
)
"""Words that show, wherever they stand, that a clause has a verb of its own."""

VERBS = MODALS | BE_HAVE_DO | BARE | FINITE_S | _IRREGULAR

CONTRAST = _words("while whereas but yet although though")
SUBORDINATE = _words("when if as once until unless after before whenever given")
PREPOSITIONS = _words("for in under with without at on among across within over between by from")
PRONOUNS = _words("it they its their")
COMPARATIVES = _words("worse better less more lower higher with at in only for from")
SAYING = frozenset(
    form
    for verb in _words(
        "demonstrate show reveal confirm indicate suggest find verify illustrate validate"
    )
    for form in (verb, _third_person(verb), _past(verb))
)
AFTER_AS = _words(
    """
    evidenced demonstrated shown indicated reflected measured well in discussed reported
    outlined compared opposed noted a an expected seen depicted illustrated presented
    described it per for observed highlighted determined suggested anticipated quantified
    """
)
"""After *as* these begin no reason."""
REASONS = _words("because owing attributed attributable thanks")

EXPLAINING = _words(
    """
    indicating suggesting demonstrating confirming validating proving highlighting supporting
    reinforcing reflecting emphasizing emphasising underscoring justifying affirming verifying
    implying showcasing illustrating evidencing establishing signifying revealing ensuring
    making enabling allowing
    """
)
"""After a comma these begin what the authors make of a result, not a result."""

RESULTING = _words(
    """
    outperforming underperforming achieving surpassing reaching exceeding reducing yielding
    producing approaching attaining obtaining matching maintaining retaining preserving
    improving beating exhibiting requiring using delivering
    """
)
"""After a comma, *while* or *and* these begin one more result of the same subject."""

ADVERBS = _words(
    "also even then thus not only still consequently finally potentially possibly thereby hence "
    "therefore often sometimes typically generally further in"
)
"""May stand between a conjunction and its verb, besides what ends in *ly*."""

ABBREVIATIONS = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|al|etc|Fig|Figs|Eq|Eqs|Tab|Sec|Secs|App|approx|resp|No|Dr|w\.r\.t|ca)"
    r"|\b[A-Z])\.$"
)
"""What ends in a full stop and ends no sentence."""
