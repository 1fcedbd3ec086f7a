"""Small repositories for the tracer's tests, and what is asked of a trace of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from expbench.tracer.chain import trace_chain
from expbench.tracer.graph import Step, Trace


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content, encoding="utf-8")
    return root


def traced(
    root: Path, files: Mapping[str, str | bytes], *source: str, usage: str = "", question: str = ""
) -> Trace:
    """The trace of a repository with these files."""
    return trace_chain(write(root, files), source, usage, question)


def reached(trace: Trace) -> set[str]:
    return {each.path for each in trace.files}


def at(trace: Trace, path: str, start: int, end: int | None = None) -> Step:
    """The step of exactly these lines."""
    (step,) = [
        s
        for s in trace.steps
        if (s.span.path, s.span.start, s.span.end) == (path, start, end or start)
    ]
    return step


def values(trace: Trace, path: str) -> dict[str, str]:
    """All values of a file's steps."""
    return {
        name: value
        for step in trace.steps
        if step.span.path == path
        for name, value in step.values.items()
    }


def leads(trace: Trace, source: str, target: str) -> set[str]:
    """The kinds of edges from one file to another."""
    path = {step.id: step.span.path for step in trace.steps}
    return {e.kind for e in trace.edges if (path[e.source], path[e.target]) == (source, target)}
