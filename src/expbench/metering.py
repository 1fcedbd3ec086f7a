"""Sees every request to a model: checks its budget before, writes it into the ledger after.

It wraps ``generate`` and ``compact`` of every model's provider (Inspect's ``ModelAPI``), the one place that
all requests pass: those of our judges, of agents through Inspect's bridge, of agents that call
``get_model`` themselves, and each repetition of one that failed. Inspect's hooks do not see enough: they
are not told of requests that failed for good, nor of the id of the model that answered, nor of
compactions, and not of a request whose tokens passed a limit; and an error in one of them is swallowed.
Models are wrapped as they are made, by :func:`install`, which changes ``Model.__init__``: there is no
other place for models that an agent's code makes. Outside of a run the wrapper passes everything on.

A request that gets no answer within its account's deadline is given up and repeated by Inspect with
back-off, as are rate limits and errors of the server. After :data:`TRIES` in a row the provider counts
as unreachable. What a client repeats by itself below ``generate`` is in the record's ``retries``.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import wraps
from typing import Any, NamedTuple

import anyio
from inspect_ai._util.http import status_code_of
from inspect_ai._util.retry import _response_status_code
from inspect_ai.log._samples import _active_model_event
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    get_model,
    model_roles,
)
from inspect_ai.model._model import AttemptTimeoutError
from inspect_ai.model._model_info import _get_model_info_direct
from inspect_ai.tool import ToolInfo

from expbench.answers import Answer, of_compaction, of_output, priced, tokens_of
from expbench.budgets import Account, Worst, current
from expbench.errors import PrerequisiteError, UnreachableModelError
from expbench.ledger import Request
from expbench.prices import Price, prices
from expbench.redaction import redacted_error
from expbench.schema import Usage

TRIES = 10
"""Requests for one answer, each a failure of the provider, after which it counts as unreachable.

Inspect's back-off between them is 3, 6, 12 … seconds: 25 minutes and more in all."""
LONGEST = 32_768
"""Tokens of an answer of a model whose longest is not known."""
_BYTES = 3
"""Bytes of text for each token that is expected of a request: rather too many tokens than too few."""
_MEDIA = 1_600
"""Tokens of an image or another file in a request."""
_ERROR = 200
_AGENTS_OWN = {400, 404, 405, 409, 411, 413, 414, 415, 422}
"""Answers of a provider that blame what it was asked."""


class _Failed(NamedTuple):
    """The requests for one answer so far: all failed. ``asked`` is what they asked, by identity."""

    asked: object
    sendings: int
    tries: int
    began: float


_failed: ContextVar[_Failed | None] = ContextVar("expbench_failed_request", default=None)


