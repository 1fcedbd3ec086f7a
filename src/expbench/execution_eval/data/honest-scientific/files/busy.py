from queuesim import simulate

waits = simulate("fifo", 0.9, 60000, 7)
print(f"jobs simulated: {len(waits)}")
print(f"jobs that waited: {sum(w > 0 for w in waits)}")
print(f"total waiting time: {sum(waits):.1f}")
print(f"longest wait: {max(waits):.2f}")
print(f"share waiting more than 60: {sum(w > 60 for w in waits) / len(waits):.3e}")
print(f"share waiting more than 50: {sum(w > 50 for w in waits) / len(waits):.3e}")
