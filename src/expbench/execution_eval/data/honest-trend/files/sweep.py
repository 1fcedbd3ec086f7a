from tinyclf.evaluate import scores

print("| k | rings | blobs |")
print("|--:|------:|------:|")
for k in (1, 3, 5, 9, 15, 31, 61, 121):
    row = [sum(v) / len(v) for v in (scores(n, "knn", range(10), k=k) for n in ("rings", "blobs"))]
    print(f"| {k} | {row[0]:.4f} | {row[1]:.4f} |")
