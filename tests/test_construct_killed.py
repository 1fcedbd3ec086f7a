"""A project whose every stage is killed once, and goes on: nothing is done or paid for twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from construct_papers import Script, begun, document_of, tasks_of

from expbench.construct.journal import read_events
from expbench.construct.project import Project
from expbench.construct.records import Stage
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost

PAPER = "calibration"
DOCUMENT = document_of(PAPER)
ONE_STAGE = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from construct_papers import document_of, search_in
from expbench.construct import stages
from expbench.construct.desk import Desk
from expbench.construct.locating import Bounds
from expbench.construct.project import Project
from expbench.construct.tracing import trace_draft
from expbench.construct.verifying import Verifying
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost

root, cache, model, stage, fatal = sys.argv[2:]
project, left = Project(Path(root), CachePaths(Path(cache))), int(fatal)

def tell(sentence):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

desk, search = Desk(project, stage, model), search_in(document_of("calibration"))
with project.held():
    if stage == "extract":
        stages.extract(desk, search, tell)
    elif stage == "locate":
        stages.locate(desk, search, Bounds(minutes=5), SandboxHost(project.cache), tell)
    elif stage == "trace":
        stages.trace(project, trace_draft, tell)
    elif stage == "write":
        stages.write(desk, tell)
    else:
        stages.verify(Verifying(project), 0, tell)
"""


class Killing:
    """A project whose stages are done by processes of their own, which can be killed on the way."""

    def __init__(self, folder: Path, cache: CachePaths) -> None:
        self.project = begun(PAPER, folder, cache, DOCUMENT)
        self.script = Script(folder / "model.json")
        self.journal = self.project.root / "journal.jsonl"

    def work(self, stage: Stage, fatal: int = 0) -> int:
        folders = [str(Path(__file__).parent), str(self.project.root), str(self.project.cache.root)]
        command = [sys.executable, "-c", ONE_STAGE, *folders, self.script.model, stage, str(fatal)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=600)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        return done.returncode

    def killed_and_done(self, stage: Stage, fatal: int) -> None:
        """Killed when it tells of what it does next for the n-th time, then done to its end."""
        assert self.work(stage, fatal) == -signal.SIGKILL
        with self.journal.open("ab") as journal:
            journal.write(b'{"at": "torn')
        assert self.work(stage) == 0

    def asked_twice(self) -> int:
        """Questions that were paid for more than once."""
        keys = [event.key for event in read_events(self.journal) if event.kind == "reply"]
        return len(keys) - len(set(keys))


@pytest.mark.parametrize("fatal", [1, 2, 3])
def test_a_killed_extraction_goes_on(fatal: int, tmp_path: Path, cache: CachePaths) -> None:
    made = Killing(tmp_path, cache)
    made.script.extraction(DOCUMENT, tasks_of(PAPER))
    made.killed_and_done("extract", fatal)
    assert [draft.id for draft in made.project.drafts()] == ["q01", "q02"]
    assert made.asked_twice() == 0


def test_every_later_stage_goes_on_after_a_kill(
    tmp_path: Path, cache: CachePaths, host: SandboxHost
) -> None:
    made = Killing(tmp_path, cache)
    made.script.extraction(DOCUMENT, tasks_of(PAPER))
    made.work("extract")
    made.script.location(PAPER, tasks_of(PAPER))
    made.killed_and_done("locate", 2)
    made.killed_and_done("trace", 2)
    made.script.writing(Project(made.project.root, cache))
    made.killed_and_done("write", 2)
    made.killed_and_done("verify", 2)
    assert [draft.verified for draft in made.project.drafts()] == [True, True]
    assert made.asked_twice() == 0
    events = list(read_events(made.journal))
    for stage in ("locate", "trace", "write", "verify"):
        ended = [e.draft for e in events if e.stage == stage and e.kind == "ended"]
        assert sorted(ended) == ["q01", "q02"], stage
