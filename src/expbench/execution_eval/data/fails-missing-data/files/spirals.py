from tinyclf.evaluate import scores

values = scores('spirals', 'knn', range(10), k=5)
print(f'knn on spirals: {sum(values) / len(values):.4f}')
