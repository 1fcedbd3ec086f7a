"""Coding by models: against a codebook, or openly with a codebook that grows.

Every call stands in a journal, from which the same coding is made again without asking, also after a kill.
What a model leaves unanswered stays uncoded and is counted.
"""

from expbench.failure_coding.agreement import CoderAgreement, agree
from expbench.failure_coding.asking import Asker, Plan
from expbench.failure_coding.estimate import CodingEstimate, estimate_coding
from expbench.failure_coding.fixed import code_by_model
from expbench.failure_coding.opencoding import Opened, open_coding

__all__ = [
    "Asker",
    "CoderAgreement",
    "CodingEstimate",
    "Opened",
    "Plan",
    "agree",
    "code_by_model",
    "estimate_coding",
    "open_coding",
]
