"""What every request to a model used and cost: one record each, in the run's ``ledger.jsonl``.

A record is one request as a provider's client was asked for it, answered or not; texts are never in it.
The file is append-only JSON lines. Each is synced at once, so that neither a kill nor a loss of power loses
one that was answered; a last line that a kill cut short is ignored, and cut off by the next writer. Answers
from Inspect's own cache and from the verdict cache are no requests and have no record.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from expbench.durable import append_line, cut_torn_line
from expbench.errors import DataError
from expbench.policy import Record
from expbench.verdicts import Usage

Stage = Literal["agent", "judge", "monitor", "comparison", "grounding"]
"""Who asked. A task's comparison, which is of all its epochs, stands under the first."""

_Count = Field(default=0, ge=0)


class Tokens(Record):
    """The tokens of one request, each in one place only: ``input`` is neither read from nor written to
    a cache. ``reasoning`` is the part of ``output`` that was thinking."""

    input: int = _Count
    cache_read: int = _Count
    cache_write: int = _Count
    output: int = _Count
    reasoning: int = _Count


class Request(Record):
    """One request to a model.

    ``trial`` counts the tries at the stage of a task (a killed or failed one is tried again); ``model`` is
    the name that was asked, ``answered`` the id in the answer. ``price`` names the table's version and the
    model's row; ``dollars`` are ``None`` where they are not known. ``seconds`` is the time of the last
    sending, ``waited`` what passed before it for earlier ones that failed: ``retries`` of them, those that
    the provider's client repeats by itself included. ``error`` says why there is no answer. What was
    abandoned without one may cost something all the same: ``at_most`` has the dollars of its worst case.
    """

    stage: Stage
    task: str
    epoch: int
    trial: int = 1
    model: str
    answered: str = ""
    tokens: Tokens | None = None
    price: str = ""
    dollars: float | None = None
    at_most: float | None = None
    seconds: float = 0.0
    retries: int = 0
    waited: float = 0.0
    error: str = ""
    time: str
    """When it ended, ISO 8601, UTC."""

    @property
    def usage(self) -> Usage:
        """The same as attempts and judgements count it; nothing for a request without an answer."""
        if self.error:
            return Usage()
        used = self.tokens or Tokens()
        return Usage(
            input_tokens=used.input + used.cache_read + used.cache_write,
            output_tokens=used.output,
            calls=1,
            cache_read=used.cache_read,
            cache_write=used.cache_write,
            reasoning_tokens=used.reasoning,
            dollars=self.dollars,
        )

    @property
    def charged(self) -> float:
        """Dollars that a cap counts: the known ones, and the worst case of what was abandoned."""
        return self.dollars if self.dollars is not None else self.at_most or 0.0


Key = tuple[str, str, int]
"""Stage, task id and epoch."""


@dataclass
class Ledger:
    """The ledger of one run, opened for writing by :func:`open_ledger`; sums are kept up to date.

    ``charged`` are the dollars of all requests so far, as :attr:`Request.charged` counts them.
    """

    path: Path
    charged: float = 0.0
    unpriced: int = 0
    """Answered requests whose dollars are not known."""
    _trials: dict[Key, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def trial(self, stage: Stage, task: str, epoch: int) -> int:
        """The number of the next try at a stage of a task."""
        return self._trials.get((stage, task, epoch), 0) + 1

    def add(self, request: Request) -> None:
        """Keep a request: it is on disk when this returns, and not there at all when it raises.

        Raises:
            OSError: it cannot be written.
        """
        line = request.model_dump_json(exclude_defaults=True).encode() + b"\n"
        with self._lock:
            append_line(self.path, line)
            self._count(request)

    def _count(self, request: Request) -> None:
        key = (request.stage, request.task, request.epoch)
        self._trials[key] = max(self._trials.get(key, 0), request.trial)
        self.charged += request.charged
        self.unpriced += request.dollars is None and not request.error


def open_ledger(path: Path) -> Ledger:
    """A run's ledger with the sums of what is in it; the run must be locked. Raises DataError."""
    cut_torn_line(path)
    ledger = Ledger(path)
    for request in read_ledger(path):
        ledger._count(request)
    return ledger


def read_ledger(path: Path) -> Iterator[Request]:
    """The requests of a ledger in the order in which they ended; none where there is no file.

    Raises:
        DataError: a line is damaged.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield Request.model_validate_json(line)
            except ValidationError:
                raise DataError(f"{path}, line {number} is damaged: restore the file.") from None


def total(requests: Iterable[Request]) -> Usage:
    """What answered requests used together."""
    return sum((request.usage for request in requests), Usage())


def latest(requests: Iterable[Request]) -> list[Request]:
    """The requests of the last try at every stage of every task: those that its records were made of."""
    found: dict[Key, list[Request]] = {}
    for request in requests:
        key = (request.stage, request.task, request.epoch)
        kept = found.setdefault(key, [])
        if kept and kept[0].trial < request.trial:
            kept.clear()
        if not kept or kept[0].trial == request.trial:
            kept.append(request)
    return [request for kept in found.values() for request in kept]
