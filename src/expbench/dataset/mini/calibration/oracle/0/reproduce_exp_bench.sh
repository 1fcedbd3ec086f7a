#!/usr/bin/env bash
# Data-budget study: six recalibrators, five calibration sizes, 80 repetitions.
set -euo pipefail
cd "$(dirname "$0")"
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/data_budget.py --out results/data_budget.json
python - <<'PY'
import json

methods = json.load(open("configs/data_budget.json"))["methods"]
result = json.load(open("results/data_budget.json"))
measured = {
    f"{metric}_{method}_n{size}": round(value, 6)
    for metric, table in result.items()
    for size, row in table.items()
    for method, value in zip(methods, row)
}
print("MEASURED " + json.dumps(measured))
PY
