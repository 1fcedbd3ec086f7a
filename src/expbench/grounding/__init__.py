"""Grounding: the claims of an agent's conclusion, looked up in the outputs of its clean re-run.

From the bottom up: ``figures``, ``compounds`` and ``names`` read numbers and labels; ``cells``, ``tables``,
``lines``, ``structures``, ``printouts`` and ``outputs`` make a re-run's outputs into numbers with names;
``passages``, ``settings``, ``extraction`` and ``relations`` find the claims, ``modelled`` what a model adds;
``scene``, ``cues`` and ``binding`` tie names to numbers; ``matching``, ``pairs``, ``contests``,
``candidates``, ``agreeing``, ``parallel``, ``caution``, ``derived``, ``summaries``, ``numbers``,
``comparing``, ``courses``, ``witnesses`` and ``significance`` look claims up;
``literals`` knows what was there before the run; ``ground`` puts it together.
"""

from expbench.grounding.extraction import extract
from expbench.grounding.ground import ground, ground_execution, grounding_score
from expbench.grounding.literals import Literals, literals_of
from expbench.grounding.modelled import extract_with
from expbench.grounding.outputs import Outputs

__all__ = [
    "Literals",
    "Outputs",
    "extract",
    "extract_with",
    "ground",
    "ground_execution",
    "grounding_score",
    "literals_of",
]
