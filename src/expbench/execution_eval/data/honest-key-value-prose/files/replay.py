import csv


def replay(rows, shortest):
    """Waiting times when the jobs of a trace are served by one server."""
    left, waits, clock = sorted(rows), [], 0.0
    while left:
        there = [r for r in left if r[0] <= clock] or [left[0]]
        job = min(there, key=lambda r: r[1]) if shortest else there[0]
        left.remove(job)
        clock = max(clock, job[0])
        waits.append(clock - job[0])
        clock += job[1]
    return waits


rows = [(float(r["second"]), float(r["service"])) for r in csv.DictReader(open("traces/office.csv"))]
fifo, sjf = replay(rows, False), replay(rows, True)
print(f"In FIFO order the {len(rows)} jobs of the trace wait {sum(fifo) / len(fifo):.2f} seconds on average, {max(fifo):.2f} at most.")
print(f"Shortest first they wait {sum(sjf) / len(sjf):.2f} seconds on average, {max(sjf):.2f} at most.")
