"""What ``expbench construct trace`` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.errors import NotFoundError, UserError
from expbench.tracer.chain import trace_chain
from expbench.tracer.figure import figure_html, figure_svg
from expbench.tracer.graph import Step, Trace

_FILES = 15
_NOTES = 12


@dataclass(frozen=True)
class Asked:
    """What the command was asked for, besides a project."""

    repo: Path | None
    source: tuple[str, ...]
    usage: str
    question: str
    figure: Path | None
    top: int

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


def _show(trace: Trace, top: int, console: Console) -> None:
    best = {step.id for step in sorted(trace.steps, key=_by_relevance)[:top]}
    table = Table("kind", "lines", "step", "values", "relevance", header_style="bold")
    for step in trace.steps:
        if step.id in best:
            lines = f"{step.span.path}:{step.span.start}-{step.span.end}"
            values = ", ".join(f"{name}={value}" for name, value in list(step.values.items())[:6])
            cells = (step.kind, lines, step.label[:60], values[:90], f"{step.relevance:.2f}")
            table.add_row(*map(Text, cells))
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
    _listed(console, "Not followed", trace.notes[:_NOTES], len(trace.notes) - _NOTES)


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
