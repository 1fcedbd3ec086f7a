"""Projects and runs to review, made of their records, and the review's server as a process of its own."""

from __future__ import annotations

import json
import re
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from expbench.construct.decisions import digest_of
from expbench.construct.records import Decision, Draft, DraftField
from expbench.dataset import load_suite
from expbench.judges.rubric import rubric
from expbench.papers.document import Box, Document, Element, Page, Passage, Quality
from expbench.runs import Attempt, Manifest, Run, create
from expbench.schema import (
    Judgement,
    Judging,
    MonitorReport,
    Outcome,
    Policy,
    Score,
    Submission,
    SubmissionText,
    Turn,
    Verdict,
    Violation,
)
from expbench.tracer.graph import Span

TASKS = ("mini/calibration/0", "mini/stochopt/0")
QUOTE = "The learning rate is 0.1 in every run."
DIFF = """diff --git a/run.py b/run.py
new file mode 100644
--- /dev/null
+++ b/run.py
@@ -0,0 +1,2 @@
+rate = 0.1
+print(rate)
"""


def png(width: int, height: int) -> bytes:
    """A white picture."""
    row = b"\0" + b"\xff" * width

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(row * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def field(value: Any, page: int = 1, line: int = 10, words: str = QUOTE) -> DraftField:
    """A field that rests on a box of a page and on three lines of the script."""
    box = Box(x0=61.2, y0=79.2 * page, x1=550.8, y1=79.2 * page + 11.88)
    return DraftField(
        value=value,
        stage="extract",
        passages=(Passage(element=f"e{page}", page=page, box=box, quote=words),),
        spans=(Span(path="src/train.py", start=line, end=line + 2),),
    )


def draft(number: int, **more: DraftField) -> Draft:
    """A draft with a field of every kind."""
    fields = {
        "requirements/0": field("Step 1: load the data.", 2, 40),
        "question": field(f"Does a small batch help on set {number}?"),
        "method": field("Train with batches of 32 and of 512.", 2, 120),
        "design_complexity": field({"constant": [{"model": ["ResNet-18"]}]}, 3, 200),
        "masked_source": field(["src/train.py", "src/plot.py"], 3, 260),
    }
    return Draft(id=f"venue/paper/{number}", fields={**fields, **more}, verified=True)


def project(folder: Path, drafts: Sequence[Draft], title: str = "Do small batches help?") -> Path:
    """A project with a paper of three pages, of which the last has no picture."""
    for name in ("paper/pages", "drafts", "repo/src"):
        (folder / name).mkdir(parents=True)
    (folder / "project.json").write_text("{}")
    for number in (1, 2):
        (folder / f"paper/pages/{number}.png").write_bytes(png(306, 396))
    pages = [
        Page(number=n, width=612, height=792, source="text", image=f"pages/{n}.png")
        for n in (1, 2, 3)
    ]
    element = Element(
        id="e3", kind="paragraph", page=3, box=Box(x0=0, y0=0, x1=9, y1=9), text="Only text."
    )
    document = Document(
        title=title,
        digest="0" * 64,
        pages=tuple(pages),
        elements=(element,),
        quality=Quality(pages=3),
    )
    (folder / "paper/document.json").write_text(document.model_dump_json())
    code = "\n".join(f"value_{n} = train(batch={n})" for n in range(1, 301))
    (folder / "repo/src/train.py").write_text(code + "\n")
    for each in drafts:
        write_draft(folder, each)
    return folder


def write_draft(folder: Path, each: Draft) -> None:
    (folder / "drafts" / f"{each.id.replace('/', '_')}.json").write_text(each.model_dump_json())


def run_of(folder: Path, words: str = "") -> Run:
    """A run of two tasks of suite mini, judged and monitored; ``words`` stand in every text if given."""
    suite = load_suite("mini")
    manifest = Manifest(
        name=folder.name,
        created="2026-01-02T03:04:05+00:00",
        suite="mini",
        suite_version=suite.version,
        tasks=TASKS,
        epochs=1,
        agent="played",
        model="",
        judging=Judging(),
        sandbox="bwrap",
        policy=Policy(),
    )
    run = create(folder, manifest)
    for task_id in TASKS:
        _attempt(run, task_id, words)
    return run


def _attempt(run: Run, task_id: str, words: str) -> None:
    task = load_suite("mini").task(task_id)
    text = SubmissionText(
        design=words or f"We keep everything else fixed.\n{QUOTE}\nFive seeds.",
        conclusion=words or "\N{GRINNING FACE} Small steps win: 0.91 against 0.88.",
        diff=words or DIFF,
        script=words or "#!/bin/bash\npython run.py\n",
        changed=("run.py",),
    )
    turns = (
        Turn(role="assistant", text=words or "I look around."),
        Turn(role="tool", tool="bash", command=words or "cat docs/results.md", text="0.91"),
        Turn(role="tool", tool="bash", command="false", text="no", failed=True),
    )
    lines = b"".join(turn.model_dump_json().encode() + b"\n" for turn in turns)
    submission = Submission(
        task_id=task_id,
        base_tree="0" * 40,
        design=text.design,
        conclusion=text.conclusion,
        patch=run.store.put(b""),
        text=run.store.put(text.model_dump_json().encode()),
        trajectory=run.store.put(lines),
    )
    run.add(Attempt(task_id=task_id, epoch=1, status="finished", submission=submission))
    quotes = {"design": QUOTE, "implementation": "rate = 0.1", "conclusion": "Small steps win"}
    verdicts = tuple(
        Verdict(
            item=item.id,
            phase=item.phase,
            state="met" if number % 3 else "not_met",
            evidence=words or (quotes[item.phase] if number % 3 else ""),
            reason=words or f"verdict {number} of the judge",
        )
        for number, item in enumerate(rubric(task))
    )
    found = Violation(
        kind="copied_results",
        severity="violation",
        quote=words or "cat docs/results.md",
        turn=1,
        explanation=words or "Results were read in a document.",
    )
    findings = (found,) if task_id == TASKS[0] else ()
    outcome = Outcome(
        task_id=task_id,
        paper=task.paper,
        epoch=1,
        agent="played",
        model="",
        status="finished",
        submission=submission.digest,
        scores={"design": Score(value=1.0)},
        judgement=Judgement(judge="baseline", verdicts=verdicts),
        monitor=MonitorReport(
            verdict="violation" if findings else "clean", violations=findings, reason=words
        ),
    )
    run.add(outcome)


# --- the server --------------------------------------------------------------------------------------


class Server:
    """A review's server that runs."""

    def __init__(self, process: subprocess.Popen[str], said: str) -> None:
        self.process = process
        self.said = said
        self.address = re.findall(r"http://\S+", said)[0]
        self.origin = re.findall(r"http://[^/]+", said)[0]
        self.port = int(self.origin.rpartition(":")[2])

    def get(self, path: str, /, **query: Any) -> httpx.Response:
        return httpx.get(self.address + path, params=query or None)

    def json(self, path: str, /, **query: Any) -> Any:
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def fields(self, task: str) -> dict[str, Any]:
        return {each["name"]: each for each in self.json("task", id=task)["fields"]}

    def decide(self, task: str, name: str, kind: str, **more: Any) -> httpx.Response:
        """A decision on a field as it is now, unless something else is said."""
        now = self.fields(task)[name]
        asked = {"draft": task, "field": name, "kind": kind, "last": now["last"], "of": now["of"]}
        return self.post({**asked, **more})

    def post(self, asked: Any, **headers: str) -> httpx.Response:
        return httpx.post(
            self.address + "decision",
            content=json.dumps(asked),
            headers={"Origin": self.origin, "Content-Type": "application/json", **headers},
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> tuple[int, str]:
        """End it as a person does; its exit code and what it said afterwards."""
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=30)
        return self.process.returncode, said


@contextmanager
def serving(folder: Path, reviewer: str = "ann", *more: str) -> Iterator[Server]:
    """A server as the command starts it."""
    command = [sys.executable, "-m", "expbench", "review", str(folder), "--no-browser"]
    process = subprocess.Popen(
        [*command, "--reviewer", reviewer, *more], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = ""
    try:
        for line in process.stdout:
            said += line
            if line.startswith("Review: "):
                break
        yield Server(process, said)
    finally:
        process.kill()
        process.communicate()


def decided(
    reviewer: Path, *made: tuple[str, str, str], value: Any = None, of: str = "", seconds: float = 6
) -> None:
    """Write decisions as a page has them written: (draft, field, kind) each, or a label."""
    reviewer.parent.mkdir(exist_ok=True)
    lines = []
    for number, (task, name, kind) in enumerate(made, 1):
        word = kind in ("accept", "fix", "reject", "undo")
        each = Decision(
            draft=task,
            field=name,
            kind=kind if word else "label",  # type: ignore[arg-type]
            value=value if word else kind,
            reason="so" if kind == "reject" else "",
            seconds=seconds,
            at=f"2026-01-02T03:04:{number:02d}+00:00",
            number=number,
            of=of,
        )
        lines.append(each.model_dump_json() + "\n")
    reviewer.write_text("".join(lines))


def digest(each: Draft, name: str) -> str:
    return digest_of(each.fields[name].value)
