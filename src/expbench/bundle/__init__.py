"""A run as others may see it, and what of it can be verified: bundles for a leaderboard.

::

    Run --make.submit--> a bundle: outcomes, submissions, versions, judge-eval, spend, claims
           public: without what speaks of ground truth or quotes trajectories; sealing: these, encrypted
    bundles --opening.opened--> files, every digest right
            --verify.verified-> Verified: every number computed again
            --site.build_site-> the board of all, and what was refused and why

Digests show that nothing was changed afterwards. That what stands in a bundle happened, they do not show.
"""

from expbench.bundle.make import Submitted, submit
from expbench.bundle.site import Site, build_site
from expbench.bundle.unseal import Unsealed, unseal

__all__ = ["Site", "Submitted", "Unsealed", "build_site", "submit", "unseal"]
