"""Samples in memory: sums in a fixed order, draws, the arrangement for solvers, moments, and missing values."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import numpy as np
import pytest
from scipy import sparse

from lvq.model import samples as samples_module
from lvq.model.samples import (
    ArraySamples,
    FeatureMoments,
    class_means,
    class_moments,
    filled,
    typical_variance,
    with_values,
)


def placed(kind, array):
    """As an array, sparse rows or a tensor; what has one axis is an array beside sparse rows."""
    if kind == "tensor":
        return pytest.importorskip("torch").tensor(array)
    return sparse.csr_array(array) if kind == "sparse" and array.ndim == 2 else array


every_kind = pytest.mark.parametrize("kind", ["array", "sparse", "tensor"])


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return ArraySamples(rng.normal(size=(101, 3)), rng.integers(0, 3, 101), rng.uniform(0.5, 2.0, 101))


@pytest.mark.parametrize("rows", [1, 100, 1000])
def test_every_sample_is_in_one_block_in_the_given_order(samples, rows):
    """Lists are concatenated by `+`, so the sum is the list of all rows."""
    found = samples.reduce(lambda block: [tuple(row) for row in np.column_stack(block)], rows)
    assert found == [tuple(row) for row in np.column_stack((samples.X, samples.y, samples.weight))]
    assert max(samples.reduce(lambda block: [len(block.y)], rows)) == min(rows, 101)


def test_the_sum_does_not_depend_on_threads(monkeypatch):
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
        monkeypatch.setattr(samples_module, "block_map", ContextVar("map", default=pool.map))
        assert {samples.reduce(slow_sum, 3) for _ in range(3)} == {alone}


def test_a_draw_is_without_replacement_and_in_the_order_of_the_samples(samples):
    drawn = samples.sample(20, np.random.RandomState(0))
    rows = [np.flatnonzero((x == samples.X).all(axis=1))[0] for x in drawn.X]
    assert rows == sorted(set(rows))
    assert len(rows) == 20
    np.testing.assert_array_equal(drawn.y, samples.y[rows])
    np.testing.assert_array_equal(drawn.weight, samples.weight[rows])


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


@every_kind
def test_the_typical_variance_is_the_median_of_the_features(kind):
    X = np.random.default_rng(0).normal(size=(50, 5)) * [1, 2, 3, 4, 0] + [0, 0, 5, 0, 7]
    weight = np.arange(1.0, 51.0)
    mean = weight @ X / weight.sum()
    expected = np.median((weight @ (X - mean) ** 2 / weight.sum())[:4])
    given, weights = placed(kind, X), placed(kind, weight)
    found = typical_variance(ArraySamples(given, np.zeros(50, dtype=int), weights))
    assert found == pytest.approx(expected, rel=1 / 256)
    assert typical_variance(ArraySamples(given * 2.0**-10, np.zeros(50, dtype=int), weights)) == found * 2.0**-20


def incomplete(rng, count, n_features, fraction=0.3):
    """Samples of which about a fraction of the values is missing; the first has none, the second nothing else."""
    X = rng.normal(size=(count, n_features)) * 1.5
    X[rng.random(X.shape) < fraction] = np.nan
    X[0], X[1] = rng.normal(size=n_features), np.nan
    return X


@every_kind
def test_class_moments_are_their_definition(kind):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 4)) * [1, 1e3, 1e-3, 0], rng.integers(0, 3, 60), rng.uniform(0.5, 2, 60)
    means = np.array([np.average(X[y == k], axis=0, weights=weight[y == k]) for k in range(3)])
    residual = X - means[y]
    samples = ArraySamples(*(placed(kind, part) for part in (X, y, weight)))
    expected = np.bincount(y, weight), means, (residual.T * weight) @ residual / weight.sum()
    for ours, theirs in zip((*class_moments(samples), *class_means(samples)), (*expected, *expected[:2])):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


# -- missing values ----------------------------------------------------------------------------------------------------


def test_filled_by_class_means_then_overall_means_then_the_default():
    nan = np.nan
    X = np.array([[1.0, nan, nan], [nan, nan, nan], [5.0, 4.0, nan], [7.0, nan, nan]])
    samples = ArraySamples(X, np.array([0, 0, 1, 1]), np.ones(4))
    assert filled(samples).X.tolist() == [[1, 4, 0], [1, 4, 0], [5, 4, 0], [7, 4, 0]]
    assert filled(samples, np.full(3, 9.0)).X[:, 2].tolist() == [9] * 4
    assert np.isnan(X).sum() == 8  # the samples given stay as they are
    complete = ArraySamples(np.ones((2, 2)), np.zeros(2, dtype=int), np.ones(2))
    assert filled(complete) is complete


def test_rows_without_any_value_are_left_out_unless_their_class_has_no_others():
    nan = np.nan
    X = np.array([[nan, nan], [1.0, nan], [nan, nan], [nan, nan]])
    assert with_values(X, np.array([0, 0, 1, 0])).tolist() == [False, True, True, False]


def test_weights_of_variances_and_means_are_copies():
    rng = np.random.default_rng(0)
    X, y, copies = incomplete(rng, 30, 4), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    many = ArraySamples(X.repeat(copies, 0), y.repeat(copies), np.ones(copies.sum()))
    ours, theirs = FeatureMoments.of(ArraySamples(X, y, copies)), FeatureMoments.of(many)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.variances(), np.nanvar(many.X, axis=0), rtol=1e-12)
    weighted = filled(ArraySamples(X, y, copies.astype(float))).X.repeat(copies, 0)
    np.testing.assert_allclose(weighted, filled(many).X, rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments_of_batches_are_those_of_all_samples(offset):
    """Also far from the origin, and where a batch has no value of a feature."""
    rng = np.random.default_rng(0)
    X, weight = incomplete(rng, 40, 4) + offset, rng.uniform(0.5, 2, 40)
    X[:10, 2] = np.nan
    samples = ArraySamples(X, np.zeros(40, int), weight)
    first, *rest = (FeatureMoments.of(samples.take(part)) for part in (slice(10), slice(10, 11), slice(11, 40)))
    for batch in rest:
        first = first + batch
    for ours, theirs in zip(first, FeatureMoments.of(samples)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7 if offset else 1e-12)


def test_the_centre_of_samples_ignores_missing_values():
    X = np.array([[1000.0, np.nan, np.nan], [1002.0, 7.0, np.nan], [np.nan, 7.0, np.nan]])
    centre = ArraySamples(X, np.zeros(3, dtype=int), np.ones(3)).centre()
    assert (abs(centre[0] - 1001) <= 1, centre[1:].tolist()) == (True, [7.0, 0.0])
