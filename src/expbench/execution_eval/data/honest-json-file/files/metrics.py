import json
import pathlib

from tinyclf import KNN, Logistic, accuracy, confusion, f1, load, log_loss, split

found = {}
for data in ("rings", "blobs"):
    x, y = load(data)
    a, b, c, e = split(x, y, seed=0)
    found[data] = {}
    for name, model in (("knn", KNN(7)), ("logistic", Logistic())):
        p = model.fit(a, b).predict(c)
        tn, fp, fn, tp = confusion(e, p)
        found[data][name] = {
            "accuracy": accuracy(e, p), "f1": f1(e, p), "log_loss": log_loss(e, model.proba(c)),
            "confusion": {"tn": tn, "fp": fp, "fn": fn, "tp": tp},
        }
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/metrics.json").write_text(json.dumps(found, indent=1))
print("metrics written to out/metrics.json")
