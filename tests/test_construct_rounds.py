"""What verification finds wrong goes back to the stage at fault with the reason, and is mended there."""

from __future__ import annotations

import json
from pathlib import Path

from construct_papers import (
    COMMANDS,
    Script,
    begun,
    document_of,
    search_in,
    submission,
    tasks_of,
)

from expbench.construct import stages
from expbench.construct.costs import cost_report
from expbench.construct.desk import Desk
from expbench.construct.locating import Bounds
from expbench.construct.project import Project
from expbench.construct.records import Draft
from expbench.construct.task import value
from expbench.construct.tracing import trace_draft
from expbench.construct.verifying import Verifying
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost

PAPER = "calibration"
TASK = tasks_of(PAPER)[0]
DOCUMENT = document_of(PAPER, 1)
OTHER = "python scripts/learning_curve.py"
"""A program of the authors' that answers another question."""


def quiet(sentence: str) -> None:
    """Hears nothing."""


def once_through(project: Project, script: Script, host: SandboxHost, rounds: int) -> Draft:
    """What ``expbench construct run`` does in one round, after the extraction."""
    desk = Desk(project, "locate", script.model)
    stages.locate(desk, search_in(DOCUMENT), Bounds(minutes=5), host, quiet)
    stages.trace(project, trace_draft, quiet)
    script.writing(project)
    stages.write(Desk(project, "write", script.model), quiet)
    stages.verify(Verifying(project), rounds, quiet)
    (draft,) = project.drafts()
    return draft


def test_a_chain_that_answers_another_question_goes_back_and_the_right_one_is_found(
    tmp_path: Path, cache: CachePaths, host: SandboxHost
) -> None:
    project, script = begun(PAPER, tmp_path, cache, DOCUMENT), Script(tmp_path / "model.json")
    script.extraction(DOCUMENT, [TASK])
    stages.extract(Desk(project, "extract", script.model), search_in(DOCUMENT), quiet)
    right = submission(TASK, COMMANDS[PAPER][:1])
    script.say("was sent back(?s:.*)the commands print [0-4] of the", "", [right])
    script.say("Find the authors' own programs", "", [submission(TASK, [OTHER])])

    wrong = once_through(project, script, host, rounds=1)
    assert wrong.back == "locate"
    assert "numbers of the outcome" in wrong.why
    assert "source" not in wrong.fields
    assert not wrong.verified

    mended = once_through(project, script, host, rounds=1)
    assert mended.verified, mended
    assert value(mended, "commands") == COMMANDS[PAPER][:1]
    assert (mended.rounds, mended.back) == (1, "")
    assert cost_report(project).rounds == 1
    seen = json.loads((project.root / "verified" / "q01.json").read_text("utf-8"))
    assert seen["check"]["oracle"].startswith("M 1 D 1 I 1 C 1 E 1")


def test_a_draft_that_stays_wrong_is_refused_when_its_rounds_are_over(
    tmp_path: Path, cache: CachePaths, host: SandboxHost
) -> None:
    project, script = begun(PAPER, tmp_path, cache, DOCUMENT), Script(tmp_path / "model.json")
    script.extraction(DOCUMENT, [TASK])
    stages.extract(Desk(project, "extract", script.model), search_in(DOCUMENT), quiet)
    broken = submission(TASK, ["python scripts/data_budget.py --no-such-option"])
    script.say("Find the authors' own programs", "", [broken])
    first = once_through(project, script, host, rounds=1)
    assert first.back == "locate"
    assert "the commands fail in a clean sandbox" in first.why
    last = once_through(project, script, host, rounds=1)
    assert last.refused.startswith("after 1 rounds: the commands fail in a clean sandbox")
