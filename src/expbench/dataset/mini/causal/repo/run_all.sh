#!/usr/bin/env bash
# Runs every experiment of the repository with its default configuration.
set -euo pipefail
cd "$(dirname "$0")"
for script in scripts/run_*.py; do
    echo "== ${script}"
    python "${script}" "$@"
done
