"""The ledger: every request of any model once, to the token and the cent (R45)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import inspect_ai.model._retry
import pytest
from fake_provider import Provider, Reply, chat, failing, in_turn, provider
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.util import LimitExceededError, token_limit
from small_runs import (
    JUDGE,
    MODEL,
    at,
    do,
    do_again,
    judge_by,
    options_for,
    price,
    requests,
    scripted,
)

from expbench.budgets import Account, Cap, Worst, spending
from expbench.dataset import load_suite
from expbench.errors import DataError, UnreachableModelError
from expbench.judges import make_judge, rubric
from expbench.judges.model import ModelJudge
from expbench.ledger import Request, Tokens, latest, open_ledger, read_ledger, total
from expbench.metering import TRIES, install, meter
from expbench.models import load_model, usage_of
from expbench.packing import pack, unpack
from expbench.paths import CachePaths
from expbench.planning import open_evaluation
from expbench.prices import use_prices
from expbench.rejudge import Rejudging, open_judging, rejudge
from expbench.runs import load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, ResearchTask, SubmissionText, Usage
from expbench.workspace import SourceFinder

USED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
COST = 100e-6 + 2 * 10e-6
ANSWER = chat(**USED)
NOT_MET = chat(
    json.dumps({"evidence": "", "reason": "no", "verdict": "not_met", "alternative": False}), **USED
)


@pytest.fixture(autouse=True)
def own_prices() -> Iterator[None]:
    yield
    use_prices(None)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Back-off between requests takes no time; its seconds."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(inspect_ai.model._retry, "_sleep", sleep)
    return found


def account(path: Path, deadline: float | None = 5.0, **more: object) -> Account:
    ledger = open_ledger(path)
    found = Account("agent", "t/p/1", 1, ledger.trial("agent", "t/p/1", 1), ledger, Cap(), Limits())
    found.deadline = deadline
    for name, value in more.items():
        setattr(found, name, value)
    return found


def fake(server: Provider, retries: int = 0) -> Model:
    """A model of the fake provider, whose client repeats a request so often by itself."""
    install()
    return get_model(MODEL, base_url=server.url, api_key="x", memoize=False, max_retries=retries)


def ask(model: Model, own: Account, **config: object) -> ModelOutput:
    async def work() -> ModelOutput:
        with spending(own):
            settings = GenerateConfig(max_tokens=50, **config)  # type: ignore[arg-type]
            return await model.generate("hello", config=settings)

    return anyio.run(work)


# --- the file ------------------------------------------------------------------------------------


def request(**more: object) -> Request:
    facts = {"stage": "agent", "task": "a/b/1", "epoch": 1, "model": "m/n", "time": "now"}
    return Request.model_validate({**facts, **more})


def test_a_line_that_a_kill_cut_short_is_ignored_and_then_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = open_ledger(path)
    ledger.add(request(dollars=1.0, tokens=Tokens(input=3)))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"stage": "agent", "task": "' + b"x" * 9000)
    assert len(list(read_ledger(path))) == 1, "also while it is there"
    again = open_ledger(path)
    assert path.read_bytes() == whole
    assert (again.charged, again.trial("agent", "a/b/1", 1)) == (1.0, 2)
    path.write_bytes(b"no end")
    assert open_ledger(path).charged == 0.0
    assert path.read_bytes() == b""


def test_a_request_is_synced_before_its_answer_is_used_and_nothing_of_it_stays_where_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss of power cannot be tested: that the kernel is asked for it, and its refusal, can."""
    path = tmp_path / "ledger.jsonl"
    ledger = open_ledger(path)
    asked: list[bytes] = []
    sync = os.fsync

    def watched(handle: int) -> None:
        asked.append(path.read_bytes())
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", watched)
        for dollars in (1.0, 2.0):
            ledger.add(request(dollars=dollars))
            assert asked[-1] == path.read_bytes(), "nothing is written after the last sync"
    whole = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="space"):
            ledger.add(request(dollars=4.0))
    assert path.read_bytes() == whole and ledger.charged == 3.0
    assert [each.dollars for each in read_ledger(path)] == [1.0, 2.0]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    open_ledger(path).add(request())
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(DataError, match="line 2 is damaged"):
        open_ledger(path)


