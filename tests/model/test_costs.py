"""Costs: the formulas one sample at a time, ties, zeros, and numbers too large for a naive exponential."""

from dataclasses import fields, replace

import numpy as np
import pytest

from lvq.model.costs import (
    COSTS,
    CrossEntropyCost,
    GLVQCost,
    LOGMCost,
    MCECost,
    RSLVQCost,
    SNPCCost,
)

LABELS = np.array([0, 0, 1, 2, 2, 2])
COST_MATRIX = np.array([[9.0, 3.0, 0.5], [1.0, 0.0, 0.0], [2.0, 7.0, 0.0]])
SMALL = {"alpha": 0.2, "xi": 0.8}
INSTANCES = {
    name: replace(cost, **{field.name: SMALL[field.name] for field in fields(cost) if field.name in SMALL})
    for name, cost in COSTS.items()
} | {
    "glvq sigmoid": GLVQCost(alpha=0.2, slope=4.0),
    "cross entropy, costs": CrossEntropyCost(alpha=0.2, xi=0.8, cost_matrix=COST_MATRIX),
    "logm, costs": LOGMCost(alpha=0.2, xi=0.8, cost_matrix=COST_MATRIX),
}


def slow_cost(cost, H, label):
    """The cost of one sample by the formulas of the papers; that of a cost without one here is its own."""
    own, other = H[label == LABELS], H[label != LABELS]
    d_plus, d_minus = own.min(), other.min()
    if isinstance(cost, SNPCCost | RSLVQCost):
        posterior = np.exp(-cost.xi * own).sum() / np.exp(-cost.xi * H).sum()
        value = 1 - posterior if isinstance(cost, SNPCCost) else -np.log(posterior)
        return value - cost.alpha * np.log(np.exp(-cost.xi * own).sum())
    if isinstance(cost, CrossEntropyCost):
        d = np.array([H[k == LABELS].min() for k in range(3)])
        costs = np.delete(np.ones((3, 3)) if cost.cost_matrix is None else cost.cost_matrix, label, axis=1)[label]
        rivals = (costs / costs.max() * np.exp(cost.xi * (d[label] - np.delete(d, label)))).sum()
        return costs.max() * np.log(1 + rivals) + cost.alpha * d_plus
    if isinstance(cost, GLVQCost):
        mu = (d_plus - d_minus) / (d_plus + d_minus)
        value = mu if cost.slope == 0 else 1 / (1 + np.exp(-cost.slope * mu))
    elif isinstance(cost, MCECost | LOGMCost):
        z = cost.xi * (d_plus - d_minus)
        value = 1 / (1 + np.exp(-z)) if isinstance(cost, MCECost) else np.log(1 + np.exp(z))
        if cost.cost_matrix is not None:  # of the class that is predicted
            value *= cost.cost_matrix[label, LABELS[np.where(label == LABELS, np.inf, H).argmin()]]
    else:
        return cost.value_and_derivative(H[None], np.array([label]), LABELS)[0][0]
    return value + cost.alpha * d_plus


@pytest.mark.parametrize("cost", INSTANCES.values(), ids=INSTANCES)
def test_value_and_derivatives_against_the_formula_and_its_differences(cost):
    """Distances differ by at least 0.4, so no small step changes which is the nearest."""
    rng = np.random.default_rng(0)
    H = np.array([rng.permutation(len(LABELS)) + rng.uniform(0.2, 0.8, len(LABELS)) for _ in range(12)])
    y = rng.integers(0, 3, len(H))
    value, derivatives = cost.value_and_derivative(H, y, LABELS)
    np.testing.assert_allclose(value, [slow_cost(cost, row, label) for row, label in zip(H, y)], rtol=1e-12)
    expected = np.empty_like(H)
    for i, j in np.ndindex(H.shape):
        step = np.eye(len(LABELS))[j] * 1e-5
        expected[i, j] = (slow_cost(cost, H[i] + step, y[i]) - slow_cost(cost, H[i] - step, y[i])) / 2e-5
    np.testing.assert_allclose(derivatives.whole(len(LABELS)), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("slope", "middle", "alpha"), [(0.0, 0.0, 0.3), (6.0, 0.5, 0.0)])
def test_glvq_where_both_distances_are_zero(slope, middle, alpha):
    value, derivatives = GLVQCost(alpha=alpha, slope=slope).value_and_derivative(
        np.zeros((1, 6)), np.array([1]), LABELS
    )
    assert value.tolist() == [middle]
    assert derivatives.value.tolist() == [[alpha, 0.0]]
    assert derivatives.touched.tolist() == [[2, 0]]


