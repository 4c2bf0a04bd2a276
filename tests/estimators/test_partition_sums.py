"""Samples in partitions: sums in a fixed order, samples of each class, and the moments of arrays."""

import numpy as np
import pytest

from lvq.estimators import partitions
from lvq.estimators.partitions import Partitions, _indexed
from lvq.model.samples import ArraySamples, class_moments, typical_variance

dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def samples_of(n_partitions=20, rows=50, seed=0, spread=0.0):
    """Samples of two classes, in partitions and in memory; class means differ by a spread."""
    rng, blocks = np.random.default_rng(seed), []
    for _ in range(n_partitions):
        y = rng.integers(2, size=rows)
        X = rng.normal(size=(rows, 3)) + spread * y[:, None] * [5.0, 2.0, 0.0]
        blocks.append(ArraySamples(X, y, rng.uniform(1, 2, size=rows)))
    extents = tuple(_indexed(block, np.arange(2), np.ones(2))[1] for block in blocks)
    delayed = tuple(dask.delayed(block, traverse=False) for block in blocks)
    whole = ArraySamples(*(np.concatenate(parts) for parts in zip(*blocks)))
    return Partitions(delayed, extents, np.dtype(float)), whole


def test_sums_in_a_fixed_tree():
    samples, whole = samples_of()

    def total(block):
        return block.weight @ block.X

    found = samples.reduce(total, rows=7)
    np.testing.assert_allclose(found, whole.reduce(total, rows=7), rtol=1e-12)
    with dask.config.set(scheduler="threads"):
        assert all(np.array_equal(samples.reduce(total, rows=7), found) for _ in range(5))


def test_centre_and_arrangement_are_those_of_arrays():
    samples, whole = samples_of()
    centre = samples.centre()
    np.testing.assert_array_equal(centre, whole.centre())
    here, there = samples.arranged(centre), whole.arranged(centre)
    for function in (lambda block: block.weight.sum(), lambda block: block.weight @ block.X):
        np.testing.assert_allclose(here.reduce(function, 10), there.reduce(function, 10), atol=1e-12)
    assert here.reduce(lambda block: int((np.diff(block.y) < 0).sum()), 50) == 0  # class by class in each partition


def test_a_stratified_sample(monkeypatch):
    monkeypatch.setattr(partitions, "START_SAMPLES", 100)
    samples, whole = samples_of()
    drawn = samples.sample(None, np.random.RandomState(0))
    assert np.bincount(drawn.y).tolist() == [100, 100]
    rows = {row.tobytes() for row in drawn.X}
    assert len(rows) == 200
    assert rows <= {row.tobytes() for row in whole.X}
    again = samples.sample(None, np.random.RandomState(0))
    np.testing.assert_array_equal(drawn.X, again.X)
    assert len(samples.sample(17, np.random.RandomState(0)).y) == 17


def test_moments_and_the_typical_variance_are_those_of_arrays():
    """Within the classes and between their means."""
    samples, whole = samples_of(4, spread=1.0)
    for ours, theirs in zip(class_moments(samples), class_moments(whole)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    assert typical_variance(samples) == pytest.approx(typical_variance(whole), rel=1e-9)
