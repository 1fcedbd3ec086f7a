#!/usr/bin/env bash
# Accuracy of four forecasters by lead time after slope and season breaks.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
bash scripts/run_horizon.sh
python - <<'PY'
import json

import numpy as np

with open("results/horizon.json", encoding="utf-8") as handle:
    results = json.load(handle)
measured = {}
for kind, profiles in results.items():
    for model, profile in profiles.items():
        for lead in (1, 6, 12, 18, 24):
            measured[f"{kind}_{model}_h{lead}"] = round(profile[lead - 1], 4)
        measured[f"{kind}_{model}_mean"] = round(float(np.mean(profile)), 4)
print("MEASURED " + json.dumps(measured))
PY
