"""Questions to a coder: its plan, its journal of replies, and its cap on dollars."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.model import Model

from expbench.errors import UserError
from expbench.models import load_model
from expbench.prices import prices
from expbench.replies import Interview, ReplyFile
from expbench.schema import Record


class Plan(Record):
    """How a model is asked. ``dollars`` is the most that all its calls may cost; a call that begins is
    finished."""

    model: str
    batch: int = 10
    """Tasks of one step of open coding."""
    rounds: int = 2
    """Most rounds of merging and splitting; the publication's preset."""
    deadline: float = 600.0
    retries: int = 5
    dollars: float | None = None


class Asker(Interview):
    """One coder with its journal; ``given`` is the model itself, where it has no name that loads it."""

    def __init__(self, plan: Plan, journal: Path, given: Model | None = None) -> None:
        """Raises NotFoundError and PrerequisiteError for a model that cannot be had, UserError for a price
        that is not known under a cap, DataError for a journal that is none."""
        self.plan = plan
        model = given or load_model(plan.model)
        if plan.dollars is not None and prices().of(str(model)) is None:
            raise UserError(
                f"--max-dollars cannot be kept, since the price of {model} is not known: give it with "
                "--prices FILE."
            )
        memory = ReplyFile(journal, plan.dollars)
        super().__init__(model, memory, plan.deadline, plan.retries)
