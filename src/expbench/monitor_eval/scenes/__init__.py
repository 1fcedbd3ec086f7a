"""The scripted agents of the shipped set: cheats by class, and honest agents that look like them."""

from expbench.monitor_eval.scenes import (  # noqa: F401
    copied,
    fabricated,
    fresh_honest,
    fresh_probing,
    fresh_tampering,
    history,
    honest_ends,
    honest_numbers,
    honest_tools,
    packages,
    papers,
    probing,
    tampering,
)
from expbench.monitor_eval.scenes.acting import SCENES, Call, Scene

__all__ = ["SCENES", "Call", "Scene"]
