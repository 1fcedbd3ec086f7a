"""The work of ``expbench judge-eval``: from options to tables."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from expbench.dataset import load_suite
from expbench.errors import ExpbenchError, PrerequisiteError, UserError
from expbench.judge_eval import (
    AlwaysMetJudge,
    Contestant,
    Evaluation,
    Judged,
    LabelledSet,
    RandomJudge,
    evaluation,
    judge_set,
    load_set,
    load_shipped_set,
    open_journal,
    people_report,
    read_people,
    remember,
    summaries,
    variants,
)
from expbench.judge_eval.known import FOLDER, write_at_once
from expbench.judge_eval.references import ALWAYS_MET, RANDOM
from expbench.judge_eval.running import Progress as Listener
from expbench.judge_eval.running import members
from expbench.judge_eval.sets import SHIPPED
from expbench.judge_eval.tables import facts, markdown, tables
from expbench.judges import BASELINES, BaselineJudge, Judge, make_judge
from expbench.judges.rubric import CodeReader
from expbench.schema import Judging, ResearchTask
from expbench.workspace import SourceFinder, code_reader

RESULT = "evaluation.json"
_PLAIN_EVERY = 20
"""Cases between two lines of progress where there is no terminal."""


@dataclass(frozen=True)
class Wish:
    """What the command was asked."""

    judging: Judging
    samples: int
    paper: bool
    sets: tuple[Path, ...]
    people: Path | None
    limit: int | None
    out: Path | None
    concurrency: int
    seed: int
    estimate: bool
    data: Path | None
    cache: Path
    output: Literal["table", "json", "markdown"]


def evaluate(wish: Wish) -> int:
    """Judge the set and print what came of it."""
    judging = wish.judging
    whole = (
        load_set(wish.sets, wish.data, labelled=wish.people is None)
        if wish.sets
        else load_shipped_set()
    )
    if not whole.cases:
        raise UserError("This package has no labelled set: give one with --set FILE.")
    labelled = whole.first(wish.limit)
    people = read_people(wish.people, whole) if wish.people else None
    console = Console(stderr=True)
    if wish.estimate:
        return _estimate(labelled, [each for each in (judging, _paper(judging, wish)) if each])
    wanted = contestants(judging, wish)
    folder = wish.out or _default_folder(judging, labelled)
    results = _judge_all(wanted, labelled, folder, wish.concurrency, console)
    results[1:1] = members(results[0])
    found = evaluation(
        labelled,
        results,
        wish.seed,
        datetime.now(UTC).isoformat(timespec="seconds"),
        people_report(labelled, people, results, wish.seed) if people else None,
    )
    _keep(found, folder, wish, complete=labelled is whole)
    _show(found, wish.output)
    if folder is not None:
        console.print(f"Verdicts and result: {folder}", soft_wrap=True, highlight=False)
    return 0


def contestants(judging: Judging, wish: Wish) -> list[Contestant]:
    """The judge, the paper protocol where there is a model, and what all are shown beside."""
    found = [_contestant(judging, wish.samples)]
    if (paper := _paper(judging, wish)) is not None:
        found.append(_contestant(paper, 1))
    if judging.label != BaselineJudge.name:
        found.append(_reference(BaselineJudge.name, BaselineJudge))
    found.append(_reference(RANDOM, partial(RandomJudge, wish.seed)))
    found.append(_reference(ALWAYS_MET, AlwaysMetJudge))
    return found


def _contestant(judging: Judging, samples: int) -> Contestant:
    """Judges are made at once, so that a missing key is said before anything is asked."""
    judge = make_judge(judging)
    return Contestant(judging.label, lambda _: judge, samples, kept=not _is_free(judging))


def _is_free(judging: Judging) -> bool:
    """Whether no model is asked."""
    return set(judging.judges) <= set(BASELINES)


def _reference(label: str, make: Callable[[], Judge]) -> Contestant:
    return Contestant(label, lambda _: make(), kept=False)


def _paper(judging: Judging, wish: Wish) -> Judging | None:
    """The paper protocol with the same models, if it is wanted and not what is asked for anyway."""
    models = tuple(name for name in judging.judges if name not in BASELINES)
    if not wish.paper or not models or judging.protocol == "paper":
        return None
    return Judging(judges=models, protocol="paper").at_pace_of(judging)


def _judge_all(
    wanted: Sequence[Contestant],
    labelled: LabelledSet,
    folder: Path | None,
    concurrency: int,
    console: Console,
) -> list[tuple[Judged, ...]]:
    async def all_of_them(listener: Listener) -> list[tuple[Judged, ...]]:
        return [
            await judge_set(each, labelled, journal, concurrency, listener if each.kept else None)
            for each in wanted
        ]

    with open_journal(folder) as journal, _progress(console) as listener:
        return asyncio.run(all_of_them(listener))


def _default_folder(judging: Judging, labelled: LabelledSet) -> Path | None:
    """Where a model's verdicts are kept when nothing is said: the same for the same question."""
    if _is_free(judging):
        return None
    name = re.sub(r"[^A-Za-z0-9.]+", "-", judging.label).strip("-")
    return Path("judge-evals") / f"{name}-{labelled.digest}"


