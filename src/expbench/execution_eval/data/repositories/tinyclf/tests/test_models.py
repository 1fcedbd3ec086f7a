import unittest

from tinyclf import accuracy, load, make


class Fits(unittest.TestCase):
    def test_blobs_are_learned(self):
        x, y = load("blobs")
        for name in ("centroid", "knn", "logistic", "stump"):
            self.assertGreater(accuracy(y, make(name).fit(x, y).predict(x)), 0.8)


if __name__ == "__main__":
    unittest.main()
