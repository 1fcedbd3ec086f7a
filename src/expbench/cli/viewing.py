"""``expbench view``: Inspect's viewer on a run's logs."""

from __future__ import annotations

from pathlib import Path

from inspect_ai import view

from expbench.runs import load


def serve(folder: Path, host: str, port: int) -> int:
    """Serve the viewer until it is interrupted."""
    run = load(folder)
    view(log_dir=str(run.paths.logs), host=host, port=port)
    return 0
