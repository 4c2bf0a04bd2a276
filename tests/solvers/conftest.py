"""Samples for tests of the batch solvers."""

import numpy as np
import pytest


@pytest.fixture(scope="package")
def data():
    """Three overlapping classes, four features of which the last is noise, in no order."""
    rng = np.random.default_rng(7)
    y = rng.permutation(np.arange(90) % 3)
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), y
