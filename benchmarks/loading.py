"""How long the release takes to load, as a ratio to ``json.load`` of the same files in the same process.

    python benchmarks/loading.py --data DIR

Wanted: at most 3. Both are timed in turn, and the median of the ratios is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from expbench.dataset.citations import repository_path
from expbench.dataset.release import SUFFIX, load_release


def plain(data: Path) -> float:
    """Seconds for ``json.load`` on every task file."""
    start = time.perf_counter()
    contents = []
    for path in sorted(data.glob(f"*/*/*{SUFFIX}")):
        with path.open(encoding="utf-8") as file:
            contents.append(json.load(file))
    return time.perf_counter() - start


def typed(data: Path) -> float:
    """Seconds for the loader, with its cache of paths empty."""
    repository_path.cache_clear()
    start = time.perf_counter()
    load_release(data)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    typed(args.data)
    pairs = [(plain(args.data), typed(args.data)) for _ in range(args.runs)]
    ratios = sorted(loaded / parsed for parsed, loaded in pairs)
    middle = statistics.median(ratios)
    print(f"load / json.load: median {middle:.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}")


if __name__ == "__main__":
    main()
