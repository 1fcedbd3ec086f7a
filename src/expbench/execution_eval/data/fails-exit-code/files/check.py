import sys

from tinyclf.evaluate import scores

value = scores('rings', 'stump', [0])[0]
if value < 0.9:
    print('stump is below the wanted accuracy')
    sys.exit(3)
