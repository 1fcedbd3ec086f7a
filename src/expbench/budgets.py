"""What may still be spent: caps on turns, tokens and dollars, kept before every request.

An :class:`Account` is one try at one stage of one task. Code that asks models runs inside
:func:`spending`, and all that it starts (tasks, tools, Inspect's bridge) spends from that account. What a
request costs at worst is reserved before it is sent, so that tasks at work at the same time do not each
take the last dollar: near a cap requests wait for each other. Where the longest answer is known a cap is
never passed, and by one request at most where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

import anyio
from inspect_ai.util import Limit, suspend_working_limit

from expbench.errors import ExpbenchError, LimitReachedError, SpentError
from expbench.ledger import Ledger, Request, Stage
from expbench.policy import Limits, Record
from expbench.schema import Usage

_ROUNDING = 1e-9


class Remaining(Record):
    """What an agent may still use; ``None`` where there is no limit."""

    minutes: float | None = None
    """Of working time, which leaves out waiting for a provider."""
    wall_minutes: float | None = None
    turns: int | None = None
    tokens: int | None = None
    dollars: float | None = None

    @property
    def sentence(self) -> str:
        """In words: ``Left: 12 minutes, 30 turns, 1,000 tokens, 0.40 dollars.``; empty without limits."""
        minutes = [left for left in (self.minutes, self.wall_minutes) if left is not None]
        parts = (
            f"{min(minutes):.0f} minutes" if minutes else "",
            f"{self.turns} turns" if self.turns is not None else "",
            f"{self.tokens:,} tokens" if self.tokens is not None else "",
            f"{self.dollars:.2f} dollars" if self.dollars is not None else "",
        )
        said = ", ".join(filter(None, parts))
        return f"Left: {said}." if said else ""


class Worst(NamedTuple):
    """What one request uses at worst. ``certain``: its longest answer is known, not assumed."""

    tokens: int = 0
    dollars: float = 0.0
    certain: bool = False


@dataclass
class Cap:
    """An amount that may be used up. ``most`` None: without end, but counted.

    ``used`` is behind, ``held`` is reserved by the requests under way; ``closed``: nothing more is given.
    """

    most: float | None = None
    used: float = 0.0
    held: float = 0.0
    closed: bool = False
    _under_way: int = 0
    _changed: anyio.Event | None = field(default=None, repr=False)

    @property
    def left(self) -> float | None:
        """What is not used yet, never less than 0."""
        return None if self.most is None else max(0.0, self.most - self.used)

    async def reserve(self, worst: float, certain: bool) -> bool:
        """Hold ``worst``, waiting for others where only they stand in the way; whether it was possible.

        What is not ``certain`` may pass the cap, but only alone and only while something is left.
        """
        while self.closed or not self._fits(worst):
            if self.closed:
                return False
            if not self._under_way:
                if certain or not self._fits(_ROUNDING * 2):
                    return False
                break
            self._changed = self._changed or anyio.Event()
            with suspend_working_limit():
                await self._changed.wait()
        self.held += worst
        self._under_way += 1
        return True

    def settle(self, worst: float, used: float) -> None:
        """Replace what was held for a request by what it used."""
        self.held = max(0.0, self.held - worst)
        self._under_way -= 1
        self.used += used
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def _fits(self, more: float) -> bool:
        return self.most is None or self.used + self.held + more <= self.most + _ROUNDING


@dataclass
class Account:
    """One try at one stage of one task: its caps, and what it has used.

    ``on_limit`` is called when a request is refused, and stops whoever asked. ``limit`` then says which
    limit of the task it was (also its time, with ``timed_out``); ``spent`` says that it was the run's.
    ``deadline`` are the seconds after which a request without an answer is given up; ``None``: whoever
    asks sees to that. ``failure`` is why the provider did not answer the last request, and empty when it
    did.
    """

    stage: Stage
    task: str
    epoch: int
    trial: int
    ledger: Ledger
    run: Cap
    limits: Limits | None = None
    deadline: float | None = None
    on_limit: Callable[[], None] = lambda: None
    turns: Cap = field(default_factory=Cap)
    tokens: Cap = field(default_factory=Cap)
    dollars: Cap = field(default_factory=Cap)
    working: Limit | None = None
    wall_ends: float | None = None
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    failure: str = ""
    limit: str = ""
    timed_out: bool = False
    spent: bool = False

    def __post_init__(self) -> None:
        if self.limits is not None:
            self.turns.most, self.tokens.most = self.limits.turns, self.limits.tokens
            self.dollars.most = self.limits.dollars

    @property
    def capped(self) -> bool:
        """Whether dollars are limited, so that every price must be known."""
        return self.dollars.most is not None or self.run.most is not None

    @property
    def measured(self) -> bool:
        """Whether a request's worst case matters to any cap."""
        return self.capped or self.tokens.most is not None

    async def reserve(self, worst: Worst) -> None:
        """Reserve a request. Raises LimitReachedError and SpentError, and stops whoever asks."""
        if self.limit or self.spent:
            raise self._refusal()
        demands = (
            (self.turns, 1.0, True, "turns"),
            (self.tokens, worst.tokens, worst.certain, "tokens"),
            (self.dollars, worst.dollars, worst.certain, "dollars"),
            (self.run, worst.dollars, worst.certain, ""),
        )
        held: list[tuple[Cap, float]] = []
        try:
            for cap, amount, certain, name in demands:
                if not await cap.reserve(amount, certain):
                    raise self._refused(cap, amount, name)
                held.append((cap, amount))
        except BaseException:
            for cap, amount in held:
                cap.settle(amount, 0.0)
            raise

    def settle(self, worst: Worst, request: Request, failure: str | None) -> None:
        """Put a request into the ledger, and what it used in place of what was reserved for it.

        ``failure`` is the new :attr:`failure`; None where the request says nothing about its provider.
        """
        used = request.usage
        tokens = used.input_tokens + used.output_tokens
        if request.tokens is None and not request.error:
            tokens = worst.tokens
        self.turns.settle(1.0, float(not request.error))
        self.tokens.settle(worst.tokens, tokens)
        self.dollars.settle(worst.dollars, request.charged)
        self.run.settle(worst.dollars, request.charged)
        self.usage += used
        self.requests += 1
        self.failure = self.failure if failure is None else failure
        self.ledger.add(request)

    def remaining(self) -> Remaining:
        """What is left of the limits."""
        turns, tokens = self.turns.left, self.tokens.left
        dollars = [left for left in (self.dollars.left, self.run.left) if left is not None]
        working, wall = self._working_left(), self._wall_left()
        return Remaining(
            minutes=None if working is None else max(0.0, working / 60),
            wall_minutes=None if wall is None else max(0.0, wall / 60),
            turns=None if turns is None else int(turns),
            tokens=None if tokens is None else int(tokens),
            dollars=min(dollars, default=None),
        )

    def seconds_left(self) -> float:
        """Until time ends the agent, if it does not wait from now on; endless without a limit."""
        known = (left for left in (self._working_left(), self._wall_left()) if left is not None)
        return min(known, default=math.inf)

    def _working_left(self) -> float | None:
        if self.working is None or self.limits is None:
            return None
        return self.limits.minutes * 60 - self.working.usage

    def _wall_left(self) -> float | None:
        return None if self.wall_ends is None else self.wall_ends - anyio.current_time()

    def _refused(self, cap: Cap, amount: float, name: str) -> ExpbenchError:
        if name == "turns":
            self.limit = f"{cap.most:g} turns"
        elif name:
            self.limit = _sentence(cap, amount, name)
        else:
            self.spent = cap.closed = True
        self.on_limit()
        return self._refusal()

    def _refusal(self) -> ExpbenchError:
        if self.spent:
            return SpentError(spent_sentence(self.run))
        return LimitReachedError(f"the limit is reached: {self.limit}")


