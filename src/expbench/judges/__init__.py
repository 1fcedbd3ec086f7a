"""Judges: decide, item by item, whether a submission contains what the ground truth asks for.

``rubric`` makes a task's items, a ``Judge`` decides them, and ``score`` turns the verdicts into the
scores of design, implementation and conclusion. Two judges exist: ``baseline`` compares words,
values and directions, offline and always the same; any other name is an Inspect model, such as
``openai/o3-mini``. The engine's model library takes seconds to import and is needed by model judges
only, so it is imported when one is asked for.
"""

from __future__ import annotations

import importlib
import re

from expbench.errors import NotFoundError
from expbench.judges.base import Judge, score
from expbench.judges.baseline import BaselineJudge
from expbench.judges.rubric import rubric

_MODEL_NAME = re.compile(r"[A-Za-z0-9_.-]+(?:/[^\s/]+)+")


def get_judge(name: str) -> Judge:
    """The judge called ``name``: "baseline", or an Inspect model as ``provider/model``.

    Raises ``NotFoundError`` for a name that is neither, and ``PrerequisiteError`` when the model's
    provider lacks a package or a key.
    """
    if name == BaselineJudge.name:
        return BaselineJudge()
    if not _MODEL_NAME.fullmatch(name):
        raise NotFoundError(
            f"There is no judge named {name!r}: use 'baseline' or a model as provider/model."
        )
    judge: Judge = importlib.import_module("expbench.judges.model").ModelJudge(name)
    return judge


__all__ = ["BaselineJudge", "Judge", "get_judge", "rubric", "score"]
