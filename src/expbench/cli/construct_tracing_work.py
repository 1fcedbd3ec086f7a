"""What ``expbench construct trace`` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.errors import NotFoundError, UserError
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.providers import provider
from expbench.schema import Limits
from expbench.tracer.chain import trace_chain
from expbench.tracer.dynamic import command_of, run_traced, with_ran
from expbench.tracer.figure import figure_html, figure_svg
from expbench.tracer.graph import Step, Trace

_FILES = 15
_NOTES = 12


@dataclass(frozen=True)
class Running:
    """How a traced run is done: ``command``, or the source's files in order where it is empty."""

    command: str
    minutes: float
    packages: tuple[Path, ...]
    cache: Path


@dataclass(frozen=True)
class Asked:
    """What the command was asked for, besides a project."""

    repo: Path | None
    source: tuple[str, ...]
    usage: str
    question: str
    figure: Path | None
    top: int
    running: Running | None = None

    def refuse_repository(self) -> None:
        """Raises UserError where a repository is named besides a project."""
        if self.repo or self.source or self.usage or self.question or self.figure:
            raise UserError("Give a project's folder, or --repo with --source: not both.")


def trace_repository(asked: Asked, as_json: bool) -> int:
    """Trace one chain of a repository and show it.

    Raises:
        UserError: what is needed was not given, or the figure cannot be written.
        NotFoundError: there is no such folder.
    """
    if asked.repo is None or not (asked.source or asked.usage):
        raise UserError("Give a project's folder, or --repo with --source or --usage.")
    if asked.figure is not None and asked.figure.suffix not in (".svg", ".html"):
        raise UserError(f"--figure {asked.figure} must end in .svg or .html.")
    if not asked.repo.is_dir():
        raise NotFoundError(f"{asked.repo} is no folder: give a repository's with --repo.")
    trace = trace_chain(asked.repo, asked.source, asked.usage, asked.question)
    console = Console(stderr=as_json)
    if asked.running is not None:
        trace = _ran(trace, asked.repo, asked.running)
    if asked.figure is not None:
        draw = figure_html if asked.figure.suffix == ".html" else figure_svg
        try:
            asked.figure.parent.mkdir(parents=True, exist_ok=True)
            asked.figure.write_text(draw(trace, asked.question), encoding="utf-8")
        except OSError as error:
            raise UserError(f"{asked.figure} cannot be written ({error.strerror}).") from None
    if as_json:
        print(trace.model_dump_json())  # noqa: T201
    else:
        _show(trace, asked.top, console)
    if asked.figure is not None:
        console.print(Text(f"Figure: {asked.figure}"))
    return 0 if trace.steps else 1


def _ran(trace: Trace, repo: Path, running: Running) -> Trace:
    """The trace with what a run in a sandbox showed. Raises UserError where nothing can be run."""
    provider("bwrap").check()
    found = [path for path in trace.source if (repo / path).is_file()]
    command = running.command or command_of(found)
    if not command:
        raise UserError(
            "--source names no script that can be run: give what to run with --command."
        )
    host = SandboxHost(CachePaths(running.cache), packages=running.packages)
    limits = Limits(minutes=running.minutes, memory_mib=None)
    return with_ran(trace, run_traced(repo, command, host, limits))


def _show(trace: Trace, top: int, console: Console) -> None:
    best = {step.id for step in sorted(trace.steps, key=_by_relevance)[:top]}
    known = any(step.ran is not None for step in trace.steps)
    table = Table("kind", "lines", "step", "values", "relevance", header_style="bold")
    if known:
        table.add_column("ran")
    for step in trace.steps:
        if step.id in best:
            lines = f"{step.span.path}:{step.span.start}-{step.span.end}"
            values = ", ".join(f"{name}={value}" for name, value in list(step.values.items())[:6])
            cells = (step.kind, lines, step.label[:60], values[:90], f"{step.relevance:.2f}")
            ran = {True: "yes", False: "no", None: "?"}[step.ran]
            table.add_row(*map(Text, (*cells, ran) if known else cells))
    console.print(table)
    files = Table("file", "distance", "why", "relevance", header_style="bold")
    for each in trace.files[:_FILES]:
        files.add_row(
            *map(Text, (each.path, str(each.distance), each.why, f"{each.relevance:.2f}"))
        )
    console.print(files)
    shown = min(top, len(trace.steps))
    console.print(
        f"{shown} of {len(trace.steps)} steps in the order of running, "
        f"{min(_FILES, len(trace.files))} of {len(trace.files)} files, by relevance."
    )
    _listed(console, "Gives the answer away, the surest first", trace.mask[:_FILES])
    _listed(console, "Notes", trace.notes[:_NOTES], len(trace.notes) - _NOTES)


def _by_relevance(step: Step) -> tuple[float, int]:
    return -step.relevance, step.order


def _listed(console: Console, head: str, rows: Iterable[str], more: int = 0) -> None:
    rows = list(rows)
    if rows:
        console.print(Text(f"{head}:"))
        for row in rows:
            console.print(Text(f"  {row}"))
        if more > 0:
            console.print(Text(f"  and {more} more (--json has all)."))
