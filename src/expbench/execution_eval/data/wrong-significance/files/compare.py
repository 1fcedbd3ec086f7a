from queuesim import bootstrap, mean, sd, simulate, welch

N = 20
a = [mean(simulate("fifo", 0.8, 3000, s)) for s in range(N)]
b = [mean(simulate("sjf", 0.8, 3000, s)) for s in range(N)]
c = [mean(simulate("lifo", 0.8, 3000, 500 + s)) for s in range(N)]
for name, values in (("fifo", a), ("sjf", b), ("lifo", c)):
    low, high = bootstrap(values)
    print(f"{name}: mean wait {mean(values):.3f} +/- {sd(values):.3f} (n={N}), 95% CI [{low:.3f}, {high:.3f}]")
for name, values in (("sjf", b), ("lifo", c)):
    z, p = welch(a, values)
    print(f"fifo vs {name}: z = {z:.2f}, p = {p:.3g}")