def _keep(found: Evaluation, folder: Path | None, wish: Wish, complete: bool) -> None:
    """Write the result down, and for reports what is now known of judges; parts of sets are not."""
    if folder is not None:
        write_at_once(folder / RESULT, found.model_dump_json(indent=1) + "\n")
    if complete:
        # The baselines' numbers on the shipped set ship with the code that they are of.
        known = (RANDOM, ALWAYS_MET, *(BASELINES if found.set == SHIPPED else ()))
        kept = [each for each in summaries(found) if each.judge not in known]
        try:
            remember(kept, wish.cache / FOLDER)
        except OSError as error:
            raise PrerequisiteError(
                f"{wish.cache / FOLDER} cannot be written ({error.strerror}): reports would not know "
                "how good the judge is."
            ) from None


def _show(found: Evaluation, output: str) -> None:
    if output == "json":
        print(found.model_dump_json(indent=1))  # noqa: T201
        return
    if output == "markdown":
        print(markdown(found), end="")  # noqa: T201
        return
    console = Console()
    for table in tables(found):
        shown = Table(title=table.title, title_justify="left", header_style="bold", box=None)
        for index, name in enumerate(table.header):
            shown.add_column(name, justify="left" if index < table.left else "right")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown, markup=False)
        console.print()
    for sentence in facts(found):
        console.print(sentence, markup=False, highlight=False)


@contextmanager
def _progress(console: Console) -> Iterator[Listener]:
    """A bar for each judge that is asked on a terminal, else a line now and then."""
    if not console.is_terminal:

        def say(label: str, done: int, total: int) -> None:
            if done % _PLAIN_EVERY == 0 or done == total:
                line = f"{label}: {done} of {total} cases"
                console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield say
        return
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bars:
        known = {}

        def show(label: str, done: int, total: int) -> None:
            if label not in known:
                known[label] = bars.add_task(label, total=total)
            bars.update(known[label], completed=done)

        yield show


def _estimate(labelled: LabelledSet, judgings: Sequence[Judging]) -> int:
    """Print what the judges will cost."""
    from expbench.judges.estimate import Case, estimate

    cases = [Case(c.items, c.task, c.submission, c.context) for c in labelled.cases]
    console = Console()
    for judging in judgings:
        if judging.protocol == "paper":
            console.print(f"{judging.label}: not estimated; it has a few calls for each case.")
            continue
        found = estimate(cases, judging)
        total = found.total
        dollars = found.reason if total.dollars is None else f"about {total.dollars:.2f} dollars"
        console.print(
            f"{judging.label}: {total.calls} calls, {total.input_tokens:,} input tokens "
            f"({total.cached_tokens:,} of them from the provider's cache), "
            f"{total.output_tokens:,} output tokens, {dollars}.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        for sentence in found.assumptions:
            console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    return 0


def write_variants(
    suite: str, out: Path | None, seed: int, data: Path | None, repos: Path | None, cache: Path
) -> int:
    """Write a suite's labelled variants to a new file."""
    if out is None:
        raise UserError("Say where the cases go: --out FILE.jsonl.")
    if out.exists():
        raise UserError(f"{out} is there already: name a file that is not.")
    tasks = load_suite(suite, data).tasks
    readers = _Readers(SourceFinder(cache / "repos", clones=repos), fetch=repos is not None)
    cases = variants(tasks, seed, readers)
    try:
        write_at_once(out, "".join(f"{c.model_dump_json(exclude_defaults=True)}\n" for c in cases))
    except OSError as error:
        raise UserError(f"{out} cannot be written ({error.strerror}).") from None
    items = sum(len(case.items) for case in cases)
    console = Console()
    console.print(f"{out}: {len(cases)} cases with {items} labelled items", soft_wrap=True)
    if readers.without:
        console.print(
            f"{readers.without} tasks without their repository have no right implementation: "
            "--repos DIR gives clones."
        )
    return 0


class _Readers:
    """The authors' code of each task: shipped with the package, or in the user's clones."""

    def __init__(self, finder: SourceFinder, fetch: bool) -> None:
        self._finder, self._fetch = finder, fetch
        self.without = 0

    def __call__(self, task: ResearchTask) -> CodeReader | None:
        if not task.mask:
            return None
        if task.id.startswith("mini/") or self._fetch:
            try:
                return code_reader(self._finder.source(task))
            except ExpbenchError:
                pass
        self.without += 1
        return None
