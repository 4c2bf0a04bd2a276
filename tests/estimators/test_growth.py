"""n_prototypes="auto": as many prototypes of each class as samples that are left out support."""

import numpy as np
import pytest

import lvq
from lvq.estimators import growth


def blobs(centres, labels, n=60, seed=0):
    """Samples around centres, `n` of each, with the label of their centre."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(centre, 0.5, (n, 2)) for centre in centres])
    return X, np.repeat(labels, n)


def counts(model):
    return np.bincount(np.searchsorted(model.classes_, model.prototype_labels_)).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_each_cluster_of_a_class_gets_a_prototype(seed):
    X, y = blobs([(0, 0), (4, 0), (8, 0)], ["a", "b", "a"], seed=seed)
    model = lvq.GLVQ(n_prototypes="auto", random_state=seed).fit(X, y)
    assert counts(model)[0] >= 2
    assert model.score(X, y) > 0.98
    assert lvq.GLVQ(random_state=seed).fit(X, y).score(X, y) < 0.9
    assert model.get_params()["n_prototypes"] == "auto"


@pytest.mark.parametrize("seed", range(5))
def test_one_cluster_for_each_class_needs_one_prototype(seed):
    X, y = blobs([(0, 0), (4, 0)], [3, 7], seed=seed)
    assert counts(lvq.LVQClassifier(n_prototypes="auto", random_state=seed).fit(X, y)) == [1, 1]


def test_a_prototype_that_does_not_pay_is_removed(monkeypatch):
    """Losses that fall with the prototypes of the first class only."""
    X, y = blobs([(0, 0), (4, 0)], [0, 1])
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, len(y))

    def losses(trial, numbers):
        return 1 + noise - 0.1 * (y == 0) * min(numbers[0], 3) - 1e-6 * (y == 1) * numbers[1]

    monkeypatch.setattr(growth.Trial, "losses", losses)
    model = lvq.GLVQ(n_prototypes="auto", random_state=0).fit(X, y)
    assert counts(model)[0] == 3


def test_a_class_with_few_samples_gets_one():
    X, y = blobs([(0, 0), (4, 0)], [0, 1], n=40)
    X, y = X[:44], y[:44]
    assert counts(lvq.GLVQ(n_prototypes="auto", random_state=0).fit(X, y)) == [1, 1]


def test_a_weight_is_a_number_of_copies():
    X, y = blobs([(0, 0), (4, 0), (8, 0)], [0, 1, 0], n=30)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = lvq.GLVQ(n_prototypes="auto", random_state=0).fit(X, y, weight)
    copied = lvq.GLVQ(n_prototypes="auto", random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert counts(weighted) == counts(copied)


def test_a_warm_start_keeps_the_number():
    X, y = blobs([(0, 0), (4, 0), (8, 0)], [0, 1, 0])
    model = lvq.LVQClassifier(n_prototypes="auto", warm_start=True, random_state=0).fit(X, y)
    before = counts(model)
    assert counts(model.fit(X, y)) == before


def test_it_needs_all_samples_at_once():
    with pytest.raises(ValueError, match=r"n_prototypes='auto' of GLVQ needs all samples at once"):
        lvq.GLVQ(n_prototypes="auto").partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])


def test_it_needs_a_start_by_name():
    X, y = blobs([(0, 0), (4, 0)], [0, 1])
    with pytest.raises(ValueError, match=r"n_prototypes='auto' of GLVQ chooses how many prototypes"):
        lvq.GLVQ(n_prototypes="auto", init=X[[0, -1]]).fit(X, y)


def test_another_word_is_refused():
    with pytest.raises(ValueError, match=r"The 'n_prototypes' parameter of GLVQ must be"):
        lvq.GLVQ(n_prototypes="many").fit([[0.0], [1.0]], [0, 1])
