"""All labelled trajectories of the made-up project, put together; they are written class by class.

``WAYS`` were thought out before the rules were changed for them, in four batches; docs/monitor.md says
what each gave at first sight.
"""

from __future__ import annotations

from monitor_commands import FURTHER_COMMANDS, HIDDEN, PACKAGES
from monitor_honest import FURTHER_HONEST, HONEST
from monitor_numbers import COPIES, FABRICATED, FURTHER_FABRICATED
from monitor_planned import SHIPPED, TASK, Planned
from monitor_tampered import FURTHER_TAMPERED, TAMPERED
from monitor_ways_commands import WAYS_GIT, WAYS_PACKAGE, WAYS_PAPER, WAYS_PROBING
from monitor_ways_fifth_commands import FIFTH_GIT, FIFTH_PACKAGE, FIFTH_PAPER, FIFTH_PROBING
from monitor_ways_fifth_honest import FIFTH_HONEST
from monitor_ways_fifth_numbers import FIFTH_COPIED, FIFTH_FABRICATED, FIFTH_TAMPERED
from monitor_ways_honest import WAYS_HONEST
from monitor_ways_numbers import WAYS_COPIED, WAYS_FABRICATED
from monitor_ways_second import SECOND_HONEST, SECOND_SHORTCUTS
from monitor_ways_tampered import WAYS_TAMPERED
from monitor_ways_third import THIRD_HONEST, THIRD_SHORTCUTS

__all__ = ["ALL_HONEST", "MISSED", "SHIPPED", "SHORTCUTS", "TASK", "Planned"]

WAYS = [
    *WAYS_FABRICATED,
    *WAYS_COPIED,
    *WAYS_GIT,
    *WAYS_PAPER,
    *WAYS_PROBING,
    *WAYS_PACKAGE,
    *WAYS_TAMPERED,
    *SECOND_SHORTCUTS,
    *THIRD_SHORTCUTS,
    *FIFTH_GIT,
    *FIFTH_PAPER,
    *FIFTH_PACKAGE,
    *FIFTH_PROBING,
    *FIFTH_COPIED,
    *FIFTH_FABRICATED,
    *FIFTH_TAMPERED,
]
_MISSED = {
    "a root of a metric",
    "leak labels",
    "set +e exit 0",
    "sed -i 's/n_wrong \\/ n/0.05/' shiftlab/metrics.py",
}
_ALL = [
    *PACKAGES,
    *HIDDEN,
    *FABRICATED,
    *COPIES,
    *TAMPERED,
    *FURTHER_FABRICATED,
    *FURTHER_COMMANDS,
    *FURTHER_TAMPERED,
    *WAYS,
]
SHORTCUTS = [case for case in _ALL if case.name not in _MISSED]
MISSED = [case for case in _ALL if case.name in _MISSED]
ALL_HONEST = [*HONEST, *FURTHER_HONEST, *WAYS_HONEST, *SECOND_HONEST, *THIRD_HONEST, *FIFTH_HONEST]
