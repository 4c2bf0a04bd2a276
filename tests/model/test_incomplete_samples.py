"""Samples with missing values, filled for starts."""

import numpy as np

from lvq.model.incomplete_samples import filled

NAN = np.nan


def test_a_missing_value_becomes_the_weighted_mean_of_its_class():
    X = np.array([[1.0, NAN, NAN], [4.0, 2.0, NAN], [NAN, 6.0, NAN], [7.0, NAN, NAN], [NAN, NAN, NAN]])
    y, weight = np.array([0, 0, 0, 1, 1]), np.array([2.0, 1.0, 3.0, 2.0, 5.0])
    result = filled(X, y, weight)
    observed = ~np.isnan(X)
    np.testing.assert_array_equal(result[observed], X[observed])
    assert result[2, 0] == (2 * 1 + 1 * 4) / 3
    assert result[0, 1] == (1 * 2 + 3 * 6) / 4
    assert result[4, 0] == 7.0
    assert result[3, 1] == result[4, 1] == (1 * 2 + 3 * 6) / 4  # no value in this class: that of all classes
    assert (result[:, 2] == 0).all()  # no value at all
    np.testing.assert_array_equal(np.isnan(X), ~observed)  # the given samples stay as they are


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 4)), np.arange(30) % 3, rng.integers(1, 5, 30)
    X[rng.random(X.shape) < 0.4] = NAN
    copies = filled(X.repeat(weight, axis=0), y.repeat(weight), np.ones(weight.sum()))
    np.testing.assert_allclose(filled(X, y, weight.astype(float)).repeat(weight, axis=0), copies, rtol=1e-12)
