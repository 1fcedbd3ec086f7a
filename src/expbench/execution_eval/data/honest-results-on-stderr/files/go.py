import numpy as np

from semscale.metrics import order_divergence
from semscale.lingam import lingam_order
from semscale.sem import make_instance

import logging

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
for n in (50, 200, 800):
    wrong = {"lingam": [], "variance": []}
    for rep in range(15):
        inst = make_instance(np.random.default_rng([3, rep]), n, 8, 3.0, 0.5, 1.5, "uniform")
        wrong["lingam"].append(order_divergence(inst.adj, lingam_order(inst.data)))
        wrong["variance"].append(order_divergence(inst.adj, list(np.argsort(inst.data.var(axis=0)))))
    for rule, values in wrong.items():
            logging.info("n=%d order=%s wrong_edges=%.2f", n, rule, np.mean(values))
