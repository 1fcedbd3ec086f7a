"""Statistics of scores that come in papers: numbers in, numbers out; nothing of a run is known here.

One value per task with its epochs averaged, and the paper of each task::

    values, papers --intervals.mean_interval, share_interval--> 95 % Interval
                   --clusters.clustering----------------------> ICC, effective n
    two runs       --pairs.paired-----------------------------> difference, interval, p  --holm-->
    variances      --power.detectable, tasks_needed, …--------> what a comparison can see
    attempts       --repeats.pass_at_k, pass_all_k
    judge's errors --correction.rogan_gladen
"""

from expbench.statistics.clusters import Clustering, clustering, design_effect
from expbench.statistics.correction import Corrected, rogan_gladen
from expbench.statistics.intervals import (
    Interval,
    clopper_pearson,
    cluster_bootstrap,
    cluster_error,
    cluster_t,
    mean_interval,
    share_interval,
    wider,
)
from expbench.statistics.pairs import Paired, correlation, holm, paired, sign_flip
from expbench.statistics.power import (
    Components,
    Plan,
    components,
    detectable,
    epochs_needed,
    paired_components,
    plan_of,
    power_of,
    standard_error,
    tasks_needed,
)
from expbench.statistics.repeats import pass_all_k, pass_at_k

__all__ = [
    "Clustering",
    "Components",
    "Corrected",
    "Interval",
    "Paired",
    "Plan",
    "clopper_pearson",
    "cluster_bootstrap",
    "cluster_error",
    "cluster_t",
    "clustering",
    "components",
    "correlation",
    "design_effect",
    "detectable",
    "epochs_needed",
    "holm",
    "mean_interval",
    "paired",
    "paired_components",
    "pass_all_k",
    "pass_at_k",
    "plan_of",
    "power_of",
    "rogan_gladen",
    "share_interval",
    "sign_flip",
    "standard_error",
    "tasks_needed",
    "wider",
]
