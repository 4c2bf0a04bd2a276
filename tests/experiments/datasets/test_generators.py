"""The artificial data has the boxes, variances and densities of the papers."""

import numpy as np
from scipy.stats import multivariate_normal

from experiments.datasets import (
    make_multimodal,
    make_pearl_necklace,
    pearl_necklace_log_density,
    pearl_necklace_posterior,
)

CENTRES = [2, 44, 85, 100, 136]
DEVIATIONS = [1, 20, 0.5, 7, 11]

# Lowest and highest value of x1 and of x2 in each box, in the order of the rows.
BOXES = [
    ((0.18, 0.38), (0.05, 0.25)),
    ((0.675, 0.825), (0.5625, 0.6375)),
    ((0.60, 0.70), (0.025, 0.125)),
    ((0.00, 0.20), (0.575, 0.725)),
    ((0.45, 0.65), (0.875, 1.0)),
    ((0.775, 0.925), (0.62, 0.68)),
]


def test_necklace_has_the_papers_means_and_deviations():
    n_per_class = 20_000
    X, y = make_pearl_necklace(n_per_class, random_state=0)
    assert X.shape == (5 * n_per_class, 2)
    assert np.bincount(y).tolist() == [n_per_class] * 5
    for label, (centre, deviation) in enumerate(zip(CENTRES, DEVIATIONS)):
        members = X[y == label]
        error_of_mean = deviation / np.sqrt(n_per_class)
        np.testing.assert_allclose(members.mean(axis=0), [centre, 3], atol=5 * error_of_mean)
        np.testing.assert_allclose(members.std(axis=0), deviation, rtol=5 / np.sqrt(2 * n_per_class))
        assert abs(np.corrcoef(members.T)[0, 1]) < 5 / np.sqrt(n_per_class)


def test_log_density_is_that_of_round_gaussians():
    X = np.array([[2.0, 3.0], [90.0, -4.0], [400.0, 3.0]])
    expected = [
        multivariate_normal([centre, 3], np.eye(2) * deviation**2).logpdf(X)
        for centre, deviation in zip(CENTRES, DEVIATIONS)
    ]
    np.testing.assert_allclose(pearl_necklace_log_density(X), np.transpose(expected), rtol=1e-12)


def test_posterior_follows_bayes_rule_and_the_priors():
    X = np.array([[93.0, 5.0], [20.0, 3.0]])
    densities = np.exp(pearl_necklace_log_density(X))
    for priors in (None, [1, 2, 3, 4, 5], [0, 1, 1, 1, 1]):
        joint = densities * (np.ones(5) if priors is None else np.array(priors))
        expected = joint / joint.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(pearl_necklace_posterior(X, priors), expected, rtol=1e-10, atol=1e-300)


def test_multimodal_fills_its_six_boxes():
    size = 5000
    X, _ = make_multimodal(size, random_state=0)
    for number, box in enumerate(BOXES):
        cluster = X[number * size : (number + 1) * size]
        for axis, (low, high) in enumerate(box):
            assert low <= cluster[:, axis].min() < low + 0.01 * (high - low)
            assert high - 0.01 * (high - low) < cluster[:, axis].max() <= high
            if high < 1.0:
                middle_half = np.abs(cluster[:, axis] - (low + high) / 2) < (high - low) / 4
                assert abs(middle_half.mean() - 0.5) < 5 * 0.5 / np.sqrt(size)
    clipped = X[4 * size : 5 * size, 1] == 1.0
    assert abs(clipped.mean() - 1 / 6) < 5 * np.sqrt(5 / 36 / size), "a sixth of the box lies above 1"
