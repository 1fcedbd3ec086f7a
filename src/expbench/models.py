"""Models by name, with one sentence for what can be wrong with one, and what their calls used."""

from __future__ import annotations

import re

from inspect_ai.model import Model, ModelOutput, get_model

from expbench.errors import NotFoundError, PrerequisiteError, UserError
from expbench.metering import meter
from expbench.prices import prices
from expbench.redaction import redacted_error
from expbench.schema import Usage


def load_model(name: str) -> Model:
    """An Inspect model, ``provider/model``, ready to be asked.

    It is an object of its own each time. Inspect would else share one with the evaluated model of the
    same name, and lend it that model's settings (system message, temperature).

    Raises:
        NotFoundError: no provider has that name.
        PrerequisiteError: the provider lacks its package or its key.
    """
    try:
        return meter(get_model(name, memoize=False))
    except UserError:
        raise
    except ValueError as error:
        raise NotFoundError(f"There is no model {name!r}: {_sentence(error)}") from None
    except Exception as error:  # the engine's own error for a missing package or key is private
        raise PrerequisiteError(f"The model {name!r} cannot be used: {_sentence(error)}") from None


def usage_of(output: ModelOutput, model: Model | str = "") -> Usage:
    """What one call used. A provider that reports nothing still made a call.

    Dollars are what Inspect says where the user gave it prices, else the list price of ``model``
    (:mod:`expbench.prices`). They are ``None`` where the price, the model's name or the tokens are
    not known.
    """
    used = output.usage
    if used is None:
        return Usage(calls=1)
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    usage = Usage(
        input_tokens=used.input_tokens + read + written,
        output_tokens=used.output_tokens,
        calls=1,
        cache_read=read,
        cache_write=written,
        reasoning_tokens=used.reasoning_tokens or 0,
        dollars=used.total_cost,
    )
    price = prices().of(str(model))
    if usage.dollars is not None or price is None:
        return usage
    return usage.model_copy(update={"dollars": price.of_call(usage)})


def _sentence(error: Exception) -> str:
    """The engine's message on one line, without its colours."""
    text = " ".join(str(getattr(error, "message", error)).split())
    return redacted_error(re.sub(r"\[/?\w+\]", "", text).removeprefix("ERROR: "))
