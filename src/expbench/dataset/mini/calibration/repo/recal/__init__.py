"""recal: calibration experiments for small probabilistic classifiers, with numpy only."""

from recal.calibrators import CALIBRATORS, make_calibrator
from recal.data import GaussianTask, make_scores
from recal.metrics import brier, ece, log_loss
from recal.models import GaussianNB, LogisticRegression, SubspaceEnsemble

__version__ = "0.3.1"

__all__ = [
    "CALIBRATORS",
    "GaussianNB",
    "GaussianTask",
    "LogisticRegression",
    "SubspaceEnsemble",
    "brier",
    "ece",
    "log_loss",
    "make_calibrator",
    "make_scores",
]
