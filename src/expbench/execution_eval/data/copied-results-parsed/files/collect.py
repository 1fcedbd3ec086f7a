import re

text = open("RESULTS.md").read()
for name, value in re.findall(r"^\s+(fifo|sjf|lifo|random)\s+([0-9.]+)$", text, re.M):
    print(f"{name}: mean wait {float(value):.3f}")
