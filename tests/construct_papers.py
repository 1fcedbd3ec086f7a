"""Papers of the mini suite as construction projects, and scripted models that play each stage for them.

What the models say is made from the suite's own task files: the question, method and outcome of a task with
quotes of the elements that state them, the chain of its scripts, and steps on the places of its trace.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from expbench.construct.evidence import plain
from expbench.construct.extracting import Search
from expbench.construct.journal import now
from expbench.construct.project import Project, new_project
from expbench.construct.records import Draft
from expbench.construct.requirement_checks import strange_numbers
from expbench.construct.task import value
from expbench.construct.writing import places_of
from expbench.dataset.citations import repository_path
from expbench.papers.document import Box, Document, Element, Page, Quality
from expbench.paths import CachePaths
from expbench.workspace.files import SourceFiles

MINI = Path(__file__).parents[1] / "src" / "expbench" / "dataset" / "mini"
PAPERS = Path(__file__).parent / "papers"
COMMANDS = {
    "calibration": ["python scripts/data_budget.py", "python scripts/estimator_bias.py"],
    "stochopt": [
        "bash scripts/batch_size.sh --summary all",
        "PYTHONPATH=. python scripts/run_variance_reduction.py --summary all",
    ],
}
"""How the first two tasks of each paper are run."""
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@localhost")


def tasks_of(paper: str, count: int = 2) -> list[dict[str, Any]]:
    """The first tasks of a paper of the mini suite, as its file has them."""
    content = json.loads((MINI / paper / f"{paper}_complete_final.json").read_text("utf-8"))
    tasks: list[dict[str, Any]] = content["questions"][:count]
    for number, task in enumerate(tasks):
        # Worded as the suite's solutions are, whose conclusions are known to follow from the outputs.
        response = MINI / paper / "oracle" / str(number) / "response.json"
        task["expected_outcome"] = json.loads(response.read_text("utf-8"))["conclusion"]
    return tasks


def git(folder: Path, *args: str) -> str:
    command = ["git", *IDENTITY, *args]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(paper: str, folder: Path) -> Path:
    """A clone with the paper's code as one commit."""
    place = folder / paper
    subprocess.run(["cp", "-r", str(MINI / paper / "repo"), str(place)], check=True)
    for cached in place.rglob("__pycache__"):
        subprocess.run(["rm", "-rf", str(cached)], check=True)
    git(place, "init", "--quiet", "-b", "main")
    git(place, "add", "-A", "-f")
    git(place, "commit", "--quiet", "-m", "code")
    return place


def document_of(paper: str, count: int = 2) -> Document:
    """A paper that says what the tasks of the mini suite say, without a PDF."""
    elements: list[Element] = []

    def add(kind: str, text: str, section: str, appendix: bool = False) -> None:
        number = len(elements) + 1
        box = Box(x0=50, y0=20 * number, x1=500, y1=20 * number + 15)
        fields = {"kind": kind, "page": 1, "box": box, "section": section, "appendix": appendix}
        elements.append(Element(id=f"e{number}", text=text, **fields))

    add("title", f"The {paper} paper", "")
    add(
        "paragraph",
        f"We study {paper} and measure what the sections below report. " * 4,
        "Abstract",
    )
    for number, task in enumerate(tasks_of(paper, count), 1):
        section = f"4 Experiments / 4.{number} Study {number}"
        add("heading", f"4.{number} Study {number}", section)
        add("paragraph", task["question"], section)
        add("paragraph", task["method"], section)
        add("paragraph", task["expected_outcome"], section)
    add("paragraph", "All draws use stated seeds.", "A Settings", appendix=True)
    page = Page(number=1, width=595, height=842, source="text")
    return Document(
        title=f"The {paper} paper",
        digest="0" * 64,
        pages=(page,),
        elements=tuple(elements),
        quality=Quality(pages=1),
    )


def search_in(document: Document) -> Search:
    """Elements by the words that they share with a query."""

    def search(query: str, count: int) -> Sequence[Element]:
        words = set(re.findall(r"\w+", query.lower()))
        scored = [
            (-len(words & set(re.findall(r"\w+", element.text.lower()))), number, element)
            for number, element in enumerate(document.elements)
        ]
        return [element for score, _, element in sorted(scored)[:count] if score]

    return search


def begun(paper: str, folder: Path, cache: CachePaths, document: Document | None = None) -> Project:
    """A new project, with its paper read where a document is given."""
    (folder / "clones").mkdir(parents=True, exist_ok=True)
    clone = repository(paper, folder / "clones")
    pdf = PAPERS / f"{paper}.pdf"
    made = new_project(folder / "project", pdf, str(clone), "", paper, now(), cache, {})
    if document is not None:
        text = document.model_dump_json()
        (made.root / "paper" / "document.json").write_text(text, "utf-8")
    return made


