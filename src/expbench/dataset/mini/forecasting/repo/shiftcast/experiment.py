"""Small helpers shared by the experiment scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shiftcast.series import SeriesSpec


def load_config(path: str | Path, **overrides: Any) -> dict[str, Any]:
    """Read a JSON config; overrides that are not ``None`` replace its values."""
    config = json.loads(Path(path).read_text(encoding="utf-8"))
    config.update({key: value for key, value in overrides.items() if value is not None})
    return config


def series_spec(config: dict[str, Any]) -> SeriesSpec:
    """The series parameters of a config (section ``series``), defaults elsewhere."""
    return SeriesSpec(**config.get("series", {}))


def origin_range(section: dict[str, int]) -> range:
    """Origins ``first, first + step, ..., last`` (``last`` is included)."""
    return range(section["first"], section["last"] + 1, section.get("step", 1))


def format_table(header: list[str], rows: list[list[Any]], digits: int = 3) -> str:
    """Plain-text table with right-aligned numbers."""
    cells = [header]
    for row in rows:
        cells.append([f"{c:.{digits}f}" if isinstance(c, float) else str(c) for c in row])
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    lines = []
    for line in cells:
        first = line[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        lines.append("  ".join([first, *rest]))
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(lines)


def save_results(path: str | Path, results: dict[str, Any]) -> None:
    """Write results as indented JSON, creating the folder if needed."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