def test_only_the_last_try_counts_for_what_a_record_says(tmp_path: Path) -> None:
    used = Tokens(input=10, output=1)
    old = [request(tokens=used, dollars=1.0), request(tokens=used, dollars=1.0)]
    new = [request(trial=2, tokens=used, dollars=4.0), request(task="c", tokens=used, dollars=8.0)]
    assert total(latest([*old, *new])).dollars == 12.0
    assert total([*old, *new]).dollars == 14.0
    assert total([]) == Usage()


# --- requests ------------------------------------------------------------------------------------


def test_an_answer_is_one_record_with_its_price(tmp_path: Path) -> None:
    use_prices(price())
    own = account(tmp_path / "l")
    with provider(in_turn(ANSWER)) as server:
        output = ask(fake(server), own)
    (found,) = read_ledger(own.ledger.path)
    assert found.tokens == Tokens(input=100, output=10)
    assert (found.model, found.answered) == (MODEL, "fake-model-0613")
    assert found.dollars == pytest.approx(COST, abs=1e-12)
    assert found.price.endswith(f": {MODEL}")
    assert (found.retries, found.waited, found.error) == (0, 0.0, "")
    assert found.usage == own.usage == usage_of(output, MODEL)


def test_no_text_of_a_question_or_an_answer_is_kept(tmp_path: Path) -> None:
    own = account(tmp_path / "l")
    with provider(in_turn(chat("a secret answer", **USED))) as server:
        ask(fake(server), own)
    content = own.ledger.path.read_text()
    assert "hello" not in content and "secret answer" not in content
    assert len(content) < 400


def test_rate_limits_and_errors_of_the_server_are_repeated(
    tmp_path: Path, pauses: list[float]
) -> None:
    """R48: each request is a record, with how often and how long it was waited before."""
    use_prices(price())
    own = account(tmp_path / "l")
    replies = (failing(429, Retry_After="0.01"), failing(500), failing(503), ANSWER)
    with provider(in_turn(*replies)) as server:
        ask(fake(server), own)
        assert len(server.seen) == 4
    found = list(read_ledger(own.ledger.path))
    assert [each.error[:30].split(":")[0] for each in found] == [
        "RateLimitError 429",
        "InternalServerError 500",
        "InternalServerError 503",
        "",
    ]
    assert [each.retries for each in found] == [0, 1, 2, 3]
    assert [each.dollars for each in found] == [0.0, 0.0, 0.0, pytest.approx(COST)]
    assert len(pauses) == 3
    assert own.usage.calls == 1
    assert own.failure == ""


def test_what_a_client_repeats_by_itself_is_counted(tmp_path: Path, pauses: list[float]) -> None:
    own = account(tmp_path / "l")
    with provider(in_turn(failing(429, Retry_After="0.3"), ANSWER)) as server:
        ask(fake(server, retries=2), own)
    (found,) = read_ledger(own.ledger.path)
    assert (found.retries, found.error) == (1, "")
    assert found.waited >= 0.3, "Retry-After is kept, and is not the provider's work"
    assert pauses == []


@pytest.mark.parametrize("silence", [Reply(hang=True), Reply({"id": "x"}, half=True)])
def test_a_request_without_an_answer_ends_at_its_deadline(
    tmp_path: Path, pauses: list[float], silence: Reply
) -> None:
    """R48: a provider that hangs, or stops in the middle of its answer; its bill is not known."""
    use_prices(price())
    own = account(tmp_path / "l", deadline=0.5, run=Cap(1.0))
    with provider(in_turn(silence, ANSWER)) as server:
        output = ask(fake(server), own)
    assert output.completion == "done"
    hung, answered = read_ledger(own.ledger.path)
    assert hung.error.startswith("AttemptTimeoutError") and hung.dollars is None
    assert hung.at_most is not None and hung.at_most >= 2 * 50e-6
    assert own.run.used == pytest.approx(hung.at_most + COST)
    assert (answered.retries, answered.error) == (1, "")
    assert answered.waited >= 0.5


