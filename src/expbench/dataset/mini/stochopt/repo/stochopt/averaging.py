"""Iterate averages that are kept beside the optimiser."""


class TailAverage:
    """Uniform mean of the iterates passed to ``update`` once ``start`` of them have gone by."""

    def __init__(self, start=0):
        self.start = int(start)
        self.seen = 0
        self.count = 0
        self.value = None

    def update(self, w):
        self.seen += 1
        if self.seen <= self.start:
            return
        self.count += 1
        if self.value is None:
            self.value = w.copy()
        else:
            self.value = self.value + (w - self.value) / self.count


class ExponentialAverage:
    """value <- decay * value + (1 - decay) * w, started at the first iterate."""

    def __init__(self, decay=0.99):
        self.decay = float(decay)
        self.value = None

    def update(self, w):
        if self.value is None:
            self.value = w.copy()
        else:
            self.value = self.decay * self.value + (1.0 - self.decay) * w
