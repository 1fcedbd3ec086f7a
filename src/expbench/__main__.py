"""``python -m expbench`` and the ``expbench`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. Ctrl-C is one sentence from the first moment on, while modules load, too."""
    try:
        from expbench.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("expbench: interrupted before anything began.", file=sys.stderr)  # noqa: T201
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
