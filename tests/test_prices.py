"""Prices: tables, what a call costs, and that an unknown price is no zero."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from expbench.errors import DataError
from expbench.models import load_model, usage_of
from expbench.prices import PriceList, list_prices, prices, read_prices, use_prices
from expbench.schema import Usage

PRICED = "openai/o3-mini"


@pytest.fixture(autouse=True)
def no_own_prices() -> Iterator[None]:
    yield
    use_prices(None)


def called(**tokens: int) -> ModelOutput:
    answer = ModelOutput.from_content("whatever the provider says", "yes")
    answer.usage = ModelUsage(**tokens)
    return answer


def own(**models: object) -> PriceList:
    return PriceList.model_validate({"models": {"house/model": models}})


def test_the_table_says_of_when_it_is_and_that_it_is_of_list_prices() -> None:
    table = list_prices()
    assert table.version.startswith("20")
    assert "list prices" in table.source
    for price in table.models.values():
        for rates in (price, *([price.long] if price.long else [])):
            assert 0 < rates.input < rates.output
            assert rates.cache_read is None or rates.cache_read < rates.input
            assert rates.cache_write is None or rates.cache_write > rates.input


def test_each_kind_of_token_has_its_price() -> None:
    """R45: cached tokens are neither free nor full price, and output is counted with its reasoning."""
    use_prices(own(input=10, cache_read=1, cache_write=20, output=100))
    answer = called(
        input_tokens=1_000,
        input_tokens_cache_read=10_000,
        input_tokens_cache_write=2_000,
        output_tokens=500,
        reasoning_tokens=400,
    )
    used = usage_of(answer, "house/model")
    assert used.dollars == pytest.approx((1_000 * 10 + 10_000 + 2_000 * 20 + 500 * 100) / 1e6)
    assert (used.input_tokens, used.cache_read, used.cache_write) == (13_000, 10_000, 2_000)
    assert (used.output_tokens, used.reasoning_tokens, used.calls) == (500, 400, 1)


def test_without_a_price_of_its_own_a_cached_token_costs_as_much_as_any() -> None:
    use_prices(own(input=10, output=100))
    answer = called(input_tokens=1, input_tokens_cache_read=2, input_tokens_cache_write=3)
    assert usage_of(answer, "house/model").dollars == pytest.approx(60 / 1e6)


def test_a_long_call_has_the_long_rates_for_all_of_its_tokens() -> None:
    use_prices(own(input=1, output=2, long={"above": 100, "input": 3, "output": 5}))
    assert usage_of(called(input_tokens=100, output_tokens=1), "house/model").dollars == (
        pytest.approx(102 / 1e6)
    )
    long = called(input_tokens=1, input_tokens_cache_read=100, output_tokens=1)
    assert usage_of(long, "house/model").dollars == pytest.approx(308 / 1e6)


@pytest.mark.parametrize(
    "model",
    [
        "",
        "o3-mini",
        "openai/o3-mini-pro",
        "openai/o3-minimal",
        "openrouter/openai/o3-mini",
        "openai/azure/o3-mini",
        "mockllm/model",
        "ollama/o3-mini",
    ],
)
def test_an_unknown_price_is_none_and_never_zero(model: str) -> None:
    """R45: an unknown model costs an unknown sum; another seller's price is unknown too."""
    assert usage_of(called(input_tokens=5, output_tokens=5), model).dollars is None


@pytest.mark.parametrize("suffix", ["", "-2025-01-31", "-20250131", "-latest"])
def test_a_dated_snapshot_costs_what_its_model_costs(suffix: str) -> None:
    assert list_prices().of(PRICED + suffix) == list_prices().models[PRICED]


def test_a_snapshot_with_a_price_of_its_own_keeps_it() -> None:
    table = list_prices()
    old = table.of("openai/gpt-4o-2024-05-13")
    assert old != table.of("openai/gpt-4o")
    assert old == table.models["openai/gpt-4o-2024-05-13"]


def test_a_call_without_reported_tokens_has_unknown_dollars() -> None:
    answer = ModelOutput.from_content("m", "yes")
    assert usage_of(answer, PRICED) == Usage(calls=1)
    known = usage_of(called(input_tokens=1, output_tokens=1), PRICED)
    assert known.dollars is not None
    assert (known + usage_of(answer, PRICED)).dollars is None


def test_what_inspect_was_told_by_the_user_comes_first() -> None:
    answer = called(input_tokens=1, output_tokens=1)
    assert answer.usage is not None
    answer.usage.total_cost = 7.0
    assert usage_of(answer, PRICED).dollars == 7.0


def test_a_users_file_comes_before_the_table(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    models = {PRICED: {"input": 0, "output": 0}, "house/x": {"input": 1, "output": 2}}
    file.write_text(json.dumps({"models": models}))
    use_prices(read_prices(file))
    answer = called(input_tokens=1_000_000, output_tokens=1_000_000)
    assert usage_of(answer, PRICED).dollars == 0.0
    assert usage_of(answer, "house/x").dollars == 3.0
    assert prices().of("openai/gpt-5") == list_prices().models["openai/gpt-5"]
    assert prices().version == f"{read_prices(file).version} over {list_prices().version}"
    assert prices().row("house/x") == f"{read_prices(file).version}: house/x"
    assert prices().row("openai/gpt-5-2025-08-07") == f"{list_prices().version}: openai/gpt-5"
    assert prices().row("house/y") == ""
    use_prices(None)
    assert prices() == list_prices()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ('{"models": {"a/b": {"input": -1, "output": 1}}}', "models.a/b.input"),
        ('{"models": {"a/b": {"input": NaN, "output": 1}}}', "models.a/b.input"),
        ('{"models": {"a/b": {"input": 1}}}', "models.a/b.output"),
        ('{"models": {"a/b": {"input": 1, "output": 1, "outputs": 1}}}', "models.a/b.outputs"),
    ],
)
def test_a_wrong_file_is_named_with_its_mistake(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(DataError, match=said) as caught:
        read_prices(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_prices(tmp_path / "none.json")


def test_a_judges_model_is_never_the_object_that_inspect_lends_to_others() -> None:
    """Else the evaluated model's temperature and system message would reach the judge."""
    assert load_model("mockllm/model") is not get_model("mockllm/model")
    assert load_model("mockllm/model") is not load_model("mockllm/model")
