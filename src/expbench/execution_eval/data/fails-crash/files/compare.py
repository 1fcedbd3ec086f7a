from tinyclf.evaluate import scores

results = {name: scores('rings', name, range(10)) for name in ('knn', 'stump')}
print(results['logistic'])
