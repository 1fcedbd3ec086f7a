#!/usr/bin/env bash
# Gap sweep: five policies, four gaps.
set -euo pipefail
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python scripts/run_gap_sweep.py --config configs/gap_sweep.json --out results/gap_sweep.json
python - <<'EOF'
import json

with open("results/gap_sweep.json") as handle:
    results = json.load(handle)
measured = {}
for name, cells in results.items():
    for level, cell in cells.items():
        measured[f"regret {name} gap={level}"] = round(cell["regret"], 4)
print("MEASURED " + json.dumps(measured, sort_keys=True))
EOF
