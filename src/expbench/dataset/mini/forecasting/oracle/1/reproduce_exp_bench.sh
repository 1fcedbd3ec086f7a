#!/usr/bin/env bash
# Coverage, width and Winkler score of 90 % intervals after a level jump.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_coverage.py --config configs/coverage.json --output results/coverage.json
python - <<'PY'
import json

with open("results/coverage.json", encoding="utf-8") as handle:
    results = json.load(handle)
measured = {}
for phase, by_method in results.items():
    for method, scores in by_method.items():
        for measure, values in scores.items():
            for lead, value in zip((1, 6, 12), values):
                measured[f"{phase}_{method}_{measure}_h{lead}"] = round(value, 4)
print("MEASURED " + json.dumps(measured))
PY
