"""shiftcast: simple forecasters, synthetic breaks and rolling-origin evaluation."""

from shiftcast.backtest import Backtest, rolling_origin
from shiftcast.models import available, create
from shiftcast.series import KINDS, SeriesSpec, make_panel

__all__ = [
    "KINDS",
    "Backtest",
    "SeriesSpec",
    "available",
    "create",
    "make_panel",
    "rolling_origin",
]
__version__ = "0.2.0"
