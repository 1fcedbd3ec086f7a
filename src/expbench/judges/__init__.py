"""Judges: decide, item by item, whether a submission contains what the ground truth asks for.

``rubric`` makes a task's items, a ``Judge`` decides them, and ``score`` turns the verdicts into the
scores of design, implementation and conclusion. Two judges need no model: ``baseline`` compares words,
values and directions, offline and always the same, ``baseline+embedding`` meanings too; any other name is an
Inspect model, such as ``openai/o3-mini``. Several of them, or several answers of one, are a panel
(:func:`make_judge`). The engine's model library takes seconds to import and is needed by model judges
only, so it is imported when one is asked for.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from expbench.errors import NotFoundError, UserError
from expbench.judges.base import Judge, score
from expbench.judges.baseline import BASELINE, BASELINES, EMBEDDED, BaselineJudge
from expbench.judges.families import family_warnings
from expbench.judges.panel import Member, Panel
from expbench.judges.rubric import rubric
from expbench.schema import Judging

_MODEL_NAME = re.compile(r"[A-Za-z0-9_.-]+(?:/[^\s/]+)+")


def get_judge(name: str) -> Judge:
    """The judge called ``name``: one of ``BASELINES``, or an Inspect model as ``provider/model``.

    Raises ``NotFoundError`` for a name that is neither, and ``PrerequisiteError`` when the extra
    ``embedding`` is wanted and missing, or the model's provider lacks a package or a key.
    """
    return make_judge(Judging(judges=(name,)))


def make_judge(judging: Judging, contestant: str = "", cache: Path | None = None) -> Judge:
    """The judge that ``judging`` describes.

    Args:
        judging: the judges and how they are asked; its label is the judge's name.
        contestant: the model that is judged, if there is one: a judge of its family is warned of.
        cache: a folder for verdicts, so that an equal question is asked once.

    Raises:
        UserError: the settings do not go together.
        NotFoundError: a name that is neither one of ``BASELINES`` nor a model's.
        PrerequisiteError: the extra ``embedding``, or what a model's provider needs, is missing.
    """
    _check(judging)
    members = [_member(name, judging, cache) for name in judging.judges]
    warnings = family_warnings(judging.judges, contestant)
    first = members[0].samples[0]
    if first.name == judging.label and not warnings:
        return first
    return Panel(members, judging.label, judging.protocol, warnings)


def _check(judging: Judging) -> None:
    """Raise UserError for settings that do not go together."""
    names = judging.judges
    if not names:
        raise UserError(
            "There is no judge: name one, as --judge baseline or --judge provider/model."
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(
            f"The judge {twice[0]!r} is named twice: ask one judge several times by --judge-samples."
        )
    free = [name for name in names if name in BASELINES]
    if free and judging.protocol == "paper":
        raise UserError(
            f"The judge {free[0]!r} decides items and gives no marks: name a model for --protocol paper."
        )
    if len(free) == len(names) and (judging.samples > 1 or judging.items_per_call > 1):
        raise UserError(
            f"The judge {free[0]!r} answers the same however it is asked: --judge-samples and "
            "--items-per-call are for models."
        )
    if judging.protocol == "paper" and judging.items_per_call > 1:
        raise UserError("--items-per-call is for items: leave it out with --protocol paper.")


def _member(name: str, judging: Judging, cache: Path | None) -> Member:
    if name == BASELINE:
        return Member(name, (BaselineJudge(),))
    if name == EMBEDDED:
        embedded: Judge = importlib.import_module("expbench.judges.embedded").EmbeddedJudge()
        return Member(name, (embedded,))
    if not _MODEL_NAME.fullmatch(name):
        raise NotFoundError(
            f"There is no judge named {name!r}: use 'baseline', 'baseline+embedding' or a model as "
            "provider/model."
        )
    member: Member = importlib.import_module("expbench.judges.making").model_member(
        name, judging, cache
    )
    return member


__all__ = ["BASELINES", "BaselineJudge", "Judge", "get_judge", "make_judge", "rubric", "score"]
