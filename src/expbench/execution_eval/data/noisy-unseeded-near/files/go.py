from queuesim import mean, simulate

for name in ("fifo", "sjf"):
    waits = [mean(simulate(name, 0.8, 20000)) for _ in range(6)]
    print(f"{name}: mean wait {mean(waits):.3f}")
