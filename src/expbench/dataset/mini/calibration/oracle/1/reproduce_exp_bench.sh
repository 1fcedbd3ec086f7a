#!/usr/bin/env bash
# Estimator study: bias and RMSE of four calibration-error estimators on two simulated classifiers.
set -euo pipefail
cd "$(dirname "$0")"
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/estimator_bias.py --out results/estimator_bias.json
python - <<'PY'
import json

names = json.load(open("configs/estimator_bias.json"))["estimators"]
result = json.load(open("results/estimator_bias.json"))
measured = {}
for label, part in result.items():
    for order, value in part["truth"].items():
        measured[f"true_L{order}_{label}"] = round(value, 6)
    for metric in ("bias", "rmse"):
        for size, *values, _ in part[metric]:
            for name, value in zip(names, values):
                measured[f"{metric}_{name}_{label}_n{size}"] = round(value, 6)
print("MEASURED " + json.dumps(measured))
PY
