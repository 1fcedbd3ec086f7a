"""Golden usage: answers of the big providers, as their documentation shows them, to the token and cent.

Each file of ``data/usage`` is one answer, served on loopback to Inspect's own provider and client.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import pytest
from fake_provider import Provider, Reply, in_turn, provider
from inspect_ai.model import GenerateConfig, get_model

from expbench.budgets import Account, Cap, spending
from expbench.ledger import Tokens, open_ledger, read_ledger, total
from expbench.metering import install
from expbench.models import usage_of
from expbench.prices import PriceList, use_prices
from expbench.schema import Limits

FOLDER = Path(__file__).parent / "data" / "usage"
SHAPES = sorted(path.stem for path in FOLDER.glob("*.json"))
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_API_KEY")


def served(server: Provider, golden: dict[str, Any]) -> str:
    """The address that a provider is given; clients add their own paths."""
    return f"{server.url}/v1" if golden["package"] == "openai" else server.url


@pytest.mark.parametrize("name", SHAPES)
def test_an_answer_is_counted_to_the_token_and_the_cent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """R45: uncached, cached, written, output and reasoning tokens of each provider's own form."""
    golden = json.loads((FOLDER / f"{name}.json").read_text())
    package = golden["package"]
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"the client package {package} is not installed")
    for key in KEYS:
        monkeypatch.setenv(key, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    install()
    use_prices(PriceList.model_validate({"models": {golden["model"]: golden["rates"]}}))
    ledger = open_ledger(tmp_path / "ledger.jsonl")
    own = Account("agent", "a/b/1", 1, 1, ledger, Cap(), Limits(), 20.0)
    with provider(in_turn(Reply(golden["body"]))) as server:
        key = {} if package == "aiobotocore" else {"api_key": "none"}
        model = get_model(
            golden["model"],
            base_url=served(server, golden),
            memoize=False,
            **key,
            **golden["arguments"],
        )

        async def work() -> Any:
            with spending(own):
                return await model.generate("hello", config=GenerateConfig(max_tokens=2000))

        output = anyio.run(work)
    use_prices(None)
    (found,) = read_ledger(ledger.path)
    expected = golden["expected"]
    assert found.error == ""
    assert found.answered == expected["answered"]
    assert found.tokens == Tokens(**expected["tokens"])
    assert found.dollars == pytest.approx(expected["dollars"], abs=1e-12)
    assert found.price == expected.get("price", f"own: {golden['model']}")
    assert usage_of(output, model) == own.usage == total([found])


def test_every_kind_of_provider_has_a_golden_answer() -> None:
    kinds = {"openai_chat", "openai_responses", "anthropic_messages", "google_generate_content"}
    kinds |= {"vllm", "llama_cpp", "deepseek", "openrouter", "bedrock_converse"}
    assert kinds <= set(SHAPES)
