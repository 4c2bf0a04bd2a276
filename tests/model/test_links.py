"""Kernels as induced distances, H = k(v, v) - 2 k(v, w) + k(w, w)."""

import numpy as np
import pytest

from lvq.model.links import KERNELS, Cauchy, Gaussian, Identity, InverseMultiquadric, RationalQuadratic

FORMULAS = {  # of the kernels themselves, for those whose induced distance is written in another form
    "gaussian": (Gaussian(width=1.3), lambda v, w: np.exp(-((v - w) @ (v - w)) / (2 * 1.3**2))),
    "cauchy": (Cauchy(width=1.3), lambda v, w: 1 / (1 + (v - w) @ (v - w) / 1.3**2)),
    "inverse_multiquadric": (InverseMultiquadric(width=1.3), lambda v, w: 1 / np.sqrt(1 + (v - w) @ (v - w) / 1.3**2)),
    "rational_quadratic": (
        RationalQuadratic(width=1.3, shape=2.5),
        lambda v, w: (1 + (v - w) @ (v - w) / (2 * 2.5 * 1.3**2)) ** -2.5,
    ),
}
ALL_LINKS = [
    *(kernel.with_width(1.3) for kernel in KERNELS.values()),
    RationalQuadratic(width=1.3, shape=2.5),
    RationalQuadratic(width=0.4),
]


@pytest.mark.parametrize("name", FORMULAS)
def test_value_is_the_induced_distance(name):
    kernel, k = FORMULAS[name]
    for v, w in np.random.default_rng(0).normal(size=(20, 2, 3)):
        D = np.array([(v - w) @ (v - w)])
        np.testing.assert_allclose(kernel.value(D), k(v, v) - 2 * k(v, w) + k(w, w), rtol=1e-13)


@pytest.mark.parametrize("link", ALL_LINKS, ids=repr)
def test_derivatives_equal_differences(link):
    """By the logarithm of the width it is -2 D g'(D): every kernel is a function of D/width^2 alone."""
    D = np.geomspace(1e-2, 1e1, 25)
    step = 1e-5 * D
    numeric = (link.value(D + step) - link.value(D - step)) / (2 * step)
    np.testing.assert_allclose(link.derivative(D), numeric, rtol=1e-7, atol=1e-12)
    up, down = link.with_width(link.width * np.exp(1e-5)), link.with_width(link.width * np.exp(-1e-5))
    np.testing.assert_allclose(-2 * D * link.derivative(D), (up.value(D) - down.value(D)) / 2e-5, rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("link", ALL_LINKS, ids=repr)
def test_small_distances_keep_their_precision_and_large_ones_saturate(link):
    """2 - 2 h would give 0 below 1e-16; H is g'(0) D there."""
    D = np.array([0.0, 1e-30, 1e-20, 1e-12])
    np.testing.assert_allclose(link.value(D), link.derivative(np.zeros(1)) * D, rtol=1e-10)
    D = np.array([1e100, 1e200, 1e300])
    value, derivative = link.value(D), link.derivative(D)
    np.testing.assert_allclose(value, 2.0)
    assert (derivative >= 0).all()
    assert (derivative < 1e-90).all()


@pytest.mark.parametrize("link", [*ALL_LINKS, Identity(), RationalQuadratic(1.5, np.float64(2))], ids=repr)
def test_links_increase_from_zero_and_float32_stays_float32(link):
    D = np.linspace(0, 10, 200, dtype=np.float32)
    H = link.value(D)
    assert H[0] == 0
    assert (np.diff(H) > 0).all()
    assert (link.derivative(D) > 0).all()
    assert H.dtype == link.derivative(D).dtype == np.float32
