"""How good is a judge: labelled sets, judges measured on them, and more sets made from any data set.

::

    JSON lines --sets.load_set--> LabelledSet --running.judge_set--> Judged --evaluation--> Evaluation
    tasks --variants--> cases (labels right by construction)                  known --> KnownEval
"""

from expbench.judge_eval.cases import Case, InlineTask, LabelledItem, schema_text
from expbench.judge_eval.evaluation import OVERALL, Column, Evaluation, column, evaluation
from expbench.judge_eval.known import KnownEval, known_eval, remember, summaries
from expbench.judge_eval.people import people_report, read_people
from expbench.judge_eval.references import AlwaysMetJudge, RandomJudge
from expbench.judge_eval.running import Contestant, Judged, judge_set, open_journal
from expbench.judge_eval.sets import LabelledSet, load_set, load_shipped_set, set_of
from expbench.judge_eval.variants import variants

__all__ = [
    "OVERALL",
    "AlwaysMetJudge",
    "Case",
    "Column",
    "Contestant",
    "Evaluation",
    "InlineTask",
    "Judged",
    "KnownEval",
    "LabelledItem",
    "LabelledSet",
    "RandomJudge",
    "column",
    "evaluation",
    "judge_set",
    "known_eval",
    "load_set",
    "load_shipped_set",
    "open_journal",
    "people_report",
    "read_people",
    "remember",
    "schema_text",
    "set_of",
    "summaries",
    "variants",
]
