"""Which way is better for a measured quantity, by its name."""

from __future__ import annotations

import re

from expbench.grounding.names import Token
from expbench.judges.lexicon import BENEFITS, COSTS
from expbench.judges.words import stem

_MORE_COSTS = (
    *(
        "wait",
        "delay",
        "duration",
        "energy",
        "failures",
        "failure",
        "mistakes",
        "violations",
        "misses",
        "mae",
    ),
    *(
        "rmse",
        "mse",
        "mase",
        "wer",
        "cer",
        "fid",
        "nll",
        "shd",
        "evaluations",
        *(
            "mape",
            "smape",
            "vrmse",
            "nrmse",
            "lpips",
            "fvd",
            "hd95",
            "hausdorff",
            "eer",
            "crps",
            "rmsd",
        ),
        *("timeouts", "idsw", "overhead", "outage", "latencies"),
        "comparisons",
        "waiting",
    ),
)
_MORE_BENEFITS = (
    *(
        "score",
        "scores",
        "acc",
        "accuracy",
        "f1",
        "served",
        "wins",
        "hits",
        "coverage",
        "utility",
        "profit",
    ),
    *("speed", "solved", "ndcg", "mrr", "iou", "r2", "ari", "ami", "nmi", "silhouette", "purity"),
    *(
        "mota",
        "idf1",
        "hota",
        "dice",
        "jaccard",
        "pearson",
        "spearman",
        "cider",
        "rougel",
        "bertscore",
    ),
    *("sensitivity", "specificity", "tpr", "agreement", "em", "credibility"),
    *("coherence", "sharpe", "kappa", "mcc", "chrf", "meteor", "elbo", "auprc", "auroc", "fps"),
)
POLARITY = {
    **{stem(word): -1 for word in (*COSTS, *_MORE_COSTS)},
    **{stem(word): 1 for word in (*BENEFITS, *_MORE_BENEFITS)},
}
"""Stems of quantities: 1 where more is better, -1 where less is."""

_EXACT = {
    **dict.fromkeys((*COSTS, *_MORE_COSTS), -1),
    **dict.fromkeys((*BENEFITS, *_MORE_BENEFITS), 1),
}


def polarity_of(token: Token) -> int:
    """1 where more of a quantity is better, -1 where less is, 0 where its name says nothing."""
    word = str(token)
    return _EXACT.get(word, POLARITY.get(stem(word), 0))


_VERBS = frozenset(
    (
        *("compare", "compares", "compared", "comparing", "evaluate", "evaluates", "evaluated"),
        *("evaluating", "serve", "serves", "serving", "solve", "solves", "return", "returned"),
        *("difference", "differences", "deviation", "deviations"),
        *("best", "winner", "winners", "win", "wins", "power", "powers", "hit", "hits", "times"),
    )
)
"""Words with the stem of a quantity's name that name none."""
_NO_TASKS = frozenset(
    (
        *(
            "step",
            "steps",
            "time",
            "times",
            "map",
            "maps",
            "loop",
            "loops",
            "memory",
            "miss",
            "hit",
        ),
        *("gap", "gaps", "distance", "bias", "variance", "deviation", "speed", "success", "cost"),
    )
)
"""Quantities that a task may speak of without asking for them."""
STATISTICS = frozenset(
    (
        "best",
        "worst",
        "mean",
        "average",
        "avg",
        "median",
        "min",
        "max",
        "last",
        "final",
        "std",
        "first",
    )
)
"""Words that tell the columns of a table of statistics apart."""


_SO_MANY = re.compile(r"\b\d[\d.,]{0,12}\s(?:rounds?|steps?|iterations?|epochs?|updates?)\b")
"""How long something ran, of which nobody says whether less is better: *after 200 rounds*."""


def stated(text: str, asked: bool = False) -> int:
    """Which way is better by the quantities that a text names; 0 where they differ, or there is none.

    Args:
        asked: the text is a task, of which only plain metrics count.
    """
    text = _SO_MANY.sub(" ", text.lower())
    words = set(re.findall(r"[a-z]\w+", text)) - _VERBS - (_NO_TASKS if asked else set())
    found = {POLARITY[stem(word)] for word in words if stem(word) in POLARITY}
    if not found and "accurate" in words:
        return 1
    return found.pop() if len(found) == 1 else 0


def is_metric(token: Token) -> bool:
    """Whether a label names a quantity."""
    return isinstance(token, str) and stem(token) in POLARITY
