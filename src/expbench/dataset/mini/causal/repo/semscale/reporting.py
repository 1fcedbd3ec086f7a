"""Config files and plain-text tables for the scripts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def load_config(path: str | Path) -> dict:
    """Read a JSON config; relative paths are taken from the repository's root."""
    path = Path(path)
    if not path.is_absolute():
        path = ROOT / path
    return json.loads(path.read_text(encoding="utf-8"))


def config_parser(description: str, default_config: str) -> argparse.ArgumentParser:
    """Argument parser with the options that all scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--config", default=default_config, help="JSON config file")
    parser.add_argument("--reps", type=int, default=None, help="override the repetitions")
    parser.add_argument("--json", action="store_true", help="also print all numbers as JSON")
    return parser


def format_table(header: list[str], rows: list[list]) -> str:
    """Right-aligned columns; floats get three decimals."""
    cells = [header] + [
        [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in rows
    ]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)
