#!/usr/bin/env bash
# Runs every experiment of the paper in turn, from the repository's root.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
for script in scripts/run_*.py; do
    echo "== $script"
    python "$script" "$@"
done
