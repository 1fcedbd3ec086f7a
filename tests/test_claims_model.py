"""``--claims-model``: claims that a model finds beside the rules, through a whole run and what follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_runs import QUICK, do, do_again, options_for, requests, scripted

from expbench.books import models_of
from expbench.paths import CachePaths
from expbench.reexecute import open_reexecution, reexecute
from expbench.reproduce import open_reproducing, reproduce
from expbench.runs import Run, load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Extraction, Grounding

SAID = "the pool goes from over-confident to under-confident"
"""In the oracle's conclusion; the rules see no claim in it."""
CLAIM = {
    "text": SAID,
    "kind": "relation",
    "value": None,
    "unit": "",
    "metric": "confidence",
    "condition": "",
    "relation": "trend",
    "sides": ["the pool"],
    "essential": True,
}
INVENTED = {**CLAIM, "text": "the pool is best of all"}


def model(folder: Path, text: str) -> str:
    return scripted(folder, replies=[{"when": ".", "text": text}])


def asked(run: Run) -> int:
    return sum(request.stage == "grounding" for request in requests(run))


def found(run: Run) -> tuple[Extraction, Grounding]:
    outcome = run.outcomes[QUICK, 1]
    assert outcome.claims is not None
    assert outcome.grounding is not None
    return outcome.claims, outcome.grounding


def texts(grounding: Grounding) -> list[str]:
    return [each.claim.text for each in grounding.claims]


def test_a_runs_claims_are_the_rules_and_the_models_and_are_asked_for_once(
    host: SandboxHost, cache: CachePaths, tmp_path: Path
) -> None:
    """R5, R43: the claims and their cost are kept; going on, executing and reproducing ask nobody."""
    by_rules, _ = do(options_for(tmp_path / "rules", cache, "oracle"))
    assert by_rules.outcomes[QUICK, 1].claims is None
    rules = by_rules.outcomes[QUICK, 1].grounding
    assert rules is not None
    assert SAID not in texts(rules)

    name = model(tmp_path, json.dumps({"claims": [CLAIM, INVENTED]}))
    chosen = options_for(tmp_path, cache, "oracle", claims_model=name)
    run, _ = do(chosen)
    assert models_of(run.manifest) == (name,)
    claims, grounding = found(run)
    assert (claims.by, claims.dropped, claims.reason) == (f"rules + model {name}", 1, "")
    assert grounding.by == claims.by
    assert sorted(texts(grounding)) == sorted([*texts(rules), SAID])
    assert (asked(run), claims.usage.calls) == (1, 1)

    again, _ = do_again(load(run.paths.root), chosen)
    assert asked(again) == 1

    work = open_reexecution(again, chosen, 1, "", None, False, "", False)
    reexecute(work, 1, lambda _: None)
    assert texts(found(work.into)[1]) == texts(grounding)
    assert asked(again) == 1

    done = reproduce(open_reproducing(again, chosen), 1, lambda *_: None)
    assert done.equal, done.differences
    assert asked(again) == 1


@pytest.mark.parametrize("reply", ["I cannot say.", '{"claims": "none"}'])
def test_a_model_that_gives_no_claims_leaves_g_unscored_until_it_does(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, reply: str
) -> None:
    """R2: what the rules find alone is another measure, so it does not stand in for what failed."""
    name = model(tmp_path, reply)
    chosen = options_for(tmp_path, cache, "oracle", claims_model=name)
    run, end = do(chosen)
    assert end.open == 1
    outcome = run.outcomes[QUICK, 1]
    assert outcome.scores["grounding"].value is None
    assert "unparsable reply" in outcome.scores["grounding"].reason
    assert outcome.scores["execution"].value == 1.0

    (tmp_path / "model.json").write_text(
        json.dumps({"replies": [{"when": ".", "text": json.dumps({"claims": [CLAIM]})}]})
    )
    executed = outcome.execution
    again, end = do_again(load(run.paths.root), chosen)
    assert end.open == 0
    assert SAID in texts(found(again)[1])
    assert again.outcomes[QUICK, 1].scores["grounding"].value is not None
    assert again.outcomes[QUICK, 1].execution == executed
