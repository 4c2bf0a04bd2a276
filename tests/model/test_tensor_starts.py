"""Starts, directions and importances from tensors: those of arrays, up to rounding."""

import numpy as np
import pytest

from lvq.model import starts, tensor_starts
from lvq.model.directions import discriminant_directions, distinct_rows, span
from lvq.model.importance import feature_importances
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import Diagonal, Matrix
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import GradientRelevance, LocalMatrixRelevance, MatrixRelevance
from lvq.model.samples import ArraySamples
from lvq.model.starts import STARTS, canonical_order, class_means, start_prototypes, weighted_k_means

torch = pytest.importorskip("torch")

PLACES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]
places = pytest.mark.parametrize("place", PLACES)
TYPES = {np.float64: 1e-10, np.float32: 2e-4}  # with the rounding that results may differ by
types = pytest.mark.parametrize("dtype", TYPES)


def draw(seed, n_samples=120, n_features=5, dtype=np.float64):
    """Samples of three classes in no order, with weights."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_samples) % 3)
    X = rng.normal(size=(n_samples, n_features)) + 2 * np.eye(3, n_features)[y]
    return X.astype(dtype), y, rng.uniform(0.5, 2, n_samples).astype(dtype)


def tensors(place, *arrays):
    return [torch.as_tensor(array, device=place) for array in arrays]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, as large data have."""
    monkeypatch.setattr(tensor_starts, "BLOCK", 64)


