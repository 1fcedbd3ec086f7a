"""JSON configurations, plain-text tables and result files."""

from __future__ import annotations

import json
from pathlib import Path


def load_config(path: str | Path) -> dict:
    """Read a JSON file that holds an object."""
    config = json.loads(Path(path).read_text())
    if not isinstance(config, dict):
        raise TypeError(f"{path}: expected a JSON object")
    return config


def override(config: dict, assignments: list[str]) -> dict:
    """Return a copy of ``config`` with ``key=value`` (or ``a.b=value``) assignments applied.

    Values are parsed as JSON; what does not parse is kept as a string. Unknown keys are an
    error, since they are nearly always a misspelling.
    """
    result = json.loads(json.dumps(config))
    for item in assignments:
        key, _, text = item.partition("=")
        *parents, leaf = key.split(".")
        node = result
        for parent in parents:
            node = node[parent]
        if leaf not in node:
            raise KeyError(f"no setting {key!r} in the configuration")
        try:
            node[leaf] = json.loads(text)
        except json.JSONDecodeError:
            node[leaf] = text
    return result


def table(header: list[str], rows: list[list], width: int = 12) -> str:
    """Format ``rows`` under ``header``; floats get one decimal place."""

    def cell(value) -> str:
        if isinstance(value, float):
            return f"{value:.1f}".rjust(width)
        return str(value).rjust(width)

    lines = ["".join(cell(h) for h in header), "-" * width * len(header)]
    lines += ["".join(cell(v) for v in row) for row in rows]
    return "\n".join(lines)


def save(path: str | Path, results: dict) -> None:
    """Write ``results`` as JSON; parent folders are made when needed."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")
