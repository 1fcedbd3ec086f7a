"""What is known of a judge: results of evaluations, kept so that a run's report can print them.

The baseline's ships with this package (``scripts/judge_table`` writes it, a test measures it again);
others are in a folder of the user's cache, where ``expbench judge-eval`` puts them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from expbench.judge_eval.evaluation import OVERALL, Evaluation
from expbench.judge_eval.sets import SHIPPED
from expbench.schema import Record

FOLDER = "judge-evals"
"""Below the user's cache."""
NAME = "known.json"


class KnownPhase(Record):
    """A phase's numbers, fractions; kappa is in [-1, 1]."""

    items: int
    coverage: float | None
    macro_f1: float | None
    low: float | None
    high: float | None
    recall_met: float | None
    recall_not_met: float | None
    kappa: float | None
    decided: int | None = None
    labelled_met: int | None = None
    """Of the decided items. Older results do not have these two."""

    @property
    def counts(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Of the items that are met those seen as met, and the same of the others; if it is known."""
        sees, denies = self.recall_met, self.recall_not_met
        if None in (sees, denies, self.decided, self.labelled_met):
            return None
        met = self.labelled_met or 0
        others = (self.decided or 0) - met
        return (round((sees or 0.0) * met), met), (round((denies or 0.0) * others), others)


class KnownEval(Record):
    """How good a judge was found to be, on which set."""

    judge: str
    prompt_digest: str = ""
    set: str
    set_digest: str
    cases: int
    papers: int
    phases: dict[str, KnownPhase]
    self_agreement: float | None = None
    version: str = ""
    created: str = ""

    @property
    def sentence(self) -> str:
        """One line for reports."""
        parts = [
            f"{name} {phase.macro_f1:.2f}"
            for name, phase in self.phases.items()
            if phase.macro_f1 is not None
        ]
        numbers = ", ".join(parts) or "no macro F1"
        items = max((phase.items for phase in self.phases.values()), default=0)
        return (
            f"macro F1 of judge {self.judge} on the labelled set {self.set} ({self.set_digest}: "
            f"{items} items, {self.papers} papers): {numbers} (random: about 0.50)"
        )


def known_eval(
    judge_label: str, folder: Path | None = None, prompt_digest: str = ""
) -> KnownEval | None:
    """What is known of the judge that reports call so (``Judging.label``), or ``None``.

    The shipped set comes before others, the user's results before those of this package, and newer ones
    before older.

    Args:
        folder: where the user's results are kept (``FOLDER`` below the cache).
        prompt_digest: with it, results with other prompts are those of another judge.
    """
    found = [*_stored(folder), *shipped_evals()]
    fitting = [
        each
        for each in found
        if each.judge == judge_label and prompt_digest in ("", each.prompt_digest)
    ]
    fitting.sort(key=lambda each: each.created, reverse=True)
    return next((each for each in fitting if each.set == SHIPPED), next(iter(fitting), None))


def summaries(evaluation: Evaluation) -> tuple[KnownEval, ...]:
    """What an evaluation says of each of its judges with verdicts."""
    return tuple(
        KnownEval(
            judge=column.label,
            prompt_digest=column.prompt_digest,
            set=evaluation.set,
            set_digest=evaluation.set_digest,
            cases=evaluation.cases,
            papers=evaluation.papers,
            self_agreement=column.agreement.pairwise if column.agreement else None,
            version=evaluation.version,
            created=evaluation.created,
            phases={
                name: KnownPhase(
                    items=found.items,
                    coverage=found.coverage,
                    macro_f1=found.macro_f1,
                    low=found.intervals["macro_f1"].low,
                    high=found.intervals["macro_f1"].high,
                    recall_met=found.recall_met,
                    recall_not_met=found.recall_not_met,
                    kappa=found.kappa,
                    decided=found.decided,
                    labelled_met=found.labelled_met,
                )
                for name, found in column.measures.items()
            },
        )
        for column in evaluation.columns
        if column.measures.get(OVERALL) or column.measures
    )


def remember(found: Iterable[KnownEval], folder: Path) -> None:
    """Keep results in the user's folder, one file for each judge and set."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        key = f"{each.judge}\0{each.set}"
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        write_at_once(folder / f"{name}.json", each.model_dump_json(indent=1) + "\n")


def write_at_once(path: Path, text: str) -> None:
    """Write a file that is either whole or as it was before. Raises OSError."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.write_text(text, "utf-8")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def shipped_evals() -> tuple[KnownEval, ...]:
    """The results that ship with this package."""
    text = (resources.files("expbench.judge_eval") / NAME).read_text("utf-8")
    return TypeAdapter(tuple[KnownEval, ...]).validate_json(text)


def shipped_text(found: Iterable[KnownEval]) -> str:
    """The shipped file's content: without dates, so that the same numbers are the same file."""
    plain = tuple(each.model_copy(update={"created": "", "version": ""}) for each in found)
    return TypeAdapter(tuple[KnownEval, ...]).dump_json(plain, indent=1).decode() + "\n"


def _stored(folder: Path | None) -> Iterable[KnownEval]:
    for file in sorted(folder.glob("*.json")) if folder is not None else ():
        try:
            yield KnownEval.model_validate_json(file.read_text("utf-8"))
        except (OSError, ValueError, ValidationError):  # damaged, or of another version
            continue
