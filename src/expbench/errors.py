"""Every error of expbench, in one tree.

::

    ExpbenchError
    ├── UserError              the user can mend it: one sentence, exit code 2
    │   ├── DataError          a data set, task file or run folder cannot be read as what it should be
    │   ├── NotFoundError      an unknown task, suite, agent, judge or run
    │   ├── RepositoryError    a paper's repository or its pinned commit cannot be had
    │   └── PrerequisiteError  a program, key, permission or disk space is missing
    ├── InfrastructureError    the harness failed, not the agent: the task is unscored and retried
    │   ├── SandboxError       a sandbox could not be started or died
    │   ├── LeakError          a prepared workspace still holds something that it must not hold
    │   ├── UnreachableModelError  an agent's program could not reach its model
    │   └── SpentError             the run's cap on dollars is reached: nothing new is begun
    ├── LimitReachedError      a request of an agent would pass a limit of its task, and was refused
    └── AgentExit              an agent's program ended with a failure: a result, not an error of ours

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


class UnreachableModelError(InfrastructureError):
    """An agent's program could not reach its model: it had no chance, and the task is tried again."""


class SpentError(InfrastructureError):
    """The run's cap on dollars is reached: what is open is done by a resumption with a higher one."""


class LimitReachedError(ExpbenchError):
    """A request was refused, since it would pass a limit of the task; its agent is being stopped."""


class AgentExit(ExpbenchError):  # noqa: N818
    """An agent's program ended with an exit code that says failure; what it left is judged all the same."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
