"""What model calls cost, by a versioned table of published list prices.

Prices are in US dollars per million tokens, by the model's name as ``provider/model``. They are those
of the maker's own service: the same model through an aggregator or a cloud is another name, and a name
that the table does not have has no price. An unknown price makes the dollars unknown, never zero; the
user adds prices by a JSON file of the same form (``{"models": {"provider/model": {"input": 1.1,
"output": 4.4}}}``), which :func:`use_prices` puts before the table of the package.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from expbench.errors import DataError
from expbench.policy import Record
from expbench.verdicts import Usage

_MILLION = 1_000_000
_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
"""What a maker appends to a model's name for one of its states; the price is the same."""

_Dollars = Field(ge=0.0, allow_inf_nan=False)


class Rates(Record):
    """Dollars per million tokens.

    Tokens read from a provider's cache or written to it cost as much as other input where no price of
    their own is published.
    """

    input: float = _Dollars
    output: float = _Dollars
    cache_read: float | None = Field(default=None, ge=0.0, allow_inf_nan=False)
    cache_write: float | None = Field(default=None, ge=0.0, allow_inf_nan=False)

    def dollars(self, usage: Usage, for_an_hour: int = 0) -> float:
        """The price of these tokens, so many of them written to a cache that keeps them for an hour.

        Anthropic, the one who offers that, takes twice the price of other input for it.
        """
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        hour = write if self.cache_write is None else 2 * self.input
        plain = usage.input_tokens - usage.cache_read - usage.cache_write
        total = (
            plain * self.input
            + usage.cache_read * read
            + (usage.cache_write - for_an_hour) * write
            + for_an_hour * hour
            + usage.output_tokens * self.output
        )
        return total / _MILLION


class LongRates(Rates):
    """The rates of a call with more than ``above`` input tokens, for all of its tokens."""

    above: int = Field(ge=0)


class Price(Rates):
    """The rates of one model; ``long`` are those of long calls where they differ."""

    long: LongRates | None = None

    def of_call(self, usage: Usage, for_an_hour: int = 0) -> float:
        """The price of one call in dollars; see :meth:`Rates.dollars`."""
        if self.long is not None and usage.input_tokens > self.long.above:
            return self.long.dollars(usage, for_an_hour)
        return self.dollars(usage, for_an_hour)


class PriceList(Record):
    """Prices by model; ``version`` and ``source`` say which ones."""

    version: str = "own"
    source: str = ""
    models: dict[str, Price] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    """The version of the list that a model's price is from, where that is not ``version``."""

    def of(self, model: str) -> Price | None:
        """The price of ``provider/model``, also of its dated snapshots; ``None`` if it is unknown."""
        name = self._row(model)
        return self.models[name] if name is not None else None

    def row(self, model: str) -> str:
        """Which list and which line of it a model's price is: ``2026-11-29: openai/gpt-5``; or empty."""
        name = self._row(model)
        return f"{self.versions.get(name, self.version)}: {name}" if name is not None else ""

    def over(self, other: PriceList) -> PriceList:
        """These prices, and those of ``other`` for models that are not here."""
        return PriceList(
            version=f"{self.version} over {other.version}",
            source=other.source,
            models={**other.models, **self.models},
            versions={
                **dict.fromkeys(other.models, other.version),
                **other.versions,
                **dict.fromkeys(self.models, self.version),
                **self.versions,
            },
        )

    def _row(self, model: str) -> str | None:
        if model in self.models:
            return model
        name = _SNAPSHOT.sub("", model)
        return name if name in self.models else None


@lru_cache(maxsize=1)
def list_prices() -> PriceList:
    """The table of this package."""
    source = resources.files("expbench") / "prices.json"
    return PriceList.model_validate_json(source.read_bytes())


def read_prices(path: Path) -> PriceList:
    """A user's own prices. Raises DataError for a file that is not of the form.

    A list that has no version is called by its digest, so that records of two lists can be told apart.
    """
    try:
        found = PriceList.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"The prices {path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(
            f"The prices {path} are not of the form "
            '{"models": {"provider/model": {"input": 1.1, "output": 4.4}}} '
            f"(dollars per million tokens): {place}: {first['msg']}."
        ) from None
    if "version" in found.model_fields_set:
        return found
    digest = hashlib.sha256(found.model_dump_json().encode()).hexdigest()
    return found.model_copy(update={"version": f"own-{digest[:8]}"})


_own: list[PriceList] = []


def use_prices(own: PriceList | None) -> None:
    """Put ``own`` before the package's table, for this whole process; ``None`` takes it away."""
    _own[:] = [own] if own is not None else []


def own_prices() -> PriceList | None:
    """The user's prices that are in force."""
    return _own[0] if _own else None


def prices() -> PriceList:
    """The prices in force."""
    return _own[0].over(list_prices()) if _own else list_prices()