@pytest.mark.parametrize("gap", [-1e3, 1e6])
def test_margins_too_large_for_a_naive_exponential(gap):
    H, y, labels = np.array([[max(gap, 0.0), max(-gap, 0.0)]]), np.array([0]), np.array([0, 1])
    for cost, value, slope in (
        (MCECost(xi=2.0), float(gap > 0), 0.0),
        (LOGMCost(xi=2.0), max(2 * gap, 0.0), 2.0 * (gap > 0)),
        (SNPCCost(xi=2.0), float(gap > 0), 0.0),
        (RSLVQCost(xi=2.0), max(2 * gap, 0.0), 2.0 * (gap > 0)),
        (CrossEntropyCost(alpha=0.0, xi=2.0), max(2 * gap, 0.0), 2.0 * (gap > 0)),
        (CrossEntropyCost(alpha=0.0, xi=2.0, cost_matrix=np.eye(2)), 0.0, 0.0),
    ):
        found, derivatives = cost.value_and_derivative(H, y, labels)
        np.testing.assert_allclose(found, value, atol=1e-15)
        np.testing.assert_allclose(derivatives.value, [[slope, -slope]], atol=1e-15)


@pytest.mark.parametrize("kind", [SNPCCost, RSLVQCost])
def test_soft_regulariser_far_from_all_prototypes(kind):
    """The memberships within the own class sum to one however small each density is."""
    H = np.full((1, 6), 1e5) + np.arange(6)
    value, derivatives = kind(alpha=0.3, xi=1.0).value_and_derivative(H, np.array([2]), LABELS)
    without, plain = kind(xi=1.0).value_and_derivative(H, np.array([2]), LABELS)
    added = derivatives.value - plain.value
    np.testing.assert_allclose(added[0, :3], 0, atol=1e-15)
    np.testing.assert_allclose(added.sum(), 0.3, rtol=1e-10)
    np.testing.assert_allclose(value - without, 0.3 * (1e5 + 3 - np.log(np.exp([0.0, -1, -2]).sum())), rtol=1e-12)


def test_the_cross_entropy_bounds_the_cost_of_the_prediction():
    rng = np.random.default_rng(0)
    H, y = rng.uniform(0, 4, (50, 6)), rng.integers(0, 3, 50)
    value, _ = CrossEntropyCost(alpha=0.0, xi=1.1, cost_matrix=COST_MATRIX).value_and_derivative(H, y, LABELS)
    paid = np.where(LABELS[H.argmin(axis=1)] == y, 0, COST_MATRIX[y, LABELS[H.argmin(axis=1)]])
    assert (value >= np.log(2) * paid - 1e-12).all()


def test_the_cross_entropy_of_two_classes_is_logm():
    rng, labels = np.random.default_rng(0), np.array([0, 0, 1, 1, 1])
    H, y = rng.uniform(0, 4, (50, 5)), rng.integers(0, 2, 50)
    one, other = (kind(alpha=0.1, xi=1.3).value_and_derivative(H, y, labels) for kind in (CrossEntropyCost, LOGMCost))
    np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
    np.testing.assert_allclose(one[1].whole(5), other[1].whole(5), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("labels", "nearest"), [([0, 0, 1, 1], [0, 2]), ([0, 0, 0, 1], [0, 3])], ids=["equal", "not"])
def test_the_cross_entropy_touches_the_first_of_equally_near_prototypes(labels, nearest):
    _, derivatives = CrossEntropyCost(alpha=0.0, xi=1.0).value_and_derivative(
        np.ones((1, 4)), np.array([1]), np.array(labels)
    )
    assert np.flatnonzero(derivatives.value[0]).tolist() == nearest


@pytest.mark.parametrize("cost", INSTANCES.values(), ids=INSTANCES)
def test_scaled_costs_do_not_depend_on_the_unit(cost):
    """With H and the spread in other units, the cost is the same and derivatives are per unit."""
    rng = np.random.default_rng(0)
    H, y = rng.uniform(1, 4, (20, 6)), rng.integers(0, 3, 20)
    one, derivatives = cost.scaled(0.5).value_and_derivative(H, y, LABELS)
    other, scaled_derivatives = cost.scaled(0.5 * 1000).value_and_derivative(H * 1000, y, LABELS)
    np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(derivatives.value, scaled_derivatives.value * 1000, rtol=1e-10)


@pytest.mark.parametrize("cost", INSTANCES.values(), ids=INSTANCES)
def test_float32_stays_float32(cost):
    H = np.arange(1, 13, dtype=np.float32).reshape(2, 6)
    value, derivatives = cost.value_and_derivative(H, np.array([0, 2]), LABELS)
    assert value.dtype == derivatives.value.dtype == np.float32
