"""Samples in partitions: sums in a fixed order, samples of each class, and rows with given moments."""

import numpy as np
import pytest

from lvq.model import partitions
from lvq.model.directions import _class_moments
from lvq.model.partitions import Moments, PartitionedSamples, extent_of, rows_of
from lvq.model.samples import ArraySamples, Block

dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def samples_of(n_partitions=20, rows=50, seed=0):
    rng = np.random.default_rng(seed)
    blocks = [
        Block(rng.normal(size=(rows, 3)), rng.integers(2, size=rows), rng.uniform(1, 2, size=rows))
        for _ in range(n_partitions)
    ]
    delayed = [dask.delayed(block, traverse=False) for block in blocks]
    whole = ArraySamples(*(np.concatenate(parts) for parts in zip(*blocks)))
    return PartitionedSamples.of(delayed, [extent_of(block, 2) for block in blocks], np.dtype(float)), whole


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


def test_all_samples_where_they_are_few():
    samples, whole = samples_of()
    random_state = np.random.RandomState(0)
    assert len(samples.sample(None, random_state).y) == len(whole.y)
    assert random_state.randint(2**31) == np.random.RandomState(0).randint(2**31)  # nothing was drawn


def test_single_samples_cannot_be_taken():
    with pytest.raises(TypeError, match="no index"):
        samples_of()[0].take(slice(3))
    with pytest.raises(TypeError, match="stay there"):
        samples_of()[0].arranged(np.zeros(3)).take(slice(3))


@pytest.mark.parametrize("seed", range(3))
def test_rows_have_the_moments(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=200)
    X = rng.normal(size=(200, 4)) * [1, 1e3, 1e-3, 0] + y[:, None]
    expected = Moments(*_class_moments(X, y, rng.uniform(size=200)))
    found = _class_moments(*rows_of(expected))
    deviation = np.maximum(np.sqrt(np.diag(expected.within)), 1e-6)  # of a constant feature only rounding
    np.testing.assert_allclose(found[0], expected.mass, rtol=1e-12)
    np.testing.assert_allclose(found[1], expected.means, rtol=1e-12)
    error = (found[2] - expected.within) / np.outer(deviation, deviation)
    assert np.abs(error).max() < 1e-9


@pytest.mark.parametrize("n_partitions", [1, 2, 3, 8, 9, 16, 17, 65])
def test_every_partition_is_counted_once(n_partitions):
    samples, _ = samples_of(n_partitions, rows=5)
    assert samples.reduce(lambda block: len(block.y), rows=2) == 5 * n_partitions


@pytest.mark.parametrize(("name", "most"), [("START_SAMPLES", 100), ("START_NUMBERS", 1000)])
def test_large_data_give_rows_with_their_moments_and_few_all_samples(name, most, monkeypatch):
    """Many samples of a class, or many numbers."""
    samples, whole = samples_of()
    assert len(samples.metric_rows().y) == len(whole.y)
    monkeypatch.setattr(partitions, name, most)
    rows = samples_of()[0].metric_rows()
    assert len(rows.y) < 100
    found, expected = _class_moments(*rows), _class_moments(whole.X, whole.y, whole.weight)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_the_typical_variance_is_that_of_arrays():
    """Within the classes and between their means."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=(4, 50))
    blocks = [
        Block(rng.normal(size=(50, 3)) + labels[:, None] * [5.0, 2.0, 0.0], labels, rng.uniform(1, 4, 50))
        for labels in y
    ]
    delayed = [dask.delayed(block, traverse=False) for block in blocks]
    samples = PartitionedSamples.of(delayed, [extent_of(block, 2) for block in blocks], np.dtype(float))
    whole = ArraySamples(*(np.concatenate(parts) for parts in zip(*blocks)))
    assert samples.typical_variance() == pytest.approx(whole.typical_variance(), rel=1e-9)
