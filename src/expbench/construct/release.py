"""Drafts as the release's files: ``<id>_complete_final.json`` and those of the stages before it.

Names, nesting and types are the release's, so that programs made for it read ours. What its authors wrote and
this pipeline does not (ambiguities, uncertainties, constraints) is there and empty, never invented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from expbench.construct.project import Project, write_text
from expbench.construct.records import Draft
from expbench.construct.task import entry_of, listed, value

TAKEAWAYS = "takeaways.json"
_EXTRACTED = ("question", "method", "expected_outcome", "subsection_source", "design_complexity")
_PROGRAMS = ("source", "usage_instructions")
_ANALYSED = ("requirements", "agent_instructions", "masked_source")
_UNJUDGED = (
    "design_ambiguity",
    "experiment_setup_ambiguity",
    "experiment_constraints",
    "random_uncertainty",
    "systematic_uncertainty",
)


def stage_files(project: Project, drafts: Sequence[Draft]) -> dict[str, Any]:
    """The release's files of one paper, by name."""
    name = project.facts.name
    sections = _sections(project)
    entries = [release_entry(draft, sections) for draft in drafts]
    extracted = [_only(entry, (*_EXTRACTED, *_UNJUDGED)) for entry in entries]
    answered = [entry for entry in entries if "no_answer" not in entry]
    takeaways = _takeaways(project)
    head = {"questions": extracted, "main_takeaways": takeaways}
    programs = [
        {"no_answer": entry["no_answer"]} if "no_answer" in entry else _only(entry, _PROGRAMS)
        for entry in entries
    ]
    return {
        f"temp_{name}.json": head,
        f"{name}.json": head,
        f"{name}_generated_programs_type_1.json": programs,
        f"{name}_program_analysis_type_1.json": [_only(entry, _ANALYSED) for entry in answered],
        f"{name}_complete_type_1.json": {"questions": answered},
        f"{name}_complete_final.json": {"questions": entries, "main_takeaways": takeaways},
    }


def write_release(project: Project, drafts: Sequence[Draft]) -> Path:
    """Write them below ``out/release``, laid out as the release's data folder; the final file's path."""
    name = project.facts.name
    folder = project.out / "release" / "own" / name
    for file, content in stage_files(project, drafts).items():
        write_text(folder / file, json.dumps(content, indent=4))
    return folder / f"{name}_complete_final.json"


def release_entry(draft: Draft, sections: Mapping[str, str]) -> dict[str, Any]:
    """A draft as the release has a question: its keys, in its order, and none that it has not."""
    ours = entry_of(draft)
    steps = [str(each.value).rpartition(" (")[0] for each in listed(draft, "requirements")]
    design = value(draft, "design_complexity", {})
    constants = [f"{name}: {each}" for name, each in design.get("constant_variables", {}).items()]
    whole: dict[str, Any] = {
        "question": ours["question"],
        "method": ours["method"],
        "expected_outcome": ours["expected_outcome"],
        "subsection_source": _section(draft, sections),
    }
    whole |= _only(ours, (*_PROGRAMS, *_ANALYSED))
    whole |= {
        "design_complexity": design,
        "design_ambiguity": {},
        "experiment_setup_complexity": {"components": constants, "setup_steps": steps},
        **{name: {} for name in _UNJUDGED[1:]},
    }
    if draft.no_answer:
        whole["no_answer"] = draft.no_answer
    return whole


def _only(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: entry[name] for name in names if name in entry}


def _section(draft: Draft, sections: Mapping[str, str]) -> str:
    field = draft.fields.get("question")
    places = [sections.get(each.element, "") for each in field.passages] if field else []
    return next(filter(None, places), "").rpartition(" / ")[2]


def _sections(project: Project) -> dict[str, str]:
    if not (project.root / "paper" / "document.json").is_file():
        return {}
    return {element.id: element.section for element in project.document().elements}


def _takeaways(project: Project) -> list[str]:
    file = project.root / "paper" / TAKEAWAYS
    return list(json.loads(file.read_text("utf-8"))) if file.is_file() else []
