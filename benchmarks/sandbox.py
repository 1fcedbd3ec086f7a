"""What sandboxes cost, as ratios to the same work without them in the same run.

    python benchmarks/sandbox.py
    python benchmarks/sandbox.py --parts starts,commands --runs 50 --json
    python benchmarks/sandbox.py --parts engine --engine docker --image expbench-agent

Ours and what it is compared with take turns, so that both see the same machine. A container engine is
only asked, never started.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import sandbox_crowd
import sandbox_endings
import sandbox_engines
import sandbox_output
import sandbox_steps
from measuring import Part
from sandbox_bench import Bench

from expbench.errors import ExpbenchError, UserError

PARTS: dict[str, Callable[[Bench], Part]] = {
    "starts": sandbox_steps.starts,
    "commands": sandbox_steps.commands,
    "costs": sandbox_steps.costs,
    "many": sandbox_crowd.measure,
    "endings": sandbox_endings.measure,
    "output": sandbox_output.measure,
    "engine": sandbox_engines.measure,
}


def main() -> None:
    """Measure and print; exit code 2 for what the user can mend."""
    args = _arguments().parse_args()
    try:
        with _scratch(args.store) as scratch, ExitStack() as stack:
            parts = list(_measure(args, scratch, stack))
    except ExpbenchError as error:
        print(error, file=sys.stderr)
        sys.exit(2 if isinstance(error, UserError) else 1)
    if args.json:
        print(json.dumps([part.plain() for part in parts], indent=1))
    else:
        print("\n\n".join(part.text() for part in parts))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=_positive, default=30, help="rounds of each comparison")
    parser.add_argument("--at-once", type=_positive, default=100, help="sandboxes of part many")
    parser.add_argument("--output-mib", type=_positive, default=1024, help="of part output")
    parser.add_argument("--engine", choices=("docker", "podman"), help="one that runs here")
    parser.add_argument("--image", default="expbench-agent", help="an image that the engine has")
    parser.add_argument("--store", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--json", action="store_true")
    return parser


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("give a number of at least 1")
    return number


def _measure(args: argparse.Namespace, scratch: Path, stack: ExitStack) -> Iterator[Part]:
    wanted = args.parts.split(",")
    if unknown := set(wanted) - PARTS.keys():
        raise UserError(
            f"There is no part {sorted(unknown)[0]!r}: give some of {', '.join(PARTS)}."
        )
    bench = Bench(
        scratch=scratch,
        runs=args.runs,
        at_once=args.at_once,
        output_mib=args.output_mib,
        engine=args.engine,
        image=args.image,
        stack=stack,
    )
    for name, measure in PARTS.items():
        if name in wanted:
            print(f"{name} …", file=sys.stderr, flush=True)
            yield measure(bench)


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
