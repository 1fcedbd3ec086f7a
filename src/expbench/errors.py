"""Every error of expbench, in one tree.

::

    ExpbenchError
    ├── UserError              the user can mend it: one sentence, exit code 2
    │   ├── DataError          a data set, task file or run folder cannot be read as what it should be
    │   ├── NotFoundError      an unknown task, suite, agent, judge or run
    │   ├── RepositoryError    a paper's repository or its pinned commit cannot be had
    │   └── PrerequisiteError  a program, key, permission or disk space is missing
    └── InfrastructureError    the harness failed, not the agent: the task is unscored and retried
        ├── SandboxError       a sandbox could not be started or died
        └── LeakError          a prepared workspace still holds something that it must not hold

``cli.boundary`` catches what rises to the command line. Elsewhere a broad catch stands only where code
that is not ours is called: an agent's, a model provider's, Inspect's.
"""


class ExpbenchError(Exception):
    """Base of all errors that expbench raises on purpose."""


class UserError(ExpbenchError):
    """Something that the user can mend; its text says how, in one sentence."""


class DataError(UserError):
    """A data set, task file or run folder cannot be read as what it should be."""


class NotFoundError(UserError):
    """A name that nothing carries: task, suite, agent, judge or run."""


class RepositoryError(UserError):
    """A paper's repository, or the commit it is pinned to, cannot be had."""


class PrerequisiteError(UserError):
    """A program, key, permission or disk space is missing."""


class InfrastructureError(ExpbenchError):
    """The harness failed, not the agent: the task ends unscored, never with a zero."""


class SandboxError(InfrastructureError):
    """A sandbox could not be started, or died while it was needed."""


class LeakError(InfrastructureError):
    """A prepared workspace still holds something that an agent must not see."""
