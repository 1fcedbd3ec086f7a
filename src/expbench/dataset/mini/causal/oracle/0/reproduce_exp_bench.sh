#!/usr/bin/env bash
# Order-based discovery on raw and standardised data: full grid (30 SEMs, 4 sample sizes).
set -euo pipefail
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_standardisation.py --json | python -c '
import json, sys

*tables, last = sys.stdin.read().rstrip("\n").split("\n")
print("\n".join(tables))
result = json.loads(last)
score = lambda n, scale, order, rule: result[f"{n}/{scale}/{order}/{rule}"]["f1"]
orders = ("variance", "r2", "lingam", "random")
for rule in ("tstat", "coef"):
    for scale in ("raw", "standardised"):
        for n in (50, 100, 200, 1000):
            ranked = sorted(orders, key=lambda o: -score(n, scale, o, rule))
            print(f"{rule:5s} {scale:12s} n={n:<4d} ranking:", " > ".join(ranked))
    for order in orders:
        losses = [score(n, "raw", order, rule) - score(n, "standardised", order, rule)
                  for n in (50, 100, 200, 1000)]
        print(f"{rule:5s} F1 lost by standardising, {order}:", [round(v, 3) for v in losses])
flat = {f"{m}/{k}": round(s[m], 6) for k, s in result.items() for m in ("f1", "shd")}
print("MEASURED " + json.dumps(flat))
'
