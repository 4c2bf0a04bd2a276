"""Folded prototypes give the labels of the distances, for every shared metric and type."""

import numpy as np
import pytest

from lvq.model import folded, prototype_model
from lvq.model.folded import FoldedPrototypes, folded_prototypes, prepared_prototypes, within_limits
from lvq.model.metrics import Diagonal, Euclidean, Matrix
from lvq.model.prototype_model import PrototypeModel

METRICS = {"plain": Euclidean(), "diagonal": Diagonal(), "matrix": Matrix(), "square matrix": Matrix()}


def parameters(kind, n, random):
    if kind == "plain":
        return None
    return random.random(n) if kind == "diagonal" else random.normal(size=(n if "square" in kind else min(n, 4), n))


def make_model(kind, n, shift, dtype, seed=0, prototypes=40, classes=8):
    random = np.random.default_rng(seed)
    W = (random.normal(size=(prototypes, n)) + shift).astype(dtype)
    R = parameters(kind, n, random)
    labels = np.sort(np.arange(prototypes) % classes)
    return PrototypeModel(W, labels, np.arange(classes), METRICS[kind], None if R is None else R.astype(dtype))


def samples(model, count=600, seed=1, dtype=None):
    """Samples around the prototypes, and some near the midplane of two, nearer and nearer."""
    random = np.random.default_rng(seed)
    W = model.prototypes.astype(np.float64)
    X = W.mean(axis=0) + 2 * random.normal(size=(count, W.shape[1]))
    one, other = W[random.integers(len(W), size=(2, count))]
    X[::2] = ((one + other) / 2 + 10.0 ** -random.integers(1, 9, (count, 1)) * (one - other))[::2]
    return X.astype(dtype or model.dtype)


def by_distances(model, X):
    return model.over_blocks(model.decide, X)  # the same blocks: products of other rows may round otherwise


TYPES = [(np.float64, np.float64), (np.float32, np.float32), (np.float64, np.float32), (np.float32, np.float64)]


@pytest.mark.parametrize(("of_model", "of_samples"), TYPES)
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("n", [1, 3, 70, 300])
@pytest.mark.parametrize("kind", METRICS)
def test_labels_are_those_of_the_distances(kind, n, shift, of_model, of_samples):
    model = make_model(kind, n, shift, of_model)
    X = samples(model, dtype=of_samples)
    np.testing.assert_array_equal(model.predicted(X), by_distances(model, X))


def exact_differences(model, X, T):
    """Of each sample's distances to the first and to all other prototypes, in a longer type."""
    centre, P, squares = (part.astype(T) for part in prepared_prototypes(model))
    R = model.relevance
    Z = X.astype(T) - centre
    if R is not None:
        Z = Z * (R**0.5).astype(T) if R.ndim == 1 else np.einsum("ij,kj->ik", Z, R.astype(T))
    scores = squares - 2 * np.einsum("ij,kj->ik", Z, P)
    return scores - scores[:, :1]


@pytest.mark.parametrize(("of_model", "of_samples"), TYPES)
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("n", [2, 40, 300])
@pytest.mark.parametrize("kind", METRICS)
def test_the_bound_holds_for_scores_and_distances(kind, n, shift, of_model, of_samples):
    """Errors of single differences, by a longer type; those of scores and of distances may add up."""
    model = make_model(kind, n, shift, of_model)
    X = samples(model, 300, dtype=of_samples)
    exact = exact_differences(model, X, np.longdouble)
    part = folded_prototypes(model, X.dtype)
    scores = (X @ part.folded + part.offset).astype(np.longdouble)
    D = model.distances(X).astype(np.longdouble)
    errors = np.abs(scores - scores[:, :1] - exact).max(axis=1) + np.abs(D - D[:, :1] - exact).max(axis=1)
    lengths = np.linalg.norm(X.astype(np.float64), axis=1)
    bound = part.bound[0] + part.bound[1] * lengths + part.bound[2] * lengths**2
    assert (errors <= bound).all()
    # and is no larger than what n roundings in the same direction can make of the largest terms
    largest = np.linalg.norm(model.prototypes.astype(np.float64), axis=1).max() + lengths
    size = 1.0 if model.relevance is None else float(np.square(model.relevance.astype(np.float64)).sum())
    eps = max(n * np.finfo(of_samples).eps, np.finfo(of_model).eps)  # the squares have the type of the model
    assert (bound <= 40 * eps * size * largest**2).all()


@pytest.mark.parametrize("kind", METRICS)
def test_close_rows_are_decided_by_the_distances(kind, monkeypatch):
    """Samples halfway between two prototypes: the product alone would decide some of them by rounding."""
    model = make_model(kind, 6, 1e4, np.float64)
    X = np.concatenate([(model.prototypes[k] + model.prototypes[k + 1 :]) / 2 for k in range(5)])
    close = folded_prototypes(model, X.dtype).predicted(X).close
    assert 0 < len(close) < len(X)
    expected = by_distances(model, X)
    np.testing.assert_array_equal(model.predicted(X), expected)
    monkeypatch.setattr(prototype_model, "SMALL", 0)  # of these rows alone, whose products may round otherwise
    few = model.predicted(X)
    others = np.setdiff1d(np.arange(len(X)), close)
    np.testing.assert_array_equal(few[others], expected[others])
    np.testing.assert_array_equal(few[close], model.decide(model.distances(X[close])))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", METRICS)