def spent_sentence(run: Cap) -> str:
    """That the run's cap is reached, without a full stop."""
    return f"the run's cap of {run.most or 0:.2f} dollars is reached ({run.used:.2f} are spent)"


def _sentence(cap: Cap, amount: float, name: str) -> str:
    left, most = cap.left or 0.0, cap.most or 0.0
    form = ".4g" if name == "dollars" else ",.0f"
    said = f"{most:{form}} {name}"
    if left <= _ROUNDING:
        return said
    return f"{said} ({left:{form}} are left, and the next request may use {amount:{form}})"


_account: ContextVar[Account | None] = ContextVar("expbench_account", default=None)


def current() -> Account | None:
    """The account that this code spends from; ``None`` outside of a run."""
    return _account.get()


def remaining() -> Remaining:
    """What the agent at work may still use, asked from anywhere in it; without limits outside of one."""
    account = current()
    return account.remaining() if account is not None else Remaining()


@contextmanager
def spending(account: Account) -> Iterator[Account]:
    """Have everything inside spend from an account.

    Raises:
        SpentError: at the end, if the run's cap refused a request inside, whatever was made of that.
    """
    token = _account.set(account)
    try:
        yield account
    finally:
        _account.reset(token)
    if account.spent:
        raise SpentError(spent_sentence(account.run))
