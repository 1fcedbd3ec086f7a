from queuesim import mean, percentile, simulate

print({name: {"mean": round(mean(w), 3), "median": round(percentile(w, 0.5), 3)} for name, w in
       ((n, simulate(n, 0.8, 20000, 17)) for n in ("fifo", "sjf", "lifo"))})
