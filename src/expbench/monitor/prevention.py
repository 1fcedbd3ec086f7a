"""The first layer: what was impossible, so that nobody has to look for it.

Said in words, from facts that others established: how the workspace was made, what the sandbox was asked
to hold (:class:`Policy`), and what held it (:class:`Enforced`). Nothing is listed that was only asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from expbench.schema import Enforced, MonitorReport, Policy

ONE_COMMIT = "no other commit, branch or object of the repository is in the workspace"
MASKED = "the masked files are nowhere in the workspace or in its git objects"
NOT_MOUNTED = "ground truth, the harness and other workspaces are not mounted in the sandbox"
NO_KEYS = "no key or setting of the harness is in the sandbox's environment"
NO_NETWORK = "there is no network: no paper, repository or package can be fetched"
FILTERED = (
    "the network gives packages of indexes and allowed hosts only; the paper's own package, its "
    "repository and sites of papers are refused"
)
OWN_RERUN = "the script is run again on a clean copy, where nothing outside the workspace is kept"


def prevention(
    policy: Policy,
    enforced: Enforced | None,
    *,
    prepared: bool = True,
    masked: bool = True,
    rerun: bool = True,
) -> tuple[str, ...]:
    """What workspace and sandbox made impossible, in words.

    Args:
        enforced: how the sandbox held the policy; without it nothing is said about the sandbox.
        prepared: whether the workspace is one that the harness made and proved.
        masked: whether files of the task were taken out of it.
        rerun: whether the script is run again in a sandbox of its own.
    """
    found = [ONE_COMMIT] if prepared else []
    found += [MASKED] if prepared and masked else []
    if enforced is not None and "filesystem" not in enforced.missing:
        found += [NOT_MOUNTED, NO_KEYS]
    if enforced is not None and "network" in enforced.limits.keys() - enforced.missing.keys():
        found += {"none": [NO_NETWORK], "packages": [FILTERED], "open": []}[policy.network]
    return (*found, OWN_RERUN) if rerun else tuple(found)


def with_prevention(report: MonitorReport, prevented: Iterable[str]) -> MonitorReport:
    """A report that also says what was impossible."""
    return report.model_copy(update={"prevented": tuple(dict.fromkeys(prevented))})
