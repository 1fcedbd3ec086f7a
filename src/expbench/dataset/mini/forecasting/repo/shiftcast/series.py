"""Synthetic monthly series with a trend, a season, autocorrelated noise and one break.

Every series is ``level + trend + season + noise``. The four kinds differ only in what
happens at the break: nothing (``stable``), a jump of the level (``level``), a change of
the slope (``slope``) or a rotation of the seasonal profile (``season``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KINDS = ("stable", "level", "slope", "season")


@dataclass(frozen=True)
class SeriesSpec:
    """Size and signal parameters shared by all series of a panel."""

    length: int = 300
    period: int = 12
    break_at: int = 180
    level: float = 100.0
    slope: float = 0.10
    season_amplitude: float = 8.0
    noise_sd: float = 2.0
    noise_ar: float = 0.5
    jump: float = 20.0
    slope_change: float = 0.40
    season_shift: int = 3


def seasonal_profile(rng: np.random.Generator, period: int, amplitude: float) -> np.ndarray:
    """Zero-mean profile: one annual sine plus a weaker second harmonic, random phases."""
    phases = rng.uniform(0.0, 2.0 * np.pi, size=2)
    angle = 2.0 * np.pi * np.arange(period) / period
    profile = np.sin(angle + phases[0]) + 0.4 * np.sin(2.0 * angle + phases[1])
    return amplitude * (profile - profile.mean())


def ar1_noise(rng: np.random.Generator, length: int, sd: float, phi: float) -> np.ndarray:
    """Stationary AR(1) noise with innovation standard deviation ``sd``."""
    shocks = rng.normal(0.0, sd, size=length)
    noise = np.empty(length)
    noise[0] = shocks[0] / np.sqrt(1.0 - phi**2)
    for t in range(1, length):
        noise[t] = phi * noise[t - 1] + shocks[t]
    return noise


def make_series(kind: str, spec: SeriesSpec, rng: np.random.Generator) -> np.ndarray:
    """Draw one series of the given kind.

    The direction of a level jump or slope change is a fair coin flip per series.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}, expected one of {KINDS}")
    profile = seasonal_profile(rng, spec.period, spec.season_amplitude)
    noise = ar1_noise(rng, spec.length, spec.noise_sd, spec.noise_ar)
    sign = 1.0 if rng.random() < 0.5 else -1.0
    t = np.arange(spec.length)
    after = t >= spec.break_at
    season = profile[t % spec.period]
    signal = spec.level + spec.slope * t
    if kind == "level":
        signal = signal + sign * spec.jump * after
    elif kind == "slope":
        signal = signal + sign * spec.slope_change * np.maximum(t - spec.break_at, 0)
    elif kind == "season":
        season = np.where(after, profile[(t + spec.season_shift) % spec.period], season)
    return signal + season + noise


def make_panel(kind: str, n_series: int, spec: SeriesSpec, seed: int) -> np.ndarray:
    """Stack ``n_series`` independent series as rows; series ``i`` uses ``[seed, i]``.

    Panels of different kinds but equal seed share profiles and noise, so kinds can be
    compared series by series.
    """
    rows = [make_series(kind, spec, np.random.default_rng([seed, i])) for i in range(n_series)]
    return np.stack(rows)
