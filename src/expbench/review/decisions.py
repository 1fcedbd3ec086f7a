"""What reviewers decided, for stages that go on with it.

The functions stand in :mod:`expbench.construct.decisions`, so that the pipeline need not import the page.
"""

from expbench.construct.decisions import about as about
from expbench.construct.decisions import decisions as decisions
from expbench.construct.decisions import digest_of as digest_of
from expbench.construct.decisions import read_decisions as read_decisions
from expbench.construct.decisions import reviewed as reviewed
from expbench.construct.decisions import spent as spent
from expbench.construct.decisions import standing as standing
