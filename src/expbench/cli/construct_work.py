"""What the stages of ``expbench construct`` do on the command line: open, estimate, work, tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.construct import stages
from expbench.construct.costs import write_costs
from expbench.construct.desk import Desk
from expbench.construct.extracting import Search
from expbench.construct.forecasts import Estimate, estimate
from expbench.construct.journal import now
from expbench.construct.locating import Bounds
from expbench.construct.paper_search import paper_search, read_project
from expbench.construct.project import Project, new_project
from expbench.construct.records import Draft, Stage
from expbench.construct.task import value
from expbench.construct.tracing import trace_draft
from expbench.construct.verifying import Verifying
from expbench.paths import CachePaths
from expbench.prices import read_prices, use_prices
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.providers import provider
from expbench.schema import Limits, Policy

ALL: tuple[Stage, ...] = ("read", "extract", "locate", "trace", "write", "verify")
_MODELS: frozenset[Stage] = frozenset({"extract", "locate", "write"})


@dataclass(frozen=True)
class Wanted:
    """What a stage was asked for."""

    folder: Path
    cache: Path
    model: str = ""
    budget: float | None = None
    prices: Path | None = None
    only_estimate: bool = False
    packages: tuple[Path, ...] = ()
    minutes: float = 30.0
    turns: int = 60
    search_dollars: float | None = None
    run_minutes: float = 40.0
    rounds: int = 2
    again: tuple[str, ...] = ()
    pictures: bool = False

    @cached_property
    def project(self) -> Project:
        return Project(self.folder, CachePaths(self.cache))

    def desk(self, stage: Stage) -> Desk:
        """Where the stage's model is asked. Raises UserError."""
        return Desk(self.project, stage, self.model, self.budget)

    @cached_property
    def search(self) -> Search:
        """Finds passages of the paper, read once."""
        return paper_search(self.project)

    @property
    def bounds(self) -> Bounds:
        return Bounds(minutes=self.minutes, turns=self.turns, dollars=self.search_dollars)

    @property
    def verifying(self) -> Verifying:
        """How drafts are verified. Raises PrerequisiteError."""
        provider("bwrap").check()
        return Verifying(self.project, self.packages, self.run_minutes)

    @property
    def host(self) -> SandboxHost:
        """Makes the sandboxes of searches. Raises PrerequisiteError."""
        provider("bwrap").check()
        policy = Policy(limits=Limits(minutes=self.minutes))
        hidden = (self.project.root.resolve(),)
        return SandboxHost(CachePaths(self.cache), hidden, self.packages, policy)


def begin(
    folder: Path,
    pdf: Path,
    repo: str,
    commit: str,
    name: str,
    budget: float | None,
    cache: Path,
    network: Mapping[str, str],
    as_json: bool,
) -> int:
    """Begin a project. Raises UserError."""
    made = new_project(folder, pdf, repo, commit, name, now(), CachePaths(cache), network, budget)
    facts = made.facts
    if as_json:
        print(facts.model_dump_json())  # noqa: T201
    else:
        _say(
            Console(),
            f"{folder}: {facts.name}, {facts.repository.url} at {facts.repository.commit[:12]}. "
            f"`expbench construct read {folder}` reads the paper.",
        )
    return 0


def do_stages(wanted: Wanted, chosen: Sequence[Stage], as_json: bool) -> int:
    """Do what is left of stages, in order; exit code 1 when a draft was refused or waits again.

    Raises:
        UserError: another process works on the project, or something of it is missing.
    """
    use_prices(read_prices(wanted.prices) if wanted.prices is not None else None)
    console = Console(stderr=as_json)
    if wanted.only_estimate:
        found = [estimate(wanted.project, each, wanted.model, wanted.pictures) for each in chosen]
        _estimates(found, Console(), as_json)
        return 0
    results: list[stages.Result] = []
    with wanted.project.held():
        stages.begin_again(wanted.project, chosen[0], wanted.again)
        for _ in range(wanted.rounds + 1 if len(chosen) > 1 else 1):
            results += [_one(wanted, stage, console) for stage in chosen]
            if not any(draft.back for draft in wanted.project.drafts()):
                break
        report = write_costs(wanted.project)
    drafts = _last(results)
    notes = [note for each in results for note in each.notes]
    if as_json:
        shown = {
            "drafts": [each.model_dump(mode="json") for each in drafts],
            "notes": notes,
            "dollars": report.dollars,
        }
        print(json.dumps(shown))  # noqa: T201
    else:
        _show(drafts, notes, console)
        told = "not known" if report.dollars is None else f"{report.dollars:.2f} dollars"
        _say(console, f"Spent so far: {told}.")
    return 1 if any(each.refused or each.back for each in drafts) else 0


def _one(wanted: Wanted, stage: Stage, console: Console) -> stages.Result:
    project = wanted.project

    def tell(sentence: str) -> None:
        _say(console, f"{stage}: {sentence}")

    if stage in _MODELS:
        if not stages.left(project, stage):
            return stages.Result()
        _ = wanted.desk(stage).model
        found = estimate(project, stage, wanted.model, wanted.pictures)
        _estimates([found], console, as_json=False)
    work: Mapping[Stage, Callable[[], stages.Result]] = {
        "read": lambda: read_project(project, tell),
        "extract": lambda: stages.extract(
            wanted.desk("extract"), wanted.search, tell, wanted.pictures
        ),
        "locate": lambda: stages.locate(
            wanted.desk("locate"), wanted.search, wanted.bounds, wanted.host, tell
        ),
        "trace": lambda: stages.trace(project, trace_draft, tell),
        "write": lambda: stages.write(wanted.desk("write"), tell),
        "verify": lambda: stages.verify(wanted.verifying, wanted.rounds, tell),
    }
    return work[stage]()


def _last(results: Sequence[stages.Result]) -> list[Draft]:
    """Each draft as it was left last."""
    found = {draft.id: draft for each in results for draft in each.drafts}
    return [found[name] for name in sorted(found)]


def _show(drafts: Sequence[Draft], notes: Sequence[str], console: Console) -> None:
    table = Table("draft", "question", "now", header_style="bold")
    for each in drafts:
        table.add_row(each.id, Text(str(value(each, "question"))[:90]), Text(state_of(each)))
    console.print(table if drafts else "Nothing was left to do.")
    for note in notes:
        _say(console, note)


def state_of(draft: Draft) -> str:
    """How a draft is, in words."""
    if draft.refused:
        return f"refused: {draft.refused[:300]}"
    if draft.back:
        return f"back to {draft.back}: {draft.why[:300]}"
    if draft.no_answer:
        return f"no program answers it: {draft.no_answer[:200]}"
    return "verified" if draft.verified else "done"


def _estimates(found: Sequence[Estimate], console: Console, as_json: bool) -> None:
    if as_json:
        print(json.dumps([each.model_dump(mode="json") for each in found]))  # noqa: T201
        return
    for each in found:
        dollars = "price not known" if each.dollars is None else f"{each.dollars:.2f} dollars"
        _say(
            console,
            f"Estimate of {each.stage} with {each.model or 'a model'}: {each.calls} calls, "
            f"{each.input_tokens:,} tokens in, {each.output_tokens:,} out, {dollars}.",
        )


def _say(console: Console, sentence: str) -> None:
    console.print(sentence, highlight=False, markup=False, soft_wrap=True)
