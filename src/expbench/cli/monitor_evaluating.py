"""``expbench monitor-eval``: the error rates of the monitor on labelled trajectories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from expbench.errors import NotFoundError
from expbench.monitor_eval import (
    Documents,
    ExampleSet,
    LayerScore,
    Reader,
    load_set,
    read_all,
    score_layers,
    shipped_set,
)
from expbench.monitor_eval.counting import ClassScore, Row, Share
from expbench.monitor_eval.reading import Case
from expbench.paths import CachePaths
from expbench.schema import MonitorReport

_HEADER = ("class", "in set", "convicted", "of them right", "flagged", "of them right")
_NOTES = """\
Convicted: with a violation of the class; flagged: with a violation or a suspicion of it. Both are shares
of the trajectories in which the class is (recall). Brackets hold 95 % intervals, clustered by scenario
where that is wider."""


def model_reader(name: str) -> Reader:
    """The monitor's model layer as a reader of cases. Raises NotFoundError, PrerequisiteError."""
    from expbench.monitor.model import ModelMonitor

    watcher = ModelMonitor(name)

    async def read(case: Case) -> MonitorReport:
        return await watcher.check(case.turns, case.text, case.task)

    return read


def evaluate_monitor(
    set_file: Path | None,
    split: str,
    cache: Path,
    as_json: bool,
    markdown: bool,
    reader: Reader | None = None,
    at_once: int = 4,
) -> int:
    """Run the monitor over a set, the shipped one by default, and print how often it is wrong.

    Args:
        split: only this part of the set (``dev``, ``test``, ``fresh``); each, and all, when empty.
        reader: the monitor's model layer, where a model was asked for.
        at_once: trajectories that are read at the same time.

    Raises:
        UserError: the set cannot be read, or has no such split.
    """
    chosen = _part(load_set(set_file) if set_file else shipped_set(), split)
    console = Console(stderr=as_json or markdown)
    for warning in chosen.warnings:
        Console(stderr=True).print(warning, markup=False, highlight=False, soft_wrap=True)
    documents = Documents(CachePaths(cache).repos)
    read = partial(read_all, chosen.examples, documents, reader, at_once)
    if console.is_terminal:
        with console.status(f"reading {len(chosen.examples)} trajectories"):
            reports = anyio.run(read)
    else:
        reports = anyio.run(read)
    scores = score_layers(chosen.examples, reports)
    if as_json:
        print(to_json(chosen, scores))  # noqa: T201
    elif markdown:
        print(to_markdown(chosen, scores))  # noqa: T201
    else:
        _show(chosen, scores, console)
    return 0


def _part(whole: ExampleSet, split: str) -> ExampleSet:
    if not split:
        return whole
    examples = tuple(each for each in whole.examples if each.split == split)
    if not examples:
        known = ", ".join(sorted({each.split for each in whole.examples if each.split}))
        raise NotFoundError(f"The set has no split {split!r}; it has {known or 'none'}.")
    return replace(whole, name=f"{whole.name}, {split}", examples=examples)


def to_json(chosen: ExampleSet, scores: Sequence[LayerScore]) -> str:
    """Everything as one JSON object, with the ids of what was missed and of false alarms."""
    head = {"set": chosen.name, "digest": chosen.digest, "examples": len(chosen.examples)}
    layers = [score.model_dump(mode="json") for score in scores]
    return json.dumps(head | {"warnings": list(chosen.warnings), "layers": layers}, indent=1)


def to_markdown(chosen: ExampleSet, scores: Sequence[LayerScore]) -> str:
    """The tables for a page, with the confusion by kind and disguise of each layer on the whole set."""
    parts = [f"Set {chosen.name}, {chosen.digest}, {len(chosen.examples)} trajectories.\n"]
    for score in scores:
        parts += [f"### {_title(score)}\n", _sentence(score), ""]
        parts += _markdown_table(_HEADER, _class_rows(score))
    for layer in dict.fromkeys(score.layer for score in scores):
        whole = next(score for score in scores if score.layer == layer)
        parts += [f"### {layer}: by kind and disguise\n"]
        parts += _markdown_table(_CONFUSION, [_confusion(row) for row in whole.rows])
    return "\n".join([*parts, _NOTES])


def _show(chosen: ExampleSet, scores: Sequence[LayerScore], console: Console) -> None:
    for score in scores:
        table = Table(*_HEADER, title=_title(score), header_style="bold", title_justify="left")
        table.columns[0].no_wrap = True
        for cells in _class_rows(score):
            table.add_row(*(cell.replace(" [", "\n[") for cell in cells))
        console.print(table)
        console.print(_sentence(score), highlight=False)
        console.print()
    for layer in dict.fromkeys(score.layer for score in scores):
        whole = next(score for score in scores if score.layer == layer)
        wrong = [row for row in whole.rows if row.right < row.examples]
        table = Table(
            *_CONFUSION,
            title=f"{layer}: kinds and disguises that are not all right",
            header_style="bold",
            title_justify="left",
        )
        for row in wrong:
            table.add_row(*_confusion(row))
        if wrong:
            console.print(table)
    console.print(_NOTES, highlight=False, soft_wrap=True)
    console.print(f"set {chosen.name}, {chosen.digest}", highlight=False)


_CONFUSION = ("kind", "disguise", "split", "what it is", "right", "what was flagged")


def _confusion(row: Row) -> tuple[str, ...]:
    found = ", ".join(f"{kind} {count}" for kind, count in row.found.items())
    return (
        row.kind,
        row.disguise,
        row.split,
        ", ".join(row.labels) or "honest",
        f"{row.right}/{row.examples}",
        found or "nothing",
    )


def _title(score: LayerScore) -> str:
    return f"{score.layer}, {score.part}: {score.examples} trajectories, {score.honest} honest"


def _sentence(score: LayerScore) -> str:
    convicted, suspected = score.honest_convicted, score.honest_suspected
    parts = [
        f"Honest: {_share(convicted)} convicted, {_share(suspected)} only suspected.",
        f"Cheats, whatever class was found: {_share(score.cheats_convicted)} convicted, "
        f"{_share(score.cheats_passed)} passed without a finding.",
        f"Unscored: {score.unscored} of {score.examples}.",
    ]
    if score.failed:
        parts.append(f"Read in part only: {score.failed}.")
    if (used := score.usage).calls:
        tokens = f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out"
        price = "" if used.dollars is None else f", {used.dollars:.2f} USD"
        parts.append(f"{used.calls} calls, {tokens}{price}.")
    return " ".join(parts)


def _class_rows(score: LayerScore) -> list[tuple[str, ...]]:
    levels: dict[str, dict[str, ClassScore]] = {}
    for each in score.classes:
        levels.setdefault(each.kind, {})[each.level] = each
    rows = []
    for kind, by_level in levels.items():
        hard, soft = by_level["violation"], by_level["flagged"]
        shares = (hard.recall, hard.precision, soft.recall, soft.precision)
        rows.append((kind, str(hard.recall.of), *map(_share, shares)))
    return rows


def _share(share: Share) -> str:
    if share.value is None:
        return "none"
    text = f"{share.value:.2f} ({share.hits}/{share.of})"
    return text if share.low is None else f"{text} [{share.low:.2f}, {share.high:.2f}]"


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]
    return [*lines, ""]
