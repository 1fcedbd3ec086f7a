"""Base classifiers.  Every model has ``fit(x, y)`` and ``decision(x)``, which returns log-odds."""

from __future__ import annotations

import numpy as np

from recal.numerics import fit_logistic, logit, sigmoid


class GaussianNB:
    """Naive Bayes with one normal density per class and feature."""

    def __init__(self, var_floor: float = 1e-6) -> None:
        self.var_floor = var_floor

    def fit(self, x: np.ndarray, y: np.ndarray) -> GaussianNB:
        self.mean_ = np.stack([x[y == c].mean(axis=0) for c in (0, 1)])
        self.var_ = np.stack([x[y == c].var(axis=0) for c in (0, 1)]) + self.var_floor
        share = float(np.mean(y))
        self.log_prior_ratio_ = np.log(share) - np.log1p(-share)
        return self

    def decision(self, x: np.ndarray) -> np.ndarray:
        dens = [
            -0.5 * (((x - self.mean_[c]) ** 2) / self.var_[c] + np.log(self.var_[c])).sum(axis=1)
            for c in (0, 1)
        ]
        return self.log_prior_ratio_ + dens[1] - dens[0]


class LogisticRegression:
    """Logistic regression with an unpenalised intercept and an L2 penalty on the weights."""

    def __init__(self, l2: float = 1.0) -> None:
        self.l2 = l2

    def fit(self, x: np.ndarray, y: np.ndarray) -> LogisticRegression:
        design = np.column_stack([np.ones(len(x)), x])
        penalty = np.r_[0.0, np.full(x.shape[1], self.l2)]
        self.coef_ = fit_logistic(design, y, penalty)
        return self

    def decision(self, x: np.ndarray) -> np.ndarray:
        return self.coef_[0] + x @ self.coef_[1:]


BASE_MODELS = {"nb": GaussianNB, "logreg": LogisticRegression}


class SubspaceEnsemble:
    """Members trained on bootstrap samples of the examples and random subsets of the features.

    Member ``m`` draws from ``np.random.default_rng([seed, m])``: first its features (without
    replacement), then its bootstrap rows.  A smaller ensemble is thus a prefix of a larger one.
    """

    def __init__(
        self, n_members: int = 10, n_features: int = 3, base: str = "nb", seed: int = 0
    ) -> None:
        self.n_members = n_members
        self.n_features = n_features
        self.base = base
        self.seed = seed

    def fit(self, x: np.ndarray, y: np.ndarray) -> SubspaceEnsemble:
        self.members_ = []
        for m in range(self.n_members):
            rng = np.random.default_rng([self.seed, m])
            cols = np.sort(rng.choice(x.shape[1], size=self.n_features, replace=False))
            rows = rng.integers(0, len(x), size=len(x))
            model = BASE_MODELS[self.base]().fit(x[rows][:, cols], y[rows])
            self.members_.append((cols, model))
        return self

    def member_decisions(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of every member, shape ``(n_members, n)``."""
        return np.stack([model.decision(x[:, cols]) for cols, model in self.members_])

    def decision(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of the averaged member probabilities (the linear pool)."""
        return logit(sigmoid(self.member_decisions(x)).mean(axis=0))
