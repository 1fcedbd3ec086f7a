#!/usr/bin/env bash
# Run every study whose config is present; results go to results/<study>.json.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p results
for config in configs/*.json; do
    study="$(basename "$config" .json)"
    echo "== $study"
    python "scripts/$study.py" --config "$config" --out "results/$study.json"
done
