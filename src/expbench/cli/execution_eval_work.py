"""The work of ``expbench execution-eval``: from options to tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from expbench.errors import PrerequisiteError, UserError
from expbench.execution import Conditions
from expbench.execution.tracing import choose
from expbench.execution_eval import (
    Bench,
    CaseSet,
    Evaluation,
    evaluate,
    ground_by_rules,
    load_set,
    mini_set,
    open_journal,
    run_set,
    shipped_set,
)
from expbench.execution_eval.cases import MINI
from expbench.execution_eval.running import STORE
from expbench.execution_eval.running import Progress as Listener
from expbench.execution_eval.tables import facts, markdown, tables
from expbench.paths import CachePaths
from expbench.runner import default_max_samples
from expbench.runs import write_atomically
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.providers import demand, provider
from expbench.schema import Policy
from expbench.workspace import BlobStore, SourceFinder

RESULT = "evaluation.json"
_PLAIN_EVERY = 10
"""Cases between two lines of progress where there is no terminal."""


@dataclass(frozen=True)
class Wish:
    """What the command was asked. ``set`` is empty for the shipped one."""

    set: str
    cases: tuple[str, ...]
    limit: int | None
    out: Path | None
    at_once: int | None
    sandbox: str
    image: str
    allow_unenforced: bool
    cache: Path
    output: Literal["table", "json", "markdown"]


def evaluate_execution(wish: Wish) -> int:
    """Run the set's cases and print how often the scores are right; 1 when some could not be run.

    Raises:
        UserError: the set cannot be read, the sandbox is not there, or the folder cannot be written.
    """
    chosen = _chosen(wish).select(wish.cases, wish.limit)
    folder = wish.out or _default_folder(wish)
    console = Console(stderr=True)
    with open_journal(folder) as journal, _progress(console) as listener:
        bench = _bench(wish, folder)
        found = run_set(chosen, bench, journal, wish.at_once or default_max_samples(), listener)
        evaluation = evaluate(chosen, found, wish.sandbox)
        _keep(evaluation, folder)
    _show(evaluation, wish.output)
    console.print(f"Results and outputs: {folder}", soft_wrap=True, highlight=False)
    return 1 if evaluation.undone else 0


def _chosen(wish: Wish) -> CaseSet:
    if not wish.set:
        return shipped_set()
    return mini_set() if wish.set == MINI else load_set(Path(wish.set))


def _default_folder(wish: Wish) -> Path:
    """The same for the same set, so that what is done already is not done again."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", Path(wish.set).name if wish.set else "shipped")
    return Path("execution-evals") / f"{name.strip('-.') or 'set'}-{wish.sandbox}"


def _bench(wish: Wish, folder: Path) -> Bench:
    """What the cases are run with. Raises UserError when this machine cannot hold their limits."""
    chosen = provider(wish.sandbox)
    if not chosen.scored:
        raise UserError(
            f"Sandbox {wish.sandbox} is none, and the cases do what scripts of agents do: choose another "
            "with --sandbox."
        )
    chosen.check()
    policy = Policy()
    demand(wish.sandbox, policy, wish.allow_unenforced)
    cache = CachePaths(wish.cache)
    host = SandboxHost(
        cache,
        (folder.resolve(),),
        policy=policy,
        kind=wish.sandbox,
        image=wish.image,
        run="execution-eval",
    )
    host.sweep()
    sources = SourceFinder(cache.repos, owner=other_owner())
    conditions = Conditions(tracer=choose(host).make)
    return Bench(host, sources, BlobStore(folder / STORE), ground_by_rules, conditions)


def _keep(evaluation: Evaluation, folder: Path) -> None:
    try:
        write_atomically(folder / RESULT, f"{evaluation.model_dump_json(indent=1)}\n".encode())
    except OSError as error:
        raise PrerequisiteError(
            f"{folder} cannot be written ({error.strerror}): give another folder with --out DIR."
        ) from None


def _show(evaluation: Evaluation, output: str) -> None:
    if output == "json":
        print(evaluation.model_dump_json(indent=1))  # noqa: T201
        return
    if output == "markdown":
        print(markdown(evaluation), end="")  # noqa: T201
        return
    console = Console()
    for table in tables(evaluation):
        shown = Table(title=table.title, title_justify="left", header_style="bold", box=None)
        for index, name in enumerate(table.header):
            shown.add_column(name, justify="left" if index < table.left else "right")
        for row in table.rows:
            shown.add_row(*(cell.replace("[", "\\[") for cell in row))
        console.print(shown)
        console.print()
    for sentence in facts(evaluation):
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _progress(console: Console) -> Iterator[Listener]:
    """A bar on a terminal, else a line now and then."""
    if not console.is_terminal:

        def say(case: str, done: int, total: int) -> None:
            if done % _PLAIN_EVERY == 0 or done == total:
                console.print(f"{done} of {total} cases, last {case}", soft_wrap=True)

        yield say
        return
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        known = bar.add_task("cases", total=None)

        def show(case: str, done: int, total: int) -> None:
            bar.update(known, completed=done, total=total, description=case)

        yield show
