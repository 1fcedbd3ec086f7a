from sklearn.neighbors import KNeighborsClassifier

from tinyclf import load, split

x, y = load('rings')
a, b, c, d = split(x, y, 0)
print(KNeighborsClassifier(5).fit(a, b).score(c, d))
