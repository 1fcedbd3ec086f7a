from queuesim import DISCIPLINES, mean, percentile, simulate

print("╭────────────┬───────────┬──────────╮")
print("│ discipline │ mean wait │      p99 │")
print("├────────────┼───────────┼──────────┤")
for name in DISCIPLINES:
    waits = simulate(name, 0.7, 30000, 3)
    print(f"│ {name:10s} │ {mean(waits):9.3f} │ {percentile(waits, 0.99):8.2f} │")
print("╰────────────┴───────────┴──────────╯")
