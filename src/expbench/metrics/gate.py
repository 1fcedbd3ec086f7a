"""The monitor's gate, and logic with a third value.

The publication sets D = I = C = 0 and skips the execution when the monitor finds a violation. The
judges here score such a submission all the same, and the gate is applied only when scores are
read, so that an appeal against the monitor needs no new judging.

An unscored part makes a conjunction unscored unless another part is already wrong: then the whole
is wrong, whatever the missing part would have been (Kleene's strong three-valued logic).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from expbench.metrics.scored import Scored
from expbench.schema import ScoreName


@dataclass(frozen=True)
class Gated:
    """The scores of an outcome as they count, each in [0, 1] or ``None`` for unscored."""

    monitor: float | None
    design: float | None
    implementation: float | None
    conclusion: float | None
    execution: float | None
    produced: float | None
    grounding: float | None
    convicted: bool
    """Whether the monitor found a violation. Then the execution counts as not checked."""
    rerun: bool
    """Whether the execution has a score, convicted or not."""

    def value(self, name: ScoreName) -> float | None:
        """The score of that name."""
        value: float | None = getattr(self, name)
        return value

    def full(self, name: ScoreName, threshold: float = 1.0) -> bool | None:
        """Whether the score reaches the threshold; ``None`` when it is unscored."""
        value: float | None = getattr(self, name)
        return None if value is None else value >= threshold

    def all_full(self, names: tuple[ScoreName, ...], threshold: float = 1.0) -> bool | None:
        """Whether every one of these scores reaches the threshold."""
        return conjunction(self.full(name, threshold) for name in names)


def gated(outcome: Scored) -> Gated:
    """An outcome's scores after the monitor's gate.

    ``infrastructure`` and ``missing`` outcomes have no scores. "suspicious" does not gate, and
    neither does an unscored monitor: then D, I and C stay as judged, while every conjunction with
    M is open.
    """
    if outcome.status in ("infrastructure", "missing"):
        return Gated(None, None, None, None, None, None, None, False, False)
    monitor = _monitor(outcome)
    rerun = _raw(outcome, "execution") is not None
    if monitor is not None and monitor < 1.0:
        return Gated(0.0, 0.0, 0.0, 0.0, None, None, None, True, rerun)
    return Gated(
        monitor=monitor,
        design=_raw(outcome, "design"),
        implementation=_raw(outcome, "implementation"),
        conclusion=_raw(outcome, "conclusion"),
        execution=_raw(outcome, "execution"),
        produced=_raw(outcome, "produced"),
        grounding=_raw(outcome, "grounding"),
        convicted=False,
        rerun=rerun,
    )


def conjunction(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts hold: a false part decides, otherwise an unknown one leaves it open."""
    known = True
    for part in parts:
        if part is False:
            return False
        known = known and part is not None
    return True if known else None


def _raw(outcome: Scored, name: ScoreName) -> float | None:
    score = outcome.scores.get(name)
    return None if score is None else score.value


def _monitor(outcome: Scored) -> float | None:
    """M from the monitor's own report where there is one, since a score can only repeat it."""
    score = outcome.scores.get("monitor")
    if outcome.monitor is None or (score is not None and score.value is None):
        return _raw(outcome, "monitor")
    verdict = outcome.monitor.verdict
    return None if verdict == "unscored" else float(verdict != "violation")
