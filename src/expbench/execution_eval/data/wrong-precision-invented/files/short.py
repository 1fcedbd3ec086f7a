from tinyclf.evaluate import scores

values = scores('rings', 'knn', range(10), k=5)
print(f'knn on rings: accuracy {sum(values) / len(values):.2f}')
