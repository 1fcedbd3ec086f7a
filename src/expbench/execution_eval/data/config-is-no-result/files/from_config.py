import json

from tinyclf.evaluate import scores

config = json.load(open("configs/sweep.json"))
for k in config["k"]:
    values = scores(config["data"], "knn", range(config["splits"]), k=k)
    print(f"k={k}: {sum(values) / len(values):.4f}")
