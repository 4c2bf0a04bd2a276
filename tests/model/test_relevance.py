"""Rules of the metric's parameters: starts, shapes, constraints and penalties."""

from dataclasses import replace

import numpy as np
import pytest

from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.local_matrix import LocalMatrix
from lvq.model.metrics import Diagonal, Euclidean, Matrix
from lvq.model.relevance import (
    RELEVANCES,
    FisherNeighbours,
    FisherPrototypes,
    GradientRelevance,
    Hebbian,
    LocalDiagonalRelevance,
    LocalMatrixRelevance,
    LocalScaleRelevance,
    MatrixRelevance,
    Relevance,
)
from lvq.model.relevance.matrices import shrunk
from lvq.model.structure import UNSTRUCTURED, Structure

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3)))
LABELS = np.array([0, 0, 1, 2, 2])


def test_the_plain_rule_has_no_parameters():
    assert Relevance().start(np.ones((3, 2)), np.array([0, 1, 2]), np.ones(3), LABELS) is None
    assert Relevance().metric(LABELS) == Euclidean()


@pytest.mark.parametrize("rule", [GradientRelevance(), Hebbian(), FisherPrototypes(), FisherNeighbours()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_relevances_start_equal_and_sum_to_one(rule, dtype):
    start = rule.start(np.ones((3, 4), dtype), np.array([0, 1, 2]), np.ones(3), LABELS)
    assert start.tolist() == [0.25] * 4
    assert start.dtype == dtype
    assert rule.metric(LABELS) == Diagonal()


@pytest.mark.parametrize("kind", [FisherPrototypes, FisherNeighbours])
def test_scores_by_their_maximum_start_at_one(kind):
    start = kind(scores="max").start(np.ones((3, 4)), np.array([0, 1, 2]), np.ones(3), LABELS)
    assert start.tolist() == [1.0] * 4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rank", [None, 1, 2, 9, 10])
@pytest.mark.parametrize(("local", "count"), [(None, None), ("class", 3), ("prototype", 5)])
def test_matrices_start_at_unit_norm(local, count, rank, dtype, two_of_many):
    X, y = two_of_many(0)
    start = MatrixRelevance(rank=rank, local=local).start(X.astype(dtype), y, np.ones(len(X)), LABELS)
    assert start.shape == (() if count is None else (count,)) + (rank or 10, 10)
    assert start.dtype == dtype
    np.testing.assert_allclose((start**2).sum(axis=(-2, -1)), 1.0, rtol=1e-6)
    if rank in (None, 10):
        np.testing.assert_allclose(start, np.broadcast_to(np.eye(10) / np.sqrt(10), start.shape), rtol=1e-6)


def test_a_rank_above_the_number_of_features_is_refused(two_of_many):
    X, y = two_of_many(0)
    with pytest.raises(ValueError, match=r"rank must be at most the number of features \(10\), got 11\."):
        MatrixRelevance(rank=11).start(X, y, np.ones(len(X)), LABELS)


def test_groups_of_prototypes_that_share_a_matrix():
    assert MatrixRelevance().groups(LABELS) == (0, 5)
    assert MatrixRelevance(local="class").groups(LABELS) == (0, 2, 3, 5)
    assert MatrixRelevance(local="prototype").groups(LABELS) == (0, 1, 2, 3, 4, 5)
    assert LocalMatrixRelevance().groups(LABELS) == (0, 2, 3, 5)
    assert LocalMatrixRelevance().groups(np.array([0, 0, 4])) == (0, 2, 3)  # a class without prototypes
    assert LocalDiagonalRelevance().groups(LABELS) == (0, 2, 3, 5)
    assert LocalDiagonalRelevance(local="auto").for_data(9, 4, 5).groups(LABELS) == (0, 1, 2, 3, 4, 5)


def test_every_rule_has_the_metric_of_its_parameters(two_of_many):
    X, y = two_of_many(0)
    shapes = {Euclidean: None, Diagonal: 1, Matrix: 2, LocalDiagonal: 2, LocalMatrix: 3}
    for kind in [Relevance, *RELEVANCES.values()]:
        start = kind().start(X, y, np.ones(len(X)), LABELS)
        assert shapes[type(kind().metric(LABELS))] == (None if start is None else start.ndim)


def test_which_rules_have_a_gradient_and_a_weighted_step():
    smooth = {name for name, kind in RELEVANCES.items() if kind.smooth}
    assert smooth == {"gradient", "matrix", "local_matrix", "local_diagonal", "local_scale"}
    assert {name for name, kind in RELEVANCES.items() if kind().weighted_step} == smooth


# -- free parameters of the batch solvers ------------------------------------------------------------------------------

SMOOTH = {
    "plain vector": GradientRelevance(),
    "matrix": MatrixRelevance(),
    "matrix rank 2": MatrixRelevance(rank=2),
    "matrix per class": MatrixRelevance(local="class"),
    "matrix of any size": MatrixRelevance(unit_trace=False, ridge=0.3),
    "matrix with determinant": MatrixRelevance(rank=2, log_determinant=0.2),
    "matrix per class with both": MatrixRelevance(rank=2, local="class", ridge=0.3, log_determinant=0.2),
    "vector per class": LocalDiagonalRelevance(),
    "vector per prototype of any size": LocalDiagonalRelevance(local="prototype", unit_trace=False, ridge=0.3),
    "scale per class": LocalScaleRelevance(ridge=0.3),
    "groups": GradientRelevance(structure=Structure((0, 1, 1, -1), sparsity=0.2, smoothness=0.3)),
    "few and smooth": GradientRelevance(structure=Structure(None, sparsity=0.2, smoothness=0.3)),
    "groups per class": LocalDiagonalRelevance(structure=Structure((0, 1, 1, -1), sparsity=0.2, smoothness=0.3)),
    "groups per prototype of any size": LocalDiagonalRelevance(
        local="prototype", unit_trace=False, ridge=0.3, structure=Structure((0, -1, 0, 1), sparsity=0.2, smoothness=0.3)
    ),
    "smooth matrix": MatrixRelevance(structure=Structure(smoothness=0.3)),
    "matrix of few features": MatrixRelevance(rank=2, structure=Structure((0, 0, -1, 1), sparsity=0.2, smoothness=0.3)),
    "few per class of any size": MatrixRelevance(
        local="class", unit_trace=False, ridge=0.3, structure=Structure(sparsity=0.2, smoothness=0.3)
    ),
    "shrunk matrix": MatrixRelevance(shrinkage=0.3),
    "shrunk matrix rank 2": MatrixRelevance(rank=2, shrinkage=0.3),
    "shrunk matrix per class of any size": MatrixRelevance(local="class", unit_trace=False, ridge=0.1, shrinkage=0.3),
    "a given fraction": GradientRelevance(structure=Structure((0, -1, 1, 1), 0.2, 0.3, (0.0, 0.3, 0.0, 0.0))),
    "given fractions per class": LocalDiagonalRelevance(
        structure=Structure((0, -1, 1, -1), 0.2, 0.3, (0.0, 0.3, 0.0, 0.1))
    ),
    "a given fraction of any size": LocalDiagonalRelevance(
        unit_trace=False, ridge=0.3, structure=Structure((0, -1, -1, 1), fractions=(0.0, 0.3, 0.0, 0.0))
    ),
    "a given fraction of a matrix": MatrixRelevance(
        rank=2, structure=Structure((0, 1, -1, -1), 0.2, 0.3, (0.0, 0.0, 0.3, 0.0))
    ),
    "given fractions of matrices": MatrixRelevance(
        local="class",
        unit_trace=False,
        ridge=0.3,
        structure=Structure((0, -1, 1, -1), fractions=(0.0, 0.3, 0.0, 0.1)),
    ),
}


def by_differences(function, start):
    """Central differences by every number of an array."""
    result = np.empty(start.size)
    for index in range(start.size):
        step = np.zeros(start.size)
        step[index] = 1e-5
        step = step.reshape(start.shape)
        result[index] = (function(start + step) - function(start - step)) / 2e-5
    return result.reshape(start.shape)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule", SMOOTH.values(), ids=SMOOTH)
def test_free_parameters_give_back_the_constrained_ones(rule, seed, two_of_many):
    rng = np.random.default_rng(seed)
    X, y = two_of_many(seed, n_features=4)
    free = rng.uniform(0.2, 1.0, rule.start(X, y, np.ones(len(X)), LABELS).shape)
    R = rule.constrained(free)
    if not isinstance(rule, MatrixRelevance):
        assert (R >= 0).all()
        groups = getattr(rule, "structure", UNSTRUCTURED).groups or (0,)
        total = (free**2)[..., np.array(groups) >= 0].sum(axis=-1) if len(groups) > 1 else (free**2).sum(axis=-1)
        given = sum(getattr(rule, "structure", UNSTRUCTURED).fractions or ())
        np.testing.assert_allclose(R.sum(axis=-1), 1.0 if getattr(rule, "unit_trace", True) else total / (1 - given))
    elif rule.unit_trace:
        np.testing.assert_allclose((R**2).sum(axis=(-2, -1)), 1.0)
    np.testing.assert_allclose(rule.constrained(rule.free(R)), R, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in SMOOTH if "given" in name])
def test_given_fractions_hold_at_the_start_and_for_all_free_parameters(name, two_of_many):
    rule = SMOOTH[name]
    X, y = two_of_many(0, n_features=4)
    start = rule.start(X, y, np.ones(len(X)), LABELS)
    given = np.array(rule.structure.fractions)
    for R in (start, rule.constrained(np.random.default_rng(1).uniform(0.2, 1.0, start.shape))):
        weights = (R**2).sum(axis=-2) if isinstance(rule, MatrixRelevance) else R
        fractions = weights / weights.sum(axis=-1, keepdims=True)
        not_learned = np.array(rule.structure.groups) == -1
        np.testing.assert_allclose(fractions[..., not_learned], np.broadcast_to(given, weights.shape)[..., not_learned])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule", SMOOTH.values(), ids=SMOOTH)
def test_pull_and_penalty_are_gradients(rule, seed, two_of_many):
    rng = np.random.default_rng(seed)
    X, y = two_of_many(seed, n_features=4)
    free = rng.uniform(0.2, 1.0, rule.start(X, y, np.ones(len(X)), LABELS).shape)
    R, by_relevance = rule.constrained(free), rng.normal(size=free.shape)
    expected = by_differences(lambda at: (by_relevance * rule.constrained(at)).sum(), free)
    np.testing.assert_allclose(rule.pull_back(free, R, by_relevance), expected, rtol=1e-6, atol=1e-8)
    if rule.penalty(R) is not None:
        by_free = by_differences(lambda at: rule.penalty(rule.constrained(at))[0], free)
        np.testing.assert_allclose(rule.pull_back(free, R, rule.penalty(R)[1]), by_free, rtol=1e-5, atol=1e-7)
        if -1 not in (getattr(rule, "structure", UNSTRUCTURED).groups or ()):  # weights of excluded features stay 0
            expected = by_differences(lambda at: rule.penalty(at)[0], R)
            np.testing.assert_allclose(rule.penalty(R)[1], expected, rtol=1e-5, atol=1e-7)


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
@pytest.mark.parametrize("unit_trace", [True, False])
def test_the_automatic_rank(n, rows, unit_trace):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, n)), np.arange(300) % 3
    rule = MatrixRelevance(rank="auto", unit_trace=unit_trace)
    assert rule.start(X, y, np.ones(300), np.arange(3)).shape == (rows, n)


