"""Samples for several tests: Table 1 of the paper, and small random cells with and without ties."""

import numpy as np
import pytest

from lvq import GLVQ
from tests.rejection.populations import QUICK, draw


@pytest.fixture(scope="session")
def data():
    return draw(600)


@pytest.fixture(scope="session")
def model(data):
    return GLVQ(n_prototypes=2, **QUICK).fit(*data)


@pytest.fixture
def table_1():
    """Samples whose staircases are those of Table 1: each correct sample is followed by the errors it gains."""
    certainty, correct, cell = [], [], []
    for index, gains in enumerate(([3, 1, 2, 3], [2, 1, 3], [1, 1, 8, 10]), start=1):
        flags = [flag for gain in gains for flag in [True] + [False] * gain]
        certainty += np.linspace(0, 1, len(flags)).tolist()
        correct += flags
        cell += [f"V{index}"] * len(flags)
    return np.array(certainty), np.array(correct), np.array(cell)


@pytest.fixture
def random_samples():
    """A function of a seed: a few small cells, some of them without errors or without correct samples."""

    def draw(seed, *, ties, n_cells=3, largest=7):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, largest + 1, n_cells)
        n = int(sizes.sum())
        certainty = rng.integers(0, 4, n) / 4 if ties else rng.permutation(n) / n
        correct = rng.random(n) < rng.choice([0.0, 0.3, 0.7, 1.0], n_cells, p=[0.1, 0.4, 0.4, 0.1]).repeat(sizes)
        return certainty, correct, np.arange(n_cells).repeat(sizes)

    return draw
