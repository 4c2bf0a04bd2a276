"""Samples in memory: sums over blocks in a fixed order, draws, and the arrangement for solvers."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from lvq.model import samples as samples_module
from lvq.model.samples import ArraySamples, median_variance


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return ArraySamples(rng.normal(size=(101, 3)), rng.integers(0, 3, 101), rng.uniform(0.5, 2.0, 101))


def test_size(samples):
    assert (samples.n_samples, samples.n_features) == (101, 3)


@pytest.mark.parametrize("rows", [1, 10, 100, 101, 1000])
def test_every_sample_is_in_one_block_in_the_given_order(samples, rows):
    """Lists are concatenated by `+`, so the sum is the list of all rows."""
    found = samples.reduce(lambda block: [tuple(row) for row in np.column_stack(block)], rows)
    assert found == [tuple(row) for row in np.column_stack((samples.X, samples.y, samples.weight))]


def test_blocks_have_the_given_size(samples):
    assert samples.reduce(lambda block: [len(block.y)], 40) == [40, 40, 21]


def test_the_sum_does_not_depend_on_threads():
    """A sum of numbers of very different size depends on their order; every other block is finished late here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64, 1)) * 10.0 ** rng.integers(-8, 8, (64, 1))
    samples = ArraySamples(X, np.arange(64), np.ones(64))

    def slow_sum(block):
        time.sleep(0.002 * (block.y[0] % 2))
        return block.X.sum()

    alone = samples.reduce(slow_sum, 3)
    backwards = sum(reversed([samples.X[begin : begin + 3].sum() for begin in range(0, 64, 3)]))
    assert alone != backwards
    with ThreadPoolExecutor(4) as pool:
        assert {samples.reduce(slow_sum, 3, pool.map) for _ in range(3)} == {alone}


def test_a_draw_is_without_replacement_and_in_the_order_of_the_samples(samples):
    drawn = samples.sample(20, np.random.RandomState(0))
    rows = [np.flatnonzero((x == samples.X).all(axis=1))[0] for x in drawn.X]
    assert rows == sorted(set(rows))
    assert len(rows) == 20
    np.testing.assert_array_equal(drawn.y, samples.y[rows])
    np.testing.assert_array_equal(drawn.weight, samples.weight[rows])


@pytest.mark.parametrize("count", [None, 101, 500])
def test_a_draw_of_all_samples_uses_no_random_number(samples, count):
    drawn = samples.sample(count, random_state=None)
    assert drawn.X is samples.X
    assert drawn.y is samples.y
    assert drawn.weight is samples.weight


def test_arranged():
    """Class by class, relative to the centre, weights of sum one; the order within a class is kept."""
    X = np.arange(12.0).reshape(6, 2)
    y, weight = np.array([2, 0, 1, 0, 2, 1]), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    arranged = ArraySamples(X, y, weight).arranged(np.array([1.0, 2.0]))
    order = [1, 3, 2, 5, 0, 4]
    np.testing.assert_array_equal(arranged.y, [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(arranged.X, X[order] - [1.0, 2.0])
    np.testing.assert_allclose(arranged.weight, weight[order] / 20)
    assert arranged.X.flags.c_contiguous
    np.testing.assert_array_equal(X, np.arange(12.0).reshape(6, 2))


def test_arranged_weights_have_the_type_of_the_samples():
    samples = ArraySamples(np.ones((4, 2), dtype=np.float32), np.zeros(4, dtype=int), np.ones(4))
    assert samples.arranged(np.zeros(2, dtype=np.float32)).weight.dtype == np.float32


def test_moved_samples(samples):
    moved = samples.to(lambda array: array[::-1])
    np.testing.assert_array_equal(moved.X, samples.X[::-1])
    np.testing.assert_array_equal(moved.y, samples.y[::-1])
    np.testing.assert_array_equal(moved.weight, samples.weight[::-1])


@pytest.mark.parametrize("kind", ["array", "sparse", "tensor"])
def test_the_typical_variance_is_the_median_of_the_features(kind):
    X = np.random.default_rng(0).normal(size=(50, 5)) * [1, 2, 3, 4, 0] + [0, 0, 5, 0, 7]
    weight = np.arange(1.0, 51.0)
    mean = weight @ X / weight.sum()
    expected = np.median((weight @ (X - mean) ** 2 / weight.sum())[:4])
    given = {"array": lambda: X, "sparse": lambda: sparse.csr_array(X), "tensor": lambda: tensor(X)}[kind]()
    weights = tensor(weight) if kind == "tensor" else weight
    found = ArraySamples(given, np.zeros(50, dtype=int), weights).typical_variance()
    assert found == pytest.approx(expected, rel=1 / 256)
    assert ArraySamples(given * 2.0**-10, np.zeros(50, dtype=int), weights).typical_variance() == found * 2.0**-20


def tensor(array):
    return pytest.importorskip("torch").tensor(array)


def test_the_median_variance_counts_features_that_vary():
    assert median_variance(np.array([4.0, 0.0, 0.0, 1e-40])) == 4.0
    assert median_variance(np.zeros(3)) == median_variance(np.zeros(0)) == 1.0


@pytest.mark.parametrize("kind", ["array", "sparse", "tensor"])
def test_thinned_samples_are_every_kth_where_there_are_many(kind, monkeypatch):
    monkeypatch.setattr(samples_module, "THINNED", 10)
    X, y, weight = np.arange(70.0).reshape(35, 2), np.arange(35) % 3, np.arange(1.0, 36.0)
    given = {"array": lambda: X, "sparse": lambda: sparse.csr_array(X), "tensor": lambda: tensor(X)}[kind]()
    some = ArraySamples(given, y, weight).thinned()
    values = some.X.toarray() if kind == "sparse" else np.asarray(some.X)
    np.testing.assert_array_equal(values, X[::3])
    np.testing.assert_array_equal(some.y, y[::3])
    np.testing.assert_array_equal(some.weight, weight[::3])
    assert ArraySamples(X[:19], y[:19], weight[:19]).thinned().n_samples == 19


@pytest.mark.parametrize("kind", ["array", "tensor"])
@pytest.mark.parametrize("numbers", [1, 8, 2**20])
def test_arranged_in_float32_is_rounded_after_the_centre_is_subtracted(kind, numbers, monkeypatch):
    monkeypatch.setattr(samples_module, "BLOCK", numbers)
    monkeypatch.setattr(samples_module, "ON_DEVICE", 1)
    X = 1e9 + np.random.default_rng(0).normal(size=(7, 3))
    y, weight, centre = np.array([1, 0, 1, 0, 2, 2, 0]), np.arange(1.0, 8.0), np.full(3, 1e9)
    place = tensor if kind == "tensor" else np.asarray
    found = ArraySamples(place(X), place(y), place(weight)).arranged(place(centre), single=True)
    np.testing.assert_array_equal(np.asarray(found.X), (X[[1, 3, 6, 0, 2, 4, 5]] - centre).astype(np.float32))
    assert np.asarray(found.weight).dtype == np.float32