def test_a_provider_that_never_answers_is_unreachable(tmp_path: Path, pauses: list[float]) -> None:
    own = account(tmp_path / "l")
    with (
        provider(in_turn(failing(500))) as server,
        pytest.raises(UnreachableModelError, match="no answer to 10 requests: InternalServerError"),
    ):
        ask(fake(server), own)
    assert len(list(read_ledger(own.ledger.path))) == TRIES == len(pauses) + 1
    assert own.failure


def test_a_bad_request_blames_who_asked(tmp_path: Path) -> None:
    own = account(tmp_path / "l")
    with provider(in_turn(failing(400))) as server, pytest.raises(RuntimeError):
        ask(fake(server), own)
    (found,) = read_ledger(own.ledger.path)
    assert found.error.startswith("BadRequestError 400")
    assert (own.failure, own.usage, own.requests) == ("", Usage(), 1)


def test_a_cancelled_request_is_recorded(tmp_path: Path) -> None:
    own = account(tmp_path / "l", deadline=None)

    async def work(model: Model) -> None:
        with spending(own), anyio.move_on_after(0.3):
            await model.generate("hello")

    with provider(in_turn(Reply(hang=True))) as server:
        anyio.run(work, fake(server))
    (found,) = read_ledger(own.ledger.path)
    assert found.error == "cancelled before an answer"
    assert (found.dollars, own.failure) == (None, "")


def test_requests_at_the_same_time_do_not_mix_up_their_retries(
    tmp_path: Path, pauses: list[float]
) -> None:
    own = account(tmp_path / "l")

    def answer(number: int, body: object) -> Reply:
        failed = "odd" in json.dumps(body) and number < 8
        return failing(500) if failed else ANSWER

    async def work(model: Model) -> None:
        with spending(own):
            async with anyio.create_task_group() as group:
                for name in ("odd 1", "even 1", "odd 2", "even 2"):
                    group.start_soon(model.generate, name)

    with provider(answer) as server:
        anyio.run(work, fake(server))
        assert len(server.seen) == own.requests
    found = [each for each in read_ledger(own.ledger.path) if not each.error]
    assert sorted(bool(each.retries) for each in found) == [False, False, True, True]


def test_outside_of_a_run_nothing_is_kept(tmp_path: Path) -> None:
    with provider(in_turn(ANSWER)) as server:
        output = anyio.run(fake(server).generate, "hello")
    assert output.completion == "done"
    assert meter(fake(server)).api.generate.__name__ == "generate"


# --- the bugs of R45, one by one ------------------------------------------------------------------


def test_r45_cached_tokens_have_their_own_price(tmp_path: Path) -> None:
    """R45: cached tokens were billed as fresh ones, or left out."""
    use_prices(price({"input": 1.0, "cache_read": 0.1, "output": 2.0}))
    own = account(tmp_path / "l")
    used = {**USED, "prompt_tokens_details": {"cached_tokens": 80}}
    with provider(in_turn(chat(**used))) as server:
        ask(fake(server), own)
    (found,) = read_ledger(own.ledger.path)
    assert found.tokens == Tokens(input=20, cache_read=80, output=10)
    assert found.dollars == pytest.approx((20 + 8 + 20) * 1e-6, abs=1e-12)
    assert own.usage.input_tokens == 100


def test_r45_a_dropped_usage_field_is_unknown_and_not_free(tmp_path: Path) -> None:
    """R45: servers that send no usage cost 0 dollars, and no cap ever ended the run."""
    use_prices(price())
    own = account(tmp_path / "l", run=Cap(1.0))
    with provider(in_turn(Reply({**ANSWER.body, "usage": None}))) as server:
        output = ask(fake(server), own)
    (found,) = read_ledger(own.ledger.path)
    assert (found.tokens, found.dollars) == (None, None)
    assert own.usage == Usage(calls=1) == usage_of(output, MODEL)
    assert own.run.used > 0, "the worst case counts against the cap"


