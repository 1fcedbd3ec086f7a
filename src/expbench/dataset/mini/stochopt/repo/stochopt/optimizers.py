"""First-order update rules. ``step(w, grad, lr)`` returns the next iterate."""

import numpy as np


class SGD:
    """Plain stochastic gradient descent."""

    def reset(self, shape):
        """Forget all state; ``shape`` is that of the iterate."""

    def step(self, w, grad, lr):
        return w - lr * grad


class HeavyBall(SGD):
    """Polyak momentum: v <- momentum * v + g, w <- w - lr * v."""

    def __init__(self, momentum=0.9):
        self.momentum = float(momentum)

    def reset(self, shape):
        self.velocity = np.zeros(shape)

    def step(self, w, grad, lr):
        self.velocity = self.momentum * self.velocity + grad
        return w - lr * self.velocity


class Nesterov(HeavyBall):
    """Nesterov momentum in its gradient form: w <- w - lr * (g + momentum * v)."""

    def step(self, w, grad, lr):
        self.velocity = self.momentum * self.velocity + grad
        return w - lr * (grad + self.momentum * self.velocity)


class AdaGrad(SGD):
    """Diagonal AdaGrad without decay of the accumulator."""

    def __init__(self, eps=1e-8):
        self.eps = float(eps)

    def reset(self, shape):
        self.accumulator = np.zeros(shape)

    def step(self, w, grad, lr):
        self.accumulator = self.accumulator + grad * grad
        return w - lr * grad / (np.sqrt(self.accumulator) + self.eps)


class Adam(SGD):
    """Adam with bias correction."""

    def __init__(self, beta1=0.9, beta2=0.999, eps=1e-8):
        self.beta1 = float(beta1)
        self.beta2 = float(beta2)
        self.eps = float(eps)

    def reset(self, shape):
        self.mean = np.zeros(shape)
        self.square = np.zeros(shape)
        self.count = 0

    def step(self, w, grad, lr):
        self.count += 1
        self.mean = self.beta1 * self.mean + (1.0 - self.beta1) * grad
        self.square = self.beta2 * self.square + (1.0 - self.beta2) * grad * grad
        mean = self.mean / (1.0 - self.beta1**self.count)
        square = self.square / (1.0 - self.beta2**self.count)
        return w - lr * mean / (np.sqrt(square) + self.eps)


_REGISTRY = {
    "sgd": SGD,
    "heavy_ball": HeavyBall,
    "nesterov": Nesterov,
    "adagrad": AdaGrad,
    "adam": Adam,
}


def build_optimizer(name, **options):
    """Look an update rule up by name, e.g. ``build_optimizer("adam", beta2=0.99)``."""
    try:
        return _REGISTRY[name](**options)
    except KeyError:
        raise ValueError(f"unknown optimizer {name!r}; known: {sorted(_REGISTRY)}") from None
