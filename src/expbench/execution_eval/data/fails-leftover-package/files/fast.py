import fastneighbors  # pip install fastneighbors==0.2

from tinyclf import load, split

a, b, c, d = split(*load('rings'), 0)
print('accuracy', fastneighbors.score(a, b, c, d))
