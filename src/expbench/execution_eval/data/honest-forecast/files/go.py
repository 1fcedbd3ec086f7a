import numpy as np

from shiftcast.backtest import rolling_origin
from shiftcast.models import create
from shiftcast.series import SeriesSpec, make_series

rng = np.random.default_rng(31)
panel = [make_series("level", SeriesSpec(), rng) for _ in range(12)]
for name in ("snaive", "sdrift", "holtwinters", "ar"):
    try:
        model = create(name)
    except Exception as error:
        print(name, error)
        continue
    for h in (1, 12):
        errors = [rolling_origin(s, lambda: create(name), (200, 230, 260), 12).scaled_errors()[:, h - 1].mean() for s in panel]
        print(f"{name:15s} h={h:2d} MASE {np.mean(errors):.3f}")
