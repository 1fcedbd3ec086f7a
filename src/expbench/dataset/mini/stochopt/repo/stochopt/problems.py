"""Objective functions: a noisy quadratic model and two finite sums."""

import numpy as np


class NoisyQuadratic:
    """Diagonal quadratic 0.5 * sum_i h_i w_i^2 with additive gradient noise.

    The gradient noise is Gaussian with covariance ``noise_std**2 * H / batch_size``, the
    usual model of mini-batch noise near a minimum (noise aligned with the curvature).

    Args:
        eigenvalues: curvatures h_i, shape (dim,).
        noise_std: per-example noise level sigma.
    """

    def __init__(self, eigenvalues, noise_std=1.0):
        self.eigenvalues = np.asarray(eigenvalues, dtype=float)
        if np.any(self.eigenvalues <= 0.0):
            raise ValueError("eigenvalues must be positive")
        self.noise_std = float(noise_std)

    @property
    def dim(self):
        return self.eigenvalues.size

    @classmethod
    def power_law(cls, dim, exponent=1.0, noise_std=1.0):
        """Spectrum h_i = i**(-exponent), i = 1..dim, so that the largest curvature is 1."""
        return cls(np.arange(1, dim + 1, dtype=float) ** (-exponent), noise_std)

    def initial_point(self, replicas):
        """Start at w_i = 1 / sqrt(h_i): every direction contributes 0.5 to the loss."""
        return np.tile(1.0 / np.sqrt(self.eigenvalues), (replicas, 1))

    def loss(self, w):
        """Noise-free loss of each replica, shape (replicas,)."""
        return 0.5 * np.sum(self.eigenvalues * w * w, axis=1)

    def gradient(self, w, batch_size, rng):
        """One stochastic gradient for each replica."""
        scale = self.noise_std * np.sqrt(self.eigenvalues / batch_size)
        return self.eigenvalues * w + scale * rng.standard_normal(w.shape)


class LeastSquares:
    """f(w) = 1/(2n) * sum_i (a_i' w - b_i)^2."""

    def __init__(self, a, b):
        self.a = np.asarray(a, dtype=float)
        self.b = np.asarray(b, dtype=float)

    @property
    def n(self):
        return self.a.shape[0]

    @property
    def dim(self):
        return self.a.shape[1]

    def smoothness(self):
        """Largest smoothness constant of a single summand, max_i ||a_i||^2."""
        return float(np.max(np.sum(self.a**2, axis=1)))

    def loss(self, w):
        """Full objective of each replica, shape (replicas,)."""
        residual = w @ self.a.T - self.b
        return 0.5 * np.mean(residual**2, axis=1)

    def full_gradient(self, w):
        return (w @ self.a.T - self.b) @ self.a / self.n

    def sample_gradient(self, w, index):
        """Gradient of summand index[r] at w[r] for each replica r."""
        rows = self.a[index]
        residual = np.einsum("rd,rd->r", rows, w) - self.b[index]
        return rows * residual[:, None]

    def minimiser(self):
        return np.linalg.lstsq(self.a, self.b, rcond=None)[0]


class LogisticRegression:
    """Mean logistic loss with labels in {-1, +1} and a ridge term 0.5 * lam * ||w||^2."""

    def __init__(self, x, y, lam):
        self.x = np.asarray(x, dtype=float)
        self.y = np.asarray(y, dtype=float)
        self.lam = float(lam)

    @property
    def n(self):
        return self.x.shape[0]

    @property
    def dim(self):
        return self.x.shape[1]

    def smoothness(self):
        """Largest smoothness constant of a single summand, max_i ||x_i||^2 / 4 + lam."""
        return float(0.25 * np.max(np.sum(self.x**2, axis=1)) + self.lam)

    def loss(self, w):
        margin = (w @ self.x.T) * self.y
        return np.mean(np.logaddexp(0.0, -margin), axis=1) + 0.5 * self.lam * np.sum(w * w, axis=1)

    def full_gradient(self, w):
        margin = (w @ self.x.T) * self.y
        weight = -self.y / (1.0 + np.exp(margin))
        return weight @ self.x / self.n + self.lam * w

    def sample_gradient(self, w, index):
        """Gradient of summand index[r] (ridge term included) at w[r] for each replica r."""
        rows = self.x[index]
        labels = self.y[index]
        margin = np.einsum("rd,rd->r", rows, w) * labels
        weight = -labels / (1.0 + np.exp(margin))
        return rows * weight[:, None] + self.lam * w

    def minimiser(self, steps=50):
        """Newton's method from zero; the problem is smooth and strongly convex."""
        w = np.zeros((1, self.dim))
        for _ in range(steps):
            gradient = self.full_gradient(w)[0]
            p = 1.0 / (1.0 + np.exp(-(w[0] @ self.x.T)))
            hessian = (self.x.T * (p * (1.0 - p))) @ self.x / self.n + self.lam * np.eye(self.dim)
            step = np.linalg.solve(hessian, gradient)
            w = w - step
            if np.linalg.norm(step) < 1e-13:
                break
        return w[0]


def _features(n, dim, condition, rng):
    """Gaussian features whose coordinate variances fall log-linearly from 1 to 1/condition."""
    scales = np.sqrt(np.logspace(0.0, -np.log10(condition), dim))
    return rng.standard_normal((n, dim)) * scales


def make_least_squares(n, dim, condition=10.0, noise=0.5, seed=0):
    """Linear model b = A w0 + noise * eps with w0 = (1, ..., 1)."""
    rng = np.random.default_rng(seed)
    a = _features(n, dim, condition, rng)
    b = a @ np.ones(dim) + noise * rng.standard_normal(n)
    return LeastSquares(a, b)


def make_logistic(n, dim, condition=10.0, lam=1e-2, flip=0.1, seed=0):
    """Linear classifier w0 = (1, ..., 1) whose labels are flipped with probability ``flip``."""
    rng = np.random.default_rng(seed)
    x = _features(n, dim, condition, rng)
    y = np.where(x @ np.ones(dim) >= 0.0, 1.0, -1.0)
    y = np.where(rng.random(n) < flip, -y, y)
    return LogisticRegression(x, y, lam)