def test_r45_every_request_counts_not_the_last_one(tmp_path: Path) -> None:
    """R45: the cost of a conversation was that of its last request."""
    use_prices(price())
    own = account(tmp_path / "l")
    with provider(in_turn(ANSWER)) as server:
        model = fake(server)
        for _ in range(4):
            ask(model, own)
    assert own.usage.dollars == pytest.approx(4 * COST)
    assert total(read_ledger(own.ledger.path)) == own.usage


def test_r45_an_unknown_price_is_not_zero(tmp_path: Path) -> None:
    """R45: a model without a price cost nothing."""
    own = account(tmp_path / "l")
    with provider(in_turn(ANSWER)) as server:
        ask(fake(server), own)
    assert own.usage.dollars is None
    assert own.ledger.unpriced == 1


def test_r45_reasoning_tokens_are_part_of_the_output(tmp_path: Path) -> None:
    """R45: thinking was billed twice, or not at all."""
    use_prices(price())
    own = account(tmp_path / "l")
    used = {**USED, "completion_tokens_details": {"reasoning_tokens": 7}}
    with provider(in_turn(chat(**used))) as server:
        ask(fake(server), own)
    (found,) = read_ledger(own.ledger.path)
    assert found.tokens == Tokens(input=100, output=10, reasoning=7)
    assert found.dollars == pytest.approx(COST)


def test_r45_a_request_that_passes_a_token_limit_of_inspect_is_counted(tmp_path: Path) -> None:
    """R45: what made a limit end the conversation was in no sum, since hooks are not told of it."""
    own = account(tmp_path / "l")

    async def work(model: Model) -> None:
        with spending(own), token_limit(50):
            await model.generate("hello")

    with provider(in_turn(ANSWER)) as server, pytest.raises(LimitExceededError):
        anyio.run(work, fake(server))
    assert own.usage.input_tokens == 100


def test_a_judge_pays_too(tmp_path: Path, mini_task: ResearchTask) -> None:
    """R45: the judge's cost was left out."""
    use_prices(price())
    own = account(tmp_path / "l", deadline=None)
    with provider(in_turn(NOT_MET)) as server:
        judge = ModelJudge(fake(server))
        text = SubmissionText(design="a", conclusion="b", diff="c", script="d")

        async def work() -> Usage:
            with spending(own):
                return (await judge.judge(rubric(mini_task), text, mini_task)).usage

        usage = anyio.run(work)
    assert usage.calls == len(server.seen) > 3
    assert usage == own.usage == total(read_ledger(own.ledger.path))
    assert usage.dollars == pytest.approx(usage.calls * COST)


@pytest.fixture
def mini_task() -> ResearchTask:
    (task,) = load_suite("mini").select(("mini/calibration/2",))
    return task


def test_models_that_are_loaded_by_name_are_metered(tmp_path: Path) -> None:
    own = account(tmp_path / "l")
    ask(load_model(scripted(tmp_path, turns=[{"text": "one two"}])), own)
    (found,) = read_ledger(own.ledger.path)
    assert found.answered == "scripted"
    assert found.tokens is not None and found.tokens.output == 2


# --- whole runs -----------------------------------------------------------------------------------


