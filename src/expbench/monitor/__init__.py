"""The monitor: did the agent take a shortcut instead of doing the experiment?

This is its rules layer, deterministic and without a model. It reads what the agent *did* (commands,
code, file operations and their outputs) rather than what it said, because prose is what an agent
can choose freely. From the bottom up:

- ``lexer``, ``shell``, ``pycode``: what a shell text or a piece of Python would do;
- ``steps``: a trajectory as steps, bounded in size;
- ``history``, ``access``, ``probing``: rules over single commands;
- ``numbers``, ``literals``, ``ledger``, ``results``: where the conclusion's numbers come from;
- ``rules``: all of it as one report.

Every finding has a verbatim quote and its turn. Doubt is ``suspicious``, never ``violation``, and a
trajectory that cannot be read is ``unscored``.
"""

from expbench.monitor.rules import check

__all__ = ["check"]
