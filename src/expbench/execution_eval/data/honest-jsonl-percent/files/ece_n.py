import json

import numpy as np

from recal.data import make_scores
from recal.metrics import brier, ece

rows = []
for n in (100, 400, 1600, 6400):
    for sharp in (1.0, 1.6):
        values = [ece(p, y) for p, _, y in (make_scores(n, 50 + r, sharpness=sharp) for r in range(30))]
        rows.append({"n": n, "sharpness": sharp, "ece_mean": float(np.mean(values)), "ece_sd": float(np.std(values, ddof=1))})
for row in rows:
    print(json.dumps(row))
