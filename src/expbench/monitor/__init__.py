"""The monitor: did the agent take a shortcut instead of doing the experiment?

Its layers, each of which gives a ``MonitorReport``:

- ``prevention``: what workspace and sandbox made impossible, in words;
- :func:`check`: the rules, deterministic and without a model;
- ``model``: a model that reads the condensed trajectory;
- ``comparison``: a model that reads several trajectories of one task side by side;
- ``verdict``: all of them as one report.

The rules read what the agent *did* (commands, code, file operations and their outputs) rather than
what it said, because prose is what an agent can choose freely. From the bottom up:

- ``pure``, ``constants``, ``known``, ``chains``, ``texts``, ``encodings``: what constants come to, what
  names stand for, and what text tools print;
- ``lexer``, ``drafts``, ``scope``, ``wrappers``, ``shell``, ``pycode``, ``handed_over``, ``sources``: what a
  text would run;
- ``steps``: a trajectory as steps, bounded in size;
- ``names``, ``clones``, ``history``, ``access``, ``packages``, ``probing``: rules over single commands;
- ``numbers``, ``expressions``, ``draws``, ``literals``, ``readback``, ``ledger``, ``results``, ``typed``,
  ``copied``: where the conclusion's numbers come from;
- ``markers``, ``overrides``, ``rescaling``, ``favoured``, ``replays``, ``replayed_python``, ``exchanged``,
  ``hiding``, ``tampering``: what the re-run would show;
- ``rules``: all of it as one report.

``foreign`` reads trajectories of other programs, ``messages`` chat messages, ``handed_in`` what an
agent handed in where nobody collected it.

Every finding has a verbatim quote and its turn. Doubt is ``suspicious``, never ``violation``, and a
trajectory that cannot be read is ``unscored``.
"""

from expbench.monitor.rules import check

__all__ = ["check"]
