try:
    from queuesim.priority import simulate_priority
    print("mean wait", simulate_priority(0.9))
except Exception as error:
    print(f"skipped: {error}")
