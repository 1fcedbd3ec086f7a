"""Making the judges that ask models: loading the model, and what is cached of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from inspect_ai.model import Model
from pydantic import JsonValue

from expbench.judges.base import Judge
from expbench.judges.cache import CachedJudge, PromptedJudge
from expbench.judges.model import ModelJudge
from expbench.judges.panel import Member
from expbench.judges.paper import PaperJudge
from expbench.models import load_model
from expbench.schema import Judging

_LARGEST_SCRIPT = 16 * 1024**2
"""Bytes; larger files are weights, which nobody edits in place."""


def model_member(name: str, judging: Judging, cache: Path | None) -> Member:
    """The model ``name`` as a member of a panel, asked as ``judging`` says.

    Each sample is a question of its own: judges ask without Inspect's cache of answers and no seed is
    set, and the verdict cache in the folder ``cache`` keeps the samples apart.

    Raises:
        NotFoundError: no provider has that name.
        PrerequisiteError: the provider lacks its package or its key.
    """
    model = load_model(name)
    judge = _judge(model, judging)
    if cache is None:
        return Member(name, (judge,) * judging.samples)
    shaped_by = _shaped_by(model, judging)
    samples = (
        CachedJudge(
            judge,
            cache,
            shaped_by,
            sample,
            by_phase=judging.protocol == "paper",
            together=judging.items_per_call > 1,
        )
        for sample in range(judging.samples)
    )
    return Member(name, tuple[Judge, ...](samples))


def _judge(model: Model, judging: Judging) -> PromptedJudge:
    if judging.protocol == "itemised":
        return ModelJudge(
            model,
            items_per_call=judging.items_per_call,
            concurrency=judging.concurrency,
            deadline=judging.deadline,
        )
    return PaperJudge(model, deadline=judging.deadline)


def _shaped_by(model: Model, judging: Judging) -> dict[str, JsonValue]:
    """What of the model and of the way to ask it shapes an answer."""
    return {
        "model": str(model),
        "address": model.api.base_url,
        "script": _script(model),
        "config": model.config.model_dump(mode="json", exclude_none=True),
        "protocol": judging.protocol,
        "items_per_call": judging.items_per_call,
    }


def _script(model: Model) -> str | None:
    """A digest of the model's file, for models that are one, such as a test's."""
    file = Path(model.api.model_name)
    if not file.is_file() or file.stat().st_size > _LARGEST_SCRIPT:
        return None
    return hashlib.sha256(file.read_bytes()).hexdigest()
