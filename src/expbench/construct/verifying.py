"""Is a draft true? Its chain runs in a clean sandbox, its mask holds, its solution passes, nothing fails.

What is wrong names the stage at fault, and the draft goes back there with the reason.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from expbench.construct.decisions import decisions, digest_of, reviewed
from expbench.construct.exporting import write_data
from expbench.construct.project import Project, write_text
from expbench.construct.records import STAGES, Draft, Stage
from expbench.construct.task import (
    COMMANDS,
    entry_of,
    paper_of,
    research_task,
    value,
    without_stages,
)
from expbench.dataset import load_suite
from expbench.dataset.taskfile import OWN_VENUE
from expbench.evaluation import nobody
from expbench.planning import Options
from expbench.preflight import TaskCheck, check_runs, check_static
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Policy, Record
from expbench.verify import Check, Verification, verify
from expbench.workspace import SourceFinder

ENOUGH = 0.5
"""The share of the outcome's numbers that the chain has to print; the others may be derived from them."""
_ORDER = {stage: place for place, stage in enumerate(STAGES)}
_SCORES: dict[str, Stage] = {
    "monitor": "locate",
    "design": "extract",
    "implementation": "write",
    "conclusion": "extract",
    "execution": "locate",
    "produced": "locate",
    "grounding": "extract",
}
"""Who has to mend what an oracle loses."""


class DraftCheck(Record):
    """All that verification saw of one draft; ``faults`` are stages with reasons, the earliest first."""

    draft: str
    of: str = ""
    """Digest of the task file's entry that was verified."""
    chain: Verification
    check: TaskCheck | None = None
    faults: tuple[tuple[Stage, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verifying:
    """How drafts are verified."""

    project: Project
    packages: tuple[Path, ...] = ()
    minutes: float = 40.0
    limits: Limits = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", Limits(minutes=self.minutes))

    def check(self, draft: Draft) -> DraftCheck:
        """Run everything. Raises InfrastructureError where that is not the draft's fault."""
        chain = self._chain(draft)
        faults = list(chain_faults(chain))
        if faults:
            return _told(draft, chain, None, faults)
        with tempfile.TemporaryDirectory(prefix="expbench-construct-") as folder:
            check = self._suite(draft, Path(folder))
        return _told(draft, chain, check, list(check_faults(check)))

    def _chain(self, draft: Draft) -> Verification:
        project = self.project
        paper = paper_of(project.facts.name, "", project.facts.repository)
        task = research_task(draft, paper)
        host = SandboxHost(project.cache, (project.root.resolve(),), self.packages)
        command = " && ".join(value(draft, COMMANDS, ()))
        return verify(task, project.source(), host, command, Check.of(task), 1, self.limits)

    def _suite(self, draft: Draft, folder: Path) -> TaskCheck:
        """The checks of ``expbench tasks check`` on a suite of this draft alone."""
        project, facts = self.project, self.project.facts
        data = folder / "data"
        write_data(data, [draft], facts.name, facts.repository, project.source())
        suite = load_suite("expbench", data)
        assert suite.tasks[0].venue == OWN_VENUE
        checks = check_static(suite.tasks, SourceFinder(project.cache.repos))
        if not all(check.sound for check in checks):
            return checks[0]
        options = Options(
            suite="expbench",
            data=data,
            packages=self.packages,
            cache=project.cache.root,
            policy=Policy(limits=self.limits),
        )
        return check_runs(suite, checks, options, folder / "runs", 1, nobody)[0]


def chain_faults(chain: Verification) -> Iterator[tuple[Stage, str]]:
    """What a run of the authors' programs says against a draft."""
    if chain.state == "not_runnable":
        yield "locate", f"the commands fail in a clean sandbox ({chain.reason})"
        return
    for run in chain.runs:
        told = len(run.found) + len(run.missing)
        if told and len(run.found) < ENOUGH * told:
            missing = ", ".join(run.missing[:8])
            yield (
                "locate",
                f"the commands print {len(run.found)} of the {told} numbers of the outcome; not printed: "
                f"{missing}",
            )


def check_faults(check: TaskCheck) -> Iterator[tuple[Stage, str]]:
    """What the suite's checks say against a draft, each with the stage that has to mend it."""
    known = {str(finding): finding for finding in check.findings}
    for problem in check.problems:
        finding = known.get(problem)
        if finding is not None:
            text = finding.place.startswith(("question", "method", "expected_outcome"))
            yield ("extract" if text else "write"), problem
        else:
            stages = [stage for name, stage in _SCORES.items() if name in problem]
            yield min(stages, key=_ORDER.__getitem__, default="write"), problem


def settled(draft: Draft, found: DraftCheck, rounds: int) -> Draft:
    """The draft as verification leaves it: verified, sent back, or refused after ``rounds``."""
    if not found.faults:
        return draft.model_copy(update={"verified": True, "back": "", "why": ""})
    stage = found.faults[0][0]
    why = "; ".join(reason for _, reason in found.faults)[:1_500]
    if draft.rounds >= rounds:
        return draft.model_copy(update={"refused": f"after {draft.rounds} rounds: {why}"})
    return send_back(draft, stage, why)


def send_back(draft: Draft, stage: Stage, why: str) -> Draft:
    """The draft at an earlier stage again, without what that and later ones made."""
    # What extraction made stays, as the candidate that it begins from.
    made = tuple(each for each in STAGES if _ORDER[each] >= max(_ORDER[stage], _ORDER["locate"]))
    changes = {"back": stage, "why": why, "rounds": draft.rounds + 1}
    return without_stages(draft, made).model_copy(update=changes)


def seen_draft(project: Project, draft: Draft) -> Draft:
    """The draft as reviewers have it: with their fixes, and what they rejected. Raises DataError."""
    return reviewed(draft, decisions(project.root))


def verified_now(project: Project, draft: Draft) -> bool:
    """Whether a draft was verified as it is, reviewers' fixes included."""
    file = project.root / "verified" / f"{draft.id}.json"
    if not draft.verified or not file.is_file():
        return False
    found = DraftCheck.model_validate_json(file.read_bytes())
    return found.of == digest_of(entry_of(seen_draft(project, draft)))


def save_check(project: Project, found: DraftCheck) -> None:
    """Keep what was seen, ``verified/ID.json``."""
    write_text(project.root / "verified" / f"{found.draft}.json", found.model_dump_json(indent=1))


def _told(
    draft: Draft, chain: Verification, check: TaskCheck | None, faults: list[tuple[Stage, str]]
) -> DraftCheck:
    missing = sorted({text for run in chain.runs for text in run.missing})
    notes = []
    if missing:
        notes.append(f"not printed as such, so perhaps derived: {', '.join(missing[:12])}")
    if not any(run.found or run.missing for run in chain.runs):
        notes.append("the outcome has no number to look for: a person has to read the output")
    ordered = sorted(faults, key=lambda fault: _ORDER[fault[0]])
    return DraftCheck(
        draft=draft.id,
        of=digest_of(entry_of(draft)),
        chain=chain,
        check=check,
        faults=tuple(ordered),
        notes=tuple(notes),
    )
