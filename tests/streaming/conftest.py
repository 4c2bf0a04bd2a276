"""Rows for the tests of streams."""

import numpy as np
import pandas as pd
import pytest


def make_rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=count)
    centres = np.array([[0, 0, 5, 1], [4, 0, 5, 1], [0, 4, 5, 1]], dtype=float)
    return (centres[y] + rng.normal(size=(count, 4))) * [1, 10, 0.1, 1], y


@pytest.fixture
def rows():
    return make_rows(1000)


@pytest.fixture
def frame(rows):
    X, y = rows
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=np.array(["x", "y", "z"])[y])
