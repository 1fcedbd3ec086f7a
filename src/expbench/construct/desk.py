"""Where models are asked: one for each stage, on the project's journal and within its budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from inspect_ai.model import Model

from expbench.construct.journal import StageMemory
from expbench.construct.project import Project
from expbench.construct.records import Draft, Stage
from expbench.errors import UserError
from expbench.judges.asking import fence
from expbench.models import load_model
from expbench.prices import prices
from expbench.prompts import load
from expbench.replies import Interview

ATTEMPTS = 3
"""A reply that fails a check is asked for again twice, with the reason."""


@dataclass(frozen=True)
class Desk:
    """The model of one stage.

    Args:
        name: an Inspect model, ``provider/model``.
        dollars: the project's cap for this command; its own where that is ``None``.
    """

    project: Project
    stage: Stage
    name: str
    dollars: float | None = None

    @cached_property
    def model(self) -> Model:
        """Raises NotFoundError and PrerequisiteError for one that cannot be had, UserError for a budget
        that cannot be kept."""
        if not self.name:
            raise UserError("This stage asks a model: add --model provider/name.")
        model = load_model(self.name)
        if self.budget is not None and prices().of(str(model)) is None:
            raise UserError(
                f"The budget cannot be kept, since the price of {model} is not known: give it with "
                "--prices FILE."
            )
        return model

    @property
    def budget(self) -> float | None:
        """The most that all stages may cost."""
        return self.project.facts.budget if self.dollars is None else self.dollars

    def memory(self, draft: str = "") -> StageMemory:
        """The journal, as this stage's memory."""
        return StageMemory(self.project.journal, self.stage, draft, self.budget)

    def interview(self, draft: str = "") -> Interview:
        """Questions of this stage about one draft."""
        return Interview(self.model, self.memory(draft), attempts=ATTEMPTS)


class SpentError(UserError):
    """The project's budget is spent, or its model does not answer: what is done is kept."""


def stopped(interview: Interview) -> SpentError:
    """Why a stage ends before its end."""
    return SpentError(
        f"Stopped: {interview.stopped}. What is done is kept; the same command goes on, with a higher "
        "--budget where that is spent."
    )


def filled(name: str, **values: str) -> str:
    """A prompt with its values, fenced by what follows from them."""
    return load(name).fill(fence=fence(*values.values()), **values)


def sent_back(draft: Draft | None, stage: Stage) -> str:
    """What a stage is told of why the draft came back to it."""
    if draft is None or draft.back != stage or not draft.why:
        return ""
    return filled("construct_back", why=draft.why)