def test_distances_of_a_model_are_those_of_its_metric(kind, dtype):
    """The prepared prototypes are those that the metric makes anew in each call."""
    model = make_model(kind, 300, 1.0, dtype)
    X = samples(model)
    np.testing.assert_array_equal(model.distances(X), model.metric.distances(X, model.prototypes, model.relevance))


def test_prototypes_of_one_class_need_no_decision():
    W = np.array([[0.0, 1.0], [0.0, 1.0 + 1e-15], [9.0, 9.0]])
    X = np.zeros((1, 2))
    one_class = PrototypeModel(W, np.array([0, 0, 1]), np.arange(2))
    two_classes = PrototypeModel(W, np.array([0, 1, 1]), np.arange(2))
    assert len(folded_prototypes(one_class, X.dtype).predicted(X).close) == 0
    assert len(folded_prototypes(two_classes, X.dtype).predicted(X).close) == 1


def test_distances_that_are_cut_at_zero_are_equal():
    """Far from the centre close prototypes all have the distance 0 in float32: the lowest index wins."""
    W = np.array([[1000.0, 0.0], [-1000.0, 0.0], [1000.0, 1e-3], [1000.0, -1e-3]], dtype=np.float32)
    model = PrototypeModel(W, np.arange(4), np.arange(4))
    X = np.repeat(W, 3, axis=0) + np.float32(2e-4) * np.arange(3, dtype=np.float32)[[0, 1, 2] * 4, None]
    np.testing.assert_array_equal(model.predicted(X), by_distances(model, X))


def test_ties_go_to_the_lowest_index():
    W = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0], [5.0, 5.0]])
    model = PrototypeModel(W, np.arange(4), np.arange(4))
    assert model.predicted(np.array([[1.0, 1.0], [6.0, 6.0]])).tolist() == [0, 2]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, -1e200])
@pytest.mark.parametrize("kind", METRICS)
def test_values_that_are_not_finite_or_too_large(kind, bad):
    model = make_model(kind, 3, 0.0, np.float64)
    X = samples(model)
    X[-1, 1] = bad
    assert model.predicted(X) is None
    assert model.over_blocks_if_valid(model.decide, X) is None
    assert not within_limits(X)
    assert within_limits(X[:-1])


def test_blocks_give_the_same_and_may_run_in_any_map(monkeypatch):
    model = make_model("matrix", 8, 0.0, np.float64)
    X = samples(model, 1000)
    part = folded_prototypes(model, X.dtype)
    whole = part.predicted(X)
    monkeypatch.setattr(folded, "BLOCK_BYTES", 8 * (8 + 40) * 70)
    calls = []
    blocks = part.predicted(X, lambda f, items: [calls.append(len(i)) or f(i) for i in items])
    np.testing.assert_array_equal(blocks.labels, whole.labels)
    np.testing.assert_array_equal(blocks.close, whole.close)
    assert calls == [3, 3, 3, 3, 3]  # 15 blocks in at least four runs
    monkeypatch.setattr(folded, "BLOCK_BYTES", 8 * (8 + 40) * 16)
    calls.clear()
    part.predicted(X, lambda f, items: [calls.append(len(i)) or f(i) for i in items])
    assert calls == [folded.RUN] * 15 + [3]  # and 63


def test_folding_happens_once_for_each_type():
    model = PrototypeModel(np.eye(3), np.arange(3), np.arange(3))
    double = folded_prototypes(model, np.dtype(np.float64))
    assert folded_prototypes(model, np.dtype(np.float64)) is double
    assert folded_prototypes(model, np.dtype(np.float32)) is not double
    assert prepared_prototypes(model) is prepared_prototypes(model)
    assert isinstance(double, FoldedPrototypes)
    assert vars(model).keys() == {*PrototypeModel.__dataclass_fields__}


def test_one_prototype_and_no_samples():
    model = PrototypeModel(np.ones((1, 2)), np.array([0]), np.array(["a"]))
    assert model.predict(np.zeros((3, 2))).tolist() == ["a"] * 3
    assert model.predict(np.zeros((0, 2))).tolist() == []


@pytest.mark.parametrize("n", [2, 40, 300])
@pytest.mark.parametrize("kind", METRICS)
def test_the_bound_grows_with_the_length_of_a_sample(kind, n):
    """Long samples have larger rounding errors, with any number of features."""
    part = folded_prototypes(make_model(kind, n, 0.0, np.float64), np.dtype(np.float64))
    assert min(part.bound) > 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_the_bound_counts_every_rounding(n, shift, dtype):
    """In the plain metric: k u |a| |b| for each sum of k products, of scores and distances, at both prototypes."""
    model = make_model("plain", n, shift, dtype)
    centre, P, _ = (part.astype(np.float64) for part in prepared_prototypes(model))
    u, double = np.finfo(dtype).eps / 2, np.finfo(np.float64).eps / 2
    longest, far = np.linalg.norm(P, axis=1).max(), np.linalg.norm(centre)
    single = 8 * u + n * double  # roundings of (|z| + |p|)^2, with |z| at most |x| + |c|
    of_scores, of_distances = 4 * (n + 4) * u * longest, 4 * ((n + 3) * u + 2 * n * double) * longest
    least = (
        8 * u * np.abs((P**2).sum(axis=1) + 2 * P @ centre).max() + of_distances * far + single * (far + longest) ** 2,
        of_scores + of_distances + 2 * single * (far + longest),
        single,
    )
    found = np.array(folded_prototypes(model, np.dtype(dtype)).bound)
    assert (found >= least).all()
    assert (found <= 2 * np.array(least)).all()  # and some more, for errors of errors and where distances are cut at 0
