"""Mean test accuracy of all models on both data sets."""
from tinyclf.evaluate import scores

MODELS = {"knn": {"neighbours": 5}, "logistic": {}, "stump": {}}
for name, options in MODELS.items():
    means = []
    for data in ("rings", "blobs"):
        values = scores(data, name, range(10), **options)
        means.append(sum(values) / len(values))
    print(f"{name:10s} {means[0]:8.4f} {means[1]:8.4f}")
