"""Accuracy-reject curves: every attainable threshold, exact areas, the 80 % rule."""

import numpy as np
import pytest

from experiments.averages import accuracy_at
from lvq.rejection import accuracy_reject_curve, area_under_curve, local_thresholds
from lvq.rejection.curves import path_curve


@pytest.mark.parametrize("levels", [5, 10_000])
def test_every_attainable_threshold(levels):
    rng = np.random.default_rng(levels)
    certainty, correct = rng.integers(0, levels, 60) / levels, rng.random(60) < 0.7
    curve = accuracy_reject_curve(certainty, correct)
    kept = [certainty >= limit for limit in np.unique(certainty)]
    np.testing.assert_allclose(curve.coverage, [k.mean() for k in kept])
    np.testing.assert_allclose(curve.accuracy, [correct[k].mean() for k in kept])


def test_lengths():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        accuracy_reject_curve([0.1, 0.2], [True])


def test_curve_of_a_path_on_other_samples_is_sorted():
    rng = np.random.default_rng(2)
    samples = rng.integers(0, 30, 200) / 30, rng.random(200) < 0.7, rng.integers(0, 5, 200)
    others = rng.integers(0, 30, 40) / 30, rng.random(40) < 0.7, rng.integers(0, 5, 40)
    path = local_thresholds(*samples).evaluate(*others)
    assert np.any(np.diff(path.coverage) >= 0)  # otherwise nothing is tested
    curve = path_curve(path)
    assert np.all(np.diff(curve.coverage) < 0)
    for coverage, accuracy in zip(*curve):
        assert accuracy == pytest.approx(path.accuracy[path.coverage == coverage].mean())


def test_area_is_the_integral():
    rng = np.random.default_rng(4)
    certainty = np.round(rng.random(50), 1)
    curve = accuracy_reject_curve(certainty, rng.random(50) < certainty)
    grid = (np.arange(200_000) + 0.5) / 200_000
    values = accuracy_at(curve, grid)
    values[np.isnan(values)] = curve.accuracy[-1]
    assert area_under_curve(curve) == pytest.approx(values.mean(), abs=1e-8)
