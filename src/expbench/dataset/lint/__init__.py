"""The leak lint: rules without a model that find what gives a task's answer away, or spoils its truth.

``lint_text`` reads a task alone; ``lint_tree`` also what an agent would find in the repository. What is
found is for a person to look at: it is masked, reworded or waived with a reason, never silently fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from expbench.dataset.lint.document import Document
from expbench.dataset.lint.finding import FILE_RULES, NO_FLAG, RULES, Finding, Rule, Severity
from expbench.dataset.lint.prompt import prompt_findings
from expbench.dataset.lint.tree import Tree, tree_findings
from expbench.dataset.lint.truth import truth_findings
from expbench.schema import ResearchTask

__all__ = [
    "FILE_RULES",
    "NO_FLAG",
    "RULES",
    "Document",
    "Finding",
    "Rule",
    "Severity",
    "Tree",
    "documents",
    "lint_text",
    "lint_tree",
]

_ORDER: Mapping[Severity, int] = {"error": 0, "warning": 1, "note": 2}


def lint_text(task: ResearchTask) -> tuple[Finding, ...]:
    """Findings in a task's visible text, ground truth and structure, the severest first."""
    return _sorted([*prompt_findings(task), *truth_findings(task)])


def lint_tree(task: ResearchTask, files: Tree, masked: Tree) -> tuple[Finding, ...]:
    """Findings in a tree: ``files`` are what an agent would find, ``masked`` what was taken out."""
    return _sorted(tree_findings(task, files, masked))


def documents(files: Mapping[str, bytes]) -> dict[str, Document]:
    """Files by path as the rules read them."""
    return {path: Document(path, content) for path, content in files.items()}


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (_ORDER[f.severity], f.rule, f.place, f.evidence)))