@pytest.mark.parametrize(("n_samples", "ridge"), [(20, 0.003), (500, 0.003), (5000, 0.0003), (15_000, 0.0001)])
@pytest.mark.parametrize("kind", [MatrixRelevance, LocalDiagonalRelevance])
def test_automatic_ridge(kind, n_samples, ridge):
    rule = kind(unit_trace=False, ridge="auto").for_data(n_samples, 3, 4)
    assert rule.ridge == pytest.approx(ridge)
    assert MatrixRelevance(ridge=0.5).for_data(n_samples, 3, 4).ridge == 0.5
    assert GradientRelevance().for_data(n_samples, 3, 4) == GradientRelevance()


def test_automatic_local_matrices():
    rule = MatrixRelevance(local="auto", rank="auto")
    assert rule.for_data(100, 784, 20).local == "prototype"
    assert rule.for_data(100, 784, 20_000).local is None
    assert rule.for_data(100, 16_384, 40).local is None
    assert replace(rule, local="class").for_data(100, 16_384, 40).local == "class"


@pytest.mark.parametrize("local", ["class", "prototype"])
def test_local_weights_start_equal_with_sum_one(local):
    X = np.zeros((4, 6), dtype=np.float32)
    R = LocalDiagonalRelevance(local=local).start(X, np.zeros(4, dtype=int), np.ones(4), LABELS)
    assert R.dtype == np.float32
    np.testing.assert_allclose(R, np.full((3 if local == "class" else 5, 6), 1 / 6), rtol=1e-6)


