"""What a rule found, and the catalogue of rules with their severities and mends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from expbench.schema import Record

Severity = Literal["error", "warning", "note"]
EVIDENCE_CHARACTERS = 100


class Finding(Record):
    """One fault of a task.

    ``place`` is a field with a character span (``question[12:40]``), a field alone, or a file of the
    tree with a line (``docs/run.md:7``). ``mend`` proposes a change in words.
    """

    task: str
    rule: str
    severity: Severity
    place: str
    evidence: str
    mend: str

    def __str__(self) -> str:
        return f"{self.rule} in {self.place}: {self.evidence}"


@dataclass(frozen=True)
class Rule:
    """A rule's usual severity, what it looks for, and the mend that it proposes."""

    severity: Severity
    meaning: str
    mend: str


RULES: Mapping[str, Rule] = {
    "result_in_prompt": Rule(
        "error",
        "question, method or instructions state a number or a sentence of the expected outcome",
        "Take the result out; say what to measure, not what comes out.",
    ),
    "paper_reference": Rule(
        "warning",
        "the visible text cites a numbered table, figure, section or appendix of the paper",
        "Replace the reference by what stands there; the agent may not read the paper.",
    ),
    "mask_named_in_prompt": Rule(
        "warning",
        "the visible text names a masked file",
        "Describe what the program must do instead of naming the file that was taken out.",
    ),
    "yes_no_question": Rule(
        "warning",
        "a yes/no question names the direction of the result, and the outcome affirms it",
        "Ask which, how much or under what conditions, so that the wording has no answer.",
    ),
    "hedged_outcome": Rule(
        "note",
        "the outcome is an expectation, not an observation",
        "State what was measured; drop 'is expected to'.",
    ),
    "short_outcome": Rule(
        "note",
        "the outcome has fewer than 20 words",
        "State conditions, direction and size of the effect.",
    ),
    "artefact_outcome": Rule(
        "note",
        "the task asks for a program or file, not for a finding",
        "Ask a question whose answer is measured with that program.",
    ),
    "requirements_cite_unmasked_only": Rule(
        "warning",
        "no requirement cites a masked file, so the graded code is already there",
        "Mask the cited files, or cite the masked ones.",
    ),
    "no_requirements": Rule(
        "note",
        "no implementation ground truth",
        "Derive steps from the authors' code; until then grade against the method.",
    ),
    "no_design": Rule("note", "no design ground truth", "Write the design's variables."),
    "no_mask": Rule("note", "nothing is masked", "Mask the files that hold the answer, if any do."),
    "readme_variant": Rule(
        "note",
        "a README survives in the root under a name that the published harness does not remove",
        "Mask it (strict masking does).",
    ),
    "masked_command_in_docs": Rule(
        "warning",
        "a document in the tree shows the command line of a masked program",
        "Mask the document (strict masking does), or take the command out.",
    ),
    "result_in_tree": Rule(
        "warning",
        "a document, notebook output or log in the tree states a result",
        "Mask the file (strict masking does).",
    ),
    "near_copy_left": Rule(
        "warning",
        "a file in the tree holds at least 80 % of a masked file's five-word shingles",
        "Mask the copy too (strict masking does), if it answers the question.",
    ),
    "byte_copy_left": Rule(
        "error",
        "a file in the tree is byte for byte a masked one",
        "Mask the copy too (strict masking does).",
    ),
    "masked_symbol_left": Rule(
        "warning",
        "a package that can be installed still defines a masked function or class",
        "Mask that module too, or its definition.",
    ),
    "repository_incomplete": Rule(
        "note",
        "the repository, or objects of it, were not at hand, so the tree was not looked at in full",
        "Fetch the repository whole and check again.",
    ),
    "file_syntax": Rule("error", "a task file is not JSON", "Mend it at this place."),
    "file_shape": Rule(
        "error",
        "a field of a task file is missing or of the wrong kind",
        "Compare with task.schema.json, or with the file that `expbench tasks new` writes.",
    ),
    "unknown_field": Rule(
        "error", "a field that the format does not have", "Rename it or take it out."
    ),
    "duplicate": Rule(
        "error", "two things with the same name, or two tasks that are one", "Keep one of them."
    ),
    "masked_present": Rule(
        "error", "a masked path is in the tree", "Apply the mask before the tree is handed out."
    ),
}
"""All rules. Those with the name of a task's flag set that flag."""

FILE_RULES = frozenset(["file_syntax", "file_shape", "unknown_field", "duplicate"])
"""Rules of one's own task files."""

NO_FLAG = FILE_RULES | {"masked_symbol_left", "masked_present"}
"""Rules that are no flag: of trees as they are prepared, and of one's own files."""


def finding(
    task: str, rule: str, place: str, evidence: str, severity: Severity | None = None
) -> Finding:
    """A finding of a rule, with the rule's mend and, unless told otherwise, its severity."""
    known = RULES[rule]
    return Finding(
        task=task,
        rule=rule,
        severity=severity or known.severity,
        place=place,
        evidence=shorten(evidence),
        mend=known.mend,
    )


def span(field: str, start: int, end: int) -> str:
    """A place inside a text field: characters ``start`` up to but not including ``end``."""
    return f"{field}[{start}:{end}]"


def shorten(text: str, limit: int = EVIDENCE_CHARACTERS) -> str:
    """One line of at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
