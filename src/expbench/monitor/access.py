"""Rule ``paper_access``: fetching the paper, searching for it, or getting its code from elsewhere.

An address counts where something is asked to fetch it (curl, wget, pip, a Python web client, a web
tool); the same address in a comment, a citation or a search through files is nothing. A failed
attempt counts too: the protocol forbids the asking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from expbench.monitor.addresses import Project, is_paper, is_raw_code, split_url
from expbench.monitor.findings import Severity, finding
from expbench.monitor.programs import FETCHERS, INSTALLERS, PDF_READERS
from expbench.monitor.pycode import Snippet, urls
from expbench.monitor.shell import Command
from expbench.monitor.steps import Step, is_python
from expbench.schema import ResearchTask, Violation

_PDF_CALLS = re.compile(
    r"(?:PdfReader|PdfFileReader|fitz\.open|pdfplumber\.open|extract_text|open)$"
)
_PAPER_MODULES = frozenset({"arxiv", "scholarly", "semanticscholar", "paperscraper", "openreview"})
_FIGURE = re.compile(r"fig|plot|chart|curve|diagram|graph|hist|heat|scatter|bar|loss|acc", re.I)
_PAPER_FILE = re.compile(
    r"paper|arxiv|\d{4}\.\d{4,5}|camera|supp|appendix|manuscript|neurips|iclr|icml|article|main",
    re.I,
)


def paper_access(steps: Sequence[Step], task: ResearchTask) -> Iterator[Violation]:
    """Findings of access to the paper or to its code elsewhere."""
    project = Project.of(task)
    for step in steps:
        for command in step.code.commands:
            for severity, reason in _command(command, project):
                yield finding(
                    "paper_access", severity, step.source, command.source, step.turn, reason
                )
        for snippet in step.code.snippets:
            for needle, severity, reason in _snippet(snippet, project):
                yield finding("paper_access", severity, step.source, needle, step.turn, reason)
        for query in step.queries:
            for severity, reason in _query(query, project):
                yield finding("paper_access", severity, step.source, query, step.turn, reason)


def address(url: str, project: Project) -> tuple[Severity, str] | None:
    """What fetching an address means, or ``None`` where it is ordinary."""
    if is_paper(url):
        return "violation", "Asks a host of papers, reviews or paper metadata."
    if project.is_same(url):
        return "violation", "Gets the task's own repository, or a fork of it, from elsewhere."
    if project.is_titled(url):
        return "violation", "Searches the web for the paper's title."
    if is_raw_code(url):
        return "suspicious", "Fetches files from a host of raw source code."
    return None


def _command(command: Command, project: Project) -> Iterator[tuple[Severity, str]]:
    if command.program in FETCHERS:
        for word in command.arguments:
            found = address(word, project) if split_url(word)[0] else None
            if found is not None:
                yield found
        if command.program in {"gh", "hub", "glab"} and _names(command, project):
            yield "violation", "Asks a code host for the task's own repository."
        elif project.is_titled(" ".join(command.arguments)):
            yield "violation", "Searches the web for the paper's title."
    elif command.program in INSTALLERS or (is_python(command) and "pip" in command.words[1:3]):
        yield from _install(command, project)
    yield from _pdf(command.program in PDF_READERS, command.arguments + command.reads, project)


def _names(command: Command, project: Project) -> bool:
    parts = {part for word in command.arguments for part in re.split(r"[/:]", word.lower())}
    return bool(project.name) and project.name in parts


def _install(command: Command, project: Project) -> Iterator[tuple[Severity, str]]:
    if not {"install", "download", "add"} & set(command.arguments[:3]):
        return
    for word in command.arguments:
        if word.startswith("-"):
            continue
        for url in urls(word.replace("git+", "")):
            if project.is_same(url):
                yield "violation", "Installs the task's own repository from elsewhere."
        if project.is_package(word):
            yield "suspicious", "Installs the published package of the task's own repository."


def _snippet(snippet: Snippet, project: Project) -> Iterator[tuple[str, Severity, str]]:
    for url in snippet.urls:
        found = address(url, project)
        if found is not None:
            yield (url, *found)
    used = sorted(snippet.modules & _PAPER_MODULES)
    if used:
        yield used[0], "violation", f"Uses the Python package {used[0]}, which looks papers up."
    reads = any(_PDF_CALLS.search(name) for name in snippet.calls) or not snippet.parsed
    for severity, reason in _pdf(reads, snippet.paths, project):
        yield ".pdf", severity, reason


def _pdf(reads: bool, words: Sequence[str], project: Project) -> Iterator[tuple[Severity, str]]:
    for word in words if reads else ():
        name = word.rpartition("/")[2]
        if not name.lower().endswith(".pdf") or split_url(word)[1]:
            continue
        if _PAPER_FILE.search(name) or project.is_titled(name):
            yield "violation", "Reads a file that looks like a paper."
        elif not _FIGURE.search(name):
            yield "suspicious", "Reads a PDF in the workspace."


def _query(query: str, project: Project) -> Iterator[tuple[Severity, str]]:
    for url in urls(query) or (query,):
        found = address(url, project)
        if found is not None:
            yield found
            return
    if project.is_titled(query):
        yield "violation", "Searches the web for the paper's title."
    elif project.name and project.owner and f"{project.owner}/{project.name}" in query.lower():
        yield "violation", "Searches the web for the task's own repository."
    elif re.search(r"\b(?:arxiv|openreview|paper results|ground truth)\b", query[:5000], re.I):
        yield "suspicious", "Searches the web for papers."