def test_weights_of_any_vector_rule_are_nonnegative_with_sum_one():
    rng = np.random.default_rng(0)
    free, by_relevance, rule = rng.normal(size=5), rng.normal(size=5), Hebbian()
    R = rule.constrained(free)
    np.testing.assert_allclose(R, free**2 / (free @ free), rtol=1e-12)
    np.testing.assert_allclose(rule.constrained(rule.free(R)), R, rtol=1e-12)
    expected = by_differences(lambda at: by_relevance @ rule.constrained(at), free)
    np.testing.assert_allclose(rule.pull_back(free, R, by_relevance), expected, atol=1e-8)


SIZES = {
    "vector per class": (LocalDiagonalRelevance(unit_trace=False, ridge=0.3), lambda R: R.sum()),
    "vector per prototype": (LocalDiagonalRelevance(local="prototype", ridge=0.3), lambda R: R.sum()),
    "scale per class": (LocalScaleRelevance(ridge=0.3), lambda R: R.sum()),
    "matrix": (MatrixRelevance(unit_trace=False, ridge=0.3), lambda R: (R**2).sum()),
    "matrix per class": (MatrixRelevance(local="class", rank=2, ridge=0.3), lambda R: (R**2).sum()),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_ridge_is_a_multiple_of_the_squared_norm(name, two_of_many):
    rule, size = SIZES[name]
    X, y = two_of_many(0, n_features=4)
    R = np.random.default_rng(0).uniform(0.2, 1.0, rule.start(X, y, np.ones(len(X)), LABELS).shape)
    assert rule.penalty(R)[0] == pytest.approx(0.3 * size(R))
    assert replace(rule, ridge=0.0).penalty(R) is None
    sparsity = Structure(sparsity=0.5)
    both = replace(rule, structure=sparsity)
    alone = replace(both, ridge=0.0).penalty(R)[0]
    assert both.penalty(R)[0] == pytest.approx(0.3 * size(R) + alone)


def test_the_determinant_is_that_of_each_matrix():
    omega = np.random.default_rng(0).normal(size=(3, 2, 4))
    determinants = np.linalg.det(omega @ omega.swapaxes(1, 2))
    value = MatrixRelevance(rank=2, local="class", log_determinant=0.2).penalty(omega)[0]
    assert value == pytest.approx(-0.1 * np.log(determinants).sum())


@pytest.mark.parametrize("name", SIZES)
def test_a_metric_of_free_size_starts_at_a_mean_distance_of_one(name, two_of_many):
    rule = SIZES[name][0]
    X, y = two_of_many(0, n_features=4)
    W = np.random.default_rng(0).normal(size=(len(LABELS), 4))
    R = rule.start(X, y, np.ones(len(X)), LABELS)

    def mean_distance(R):
        return rule.metric(LABELS).distances(X, W, R).min(axis=1).mean()

    started = rule.scaled_start(R, mean_distance(R))
    assert mean_distance(started) == pytest.approx(mean_distance(R) if rule.unit_trace else 1.0)
