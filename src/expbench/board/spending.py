"""What a run's requests to models used, by who asked."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from expbench.board.contenders import Spend, StageSpend
from expbench.ledger import read_ledger


def read_spend(ledger: Path) -> Spend:
    """What the requests of a ledger used, by stage in the order of the first of each. Raises DataError."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0, 0, 0, 0.0, 0])
    for request in read_ledger(ledger):
        own = sums[request.stage]
        own[0] += 1
        own[1] += bool(request.error)
        if (tokens := request.tokens) is not None and not request.error:
            own[2] += tokens.input + tokens.cache_read + tokens.cache_write
            own[3] += tokens.output
        own[4] += request.dollars or 0.0
        own[5] += request.dollars is None and not request.error
    return Spend(
        stages=tuple(
            StageSpend(
                stage=stage,
                requests=int(requests),
                failed=int(failed),
                input_tokens=int(sent),
                output_tokens=int(came),
                dollars=round(dollars, 9),
                unpriced=int(unpriced),
            )
            for stage, (requests, failed, sent, came, dollars, unpriced) in sums.items()
        )
    )
