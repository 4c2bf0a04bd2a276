"""The temperature of probabilities: its formula, its optimum, and what it cannot change."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from lvq.model.temperature import PENALTY, fitted_temperature, tempered


def draw(seed, temperature, n_samples=4000, n_classes=3):
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_it_is_found_again(temperature, seed):
    table, y = draw(seed, temperature)
    assert fitted_temperature(table, y, np.ones(len(y))) == pytest.approx(temperature, rel=0.12)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_has_a_smaller_loss(seed):
    table, y = draw(seed, 1.7, n_samples=60)
    weight = np.random.default_rng(seed).uniform(0.1, 3, len(y))
    found = fitted_temperature(table, y, weight)
    best = loss(table, y, weight, found)
    for other in np.geomspace(1 / 8, 8, 60):
        assert loss(table, y, weight, other) >= best - 1e-9


def test_a_weight_is_a_number_of_copies_and_only_ratios_count():
    table, y = draw(0, 1.5, n_samples=50)
    weight = np.arange(50) % 4
    copies = fitted_temperature(np.repeat(table, weight, axis=0), np.repeat(y, weight), np.ones(weight.sum()))
    assert fitted_temperature(table, y, weight) == pytest.approx(copies)
    assert fitted_temperature(table, y, 2.0**20 * weight) == pytest.approx(copies)


def test_samples_without_an_error_do_not_mean_certainty():
    table = np.log([[0.7, 0.3]] * 20)
    found = fitted_temperature(table, np.zeros(20, dtype=int), np.ones(20))
    assert found > 1 / 8  # the smallest there is
    assert 0.97 < tempered(np.exp(table), found)[0, 0] < 0.999


def test_impossible_classes():
    """A class without prototypes has the probability 0, at every temperature."""
    table, y = draw(0, 2.0, n_samples=500, n_classes=2)
    wider = np.hstack([table, np.full((500, 1), -np.inf)])
    assert fitted_temperature(wider, y, np.ones(500)) == pytest.approx(fitted_temperature(table, y, np.ones(500)))
    assert tempered(np.exp(wider), 0.7)[:, 2].max() == 0


@pytest.mark.parametrize("temperature", [1 / 8, 0.5, 3.0, 8.0])
def test_the_order_of_the_classes_is_kept(temperature):
    probabilities = softmax(np.random.default_rng(0).normal(scale=5, size=(100, 4)), axis=1)
    raised = tempered(probabilities, temperature)
    np.testing.assert_array_equal(raised.argsort(axis=1), probabilities.argsort(axis=1))
    np.testing.assert_allclose(raised.sum(axis=1), 1)
    assert tempered(probabilities, 1.0) is probabilities


@pytest.mark.parametrize("constant", [-1e6, 1e6])
def test_a_constant_in_each_row_does_not_count(constant):
    """Logarithms need not be of numbers that sum to one, as those of tiny likelihoods."""
    table, y = draw(1, 2.0, n_samples=200)
    shifted = table + constant * np.linspace(0.5, 1, 200)[:, None]
    expected = fitted_temperature(table, y, np.ones(200))
    assert fitted_temperature(shifted, y, np.ones(200)) == pytest.approx(expected, rel=1e-6)


def test_a_class_that_is_much_less_likely_still_counts():
    """Down to a factor of exp(-10000); the same in rows whose largest logarithm is low."""
    table, y = np.array([[0.0, -9e3], [-9e3, 0.0]]), np.array([0, 0])
    expected = fitted_temperature(table, y, np.array([1.0, 0.0]))
    assert fitted_temperature(table, y, np.ones(2)) > expected
    assert fitted_temperature(table - 5e3, y, np.ones(2)) == pytest.approx(fitted_temperature(table, y, np.ones(2)))
