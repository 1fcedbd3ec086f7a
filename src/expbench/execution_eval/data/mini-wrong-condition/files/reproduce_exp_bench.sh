#!/usr/bin/env bash
# Fitting windows of an autoregression by distance from a break.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_windows.py --n-series 120 --seed 23 --output results/windows.json
python - <<'PY'
import json

with open("results/windows.json", encoding="utf-8") as handle:
    results = json.load(handle)
measured = {}
for kind, by_policy in results.items():
    for policy, values in by_policy.items():
        for distance, value in zip((12, 24, 36, 48, 60, 108), values):
            measured[f"{kind}_{policy}_d{distance}"] = round(value, 4)
print("MEASURED " + json.dumps(measured))
PY
