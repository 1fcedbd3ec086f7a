"""Binary-treatment data sets and the nuisance regressions of the effect estimators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TRUE_ATE = 1.0
PROPENSITY_COEF = np.array([1.0, -0.5, 0.25, 0.1])
OUTCOME_COEF = np.array([2.0, 1.0, 1.0, 1.0])


@dataclass
class TreatmentData:
    """Observed sample: ``z`` are the covariates that enter the mechanisms linearly."""

    z: np.ndarray
    w: np.ndarray
    t: np.ndarray
    y: np.ndarray


def distort(z: np.ndarray) -> np.ndarray:
    """Non-linear views of the covariates, as an analyst may record them by mistake."""
    w = np.empty_like(z)
    w[:, 0] = np.exp(z[:, 0] / 2.0)
    w[:, 1] = z[:, 1] / (1.0 + np.exp(z[:, 0]))
    w[:, 2] = (z[:, 0] * z[:, 2] / 5.0 + 0.6) ** 3
    w[:, 3] = (z[:, 1] + z[:, 3]) ** 2
    return w


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Logistic function."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def make_treatment_data(rng: np.random.Generator, n: int, gamma: float) -> TreatmentData:
    """Confounded sample with a constant additive effect ``TRUE_ATE``.

    ``gamma`` multiplies the propensity logit: the larger it is, the poorer the overlap of the
    treated and the control group. Draws covariates, treatment and noise in this order.
    """
    z = rng.standard_normal((n, 4))
    t = (rng.random(n) < sigmoid(gamma * (z @ PROPENSITY_COEF))).astype(float)
    y = TRUE_ATE * t + z @ OUTCOME_COEF + rng.standard_normal(n)
    return TreatmentData(z=z, w=distort(z), t=t, y=y)


def add_intercept(x: np.ndarray) -> np.ndarray:
    """Prepend a column of ones."""
    return np.column_stack([np.ones(x.shape[0]), x])


def fit_logistic(x: np.ndarray, t: np.ndarray, ridge: float = 1e-3, steps: int = 25) -> np.ndarray:
    """Newton's method for a logistic regression with intercept; returns fitted probabilities.

    ``ridge`` penalises the squared coefficients of the standardised columns (not the
    intercept), which keeps nearly separable samples finite.
    """
    design = add_intercept((x - x.mean(axis=0)) / x.std(axis=0))
    penalty = ridge * np.eye(design.shape[1])
    penalty[0, 0] = 0.0
    beta = np.zeros(design.shape[1])
    for _ in range(steps):
        p = sigmoid(design @ beta)
        gradient = design.T @ (t - p) - penalty @ beta
        hessian = (design * (p * (1.0 - p))[:, None]).T @ design + penalty
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if np.max(np.abs(step)) < 1e-10:
            break
    return sigmoid(design @ beta)


def fit_outcome(x: np.ndarray, t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """OLS of the outcome in each arm; predictions of Y(0) and Y(1) for all rows."""
    design = add_intercept(x)
    predictions = []
    for arm in (0.0, 1.0):
        rows = t == arm
        beta = np.linalg.lstsq(design[rows], y[rows], rcond=None)[0]
        predictions.append(design @ beta)
    return predictions[0], predictions[1]
