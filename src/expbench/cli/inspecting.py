"""``inspect eval expbench/expbench``: the options of ``expbench run`` as an Inspect task's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model

from expbench.cli.demands import (
    hints_choice,
    network_choice,
    package_indexes,
    policy,
    reveal_choice,
)
from expbench.cli.judging import judging_choice, use_prices_of
from expbench.cli.settings import cache_folder, data_folder, mask_choice, outer_gpus
from expbench.errors import UserError
from expbench.planning import NO_MODEL, Options, open_evaluation, plan
from expbench.runs import create
from expbench.tasks import build_task


@task
def expbench(
    suite: str = "mini",
    tasks: str | Sequence[str] = "",
    agent: str = "react",
    judge: str | Sequence[str] = "baseline",
    protocol: str = "itemised",
    judge_samples: int = 1,
    items_per_call: int = 1,
    judge_concurrency: int = 8,
    judge_deadline: float = 600.0,
    monitor_model: str = "",
    claims_model: str = "",
    hints: str = "full",
    reveal: str = "instructions",
    minutes: float = 40.0,
    wall_minutes: float | None = None,
    turns: int | None = None,
    tokens: int | None = None,
    dollars: float | None = None,
    run_dollars: float | None = None,
    call_deadline: float = 900.0,
    prices: str | None = None,
    cpus: float | None = None,
    memory: int | None = None,
    processes: int | None = None,
    disk: int | None = None,
    network: str = "none",
    allow_hosts: str | Sequence[str] = "",
    gpus: int = 0,
    sandbox: str = "bwrap",
    rootfs: str | None = None,
    image: str = "",
    allow_unenforced: bool = False,
    mask: str = "strict",
    data: str | None = None,
    repos: str | None = None,
    packages: str | Sequence[str] = "",
    out: str | None = None,
) -> Task:
    """EXP-Bench for ``inspect eval``.

    Args:
        tasks: ids separated by commas; all of the suite when empty.
        memory, disk: MiB; 0 is no limit, and so it is for ``cpus`` and ``processes``.
        judge, allow_hosts, packages: several separated by commas.
        hints: none, instructions or full; reveal: question, method or instructions.
        judge_concurrency: calls of a judge about one submission at the same time.
        judge_deadline: seconds until a judge's call without an answer is given up.
        wall_minutes, turns, tokens, dollars: further limits of the agent on one task.
        run_dollars: what all models of the run may cost together.
        call_deadline: seconds until a request of the agent without an answer is given up and repeated.
        prices: a JSON file with prices of models.
        out: the run's folder; by default a new one under ``runs/``.

    Raises:
        PrerequisiteError: Inspect's own, with the sentence that ``expbench run`` would say.
    """
    with _told():
        use_prices_of(Path(prices) if prices else None)
        name = f"inspect-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        options = Options(
            suite=suite,
            tasks=_several(tasks),
            agent=agent or "null",
            model=_model(),
            judging=judging_choice(
                _several(judge),
                protocol,
                judge_samples,
                items_per_call,
                judge_concurrency,
                judge_deadline,
            ),
            monitor_model=monitor_model,
            claims_model=claims_model,
            hints=hints_choice(hints),
            reveal=reveal_choice(reveal),
            policy=policy(
                minutes=minutes,
                cpus=cpus,
                memory_mib=memory,
                processes=processes,
                disk_mib=disk,
                requests=(None, None),
                network=network_choice(network),
                allow_hosts=_several(allow_hosts),
                gpus=gpus,
                wall_minutes=wall_minutes,
                turns=turns,
                tokens=tokens,
                dollars=dollars,
            ),
            dollars=run_dollars,
            call_seconds=call_deadline,
            sandbox=sandbox,
            allow_unenforced=allow_unenforced,
            rootfs=Path(rootfs) if rootfs else None,
            image=image,
            indexes=package_indexes(network),
            outer_gpus=outer_gpus(),
            mask=mask_choice(mask),
            data=data_folder(Path(data) if data else None) if suite != "mini" else None,
            repos=Path(repos) if repos else None,
            packages=tuple(map(Path, _several(packages))),
            cache=cache_folder(),
            out=Path(out) if out else Path("runs") / name,
        )
        manifest = plan(options)
        return build_task(open_evaluation(create(options.out, manifest), options))


@contextmanager
def _told() -> Iterator[None]:
    """What a user can mend ends Inspect's command with its sentence, not with a traceback."""
    try:
        yield
    except UserError as error:
        raise PrerequisiteError(str(error)) from None


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    """A list as ``-T`` gives it: one text with commas, or what Inspect has made of it already."""
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(filter(None, parts))


def _model() -> str:
    """The model that ``inspect eval`` was given; none for agents that need none."""
    name = str(get_model())
    return "" if name == NO_MODEL else name
