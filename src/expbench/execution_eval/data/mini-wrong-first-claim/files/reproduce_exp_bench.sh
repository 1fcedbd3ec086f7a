#!/usr/bin/env bash
# Batched feedback: four policies, six batch sizes.
set -euo pipefail
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python scripts/run_batched_feedback.py --config configs/batched_feedback.json --out results/batched_feedback.json
python - <<'EOF'
import json

with open("results/batched_feedback.json") as handle:
    results = json.load(handle)
measured = {"regret uniform play": round(results["uniform"], 4)}
for kind in ("regret", "factor"):
    for name, cells in results[kind].items():
        for size, value in cells.items():
            measured[f"{kind} {name} batch={size}"] = round(value, 4)
print("MEASURED " + json.dumps(measured, sort_keys=True))
EOF
