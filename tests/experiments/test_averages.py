"""Averages of accuracy-reject curves: linear between points, and the 80 % rule."""

import numpy as np
import pytest

from experiments.averages import accuracy_at, average_curves
from lvq.rejection.curves import AccuracyRejectCurve


def test_between_points_correct_samples_are_linear_in_coverage():
    # Of 4 samples, between accepting all (2 correct) and the most certain 2 (both correct): 3 accepted, 2 correct.
    curve = AccuracyRejectCurve(np.array([1.0, 0.5]), np.array([0.5, 1.0]))
    np.testing.assert_allclose(accuracy_at(curve, [1.0, 0.75, 0.5]), [0.5, 2 / 3, 1.0])
    assert np.isnan(accuracy_at(curve, 0.49))
    assert np.isnan(accuracy_at(curve, 1.01))


def test_average_needs_enough_runs():
    whole = AccuracyRejectCurve(np.array([1.0, 0.2]), np.array([0.5, 0.5]))
    short = AccuracyRejectCurve(np.array([1.0, 0.6]), np.array([1.0, 1.0]))
    grid = [0.2, 0.5, 0.6, 1.0]
    four_of_five = average_curves([whole] * 4 + [short], coverage=grid)
    assert four_of_five.coverage.tolist() == [1.0, 0.6, 0.5, 0.2]
    assert four_of_five.n_runs.tolist() == [5, 5, 4, 4]
    np.testing.assert_allclose(four_of_five.accuracy, [0.6, 0.6, 0.5, 0.5])
    np.testing.assert_allclose(four_of_five.standard_deviation, [0.2, 0.2, 0.0, 0.0], atol=1e-12)
    assert average_curves([whole] * 3 + [short], coverage=grid).coverage.tolist() == [1.0, 0.6]
    with pytest.raises(ValueError, match="curves must hold at least one curve"):
        average_curves([])
    with pytest.raises(ValueError, match="min_fraction must be between 0 and 1, got 80"):
        average_curves([whole], min_fraction=80)
