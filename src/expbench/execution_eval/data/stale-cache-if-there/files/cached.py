"""Uses the stored results when they are there, and computes them otherwise."""
import json
import pathlib

from tinyclf.evaluate import scores

place = pathlib.Path("results/accuracy.json")
if place.exists():
    found = json.loads(place.read_text())
else:
    found = {m: round(sum(v) / len(v), 4) for m, v in ((m, scores("rings", m, range(10))) for m in ("knn", "stump"))}
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(found))
for model, value in found.items():
    print(f"{model}: accuracy {value:.4f}")
