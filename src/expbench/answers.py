"""What a provider's answer says of its tokens and its price, as Inspect's provider has read it.

Inspect puts the usage of every provider into one form, in which cached tokens are no input tokens. Two
things it leaves where they are, and they are read here: DeepSeek's own count of cached tokens (also of
servers that took over its form), and the price that OpenRouter gives with an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from inspect_ai.model import Model, ModelUsage
from inspect_ai.model._model import model_usage_cost

from expbench.ledger import Tokens
from expbench.schema import Usage


class Answer(NamedTuple):
    """What one request brought: the model's id as it was answered, and what it used.

    ``dollars`` are there where the provider says them, or the user told Inspect; ``price`` says which.
    ``seconds`` are those of the sending that was answered, where the provider's client measures them;
    ``for_an_hour`` are tokens that were written to a cache which keeps them so long.
    """

    model: str = ""
    usage: ModelUsage | None = None
    dollars: float | None = None
    price: str = ""
    seconds: float | None = None
    for_an_hour: int = 0


def of_output(model: Model, result: Any) -> Answer | Exception:
    """What a provider's ``generate`` returned; an error that it returns instead of raising it."""
    output, call = result if isinstance(result, tuple) else (result, None)
    if isinstance(output, Exception):
        return output
    seconds = call.time if call is not None else None
    if output.usage is None:
        return Answer(output.model, seconds=seconds)
    raw = (call.response or {}).get("usage") if call is not None else None
    if isinstance(raw, Mapping):
        _add_cached(output.usage, raw)
        if (dollars := _reported(model, raw)) is not None:
            return Answer(output.model, output.usage, dollars, "provider", seconds)
    dollars = model_usage_cost(model, output.usage, output)
    price = "inspect" if dollars is not None else ""
    hour = _for_an_hour(model, output.usage, raw)
    return Answer(output.model, output.usage, dollars, price, seconds, hour)


def of_compaction(model: Model, result: Any) -> Answer:
    """What a provider's ``compact`` returned."""
    usage: ModelUsage | None = result[1]
    dollars = model_usage_cost(model, usage) if usage is not None else None
    return Answer("", usage, dollars, "inspect" if dollars is not None else "")


def tokens_of(usage: ModelUsage) -> Tokens:
    """Inspect's usage as a record of the ledger has it."""
    return Tokens(
        input=usage.input_tokens,
        cache_read=usage.input_tokens_cache_read or 0,
        cache_write=usage.input_tokens_cache_write or 0,
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens or 0,
    )


def priced(tokens: Tokens) -> Usage:
    """The same tokens as the table of prices takes them."""
    return Usage(
        input_tokens=tokens.input + tokens.cache_read + tokens.cache_write,
        cache_read=tokens.cache_read,
        cache_write=tokens.cache_write,
        output_tokens=tokens.output,
    )


def _add_cached(usage: ModelUsage, raw: Mapping[str, Any]) -> None:
    hit = raw.get("prompt_cache_hit_tokens")
    if isinstance(hit, int) and not usage.input_tokens_cache_read:
        usage.input_tokens_cache_read = min(hit, usage.input_tokens)
        usage.input_tokens -= usage.input_tokens_cache_read


def _for_an_hour(model: Model, usage: ModelUsage, raw: object) -> int:
    """As the answer says it, else as it was asked for."""
    written = usage.input_tokens_cache_write or 0
    created = raw.get("cache_creation") if isinstance(raw, Mapping) else None
    said = created.get("ephemeral_1h_input_tokens") if isinstance(created, Mapping) else None
    if isinstance(said, int):
        return min(said, written)
    return written if model.api.cache_write_ttl() == "1h" else 0


def _reported(model: Model, raw: Mapping[str, Any]) -> float | None:
    """Dollars that OpenRouter took; with a key of the user's own also what the maker takes for it."""
    cost = raw.get("cost")
    if not str(model).startswith("openrouter/") or not isinstance(cost, int | float):
        return None
    details = raw.get("cost_details")
    upstream = details.get("upstream_inference_cost") if isinstance(details, Mapping) else None
    extra = upstream if raw.get("is_byok") and isinstance(upstream, int | float) else 0.0
    return float(cost + extra)
