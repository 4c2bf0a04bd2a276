"""Samples for tests of the metric."""

import numpy as np
import pytest


@pytest.fixture
def two_of_many():
    """A maker of samples."""
    return make_two_of_many


def make_two_of_many(seed, n_samples=150, n_features=10):
    """Three classes that differ in the last two features only; the first ones vary most and are irrelevant."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3
    X = rng.normal(size=(n_samples, n_features)) * np.linspace(5, 1, n_features)
    middle = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    X[:, -2:] = middle[y] + rng.normal(size=(n_samples, 2))
    return X, y
