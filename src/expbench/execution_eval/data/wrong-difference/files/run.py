from tinyclf.evaluate import scores

for data in ("rings", "blobs"):
    for name in ("knn", "logistic"):
        options = {"k": 5} if name == "knn" else {}
        values = scores(data, name, range(10), **options)
        print(f"[{data}] {name}: test acc = {100 * sum(values) / len(values):.2f}% over {len(values)} splits")
