"""The money of one run: its ledger, its cap and prices, and the accounts of its tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from expbench.budgets import Account, Cap, spending, spent_sentence
from expbench.errors import PrerequisiteError, SpentError, UserError
from expbench.judges.baseline import BaselineJudge
from expbench.ledger import Ledger, Request, Stage, open_ledger, read_ledger
from expbench.metering import install, no_price
from expbench.models import load_model
from expbench.paths import RunPaths
from expbench.prices import own_prices, prices, read_prices, use_prices
from expbench.runs import Manifest, Run, locked, write_atomically
from expbench.schema import Limits, Usage


@dataclass
class Books:
    """Opened by :func:`open_books`; ``deadline`` are the seconds for one request (judges have their own)."""

    ledger: Ledger
    run: Cap
    limits: Limits
    deadline: float

    def account(self, stage: Stage, task: str, epoch: int) -> Account:
        """An account for one more try at a stage of a task.

        When the run's cap is reached its first request is refused; what asks nobody goes on.
        """
        return Account(
            stage,
            task,
            epoch,
            self.ledger.trial(stage, task, epoch),
            self.ledger,
            self.run,
            self.limits if stage == "agent" else None,
            None if stage == "judge" else self.deadline,
        )

    def spending(self, stage: Stage, task: str, epoch: int) -> AbstractContextManager[Account]:
        """Have everything inside spend from a new account; see :func:`expbench.budgets.spending`."""
        return spending(self.account(stage, task, epoch))

    @property
    def spent(self) -> bool:
        """Whether the run's cap is reached: no agent may begin, and no request is sent."""
        return self.run.closed or self.run.left == 0.0

    def check(self) -> None:
        """Raise SpentError where the run's cap is reached."""
        if self.spent:
            raise SpentError(self.sentence)

    @property
    def sentence(self) -> str:
        """That the run's cap is reached, without a full stop."""
        return spent_sentence(self.run)


def open_books(run: Run) -> Books:
    """The books of a run that this process holds.

    Raises:
        PrerequisiteError: dollars are capped, and what was spent before is not known.
    """
    install()
    use_run_prices(RunPaths(run.paths.base))
    ledger = open_ledger(run.paths.ledger)
    if run.paths.base == run.paths.root:
        check_caps(run.manifest)
    most = run.manifest.dollars
    used = ledger.charged if most is None else charged(read_ledger(run.paths.ledger))
    return Books(ledger, Cap(most, used), run.manifest.limits, run.manifest.call_seconds)


def charged(requests: Iterable[Request]) -> float:
    """What requests cost in dollars, by today's prices where none were known when they were made.

    Raises:
        PrerequisiteError: the price of one is not known.
    """
    total, table = 0.0, prices()
    for request in requests:
        if request.error or request.dollars is not None or request.at_most is not None:
            total += request.charged
        elif (price := table.of(request.model)) is not None:
            total += price.of_call(request.usage)
        else:
            raise PrerequisiteError(no_price(request.model))
    return total


def check_caps(manifest: Manifest) -> None:
    """Refuse caps on dollars that cannot be kept, or that would stop the agent before its first request.

    Raises:
        PrerequisiteError: the price of one of the run's models is not known.
        UserError: one answer of the agent's model may cost more than the cap.
    """
    caps = {"--limit-dollars": manifest.limits.dollars, "--run-dollars": manifest.dollars}
    known = {option: most for option, most in caps.items() if most is not None}
    if not known:
        return
    for name in models_of(manifest):
        if prices().of(name) is None:
            raise PrerequisiteError(no_price(name))
    price, longest = prices().of(manifest.model), _longest_answer(manifest.model)
    if price is None or longest is None:
        return
    worst = price.of_call(Usage(output_tokens=longest))
    for option, most in known.items():
        if worst > most:
            raise UserError(
                f"One answer of {manifest.model} may have {longest:,} tokens and cost {worst:.2f} dollars, "
                f"so {option} must be more than that."
            )


def models_of(manifest: Manifest) -> tuple[str, ...]:
    """The models that a run asks by name, each once: the agent's, the judges' and all others."""
    judges = (name for name in manifest.judging.judges if name != BaselineJudge.name)
    names = (manifest.model, *judges, manifest.monitor_model, manifest.claims_model)
    return tuple(dict.fromkeys(filter(None, names)))


def _longest_answer(name: str) -> int | None:
    """Tokens that a model's answers are bounded to by its provider's client; None where they are not."""
    if not name:
        return None
    model = load_model(name)
    bound = model.config.max_tokens or model.api.max_tokens_for_config(model.config)
    return bound or model.api.max_tokens()


def use_run_prices(paths: RunPaths) -> None:
    """Put the user's prices that a run was made with in force, below those that are given now.

    They are kept in the run's folder, so that a resumption and a report need no ``--prices``.

    Raises:
        DataError: the kept ones are damaged.
    """
    given = own_prices()
    kept = read_prices(paths.prices) if paths.prices.exists() else None
    both = given or kept
    if given is not None and kept is not None and given != kept:
        both = given.over(kept)
    if both is not None and both != kept:
        write_atomically(paths.prices, both.model_dump_json(indent=1).encode() + b"\n")
    use_prices(both)


def cap_anew(run: Run, dollars: float) -> None:
    """Give a run another cap on dollars, for a resumption.

    Raises:
        UserError: it is no cap, or another process works on the run.
    """
    if not 0 < dollars < math.inf:
        raise UserError("--run-dollars must be a number that is more than 0.")
    with locked(run):
        run.manifest = run.manifest.model_copy(update={"dollars": dollars})
        content = run.manifest.model_dump_json(indent=1).encode() + b"\n"
        write_atomically(run.paths.manifest, content)
