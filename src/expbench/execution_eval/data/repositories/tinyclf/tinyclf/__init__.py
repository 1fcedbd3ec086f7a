"""Small classifiers for points in the plane."""

from tinyclf.data import load, split
from tinyclf.metrics import accuracy, confusion, f1, log_loss
from tinyclf.models import KNN, Centroid, Logistic, Stump, make

__all__ = [
    "KNN", "Centroid", "Logistic", "Stump", "accuracy", "confusion", "f1", "load", "log_loss",
    "make", "split",
]
