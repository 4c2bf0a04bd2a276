"""Samples in partitions as solvers use them: the numbers of rows are those of samples in memory."""

import numpy as np
import pytest

from lvq.model.arranged_partitions import rows_of_partitions
from lvq.model.partitions import PartitionedSamples, extent_of
from lvq.model.samples import ArraySamples, Block

dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def arranged(seed, sizes=(7, 1, 12, 5), n_classes=3):
    """The same samples in partitions and in memory; partitions may lack a class."""
    rng = np.random.default_rng(seed)
    blocks = [
        Block(rng.normal(size=(size, 2)), rng.integers(n_classes, size=size), rng.uniform(1, 2, size)) for size in sizes
    ]
    delayed = [dask.delayed(block, traverse=False) for block in blocks]
    samples = PartitionedSamples.of(delayed, [extent_of(block, n_classes) for block in blocks], np.dtype(float))
    whole = ArraySamples(*(np.concatenate(parts) for parts in zip(*blocks)))
    centre = whole.centre()
    return samples.arranged(centre), whole.arranged(centre)


def sums(block):
    return np.concatenate((block.weight @ block.X, [block.weight.sum(), block.weight @ block.y]))


@pytest.mark.parametrize("seed", range(5))
def test_chosen_rows_are_those_in_memory(seed):
    here, there = arranged(seed)
    for row in range(there.n_samples):
        rows = np.array([row])
        np.testing.assert_allclose(here.chosen(rows).reduce(sums, 3), there.chosen(rows).reduce(sums, 3), rtol=1e-12)
    rows = np.random.default_rng(seed).permutation(there.n_samples)[:11]
    some, expected = here.chosen(rows, 2.5), there.chosen(rows, 2.5)
    np.testing.assert_allclose(some.reduce(sums, 3), expected.reduce(sums, 3), rtol=1e-12)
    assert some.X.shape == expected.X.shape
    assert not some.in_memory
    fewer = np.array([0, 4, 10])  # of those chosen
    np.testing.assert_allclose(
        some.normalised().chosen(fewer).reduce(sums, 3), expected.normalised().chosen(fewer).reduce(sums, 3), rtol=1e-12
    )


def test_every_row_is_in_one_partition():
    counts = np.array([[3, 0, 2], [0, 0, 1], [4, 5, 0]])
    places, own = rows_of_partitions(counts, np.random.default_rng(0).permutation(15))
    assert places == [0, 1, 2]
    assert [part.tolist() for part in own] == [list(range(5)), [0], list(range(9))]


def test_partitions_without_a_chosen_row_are_left_out():
    here, _ = arranged(0)
    places, own = rows_of_partitions(here.counts, np.array([0]))
    assert len(places) == len(own) == 1