def install() -> None:
    """Have every model that is made from now on metered; may be called any number of times."""
    original = Model.__init__
    if getattr(original, "metered", False):
        return

    @wraps(original)
    def metered_init(self: Model, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        meter(self)

    metered_init.metered = True  # type: ignore[attr-defined]
    Model.__init__ = metered_init  # type: ignore[method-assign]


def meter(model: Model) -> Model:
    """Have all requests of one model metered that are made inside of an account; the same model."""
    api = model.api
    if getattr(api, "expbench_metered", False):
        return model
    generate, compact = api.generate, api.compact

    @wraps(generate)
    async def metered_generate(
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: Any,
        config: GenerateConfig,
    ) -> Any:
        async def send() -> Any:
            return await generate(input=input, tools=tools, tool_choice=tool_choice, config=config)

        return await _metered(model, send, of_output, input, tools, config)

    @wraps(compact)
    async def metered_compact(
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        config: GenerateConfig,
        instructions: str | None = None,
    ) -> Any:
        async def send() -> Any:
            return await compact(input, tools, config, instructions)

        return await _metered(model, send, of_compaction, input, tools, config)

    api.generate, api.compact = metered_generate, metered_compact  # type: ignore[method-assign]
    api.expbench_metered = True  # type: ignore[attr-defined]
    return model


def meter_evaluated() -> None:
    """Have the evaluated model and those of roles metered, which Inspect may have made before us."""
    roles = (each if isinstance(each, list) else [each] for each in model_roles().values())
    for model in (get_model(), *itertools.chain.from_iterable(roles)):
        meter(model)


async def _metered(
    model: Model,
    send: Callable[[], Awaitable[Any]],
    read: Callable[[Model, Any], Answer | Exception],
    asked: list[ChatMessage],
    tools: list[ToolInfo],
    config: GenerateConfig,
) -> Any:
    account = current()
    if account is None:
        return await send()
    price = prices().of(str(model))
    if price is None and account.capped:
        raise PrerequisiteError(no_price(str(model)))
    worst = _worst(model, price, asked, tools, config) if account.measured else Worst()
    await account.reserve(worst)
    sent = _Sent(account, model, price, worst, asked)
    try:
        result = await _within(account.deadline, send)
    except Exception as error:
        tries = sent.failed(error)
        if tries >= TRIES and account.deadline is not None:
            raise UnreachableModelError(
                f"{model} gave no answer to {tries} requests: {account.failure}"
            ) from error
        raise
    except BaseException:
        sent.cancelled()
        raise
    answer = read(model, result)
    if isinstance(answer, Exception):
        sent.failed(answer)
    else:
        sent.answered(answer)
    return result


def no_price(model: str) -> str:
    """That a cap on dollars cannot be kept, as a sentence for the user."""
    return (
        f"A cap on dollars cannot be kept, since the price of {model} is not known: give it with "
        "--prices FILE."
    )


async def _within(deadline: float | None, send: Callable[[], Awaitable[Any]]) -> Any:
    if deadline is None:
        return await send()
    with anyio.move_on_after(deadline):
        return await send()
    raise AttemptTimeoutError(round(deadline))


class _Sent:
    """One request on its way; whichever end it takes writes it into the ledger."""

    def __init__(
        self, account: Account, model: Model, price: Price | None, worst: Worst, asked: object
    ) -> None:
        self._account, self._model, self._price, self._worst = account, model, price, worst
        self._asked = asked
        self._started = time.monotonic()
        self._repeated = _client_retries()
        before = _failed.get()
        if before is None or before.asked is not asked:
            before = _Failed(asked, 0, 0, self._started)
        self._before = before

    def answered(self, answer: Answer) -> None:
        """The end of a request with an answer."""
        _failed.set(None)
        dollars, price = answer.dollars, answer.price
        if dollars is None and answer.usage is not None and self._price is not None:
            used = priced(tokens_of(answer.usage))
            dollars = self._price.of_call(used, answer.for_an_hour)
            price = prices().row(str(self._model))
        if answer.usage is not None and dollars is not None:
            # The one sum that Attempt, Judgement and Inspect's own log then have too.
            answer.usage.total_cost = dollars
        unknown = dollars is None and self._price is not None
        self._write(
            "",
            answered=answer.model,
            tokens=tokens_of(answer.usage) if answer.usage is not None else None,
            price=price,
            dollars=dollars,
            at_most=self._worst.dollars if unknown else None,
            seconds=answer.seconds,
        )

    def failed(self, error: Exception) -> int:
        """The end of a request with an error; how many there were in a row for this answer."""
        status = _status(error)
        said = f"{type(error).__name__}{f' {status}' if status else ''}: {error}"
        said = redacted_error(" ".join(said.split()))[:_ERROR]
        refused = status is not None or "Connect" in type(error).__name__
        tries = self._before.tries + 1
        _failed.set(_Failed(self._asked, self._retries + 1, tries, self._before.began))
        self._write(
            None if status in _AGENTS_OWN else said,
            error=said,
            dollars=0.0 if refused else None,
            at_most=None if refused else self._worst.dollars or None,
        )
        return tries

    def cancelled(self) -> None:
        """The end of a request that nobody waits for any more."""
        self._write(None, error="cancelled before an answer", at_most=self._worst.dollars or None)

    @property
    def _retries(self) -> int:
        return self._before.sendings + max(0, _client_retries() - self._repeated)

    def _write(self, failure: str | None, seconds: float | None = None, **facts: Any) -> None:
        account, now = self._account, time.monotonic()
        last = min(seconds or math.inf, now - self._started)
        request = Request(
            stage=account.stage,
            task=account.task,
            epoch=account.epoch,
            trial=account.trial,
            model=str(self._model),
            seconds=round(last, 3),
            retries=self._retries,
            waited=round(max(0.0, now - self._before.began - last), 3) if self._retries else 0.0,
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            **facts,
        )
        account.settle(self._worst, request, failure)


def _worst(
    model: Model,
    price: Price | None,
    asked: list[ChatMessage],
    tools: list[ToolInfo],
    config: GenerateConfig,
) -> Worst:
    """What a request uses at worst: all of its input uncached or just written to a cache."""
    sent = sum(_size(message) for message in asked) + sum(
        len(tool.model_dump_json()) // _BYTES for tool in tools
    )
    info = _get_model_info_direct(model)
    longest = config.max_tokens or (info.output_tokens if info is not None else None) or LONGEST
    dollars = 0.0
    if price is not None:
        plain = Usage(input_tokens=sent, output_tokens=longest)
        written = plain.model_copy(update={"cache_write": sent})
        hours = type(model.api).cache_write_ttl is not ModelAPI.cache_write_ttl
        dollars = max(price.of_call(plain), price.of_call(written, sent if hours else 0))
    return Worst(sent + longest, dollars, config.max_tokens is not None)


def _size(message: ChatMessage) -> int:
    content = message.content
    parts = content if isinstance(content, list) else []
    media = sum(part.type not in ("text", "reasoning") for part in parts)
    calls = getattr(message, "tool_calls", None) or ()
    written = sum(len(str(call.arguments)) for call in calls)
    return (len(message.text.encode("utf-8", "replace")) + written) // _BYTES + media * _MEDIA + 4


def _client_retries() -> int:
    """What the provider's client has repeated by itself for the request under way."""
    event = _active_model_event.get()
    return (event.retries or 0) if event is not None else 0


def _status(error: Exception) -> int | None:
    return status_code_of(error) or _response_status_code(getattr(error, "response", None))
