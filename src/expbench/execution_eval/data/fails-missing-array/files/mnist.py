import numpy as np

x = np.load('/mnt/datasets/mnist/train_images.npz')['x']
print(x.mean())
