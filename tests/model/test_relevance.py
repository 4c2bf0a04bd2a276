"""Rules of the metric's parameters: starts, shapes, constraints and penalties."""

from dataclasses import replace

import numpy as np
import pytest

from lvq.model.relevance import (
    RELEVANCES,
    DataScale,
    Matrix,
    Scale,
    Weights,
    shrunk,
)
from lvq.model.samples import ArraySamples

LABELS = np.array([0, 0, 1, 2, 2])
ONE = DataScale(1.0, 1)


def start(rule, X, y=None):
    """The start on samples of weight one, of three classes unless given."""
    return rule.start(ArraySamples(X, np.arange(len(X)) % 3 if y is None else y, np.ones(len(X))), LABELS)


@pytest.mark.parametrize("kind", [Matrix, Weights])
def test_groups_of_prototypes_that_share_a_metric(kind):
    assert kind().groups(LABELS) == (0, 5)
    assert kind(local="class").groups(LABELS) == (0, 2, 3, 5)
    assert kind(local="prototype").groups(LABELS) == (0, 1, 2, 3, 4, 5)
    assert kind(local="class").groups(np.array([0, 0, 4])) == (0, 2, 3)  # a class without prototypes
    assert RELEVANCES["local_matrix"].groups(LABELS) == RELEVANCES["local_diagonal"].groups(LABELS) == (0, 2, 3, 5)


# -- free parameters of the batch solvers ------------------------------------------------------------------------------

GROUPED = {"feature_groups": ("a", "b", "b", None), "smoothness": 0.3}
SMOOTH = {
    "weights of any size": Weights(ridge=0.3),
    "weights per prototype": Weights(local="prototype"),
    "scale per class": Scale(ridge=0.3),
    "smooth": Weights(smoothness=0.3),
    "groups per class": Weights(local="class", **GROUPED),
    "groups per prototype of any size": Weights(local="prototype", ridge=0.3, **GROUPED),
    "matrix of any size": Matrix(ridge=0.3),
    "matrix per class with both": Matrix(rank=2, local="class", ridge=0.3, log_determinant=0.2),
    "matrix of few features": Matrix(rank=2, **GROUPED),
    "smooth per class of any size": Matrix(local="class", ridge=0.3, smoothness=0.3),
    "shrunk matrix rank 2": Matrix(rank=2, shrinkage=0.3),
    "shrunk matrix per class of any size": Matrix(local="class", ridge=0.1, shrinkage=0.3),
}
SMOOTH |= {name: rule for name, rule in RELEVANCES.items() if rule.smooth and rule not in SMOOTH.values()}
every_rule = pytest.mark.parametrize("rule", SMOOTH.values(), ids=SMOOTH)


def draw_free(rule, seed, make):
    """Free parameters of the shape of the start."""
    X, y = make(seed, n_features=4)
    rng = np.random.default_rng(seed)
    return rng, rng.uniform(0.2, 1.0, start(rule, X, y).shape)


@every_rule
def test_free_parameters_give_back_the_constrained_ones(rule, two_of_many):
    _, free = draw_free(rule, 0, two_of_many)
    R = rule.constrained(free)
    if isinstance(rule, Matrix):
        size, of_free = (R**2).sum(axis=(-2, -1)), (rule.used(free) ** 2).sum(axis=(-2, -1))
    else:
        assert (R >= 0).all()
        size, of_free = R.sum(axis=-1), (rule.used(free) ** 2).sum(axis=-1)
    np.testing.assert_allclose(size, of_free if rule.free_size else 1.0)
    if rule.feature_groups is not None:
        assert not R[..., 3].any()
        if isinstance(rule, Weights):
            np.testing.assert_array_equal(R[..., 1], R[..., 2])
    np.testing.assert_allclose(rule.constrained(rule.free(R)), R, rtol=1e-12)


