"""The coders of ``expbench failures``: rules, models against a codebook, or a model that makes a book."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from expbench.errors import UserError
from expbench.failure_coding import (
    Asker,
    CoderAgreement,
    CodingEstimate,
    Plan,
    agree,
    code_by_model,
    estimate_coding,
    open_coding,
)
from expbench.failures import Codebook, Coded, Coder, Insight
from expbench.schema import Usage

RULES = "rules"


@dataclass(frozen=True)
class Coding:
    """What the coders came to by name, the book that their codes are of, and how they agree."""

    all: dict[str, tuple[Coded, ...]]
    book: Codebook
    coder: str
    agreement: tuple[CoderAgreement, ...]
    usage: Usage
    notes: tuple[str, ...]

    @property
    def coded(self) -> tuple[Coded, ...]:
        """The first coder's codes."""
        return next(iter(self.all.values()))


@dataclass(frozen=True)
class Coders:
    """Who codes, and how models are asked."""

    names: tuple[str, ...]
    opened: bool
    batch: int
    rounds: int
    dollars: float | None

    def check(self) -> None:
        """Raises UserError for what does not fit together."""
        if len(set(self.names)) < len(self.names):
            raise UserError("A coder is named twice: name each --coder once.")
        if self.opened and (len(self.names) > 1 or self.names[0] == RULES):
            raise UserError(
                "--open needs one --coder, a model: coders of different books cannot agree."
            )
        if self.dollars is not None and set(self.names) == {RULES}:
            raise UserError("--max-dollars is for models: name one with --coder.")

    def estimate(self, insights: Sequence[Insight], book: Codebook) -> tuple[CodingEstimate, ...]:
        """What each model will use, one after the other; rules use none."""
        plans = [self._plan(name) for name in self.names if name != RULES]
        return tuple(estimate_coding(insights, book, plan, self.opened) for plan in plans)

    def code(self, insights: Sequence[Insight], book: Codebook, journal: Path) -> Coding:
        """Code the insights by each coder. Raises UserError."""
        codings: dict[str, tuple[Coded, ...]] = {}
        usage, notes = Usage(), []
        for name in self.names:
            if name == RULES:
                codings[name] = Coder(book).code(insights)
                continue
            asker = Asker(self._plan(name), journal)
            codings[name], book_of, said = self._ask(insights, book, asker)
            book = book_of if self.opened else book
            usage += asker.usage
            notes += said
        first = self.names[0]
        agreement = agree(codings) if len(codings) > 1 else ()
        label = f"{first}, openly" if self.opened else first
        return Coding(codings, book, label, agreement, usage, tuple(notes))

    def _plan(self, name: str) -> Plan:
        return Plan(model=name, batch=self.batch, rounds=self.rounds, dollars=self.dollars)

    def _ask(
        self, insights: Sequence[Insight], book: Codebook, asker: Asker
    ) -> tuple[tuple[Coded, ...], Codebook, list[str]]:
        console = Console(stderr=True)
        expected = estimate_coding(insights, book, asker.plan, self.opened)
        console.print(estimate_line(expected), highlight=False, soft_wrap=True, markup=False)
        notes = []
        with _counted(console, len(insights), f"coding by {asker.plan.model}") as done:
            if self.opened:
                found = asyncio.run(open_coding(insights, asker, done))
                coded, book = found.coded, found.book
                end = "until nothing changed" if found.stable else "and then the rounds were over"
                notes.append(
                    f"{found.rounds} rounds of merging and splitting changed codes, {end}."
                )
            else:
                coded = asyncio.run(code_by_model(insights, book, asker, done))
        left = sum(each.by == "unanswered" for each in coded)
        notes.append(f"{asker.plan.model}: {asker.asked} calls now, {asker.usage.calls} in all.")
        if left:
            why = asker.stopped or "no usable reply"
            notes.append(f"{left} errors were left uncoded by {asker.plan.model}: {why}.")
        return coded, book, notes


def estimate_line(found: CodingEstimate) -> str:
    """An estimate in a sentence."""
    cost = "its price is not known" if found.dollars is None else f"{found.dollars:.2f} dollars"
    return (
        f"{found.model}: about {found.calls} calls, {found.input_tokens} tokens in and "
        f"{found.output_tokens} out, {cost}; what the journal has is not asked again."
    )


@contextmanager
def _counted(console: Console, total: int, title: str) -> Iterator[Callable[[int], None]]:
    """A bar with an estimate, or where output is no terminal a line for each call."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        step = bar.add_task("", total=total)

        def done(count: int) -> None:
            bar.advance(step, count)
            if not console.is_terminal:
                so_far = int(bar.tasks[step].completed)
                console.print(f"{title}: {so_far} of {total} errors", highlight=False)

        yield done
