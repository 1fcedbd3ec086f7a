"""Mean test accuracy of all models on both data sets."""
from tinyclf.evaluate import scores

MODELS = {"centroid": {}, "knn": {"k": 5}, "logistic": {}, "stump": {}}
print(f"{'model':10s} {'rings':>8s} {'blobs':>8s}")
for name, options in MODELS.items():
    means = []
    for data in ("rings", "blobs"):
        values = scores(data, name, range(10), **options)
        means.append(sum(values) / len(values))
    print(f"{name:10s} {means[0]:8.4f} {means[1]:8.4f}")
