"""banditlab: small, vectorised simulations of multi-armed bandit policies.

Every policy and every environment carries a leading axis of independent runs, so that
one Python-level loop over the rounds simulates all runs at the same time.
"""

from banditlab.environments import GaussianBandit, SwitchingBandit
from banditlab.policies import available, make_policy
from banditlab.runner import Trace, make_streams, simulate

__version__ = "0.3.1"

__all__ = [
    "GaussianBandit",
    "SwitchingBandit",
    "Trace",
    "available",
    "make_policy",
    "make_streams",
    "simulate",
]
