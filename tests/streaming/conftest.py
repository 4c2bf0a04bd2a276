"""Rows for the tests of streams."""

import numpy as np
import pandas as pd
import pytest

from lvq import fit_batches
from lvq.persistence.files import to_bytes
from lvq.streaming import fitting


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


class Stop(Exception):
    """An interruption."""


@pytest.fixture
def interrupted(monkeypatch, tmp_path):
    """A function that breaks a run off after some batches and goes on: the bytes of its model, and undisturbed."""

    def both(make, batches, count, **settings):
        expected = to_bytes(fit_batches(make(), batches, **settings))
        learn, left = fitting._Run._learn, [count]

        def counted(self, X, y):
            left[0] -= 1
            if left[0] < 0:
                raise Stop
            learn(self, X, y)

        monkeypatch.setattr(fitting._Run, "_learn", counted)
        with pytest.raises(Stop):
            fit_batches(make(), batches, checkpoint=tmp_path / "run", **settings)
        monkeypatch.setattr(fitting._Run, "_learn", learn)
        return to_bytes(fit_batches(make(), batches, checkpoint=tmp_path / "run", **settings)), expected

    return both