@dataclass
class Script:
    """A scripted model's file, which is written again for each stage; replies are tried in order."""

    file: Path
    replies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def model(self) -> str:
        return f"scripted/{self.file}"

    def say(self, when: str, text: Any = "", calls: Sequence[dict[str, Any]] = ()) -> None:
        said = text if isinstance(text, str) else json.dumps(text)
        self.replies.append({"when": when, "text": said, "calls": list(calls)})
        self.file.write_text(json.dumps({"replies": self.replies}), "utf-8")

    def extraction(self, document: Document, tasks: Sequence[dict[str, Any]]) -> None:
        """Every task from its own section, completed with the same words."""
        self.say("^You read a research paper in order", {"takeaways": []})
        for task in tasks:
            self.say(
                f'You complete one task(?s:.*)BEGIN-\\w+\n\\{{\\s+"question": "{_start(task)}',
                completed(document, task),
            )
        for section, task in zip(sections_of(document, tasks), tasks, strict=True):
            names = ("question", "method", "expected_outcome")
            candidate = {name: task[name] for name in names}
            quotes = quotes_of(document, section, names)
            reply = {
                "kind": "question",
                "context": "",
                "candidates": [{**candidate, "quotes": quotes}],
            }
            self.say(f'\nThe section "{re.escape(section)}"', reply)
        self.say("section by section", {"kind": "other", "context": "", "candidates": []})

    def location(self, paper: str, tasks: Sequence[dict[str, Any]]) -> None:
        """Run the chain, look at what it prints, hand it in."""
        for number, (task, command) in enumerate(zip(tasks, COMMANDS[paper], strict=False)):
            run = {"tool": "bash", "arguments": {"command": f"{command} && echo RAN-{number}"}}
            self.say(f"Find the authors' own programs(?s:.*){_start(task)}", "I run it.", [run])
            self.say(f"RAN-{number}", "", [submission(task, [command])])

    def writing(self, project: Project) -> None:
        """Steps on the most relevant places to write, and the suite's own instructions."""
        files = SourceFiles(project.source())
        earlier = ("ground truth for judging", "instructions of a task")
        self.replies = [r for r in self.replies if not r["when"].startswith(earlier)]
        for draft in project.drafts():
            trace = project.trace(draft)
            if trace is None:
                continue
            task = next(
                t for t in tasks_of(project.facts.name) if t["question"] == value(draft, "question")
            )
            mask = [repository_path(path) for path in task["masked_source"]]
            places = [p for p in places_of(trace, mask, files).values() if p.span.path in mask]
            steps = [
                {"places": [place.id], "text": f"Have the part that does this: {place.label}"}
                for place in places
                if not strange_numbers(place.label, [place], files)
            ]
            told = f"(?s:.*){_start(task)}"
            self.say(f"ground truth for judging an implementation{told}", {"steps": steps[:12]})
            instructions = without_files(task["agent_instructions"])
            self.say(
                f"instructions of a task for an agent{told}", {"agent_instructions": instructions}
            )


def without_files(text: str) -> str:
    return re.sub(r"`?[\w./-]*\w\.(?:py|json|sh|md)\b`?", "the library", text)


def submission(task: dict[str, Any], commands: Sequence[str], **changes: Any) -> dict[str, Any]:
    """The call by which a chain is handed in."""
    arguments = {
        "source": [repository_path(path) for path in task["source"]],
        "commands": list(commands),
        "usage_instructions": task["usage_instructions"],
        "no_answer": "",
    }
    return {"tool": "submit", "arguments": {**arguments, **changes}}


def completed(document: Document, task: dict[str, Any]) -> dict[str, Any]:
    """A task as the third pass gives it."""
    (section,) = sections_of(document, [task])
    names = ["question", "method", "expected_outcome", "design_complexity"]
    names += [f"claims/{number}" for number in range(len(task["claims"]))]
    return {
        "question": task["question"],
        "method": task["method"],
        "expected_outcome": task["expected_outcome"],
        "design": task["design_complexity"],
        "claims": task["claims"],
        "experiments": 1,
        "quotes": quotes_of(document, section, names),
        "refused": "",
    }


def quotes_of(document: Document, section: str, names: Sequence[str]) -> list[dict[str, str]]:
    """For each field the beginnings of all of a section's paragraphs, tables and captions."""
    kinds = ("paragraph", "table", "caption")
    parts = [e for e in document.elements if e.section == section and e.kind in kinds]
    return [
        {"field": name, "element": element.id, "quote": plain(element.text)[:60]}
        for name in names
        for element in parts
        if len(plain(element.text)) >= 20
    ]


def sections_of(document: Document, tasks: Sequence[dict[str, Any]]) -> list[str]:
    """The section of each task: the one that shares most words with it."""
    known = list(
        dict.fromkeys(e.section for e in document.elements if e.section and not e.appendix)
    )
    texts = {
        section: " ".join(e.text for e in document.elements if e.section == section)
        for section in known
    }

    def shared(section: str, task: dict[str, Any]) -> float:
        words = set(re.findall(r"[\w.]+", task["expected_outcome"]))
        return len(words & set(re.findall(r"[\w.]+", texts[section])))

    return [max(known, key=lambda section: shared(section, task)) for task in tasks]


def drafts_by_question(project: Project) -> dict[str, Draft]:
    return {str(value(draft, "question")): draft for draft in project.drafts()}


def _start(task: dict[str, Any]) -> str:
    """The beginning of a task's question, as a pattern that JSON's escapes do not disturb."""
    return re.escape(str(task["question"])[:60])
