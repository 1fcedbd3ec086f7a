#!/usr/bin/env bash
# Window study: five windows and plain UCB1, four rates of change.
set -euo pipefail
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python scripts/run_window_study.py --config configs/window_study.json --out results/window_study.json
python - <<'EOF'
import json

with open("results/window_study.json") as handle:
    results = json.load(handle)
measured = {}
for name, cells in results.items():
    for level, cell in cells.items():
        measured[f"regret {name} changes={level}"] = round(cell["regret"], 4)
        measured[f"best-arm share {name} changes={level}"] = round(cell["optimal_share"], 4)
print("MEASURED " + json.dumps(measured, sort_keys=True))
EOF
