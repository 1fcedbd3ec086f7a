"""Training of the logistic model (simulated)."""
import math
import random
import time

random.seed(42)
for epoch in range(1, 21):
    loss = 0.69 * math.exp(-epoch / 8) + random.gauss(0, 0.004)
    acc = 0.93 - 0.43 * math.exp(-epoch / 5) + random.gauss(0, 0.004)
    print(f"Epoch {epoch}/20 - loss: {loss:.4f} - val_acc: {acc:.4f}")
    time.sleep(0.02)
