"""What preparing and collecting workspaces costs, as ratios to the reference's method in the same run.

    python benchmarks/workspaces.py --mirror DIR --data DIR

The reference clones the repository for each task, changes its modes, removes the masked files by
``git rm`` and takes the work by ``git add -N`` and ``git diff``. Both do the same in turn. ``--mirror`` is
only read; nothing is asked of the network.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import collection
import preparation
from measuring import Part
from mirrors import gather

from expbench.dataset.release import load_release
from expbench.errors import UserError

PARTS = ("preparation", "collection")


def main() -> None:
    """Measure and print; exit code 2 for what the user can mend."""
    args = _arguments().parse_args()
    try:
        with _scratch(args.store) as scratch:
            parts = list(_measure(args, scratch))
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    if args.json:
        print(json.dumps([part.plain() for part in parts], indent=1))
    else:
        print("\n\n".join(part.text() for part in parts))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", type=Path, required=True, help="clones, laid out OWNER+NAME")
    parser.add_argument("--data", type=Path, required=True, help="the released data set's folder")
    parser.add_argument("--tasks", type=int, help="only the first N tasks")
    parser.add_argument("--files", type=int, default=50_000, help="of the generated tree")
    parser.add_argument("--runs", type=int, default=5, help="collections from the generated tree")
    parser.add_argument("--store", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--json", action="store_true")
    return parser


def _measure(args: argparse.Namespace, scratch: Path) -> Iterator[Part]:
    if unknown := set(args.parts.split(",")) - set(PARTS):
        raise UserError(
            f"There is no part {sorted(unknown)[0]!r}: give some of {', '.join(PARTS)}."
        )
    if not args.mirror.is_dir():
        raise UserError(f"{args.mirror} is no folder: give one of clones, laid out OWNER+NAME.")
    progress: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    pins = gather(load_release(args.data)[: args.tasks], args.mirror, scratch)
    if "preparation" in args.parts:
        yield preparation.measure(pins, scratch, progress)
    if "collection" in args.parts:
        yield collection.measure(pins, scratch, args.files, args.runs, progress)


@contextmanager
def _scratch(folder: Path | None) -> Iterator[Path]:
    """A new folder of ours, removed at the end, below ``folder`` when one is given."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="expbench-benchmark-", dir=folder) as made:
        Path(made).chmod(0o755)
        yield Path(made).resolve()


if __name__ == "__main__":
    main()
