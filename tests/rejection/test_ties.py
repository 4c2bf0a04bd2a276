"""Samples at the threshold: comparison in steps, and draws from the rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from lvq.rejection.ties import BITS, draws, in_steps, lower_edge


@pytest.mark.parametrize("scale", [1e-30, 1.0, -3.0, 1e20])
def test_steps_and_their_edges(scale):
    values = scale * (1 + np.random.default_rng(0).random(10_000))
    steps = in_steps(values)
    np.testing.assert_allclose(steps, values, rtol=2.0**-BITS)
    assert (values >= lower_edge(steps)).all()  # a threshold at the edge accepts what is rounded to the step
    assert (in_steps(lower_edge(steps) - np.abs(values) * 2.0 ** -(BITS + 1)) < steps).all()
    assert np.array_equal(in_steps(steps), steps)


def test_values_without_steps():
    assert in_steps(np.array([0.0, -0.0])).tobytes() == np.zeros(2).tobytes()
    limits = np.array([-np.inf, np.inf])
    assert np.array_equal(lower_edge(limits), limits)


def test_draws_are_even_and_belong_to_the_row():
    X = np.random.default_rng(0).integers(0, 2, (3000, 20)).astype(float)
    drawn = draws(X, np.arange(3000))
    assert abs(np.mean(drawn < 0.3) - 0.3) < 0.04
    assert np.array_equal(draws(X, np.arange(0, 3000, 7)), drawn[::7])  # nearly all rows are different
    same = draws(np.ones((1000, 3)), np.arange(1000))
    for fraction in (0.1, 0.5, 0.9):
        assert abs(np.mean(same < fraction) - fraction) < 0.005


def test_draws_of_any_table():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    rows = np.arange(3)
    expected = draws(X, rows)
    assert np.array_equal(draws(csr_array(X), rows), expected)
    assert np.array_equal(draws(pd.DataFrame(X), rows), expected)
    assert np.array_equal(draws(X.tolist(), rows), expected)
    assert np.array_equal(draws(X * (1 + 1e-12), rows), expected)  # rounding errors do not matter
    texts = draws(pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 1]}), rows)
    assert len(set(texts)) == 3
