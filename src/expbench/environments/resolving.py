"""Requirements that do not all go together, made into those that do.

pip says all or nothing. What has no wheel is built from its source archive; what then still stands in the
way is found, its version left open, and if that does not help it is left out. Each such change is said.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expbench.dataset.recipe import Problem
from expbench.environments.installing import Locked, Pip, Refused
from expbench.environments.plans import EnvironmentPlan, name_of
from expbench.environments.sources import SourceBuilder


@dataclass
class Settling:
    """The installation of one plan below ``prefix``.

    ``problems`` are what the plan asks for and does not get, or not as it asks.
    """

    plan: EnvironmentPlan
    pip: Pip
    builder: SourceBuilder
    prefix: Path
    listener: Callable[[str], None]
    problems: list[Problem] = field(default_factory=list)
    _tried: dict[str, str] = field(default_factory=dict, repr=False)
    """Why what was to be built could not be, by name; empty where it could."""

    def run(self) -> tuple[Locked, ...]:
        """Install what can be installed. Raises PrerequisiteError, InfrastructureError."""
        chosen = [*self.plan.requirements, *self.plan.optional]
        while True:
            self.listener(
                f"{len(chosen)} packages for Python {self.plan.python.version}: resolving"
            )
            done = self._install(chosen)
            if not isinstance(done, Refused):
                return done
            if not self._built(done):
                chosen = self._without_culprit(chosen, done)

    def _install(self, requirements: Sequence[str]) -> tuple[Locked, ...] | Refused:
        shutil.rmtree(self.prefix, ignore_errors=True)
        self.prefix.mkdir()
        return self.pip.install(requirements, self.prefix)

    @property
    def _optional(self) -> set[str]:
        return {name_of(text) for text in self.plan.optional}

    def _installs(self, requirements: Sequence[str]) -> bool:
        return not isinstance(self._install(requirements), Refused)

    def _built(self, refused: Refused) -> bool:
        """Whether a wheel of what is missing could be made, so that it can be installed now."""
        name = name_of(refused.missing)
        if not name or name in (*self._tried, *self.plan.denied, *self._optional):
            return False
        self._tried[name] = self.builder.build(refused.missing)
        return not self._tried[name]

    def _without_culprit(self, chosen: Sequence[str], refused: Refused) -> list[str]:
        """The requirements with one changed or left out that could not stay as it was."""
        number = self._culprit(chosen, refused)
        text = chosen[number]
        name = name_of(text)
        why = refused.why
        if built := self._tried.get(name_of(refused.missing)):
            why = f"{why}; {built}"
        before, after = chosen[:number], chosen[number + 1 :]
        if text in self.plan.optional:
            self._say("installer", f"{text} is left out: {why}")
            return [*before, *after]
        if text != name:
            self._tried.pop(name, None)
            self._say("package", f"{text}: {why}; its version is left open")
            return [*before, name, *after]
        self._say("package", f"{text} is left out: {why}")
        return [*before, *after]

    def _say(self, kind: str, text: str) -> None:
        self.listener(text)
        self.problems.append(Problem(kind=kind, text=text))

    def _culprit(self, chosen: Sequence[str], refused: Refused) -> int:
        """The first requirement that does not go with those before it."""
        missing = name_of(refused.missing)
        named = [number for number, text in enumerate(chosen) if name_of(text) == missing]
        if missing and named:
            return named[-1]
        works = self._installs if self.pip.resolves(chosen) else self.pip.resolves
        good, bad = 0, len(chosen)
        while bad - good > 1:
            middle = (good + bad) // 2
            if works(chosen[:middle]):
                good = middle
            else:
                bad = middle
        return bad - 1
