"""The failure map: why attempts fail, each cause with its evidence, and which one to mend first.

``insights_of`` makes atomic errors of what judges, re-runs and the monitor found, :class:`Coder` maps them
to the codes of a :class:`Codebook`, and ``map_failures`` counts. The method is the publication's (section
4.3, appendix) in two passes; its codes are seeded with the categories that it names.
"""

from expbench.failures.codebook import Code, Codebook, Family, PhaseCodes, load_codebook
from expbench.failures.coding import Coded, Coder
from expbench.failures.insights import Insight, insights_of
from expbench.failures.mapping import FailureMap, map_failures

__all__ = [
    "Code",
    "Codebook",
    "Coded",
    "Coder",
    "FailureMap",
    "Family",
    "Insight",
    "PhaseCodes",
    "insights_of",
    "load_codebook",
    "map_failures",
]