@every_rule
def test_the_start_is_of_unit_size_and_keeps_the_constraints(rule, two_of_many):
    X, y = two_of_many(0, n_features=4)
    R = start(rule, X, y)
    np.testing.assert_allclose((R**2).sum((-2, -1)) if isinstance(rule, Matrix) else R.sum(-1), 1)
    np.testing.assert_allclose(rule.constrained(rule.free(R)), R, rtol=1e-12)
    assert start(rule, X.astype(np.float32), y).dtype == np.float32


def test_the_shrinkage_is_the_smallest_sum_of_both_parts():
    """No other shared matrix and no other scales give less."""
    rng = np.random.default_rng(0)
    omega = rng.normal(size=(3, 4, 4))
    value = shrunk(omega)[0]
    scales = np.trace(omega, axis1=1, axis2=2) / 4
    rest = omega - scales[:, None, None] * np.eye(4)
    best = rest.sum(axis=0) / 4
    assert value == pytest.approx((best**2).sum() + ((rest - best) ** 2).sum())
    for _ in range(20):
        shared, moved = best + 0.1 * rng.normal(size=(4, 4)), scales + 0.1 * rng.normal(size=3)
        other = omega - moved[:, None, None] * np.eye(4) - shared
        assert (shared**2).sum() + (other**2).sum() > value


@pytest.mark.parametrize(("n", "rows"), [(5, 5), (64, 64), (65, 32), (200, 32)])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_the_automatic_rank(n, rows, ridge):
    X = np.random.default_rng(0).normal(size=(300, n))
    assert start(Matrix(rank="auto", ridge=ridge), X).shape == (rows, n)


def test_a_scale_has_equal_weights_and_stays_so():
    rng, rule = np.random.default_rng(0), Scale(local="prototype")
    R = rule.constrained(rng.uniform(0.2, 1, (5, 4)))
    assert (R[:, :1] == R).all()
    moved = rule.pull_back(rule.free(R), R, rng.normal(size=R.shape))
    assert (moved == moved[:, :1]).all()


SIZES = {
    "weights per prototype": (Weights(local="prototype", ridge=0.3), lambda R: R.sum() / len(R)),
    "scale per class": (Scale(ridge=0.3), lambda R: R.sum() / len(R)),
    "matrix": (Matrix(ridge=0.3), lambda R: (R**2).sum()),
    "matrix per class": (Matrix(local="class", rank=2, ridge=0.3), lambda R: (R**2).sum() / len(R)),
}


@pytest.mark.parametrize("name", SIZES)
def test_penalties_are_their_formulas(name, two_of_many):
    """The ridge in units of the variance of a feature, falling with the number of samples; the determinants' sum."""
    rule, size = SIZES[name]
    _, R = draw_free(rule, 0, two_of_many)
    assert rule.penalty(R, ONE)[0] == pytest.approx(0.3 * size(R))
    assert rule.penalty(R, DataScale(4.0, 500))[0] == pytest.approx(1.2 * size(R))
    assert rule.penalty(R, DataScale(1.0, 15_000))[0] == pytest.approx(0.01 * size(R))
    assert replace(rule, ridge=0.0).penalty(R, ONE) is None
    if isinstance(rule, Matrix):
        determinants = np.linalg.det(R @ np.swapaxes(R, -1, -2))
        value = replace(rule, log_determinant=0.2).penalty(R, ONE)[0]
        assert value == pytest.approx(0.3 * size(R) - 0.1 * np.log(determinants).sum())


@pytest.mark.parametrize("rule", [Weights(), Matrix(local="prototype"), Scale()])
def test_scaled_parameters_scale_the_distances(rule, two_of_many):
    X, y = two_of_many(0, n_features=4)
    W, R = np.random.default_rng(0).normal(size=(len(LABELS), 4)), start(rule, X, y)
    before, after = (rule.metric(LABELS).prepare(W, part).distances(X)[0] for part in (R, rule.scaled(R, 0.3)))
    np.testing.assert_allclose(after, 0.3 * before, rtol=1e-12)
    assert rule.scaled(R.astype(np.float32), 0.3).dtype == np.float32
