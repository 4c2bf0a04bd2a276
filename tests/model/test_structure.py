"""Groups of features and a penalty of their weights, against loops over features."""

import numpy as np
import pytest

from lvq.model.relevance import Weights

GROUPS = (0, 1, 1, -1, 2, 0)


def rule_of(groups=None, **penalties):
    """A rule with these groups of features; -1 excludes one."""
    return Weights(feature_groups=groups and [None if group < 0 else group for group in groups], **penalties)


def test_means_of_groups():
    values = np.random.default_rng(0).normal(size=(3, 6))
    found = rule_of(GROUPS).shared(values)
    for row, means in zip(values, found):
        for feature, group in enumerate(GROUPS):
            members = [other for other, its in enumerate(GROUPS) if its == group]
            assert means[feature] == pytest.approx(0 if group < 0 else np.mean(row[members]))
    np.testing.assert_array_equal(rule_of(GROUPS).used(values)[:, 3], 0)
    assert rule_of(GROUPS).shared(values.astype(np.float32)).dtype == np.float32
    mixed = Weights(feature_groups=["b", 3, "b", None, "a"]).shared(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert mixed.tolist() == [2.0, 2.0, 2.0, 0.0, 5.0]


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["features", "groups"])
def test_penalties_are_their_formulas(groups):
    """Gradients are compared with differences in `test_relevance.py`."""
    rng, each = np.random.default_rng(1), tuple(range(6)) if groups is None else groups
    structure = rule_of(groups, smoothness=0.4)
    weights = structure.used(rng.uniform(0.1, 1, (2, 6)))
    omega = structure.used(rng.normal(size=(2, 3, 6)))
    pairs = [(k, k + 1) for k in range(5) if each[k] >= 0 and each[k + 1] >= 0]
    expected = sum(0.4 * 6 * sum((row[k] - row[j]) ** 2 for k, j in pairs) / row.sum() ** 2 for row in weights)
    assert structure.penalty_of_weights(weights)[0] == pytest.approx(expected, rel=1e-12)
    expected = sum(
        0.4 * sum(((matrix[:, k] - matrix[:, j]) ** 2).sum() for k, j in pairs) / (matrix**2).sum() for matrix in omega
    )
    assert structure.penalty_of_matrices(omega)[0] == pytest.approx(expected, rel=1e-12)
