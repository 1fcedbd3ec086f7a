"""How far can E, E+ and G be trusted: submissions whose right verdict is known, run for real.

::

    folders --cases.load_set--> CaseSet --running.run_set--> Observed --counting.evaluate--> Evaluation

``cases`` says what a case is, ``submitting`` makes a submission of it, ``grounder`` looks its conclusion
up, ``matching`` finds labelled claims among the extracted ones, ``tables`` shows what was counted.
"""

from expbench.execution_eval.cases import Case, CaseFile, CaseSet, load_set, shipped_set
from expbench.execution_eval.counting import Evaluation, evaluate
from expbench.execution_eval.grounder import ground_by_rules
from expbench.execution_eval.known_solutions import mini_set
from expbench.execution_eval.running import Bench, Observed, open_journal, run_set

__all__ = [
    "Bench",
    "Case",
    "CaseFile",
    "CaseSet",
    "Evaluation",
    "Observed",
    "evaluate",
    "ground_by_rules",
    "load_set",
    "mini_set",
    "open_journal",
    "run_set",
    "shipped_set",
]
