#!/usr/bin/env bash
# Effect estimators under misspecified nuisances: full grid (300 samples per overlap).
set -euo pipefail
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_misspecification.py --json | python -c '
import json, sys

*tables, last = sys.stdin.read().rstrip("\n").split("\n")
print("\n".join(tables))
result = json.loads(last)
for floor in (0.001, 0.05):
    for cell in ("both_right", "outcome_wrong", "propensity_wrong", "both_wrong"):
        for gamma in (0.5, 1.0, 2.0):
            rmse = {e: result[f"{gamma}/{cell}/{floor}/{e}"]["rmse"]
                    for e in ("naive", "or", "ipw_ht", "ipw_hajek", "aipw")}
            ranked = " < ".join(f"{e} {v:.3f}" for e, v in sorted(rmse.items(), key=lambda x: x[1]))
            print(f"floor {floor} {cell} gamma {gamma}: RMSE {ranked}")
flat = {f"{m}/{k}": round(s[m], 6) for k, s in result.items() for m in ("rmse", "bias")}
print("MEASURED " + json.dumps(flat))
'
