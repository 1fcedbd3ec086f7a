#!/usr/bin/env python3
from tinyclf.evaluate import scores

values = scores('rings', 'knn', range(10), k=5)
print('mean accuracy on rings:', round(sum(values) / len(values), 4))
