"""What ``expbench failures-eval`` does: codes a labelled set, and prints what was right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.cli.failing_coders import Coders
from expbench.failure_eval import CoderEval, LabelledErrors, Part, evaluate, load_errors
from expbench.failures import load_codebook
from expbench.report.text import interval_text, percent

_CONFUSED = 15
_HEAD = ("", "right", "of", "share", "95 %", "kappa", "family right", "uncoded")


def show_eval(
    coders: Coders,
    own: Path | None,
    codebook: Path | None,
    out: Path,
    markdown: bool,
    as_json: bool,
) -> int:
    """Evaluate coders on a set. Raises UserError."""
    coders.check()
    book = load_codebook(codebook)
    labelled = load_errors(book, own)
    insights = [each.insight for each in labelled.errors]
    coding = coders.code(insights, book, out.absolute())
    evals = [evaluate(name, labelled.errors, coded) for name, coded in coding.all.items()]
    console = Console()
    if as_json:
        found = [each.model_dump(mode="json") for each in evals]
        about = {"set": labelled.name, "digest": labelled.digest, "errors": len(insights)}
        console.print_json(data={**about, "coders": found, "notes": list(coding.notes)})
    elif markdown:
        text = "\n".join(_markdown(evals, labelled))
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        for line in (_about(labelled), *coding.notes):
            console.print(line, highlight=False, soft_wrap=True, markup=False)
        for each in evals:
            console.print(_table(each))
    return 1 if any(each.parts[0].uncoded for each in evals) else 0


def _about(labelled: LabelledErrors) -> str:
    return f"Set {labelled.name}, {labelled.digest}: {len(labelled.errors)} errors."


def _row(part: Part) -> tuple[str, ...]:
    share = percent(part.right / part.of) if part.of else "–"
    kappa = "–" if part.kappa is None else f"{part.kappa:.2f}"
    counts = (str(part.right), str(part.of), share, interval_text(part.interval), kappa)
    return (part.name, *counts, str(part.families), str(part.uncoded))


def _table(found: CoderEval) -> Table:
    table = Table(title=f"Coder {found.coder}", title_justify="left")
    for name in _HEAD:
        table.add_column(name, justify="left" if not name else "right")
    for part in found.parts:
        table.add_row(*map(Text, _row(part)))
    table.add_section()
    for part in found.by:
        name, *rest = _row(part)
        table.add_row(*map(Text, (f"by {name}", *rest)))
    return table


def _markdown(evals: Sequence[CoderEval], labelled: LabelledErrors) -> list[str]:
    lines = [_about(labelled)]
    for found in evals:
        lines += ["", f"### Coder {found.coder}", "", f"| {' | '.join(_HEAD)} |"]
        lines.append("| --- |" + " --: |" * (len(_HEAD) - 1))
        lines += [f"| {' | '.join(_row(part))} |" for part in found.parts]
        for part in found.by:
            name, *rest = _row(part)
            lines.append(f"| by {name} | {' | '.join(rest)} |")
        lines += ["", "| label | given | times |", "| --- | --- | --: |"]
        lines += [f"| {one} | {other} | {n} |" for one, other, n in found.confused[:_CONFUSED]]
    return lines
