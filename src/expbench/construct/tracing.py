"""A draft's chain, traced through the repository of its project."""

from __future__ import annotations

from expbench.construct.project import Project
from expbench.construct.records import Draft
from expbench.construct.task import COMMANDS, source_paths, value
from expbench.tracer.chain import trace_chain
from expbench.tracer.graph import Trace


def trace_draft(project: Project, draft: Draft) -> Trace:
    """Follow the draft's programs; nothing is run."""
    usage = "\n".join([*value(draft, COMMANDS, ()), str(value(draft, "usage_instructions"))])
    return trace_chain(project.repo, source_paths(draft), usage, str(value(draft, "question")))