def test_a_runs_ledger_has_the_agents_own_requests_and_the_judges(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R45: usage of the attempt and of the judgement are the ledger's sums; the log has the dollars."""
    with provider(in_turn(NOT_MET)) as server:
        at(server, monkeypatch)
        use_prices(price(None, JUDGE))
        options = options_for(tmp_path, cache, "asks_thrice", judging=judge_by(JUDGE))
        run, end = do(options)
    assert end.open == 0
    found = requests(run)
    agent = [each for each in found if each.stage == "agent"]
    judging = [each for each in found if each.stage == "judge"]
    (attempt,) = run.attempts.values()
    (outcome,) = run.outcomes.values()
    assert attempt.usage == outcome.agent_usage == total(latest(agent))
    assert attempt.usage.dollars == pytest.approx(3 * COST)
    assert outcome.judgement is not None
    assert outcome.judgement.usage == total(latest(judging))
    assert {each.model for each in judging} == {JUDGE}
    # Judged again, all answers come from the verdict cache, which costs nothing.
    before = len(found)
    journal = run.paths.journal.read_text().splitlines(keepends=True)
    kept = [line for line in journal if '"attempt"' in line]
    run.paths.journal.write_text("".join(kept))
    again, _ = do_again(load(run.paths.root), options)
    assert len(requests(again)) == before
    (second,) = again.outcomes.values()
    assert second.judgement is not None and second.judgement.usage.calls == 0
    assert second.judgement.cached == len(second.judgement.verdicts)


def test_answers_of_inspects_own_cache_are_absent(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "answers"))
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        use_prices(price())
        run, _ = do(options_for(tmp_path, cache, "asks_the_cache"))
        assert len(server.seen) == 1
    (attempt,) = run.attempts.values()
    assert len(requests(run)) == attempt.usage.calls == 1
    assert attempt.usage.dollars == pytest.approx(COST)


def test_the_users_prices_stay_with_the_run(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        use_prices(price())
        options = options_for(tmp_path, cache, "asks_once")
        run, _ = do(options)
        run.paths.journal.unlink()
        run, _ = do_again(load(run.paths.root), options)
    first, second = requests(run)
    assert first.dollars == second.dollars == pytest.approx(COST)
    assert (first.trial, second.trial) == (1, 2)
    assert total(latest(requests(run))) == next(iter(run.attempts.values())).usage
    assert open_evaluation(run, options).books.run.used == pytest.approx(2 * COST)


def test_a_judging_of_its_own_has_a_ledger_of_its_own(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(in_turn(NOT_MET)) as server:
        at(server, monkeypatch)
        use_prices(price(None, JUDGE))
        run, _ = do(options_for(tmp_path, cache, "asks_once", dollars=1.0))
        before = run.paths.ledger.read_bytes()
        judged, phases = open_judging(run, "again", judge_by(JUDGE), ())
        assert judged.manifest.dollars is None, "the run's cap is not for it"
        tasks = {task.id: task for task in load_suite("mini").tasks}
        work = Rejudging(run, judged, tasks, SourceFinder(cache.repos), phases)
        rejudge(work, make_judge(judge_by(JUDGE), "", None), lambda _: None)
    (outcome,) = judged.outcomes.values()
    assert outcome.judgement is not None
    found = list(read_ledger(judged.paths.ledger))
    assert {each.stage for each in found} == {"judge"}
    assert outcome.judgement.usage == total(latest(found))
    assert outcome.judgement.usage.dollars == pytest.approx(len(found) * COST), "the run's prices"
    assert run.paths.ledger.read_bytes() == before


def test_the_ledger_and_the_prices_travel_with_a_run(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        use_prices(price())
        run, _ = do(options_for(tmp_path, cache, "asks_once"))
    pack(run.paths.root, tmp_path / "run.tar.gz")
    unpack(tmp_path / "run.tar.gz", tmp_path / "there")
    for name in ("ledger.jsonl", "prices.json"):
        there = (tmp_path / "there" / name).read_bytes()
        assert there == (run.paths.root / name).read_bytes()


def test_reserving_for_one_that_is_refused_leaves_nothing_held(tmp_path: Path) -> None:
    own = account(tmp_path / "l")
    own.turns.most = 0
    own.tokens.most = 1000

    async def work() -> None:
        with pytest.raises(Exception, match="0 turns"):
            await own.reserve(Worst(10, 1.0, True))

    anyio.run(work)
    assert (own.tokens.held, own.turns.held, own.run.held) == (0, 0, 0)
