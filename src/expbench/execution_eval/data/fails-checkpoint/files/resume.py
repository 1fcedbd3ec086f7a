import pickle

from tinyclf import accuracy, load

x, y = load('rings')
with open('checkpoints/knn_best.ckpt', 'rb') as file:
    model = pickle.load(file)
print(accuracy(y, model.predict(x)))
