import numpy as np

from tinyclf import load

x, y = load('rings')
weights = np.zeros(3)
print((1 / (1 + np.exp(-x @ weights)) > 0.5).mean())
