"""k = 1 against k = 31 on blobs, for growing training sets."""
from tinyclf import KNN, accuracy, load, split

x, y = load("blobs")
print(" n_train     k=1    k=31")
for n in (35, 45, 60, 90, 120, 180, 250):
    sums = [0.0, 0.0]
    for seed in range(40):
        a, b, c, e = split(x, y, seed)
        for i, k in enumerate((1, 31)):
            sums[i] += accuracy(e, KNN(k).fit(a[:n], b[:n]).predict(c)) / 40
    print(f"{n:8d} {sums[0]:7.4f} {sums[1]:7.4f}")
