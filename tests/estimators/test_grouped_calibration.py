"""Calibration and search with groups that must not be split."""

import numpy as np
import pytest
from sklearn.base import clone

from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators.grouped_calibration import group_folds


def recognisable_groups(seed, n_groups=30, size=8):
    """Samples close to the centre of their group; the class of a group is chance."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    centres, labels = rng.normal(size=(n_groups, 5)), rng.permutation(np.arange(n_groups) % 2)
    return centres[groups] + 0.1 * rng.normal(size=(len(groups), 5)), labels[groups], groups


@pytest.mark.parametrize("seed", range(3))
def test_folds_hold_whole_groups(seed):
    _, y, groups = recognisable_groups(seed)
    folds = group_folds(y, groups, 4, seed)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("seed", range(3))
def test_the_temperature_is_that_of_groups_left_out(seed):
    X, y, groups = recognisable_groups(seed)
    model = LVQClassifier(n_prototypes=2, random_state=0)
    plain, grouped = (clone(model).fit(X, y, **given) for given in ({}, {"groups": groups}))
    assert grouped.model_.decision.temperature > 1.3 * plain.model_.decision.temperature
    np.testing.assert_array_equal(grouped.prototypes_, plain.prototypes_)
    assert grouped.get_params()["calibration"] == "temperature"
    alone = LVQClassifier(random_state=0, calibration=None).fit(X, y, groups=groups)
    assert alone.model_.decision.temperature == 1


def test_the_search_does_not_split_groups(monkeypatch):
    X, y, groups = recognisable_groups(0)
    seen = []
    from lvq.estimators import search

    make = search.make_fold
    monkeypatch.setattr(search, "make_fold", lambda *given: seen.append(given[3:]) or make(*given))
    LVQClassifierCV(candidates=[{"n_prototypes": 1}], cv=3, random_state=0).fit(X, y, groups=groups)
    assert len(seen) == 3
    for train, test in seen:
        assert not set(groups[train]) & set(groups[test])


def test_one_group_cannot_be_left_out():
    with pytest.raises(ValueError, match="groups must have at least two different values"):
        group_folds(np.array([0, 1] * 5), np.zeros(10), 3)
