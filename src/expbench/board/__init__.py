"""Several runs on one page: what each was, which may be ranked together, and by how much they differ.

::

    Contender (a run, facts of its tasks, its spend) --sets.comparable--> sets of runs that were made alike
      set --measures.standing--> scores, time, cost     --pairs.against--> paired differences, Holm over all
          --breakdown----------> by category, type, tier, paper; task x run
      all of it: board.build --> Board --record--> JSON
                                       --write---> index.html, report.md, table.tex, outcomes.csv

Runs under different conditions (R32) are never in one table: each set has its own, and says by which field
it is apart. Texts of attempts are not on the page; names of agents, models and runs are hostile text.
"""

from expbench.board.board import AGAINST, Board, build
from expbench.board.contenders import Contender, Spend, TaskFacts, facts_of, named_apart
from expbench.board.record import BoardRecord, Refused, Source, record
from expbench.board.rendering import Extra
from expbench.board.spending import read_spend
from expbench.board.write import BoardFiles, write_board

__all__ = [
    "AGAINST",
    "Board",
    "BoardFiles",
    "BoardRecord",
    "Contender",
    "Extra",
    "Refused",
    "Source",
    "Spend",
    "TaskFacts",
    "build",
    "facts_of",
    "named_apart",
    "read_spend",
    "record",
    "write_board",
]
