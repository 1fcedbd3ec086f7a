"""Tests of the treatment data and its nuisance regressions."""

import numpy as np

from semscale.treatment import (
    OUTCOME_COEF,
    PROPENSITY_COEF,
    TRUE_ATE,
    distort,
    fit_logistic,
    fit_outcome,
    make_treatment_data,
    sigmoid,
)


def test_shapes_and_views():
    s = make_treatment_data(np.random.default_rng(0), 50, 1.0)
    assert s.z.shape == s.w.shape == (50, 4)
    assert set(np.unique(s.t)) <= {0.0, 1.0}
    assert np.allclose(s.w, distort(s.z))


def test_logistic_regression_recovers_the_propensity():
    s = make_treatment_data(np.random.default_rng(1), 20000, 1.0)
    e = fit_logistic(s.z, s.t)
    assert np.max(np.abs(e - sigmoid(s.z @ PROPENSITY_COEF))) < 0.05


def test_outcome_regression_recovers_the_surface():
    s = make_treatment_data(np.random.default_rng(2), 20000, 0.5)
    m0, m1 = fit_outcome(s.z, s.t, s.y)
    assert np.max(np.abs(m0 - s.z @ OUTCOME_COEF)) < 0.2
    assert abs(np.mean(m1 - m0) - TRUE_ATE) < 0.1
