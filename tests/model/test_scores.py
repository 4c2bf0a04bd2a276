"""Scores and probabilities against their formulas; the largest belongs to the class with the smallest distance."""

import numpy as np
import pytest

from lvq.model.links import KERNELS, Gaussian, Identity
from lvq.model.scores import class_distances, class_probabilities, class_scores, posterior

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3)))
LABELS = np.array([0, 0, 1, 3, 3])
LINKS = [Identity(), *(kind(width=1.4) for kind in KERNELS.values())]
LINK_NAMES = [type(link).__name__ for link in LINKS]


def distances(seed, n_classes, n_samples=40):
    return np.random.default_rng(seed).uniform(0, 5, (n_samples, n_classes))


@pytest.mark.parametrize("seed", SEEDS)
def test_class_distances_equal_loops(seed):
    D = distances(seed, len(LABELS))
    smallest = class_distances(D, LABELS, 5)
    for i, row in enumerate(D):
        assert smallest[i].tolist() == [min(row[k == LABELS], default=np.inf) for k in range(5)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_scores_equal_their_formula(link, n_classes, seed):
    D = distances(seed, n_classes)
    H = link.value(D)
    relative, steep = class_scores(link, D, None), class_scores(link, D, 1.7)
    for i, k in np.ndindex(D.shape):
        other = min(H[i, c] for c in range(n_classes) if c != k)
        assert relative[i, k] == pytest.approx((other - H[i, k]) / (other + H[i, k]), rel=1e-10, abs=1e-12)
        assert steep[i, k] == pytest.approx(1.7 * (other - H[i, k]), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_probabilities_equal_their_formula(link, n_classes, seed):
    D = distances(seed, n_classes)
    H = link.value(D)
    steep, relative = class_probabilities(link, D, 1.7, 5.0), class_probabilities(link, D, None, 5.0)
    np.testing.assert_allclose(steep, np.exp(-1.7 * H) / np.exp(-1.7 * H).sum(axis=1, keepdims=True), rtol=1e-10)
    scores = np.exp(2.5 * class_scores(link, D, None))
    np.testing.assert_allclose(relative, scores / scores.sum(axis=1, keepdims=True), rtol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("xi", [None, 1.7])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_with_two_classes_the_probability_is_the_logistic_of_the_score(link, xi, seed):
    D = distances(seed, 2)
    score = class_scores(link, D, xi)[:, 1] * (5.0 if xi is None else 1.0)
    np.testing.assert_allclose(class_probabilities(link, D, xi, 5.0)[:, 1], 1 / (1 + np.exp(-score)), rtol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e3, 1e200])
@pytest.mark.parametrize("xi", [None, 1e-3, 1e3])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_the_largest_belongs_to_the_nearest_class_at_every_scale(link, xi, scale, seed):
    """Far away a kernel saturates and all classes tie; the probabilities still sum to one."""
    D = distances(seed, 4) * scale
    scores, probabilities = class_scores(link, D, xi), class_probabilities(link, D, xi, 5.0)
    np.testing.assert_array_equal(scores.argmax(axis=1), D.argmin(axis=1))
    np.testing.assert_array_equal(probabilities.argmax(axis=1), D.argmin(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert (probabilities >= 0).all()


@pytest.mark.parametrize("xi", [None, 2.0])
def test_ties_go_to_the_lowest_class(xi):
    D = np.array([[1.0, 1.0, 2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert class_scores(Identity(), D, xi).argmax(axis=1).tolist() == [0, 1, 0]
    assert class_probabilities(Identity(), D, xi, 5.0).argmax(axis=1).tolist() == [0, 1, 0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("xi", [None, 1.7])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_a_class_without_prototypes_is_never_predicted(link, xi, seed):
    """Its distance is infinite; the others' scores are as if it were not there."""
    D = distances(seed, 3)
    wide = np.insert(D, 1, np.inf, axis=1)
    scores, probabilities = class_scores(link, wide, xi), class_probabilities(link, wide, xi, 5.0)
    np.testing.assert_allclose(scores[:, [0, 2, 3]], class_scores(link, D, xi), rtol=1e-12)
    assert (scores[:, 1] <= scores.min(axis=1)).all()
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("xi", [None, 1.7])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_a_stream_with_one_class_so_far(link, xi):
    """After a first batch of one class, only that class has prototypes; its scores are still finite."""
    D = np.array([[np.inf, 2.0, np.inf], [np.inf, 0.0, np.inf]])
    scores, probabilities = class_scores(link, D, xi), class_probabilities(link, D, xi, 5.0)
    assert not np.isnan(scores).any()
    assert scores.argmax(axis=1).tolist() == [1, 1]
    assert probabilities.argmax(axis=1).tolist() == [1, 1]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_posterior_equals_loops(link, seed):
    D = distances(seed, len(LABELS))
    result = posterior(link, D, LABELS, 4, 1.3)
    for i, row in enumerate(D):
        weights = np.exp(-1.3 * link.value(row))
        expected = [weights[k == LABELS].sum() / weights.sum() for k in range(4)]
        np.testing.assert_allclose(result[i], expected, rtol=1e-12)


def test_posterior_far_from_all_prototypes():
    result = posterior(Identity(), np.array([[1e6, 1e6 + 1, 1e6 + 2, 1e6, 1e6]]), LABELS, 4, 1.0)
    np.testing.assert_allclose(result.sum(), 1.0)
    assert result[0, 3] > result[0, 0] > result[0, 1] > result[0, 2] == 0


@pytest.mark.parametrize("xi", [None, np.float32(1.7)])
def test_float32_stays_float32_except_for_the_posterior(xi):
    """The posterior is in float64, in which its classes are compared."""
    D = distances(0, 3).astype(np.float32)
    assert class_scores(Gaussian(), D, xi).dtype == np.float32
    assert class_probabilities(Gaussian(), D, xi, 5.0).dtype == np.float32
    assert posterior(Gaussian(), distances(0, 5).astype(np.float32), LABELS, 4, 1.0).dtype == np.float64
