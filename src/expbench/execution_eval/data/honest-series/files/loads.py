from queuesim import DISCIPLINES, mean, percentile, simulate

LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)
print("mean wait".ljust(10), *(f"rho={r}".rjust(8) for r in LOADS))
for name in DISCIPLINES:
    row = [mean([mean(simulate(name, r, 4000, s)) for s in (1, 2, 3, 4, 5)]) for r in LOADS]
    print(name.ljust(10), *(f"{v:8.3f}" for v in row))
print()
print("95th pct".ljust(10), *(f"rho={r}".rjust(8) for r in LOADS))
for name in DISCIPLINES:
    row = [mean([percentile(simulate(name, r, 4000, s), 0.95) for s in (1, 2, 3, 4, 5)]) for r in LOADS]
    print(name.ljust(10), *(f"{v:8.3f}" for v in row))
