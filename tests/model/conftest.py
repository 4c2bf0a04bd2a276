"""Samples for tests of the metric."""

import numpy as np
import pytest


@pytest.fixture
def two_of_many():
    """A maker of three classes that differ in the last two features only; the first vary most and are irrelevant."""

    def make(seed, n_samples=150, n_features=10):
        rng = np.random.default_rng(seed)
        y = np.arange(n_samples) % 3
        X = rng.normal(size=(n_samples, n_features)) * np.linspace(5, 1, n_features)
        X[:, -2:] = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])[y] + rng.normal(size=(n_samples, 2))
        return X, y

    return make
