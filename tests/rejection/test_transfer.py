"""Certainties on the scale of another model, by ranks."""

import numpy as np

from lvq.rejection.transfer import transferred


def pairs(values, second=None):
    return np.column_stack((values, np.zeros(len(values)) if second is None else second))


def test_a_monotone_change_of_scale_is_undone():
    rng = np.random.default_rng(0)
    training, values = np.sort(rng.random(500)), rng.random(50)
    found = transferred(pairs(values), pairs(training), pairs(training**3), np.random.RandomState(0))[:, 0]
    np.testing.assert_allclose(found, values**3, atol=0.02)


def test_below_all_training_samples():
    training = np.array([0.2, 0.4, 0.6])
    found = transferred(pairs([0.1]), pairs(training), pairs(10 * training), np.random.RandomState(0))
    assert found[0, 0] == 1.0  # the ratio is kept
    found = transferred(pairs([-1.0]), pairs(training - 0.4), pairs(training), np.random.RandomState(0))
    assert np.isclose(found[0, 0], 0.2 - 0.8)  # the distance, where the lowest have different signs


def test_certainties_between_0_and_1_keep_their_value_below_nearly_all_training_samples():
    """The lowest of 100 training samples does not count; no value comes above the lowest of the predicting model."""
    training, final = np.linspace(0.6, 1, 100), np.linspace(0.65, 1, 100)
    training[0], final[0] = 0.01, 0.02
    found = transferred(pairs([0.3, 0.59]), pairs(training), pairs(final), np.random.RandomState(0))[:, 0]
    np.testing.assert_array_equal(found, [0.3, 0.59])
    final[:2] = 0.5
    found = transferred(pairs([0.3, 0.59]), pairs(training), pairs(final), np.random.RandomState(0))[:, 0]
    np.testing.assert_array_equal(found, [0.3, 0.5])


def test_equal_values_are_spread_over_the_values_of_the_same_ranks():
    """Half of the training samples are equal in one model and different in the other, and the reverse."""
    training, final = np.repeat([0.3, 0.8], [50, 50]), np.linspace(0, 1, 100)
    found = transferred(pairs(np.full(400, 0.3)), pairs(training), pairs(final), np.random.RandomState(0))[:, 0]
    assert found.max() < 0.52
    np.testing.assert_allclose(np.quantile(found, [0.25, 0.5, 0.75]), [0.125, 0.25, 0.375], atol=0.04)
    back = transferred(pairs(final), pairs(final), pairs(training), np.random.RandomState(0))[:, 0]
    assert np.mean(back == 0.3) > 0.48
    assert np.mean(back == 0.8) > 0.48


def test_the_second_certainty_decides_between_equal_ones():
    second = np.arange(10.0)
    equal = pairs(np.ones(10), second)
    found = transferred(equal, equal, pairs(np.ones(10), 100 + second), np.random.RandomState(0))
    np.testing.assert_allclose(found[:, 1] - 100, second, atol=1.01)
