"""Limits of programs that ask their model through the bridge (R45, R48)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import inspect_ai.model._retry
import pytest
from fake_provider import Reply, chat, in_turn, provider
from small_runs import (
    MODEL,
    at,
    do,
    options_for,
    price,
    requests,
)

from expbench.ledger import latest, total
from expbench.paths import CachePaths
from expbench.prices import use_prices
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits

USED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
ANSWER = chat(**USED)


@pytest.fixture(autouse=True)
def own_prices() -> Iterator[None]:
    yield
    use_prices(None)


# --- programs behind the bridge ----------------------------------------------------------------------

CLIENT = """\
import json, os, sys, urllib.request
body = {"model": "inspect", "messages": [{"role": "user", "content": "What is the answer?"}]}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
kind = {"Content-Type": "application/json"}
open("answers.txt", "w").write("I ask.")
for _ in range(int(sys.argv[1])):
    request = urllib.request.Request(url, json.dumps(body).encode(), kind)
    print(json.load(urllib.request.urlopen(request, timeout=100))["choices"][0]["message"]["content"])
"""


def program(folder: Path, asks: int) -> str:
    """A program that asks its model so often and knows nothing of limits."""
    (folder / "client.py").write_text(CLIENT)
    lines = (
        f'run = ["python", "client.py", "{asks}"]',
        "model = true",
        'files = { "client.py" = "client.py" }',
    )
    (folder / "agent.toml").write_text("\n".join(lines))
    return f"command:{folder}/agent.toml"


def test_a_programs_waiting_for_its_model_is_no_working_time(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R48, R45: through the bridge its requests are in the ledger, and silence is not its time."""

    async def two(seconds: float) -> None:
        await anyio.sleep(2.0)

    monkeypatch.setattr(inspect_ai.model._retry, "_sleep", two)
    use_prices(price())
    with provider(in_turn(Reply(hang=True), ANSWER)) as server:
        at(server, monkeypatch)
        limits = Limits(minutes=1, wall_minutes=5)
        options = options_for(
            tmp_path, cache, program(tmp_path, 1), limits, model=MODEL, call_seconds=4.0
        )
        run, _ = do(options)
    (attempt,) = run.attempts.values()
    (outcome,) = run.ordered()
    assert (outcome.status, outcome.limit) == ("finished", ""), outcome.reason
    assert attempt.submission.changed == ("answers.txt",)
    assert 5.5 < attempt.seconds - attempt.working_seconds < attempt.seconds
    assert [bool(each.error) for each in requests(run)] == [True, False]
    assert attempt.usage == total(latest(requests(run)))
    assert attempt.usage.dollars == pytest.approx(120e-6)


def test_a_limit_ends_a_program_and_what_it_left_is_judged(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of a limit that passed Inspect's bridge would end the sample, and the work with it."""
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        options = options_for(tmp_path, cache, program(tmp_path, 50), Limits(turns=3), model=MODEL)
        run, _ = do(options)
        assert len(server.seen) == 3
    (attempt,) = run.attempts.values()
    (outcome,) = run.ordered()
    assert (outcome.status, outcome.limit) == ("finished", "3 turns"), outcome.reason
    assert attempt.submission.changed == ("answers.txt",)
    assert outcome.scores