@places
@types
def test_the_canonical_order_is_that_of_arrays(dtype, place):
    """By bytes: with both signs, both zeros, equal rows and numbers that differ in their last byte alone."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.choice([0.0, -0.0, 1.0, -1.0, 2.5, 1e-30, -1e30, 1.0 + 2e-7], size=(60, 3)).astype(dtype)
        order, first = canonical_order(X)
        found, begins = canonical_order(torch.as_tensor(X, device=place))
        np.testing.assert_array_equal(found.cpu().numpy(), order)
        np.testing.assert_array_equal(begins, first)


@places
def test_distinct_rows_are_counted_up_to_enough(place):
    X = np.repeat([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [3.0, 1.0]], [50, 50, 1, 1], axis=0)
    (tensor,) = tensors(place, X)
    for enough in range(1, 8):
        assert distinct_rows(tensor, enough) == distinct_rows(X, enough)
    assert distinct_rows(tensor[:1], 5) == 1


@places
@types
@pytest.mark.parametrize("init", STARTS)
def test_starting_prototypes_are_those_of_arrays(init, dtype, place, small_blocks):
    for seed in range(5):
        X, y, weight = draw(seed, dtype=dtype)
        counts = np.array([1, 2, 4])
        expected, labels = start_prototypes(X, y, weight, counts, init, np.random.RandomState(seed))
        found, same = start_prototypes(*tensors(place, X, y, weight), counts, init, np.random.RandomState(seed))
        assert isinstance(found, np.ndarray)
        assert found.dtype == dtype
        np.testing.assert_array_equal(same, labels)
        np.testing.assert_allclose(found, expected, rtol=TYPES[dtype], atol=TYPES[dtype])


@places
def test_large_classes_run_few_iterations(place, monkeypatch):
    """As on the host; there is no order of the rows then."""
    monkeypatch.setattr(starts, "EXACT", 30)
    monkeypatch.setattr(starts, "LLOYD", 3)
    for seed in range(5):
        X, _, weight = draw(seed)
        expected = weighted_k_means(X, weight, 6, np.random.RandomState(seed))
        found = weighted_k_means(*tensors(place, X, weight), 6, np.random.RandomState(seed))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        longer = weighted_k_means(*tensors(place, X, weight), 6, np.random.RandomState(seed))
        np.testing.assert_array_equal(longer, found)


@places
def test_nothing_is_read_back_from_large_classes(place, monkeypatch):
    monkeypatch.setattr(starts, "EXACT", 30)
    X, _, weight = tensors(place, *draw(0))
    for name in ("tolist", "item", "numpy", "__bool__", "__float__", "cpu", "nonzero"):
        monkeypatch.setattr(torch.Tensor, name, None)
    centres = tensor_starts.k_means(X, weight, 4, np.random.RandomState(0), 10, until_settled=False)
    monkeypatch.undo()
    assert centres.isfinite().all()


@places
def test_fewer_distinct_samples_than_prototypes(place):
    X, y = np.repeat([[0.0], [1.0], [5.0]], [4, 4, 3], axis=0), np.repeat([0, 1], [8, 3])
    with pytest.warns(UserWarning, match="class 1 has 1 distinct samples for 2 prototypes"):
        W, labels = start_prototypes(
            *tensors(place, X, y, np.ones(11)), np.array([2, 2]), "kmeans", np.random.RandomState(0)
        )
    assert sorted(W.ravel().tolist()) == [0, 1, 5]
    assert labels.tolist() == [0, 0, 1]


@places
@types
def test_class_means(dtype, place, small_blocks):
    X, y, weight = draw(3, dtype=dtype)
    found = class_means(*tensors(place, X, y, weight), 3)
    np.testing.assert_allclose(found, class_means(X, y, weight, 3), rtol=TYPES[dtype])
    same = np.full((4, 2), 0.1, dtype=dtype)  # rounding must not carry the mean past the samples
    assert (class_means(*tensors(place, same, np.zeros(4, dtype=int), np.ones(4, dtype=dtype)), 1) == same[:1]).all()


@places
@types
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_directions(rank, dtype, place, small_blocks):
    """Eigenvectors up to their sign."""
    X, y, weight = draw(1, dtype=dtype)
    expected = discriminant_directions(X, y, weight, rank)
    found = discriminant_directions(*tensors(place, X, y, weight), rank)
    sign = np.sign((found * expected).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found * sign, expected, atol=10 * TYPES[dtype] * np.abs(expected).max())


@places
def test_few_samples_of_many_features(place):
    """Distances in the span are those in all features."""
    X, y, weight = draw(2, 9, 40)
    rows = span(*tensors(place, X, weight))
    assert rows.shape == span(X, weight).shape == (8, 40)
    np.testing.assert_allclose(rows @ rows.T, np.eye(8), atol=1e-12)
    np.testing.assert_allclose((X - X[0]) @ rows.T @ rows, X - X[0], atol=1e-10)
    expected = discriminant_directions(X, y, weight, 3)
    found = discriminant_directions(*tensors(place, X, y, weight), 3)
    np.testing.assert_allclose(np.abs(found @ expected.T), np.abs(expected @ expected.T), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(span(*tensors(place, X[:1], weight[:1])), np.eye(40))


@places
@pytest.mark.parametrize("rule", [GradientRelevance(), MatrixRelevance(rank=2), LocalMatrixRelevance(rank=2)])
def test_metrics_start_as_from_arrays(rule, place):
    X, y, weight = draw(4, dtype=np.float32)
    labels = np.repeat(np.arange(3), 2)
    found = rule.start(*tensors(place, X, y, weight), labels)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.abs(found), np.abs(rule.start(X, y, weight, labels)), atol=1e-4)


@places
@types
@pytest.mark.parametrize("n_samples", [4, 120])
@pytest.mark.parametrize("shape", [(5,), (2, 5), (3, 2, 5)])
def test_importances(shape, n_samples, dtype, place, small_blocks):
    X, _, weight = draw(0, n_samples, dtype=dtype)
    relevance = np.random.default_rng(0).uniform(size=shape).astype(dtype)
    metric = {1: Diagonal(), 2: Matrix(), 3: LocalMatrix((0, 1, 2, 3))}[len(shape)]
    model = PrototypeModel(X[:3], np.array([0, 1, 1]), np.array([0, 1]), metric, relevance)
    y = np.zeros(n_samples, dtype=int)
    expected = feature_importances(model, ArraySamples(X, y, weight))
    found = feature_importances(model, ArraySamples(*tensors(place, X, y, weight)))
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-10)


@places
@types
def test_arranged_samples(dtype, place):
    X, y, weight = draw(0, dtype=dtype)
    samples = ArraySamples(X, y, weight)
    there = samples.to(lambda array: torch.as_tensor(array, device=place))
    before = there.X.clone()
    centre = there.centre()
    np.testing.assert_array_equal(centre.cpu().numpy(), samples.centre())
    for ours, theirs in zip(vars(there.arranged(centre)).values(), vars(samples.arranged(samples.centre())).values()):
        np.testing.assert_allclose(ours.cpu().numpy(), theirs, rtol=1e-6 if dtype == np.float32 else 1e-12)
        assert ours.cpu().numpy().dtype == theirs.dtype
    assert torch.equal(there.X, before)  # the user's own tensor
