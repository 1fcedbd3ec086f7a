import glob

from tinyclf.evaluate import scores

if not glob.glob('/dev/nvidia[0-9]*'):
    raise RuntimeError('Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver.')
print(scores('rings', 'knn', [0], k=5))
