"""From distances to decisions: winner, rival, certainty, scores, probabilities and their temperature, by formulas."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from lvq.model.links import KERNELS, Gaussian, Identity
from lvq.model.scores import (
    PENALTY,
    class_log_probabilities,
    class_probabilities,
    class_scores,
    fitted_temperature,
    nearest,
    posterior,
    tempered,
)

LABELS = np.array([0, 0, 1, 3, 3])
LINKS = [Identity(), *(kernel.with_width(1.4) for kernel in KERNELS.values())]
LINK_NAMES = [type(link).__name__ for link in LINKS]


def distances(seed, n_classes, n_samples=40):
    return np.random.default_rng(seed).uniform(0, 5, (n_samples, n_classes))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("xi", [None, 1e-3, 1e3])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_the_largest_belongs_to_the_nearest_class_at_every_scale(link, xi, scale):
    """Of equally near ones to the first. Far away a kernel saturates and all classes tie; probabilities sum to one."""
    D = distances(0, 4) * scale
    D[:3, 2], D[3] = D[:3, 1], 0.0
    scores, probabilities = class_scores(link, D, xi), class_probabilities(link, D, xi, 5.0)
    if xi is not None:
        np.testing.assert_array_equal(class_log_probabilities(link, D, xi).argmax(axis=1), D.argmin(axis=1))
    np.testing.assert_array_equal(scores.argmax(axis=1), D.argmin(axis=1))
    np.testing.assert_array_equal(probabilities.argmax(axis=1), D.argmin(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert (probabilities >= 0).all()


@pytest.mark.parametrize("xi", [None, 1.7])
@pytest.mark.parametrize("link", LINKS, ids=LINK_NAMES)
def test_a_class_without_prototypes_is_never_predicted(link, xi):
    """Its distance is infinite; the others' scores are as if it were not there."""
    D = distances(0, 3)
    wide = np.insert(D, 1, np.inf, axis=1)
    scores, probabilities = class_scores(link, wide, xi), class_probabilities(link, wide, xi, 5.0)
    np.testing.assert_allclose(scores[:, [0, 2, 3]], class_scores(link, D, xi), rtol=1e-12)
    assert (scores[:, 1] <= scores.min(axis=1)).all()
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    if xi is not None:
        logarithms = class_log_probabilities(link, wide, xi)
        assert (logarithms[:, 1] == -np.inf).all()
        assert np.isfinite(logarithms[:, [0, 2, 3]]).all()


@pytest.mark.parametrize("xi", [None, np.float32(1.7)])
def test_float32_stays_float32_except_for_the_posterior(xi):
    """The posterior is in float64, in which its classes are compared."""
    D = distances(0, 3).astype(np.float32)
    assert class_scores(Gaussian(1.0), D, xi).dtype == np.float32
    assert class_probabilities(Gaussian(1.0), D, xi, 5.0).dtype == np.float32
    assert posterior(Gaussian(1.0), distances(0, 5).astype(np.float32), LABELS, 4, 1.0).dtype == np.float64


# -- winner, rival and certainty ---------------------------------------------------------------------------------------


OWNERS = np.array([0, 0, 1, 2, 2])


def test_winner_and_rival_equal_loops_and_ties_go_to_the_lowest_index():
    """Distances are few whole numbers, so most rows have ties, and some have zeros."""
    D = np.random.default_rng(0).integers(0, 4, (80, 5)).astype(float)
    found = nearest(D, OWNERS)
    for i, row in enumerate(D):
        winner = next(j for j in range(5) if row[j] == row.min())
        others = [j for j in range(5) if OWNERS[j] != OWNERS[winner]]
        rival = next(j for j in others if row[j] == row[others].min())
        assert (found.winner[i], found.rival[i]) == (winner, rival)
        assert (found.winner_distance[i], found.rival_distance[i]) == (row[winner], row[rival])


# -- temperature -------------------------------------------------------------------------------------------------------


def draw_labels(seed, temperature, n_samples=4000, n_classes=3):
    """Labels drawn from the softmax of scores, and the log-probabilities that are too sharp by the temperature."""
    random = np.random.default_rng(seed)
    scores = random.normal(scale=2, size=(n_samples, n_classes))
    y = np.array([random.choice(n_classes, p=row) for row in softmax(scores, axis=1)])
    return log_softmax(temperature * scores, axis=1), y


def loss(table, y, weight, temperature):
    """By its definition, sample by sample."""
    total = 0.0
    for row, label, one in zip(table, y, weight):
        raised = np.exp(row) ** (1 / temperature)
        total -= one * np.log(raised[label] / raised.sum())
    return total / weight.sum() + PENALTY * np.log(temperature) ** 2


def test_no_other_has_a_smaller_loss():
    table, y = draw_labels(0, 1.7, n_samples=60)
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    best = loss(table, y, weight, fitted_temperature(table, y, weight))
    assert all(loss(table, y, weight, other) >= best - 1e-9 for other in np.geomspace(1 / 8, 8, 60))


def test_a_weight_is_a_number_of_copies_and_only_ratios_count():
    table, y = draw_labels(0, 1.5, n_samples=50)
    weight = np.arange(50) % 4
    copies = fitted_temperature(np.repeat(table, weight, axis=0), np.repeat(y, weight), np.ones(weight.sum()))
    assert fitted_temperature(table, y, weight) == pytest.approx(copies)
    assert fitted_temperature(table, y, 2.0**20 * weight) == pytest.approx(copies)


def test_samples_without_an_error_do_not_mean_certainty():
    table = np.log([[0.7, 0.3]] * 20)
    found = fitted_temperature(table, np.zeros(20, dtype=int), np.ones(20))
    assert found > 1 / 8  # the smallest there is
    assert 0.97 < tempered(np.exp(table), found)[0, 0] < 0.999
