"""Classifiers with ``fit(x, y)``, ``predict(x)`` and ``proba(x)``."""

import numpy as np


class Centroid:
    """The nearer of the two class means."""

    def fit(self, x, y):
        self.means = np.stack([x[y == c].mean(axis=0) for c in (0, 1)])
        return self

    def proba(self, x):
        d = ((x[:, None, :] - self.means[None]) ** 2).sum(axis=2)
        return 1.0 / (1.0 + np.exp(np.clip(d[:, 1] - d[:, 0], -30, 30)))

    def predict(self, x):
        return (self.proba(x) > 0.5).astype(int)


class KNN(Centroid):
    """Share of the k nearest training points; ties go to class 0."""

    def __init__(self, k=5):
        self.k = k

    def fit(self, x, y):
        self.x, self.y = x, y
        return self

    def proba(self, x):
        d = ((x[:, None, :] - self.x[None]) ** 2).sum(axis=2)
        near = np.argsort(d, axis=1, kind="stable")[:, : self.k]
        return self.y[near].mean(axis=1)


class Logistic(Centroid):
    """Logistic regression by gradient descent."""

    def __init__(self, rate=0.5, epochs=200, l2=0.0):
        self.rate, self.epochs, self.l2 = rate, epochs, l2

    def fit(self, x, y, callback=None):
        design = np.c_[np.ones(len(x)), x]
        self.coef = np.zeros(design.shape[1])
        for epoch in range(self.epochs):
            p = 1.0 / (1.0 + np.exp(-design @ self.coef))
            self.coef -= self.rate * (design.T @ (p - y) / len(y) + self.l2 * self.coef)
            if callback:
                callback(epoch + 1, self)
        return self

    def proba(self, x):
        return 1.0 / (1.0 + np.exp(-(np.c_[np.ones(len(x)), x] @ self.coef)))


class Stump(Centroid):
    """The best single threshold on one coordinate."""

    def fit(self, x, y):
        best = -1.0
        for axis in (0, 1):
            for cut in np.quantile(x[:, axis], np.linspace(0.05, 0.95, 19)):
                for sign in (1, -1):
                    share = float(((sign * (x[:, axis] - cut) > 0) == y).mean())
                    if share > best:
                        best, self.rule = share, (axis, cut, sign)
        return self

    def proba(self, x):
        axis, cut, sign = self.rule
        return (sign * (x[:, axis] - cut) > 0) * 0.8 + 0.1


def make(name, **options):
    """A model by name."""
    return {"centroid": Centroid, "knn": KNN, "logistic": Logistic, "stump": Stump}[name](**options)
