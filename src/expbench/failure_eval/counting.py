"""What a coder got right, in all and by phase, by what decided, and what it takes for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from expbench.failure_eval.sets import LabelledError
from expbench.failures import Coded
from expbench.failures.sampling import kappa
from expbench.schema import Record
from expbench.statistics.intervals import Interval, share_interval


class Part(Record):
    """Right codes of those that the coder gave. ``families``: the family was right; ``uncoded`` are in no
    number."""

    name: str
    right: int
    families: int
    of: int
    interval: Interval
    kappa: float | None
    uncoded: int


class CoderEval(Record):
    """One coder on one set; ``by`` counts by what decided, ``confused`` are (label, given, count)."""

    coder: str
    parts: tuple[Part, ...]
    by: tuple[Part, ...]
    confused: tuple[tuple[str, str, int], ...]
    wrong: tuple[tuple[str, str], ...]
    """Ids of what was coded wrongly, with the code that was given."""


def evaluate(coder: str, errors: Sequence[LabelledError], coded: Sequence[Coded]) -> CoderEval:
    """Hold codes against labels; both are of the same errors in the same order."""
    pairs = list(zip(errors, coded, strict=True))
    phases = dict.fromkeys(each.phase for each in errors)
    batches = dict.fromkeys(each.batch for each in errors if each.batch)
    ways = sorted({given.by for _, given in pairs if given.by != "unanswered"})
    known = [(error, given) for error, given in pairs if given.by != "unanswered"]
    wrong = [(error, given) for error, given in known if given.code not in error.codes]
    confused = Counter((error.codes[0], given.code) for error, given in wrong)
    return CoderEval(
        coder=coder,
        parts=(
            _part("all", pairs),
            *(_part(phase, [p for p in pairs if p[0].phase == phase]) for phase in phases),
            *(
                _part(f"{batch} batch", [p for p in pairs if p[0].batch == batch])
                for batch in batches
            ),
        ),
        by=tuple(_part(way, [p for p in known if p[1].by == way]) for way in ways),
        confused=tuple((one, other, count) for (one, other), count in confused.most_common()),
        wrong=tuple((error.id, given.code) for error, given in wrong),
    )


def _part(name: str, pairs: Sequence[tuple[LabelledError, Coded]]) -> Part:
    known = [(error, given) for error, given in pairs if given.by != "unanswered"]
    right = [float(given.code in error.codes) for error, given in known]
    families = [
        any(_family(given.code) == _family(code) for code in error.codes) for error, given in known
    ]
    papers = [error.paper or error.id for error, _ in known]
    labels = [given.code if given.code in error.codes else error.codes[0] for error, given in known]
    return Part(
        name=name,
        right=int(sum(right)),
        families=sum(families),
        of=len(known),
        interval=share_interval(right, papers),
        kappa=kappa(labels, [given.code for _, given in known]),
        uncoded=len(pairs) - len(known),
    )


def _family(code: str) -> str:
    return code.rpartition("/")[0]
