"""The line search: its steps satisfy the strong Wolfe conditions, and are those of SciPy's L-BFGS-B."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lvq.solvers.line_search import (
    CURVATURE,
    FALL,
    LARGEST_STEP,
    MAX_TRIALS,
    SLOW,
    Point,
    _cubic_minimum,
    _next_step,
    _secant,
    line_search,
)


def wave(seed):
    """A function of several minima, falling at zero, and its derivative."""
    rng = np.random.default_rng(seed)
    height, speed, phase = rng.normal(size=3), rng.uniform(0.2, 4, 3), rng.uniform(0, 6, 3)
    tilt = -abs(height * speed).sum() * rng.uniform(0.1, 1) - float((height * speed) @ np.cos(phase))
    bend = rng.uniform(0.001, 0.1)

    def function(step):
        angles = speed * step + phase
        return (
            float(bend * step**2 + tilt * step + height @ np.sin(angles)),
            float(2 * bend * step + tilt + (height * speed) @ np.cos(angles)),
        )

    return function


def searched(function, step):
    """The steps of a search, and whether it found one."""
    steps = []

    def evaluate(at):
        steps.append(at)
        return function(at)

    return steps, line_search(evaluate, *function(0.0), step)


def valley(seed):
    """A function of one minimum, steep on one side and flat on the other, and its derivative."""
    minimum, scale, bend = np.random.default_rng(seed).uniform([0.1, 0.5, 0.01], [5, 20, 1])

    def function(step):
        root = np.sqrt(1 + (scale * (step - minimum)) ** 2)
        away = step - minimum
        return float(root + bend * away**2 + np.exp(-step)), float(
            scale**2 * away / root + 2 * bend * away - np.exp(-step)
        )

    return function


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 30.0])
def test_strong_wolfe_conditions(first):
    for seed in range(50):
        function = valley(seed)
        value, slope = function(0.0)
        assert slope < 0
        steps, found = searched(function, first)
        assert found
        assert steps[0] == first
        assert len(steps) <= MAX_TRIALS
        end, end_slope = function(steps[-1])
        assert end <= value + FALL * steps[-1] * slope
        assert abs(end_slope) <= CURVATURE * abs(slope)


def test_the_steps_are_those_of_scipy():
    """In one dimension its first direction is the first line; the first step there has length one."""
    more = 0
    for seed in range(50):
        function, theirs = wave(seed), []

        def along(x, function=function, theirs=theirs):
            theirs.append(float(x[0]))
            value, slope = function(float(x[0]))
            return value, np.array([slope])

        minimize(along, [0.0], jac=True, method="L-BFGS-B", options={"maxiter": 1, "gtol": 0, "ftol": 0})
        _, slope = function(0.0)
        steps, _ = searched(lambda step, slope=slope, function=function: _scaled(function, -slope, step), 1 / -slope)
        np.testing.assert_allclose(-slope * np.array(steps), theirs[1 : len(steps) + 1], rtol=1e-6)
        assert len(theirs) == len(steps) + 1
        more += len(steps) > 1
    assert more > 10  # the first step alone would show little


def _scaled(function, scale, step):
    value, slope = function(scale * step)
    return value, scale * slope


def test_values_that_are_not_finite_are_left_behind():
    steps, found = searched(lambda step: (-step, -1.0) if step < 0.5 else (float("nan"), 1.0), 10.0)
    assert steps[:3] == [10.0, 1.0, 0.1]
    assert not found  # it falls for ever below one half, and nothing is to be had above
    steps, found = searched(lambda step: ((step - 0.2) ** 2, 2 * step - 0.4) if step < 0.5 else (np.inf, np.inf), 10.0)
    assert found
    assert steps[-1] == pytest.approx(0.2, abs=0.18)


def test_a_function_without_a_fall_ends():
    steps, found = searched(lambda step: (step, 1.0) if step else (0.0, -1.0), 1.0)  # a wrong derivative
    assert not found
    assert len(steps) == MAX_TRIALS


VALUE, SLOPE, STEP = 3.0, -2.0, 1.5
LARGEST_VALUE, LARGEST_SLOPE = VALUE + STEP * (FALL * SLOPE), -CURVATURE * SLOPE


@pytest.mark.parametrize(
    ("value", "slope", "accepted"),
    [
        (LARGEST_VALUE, 0.0, True),
        (np.nextafter(LARGEST_VALUE, 9), 0.0, False),
        (0.0, LARGEST_SLOPE, True),
        (0.0, -LARGEST_SLOPE, True),
        (0.0, np.nextafter(LARGEST_SLOPE, 9), False),
        (0.0, np.nextafter(-LARGEST_SLOPE, -9), False),
    ],
)
def test_both_conditions_may_hold_with_equality(value, slope, accepted):
    """The first trial alone: what is given for later ones is acceptable."""
    answers = iter([(value, slope)] + [(-1.0, 0.0)] * MAX_TRIALS)
    steps = []

    def evaluate(step):
        steps.append(step)
        return next(answers)

    assert line_search(evaluate, VALUE, SLOPE, STEP)
    assert (len(steps) == 1) == accepted


def test_the_largest_step_needs_no_small_slope():
    steps, found = searched(lambda step: (-step, -1.0), LARGEST_STEP)
    assert found
    assert steps == [LARGEST_STEP]


@pytest.mark.parametrize("first", [0.3, 1.0, 7.0, 40.0])
@pytest.mark.parametrize("kink", [0.37, 1.0, 2.9])
def test_at_a_kink_the_lowest_step_is_evaluated_last(kink, first):
    """No slope is small, so the search ends when the bracket is narrow, at the best of its steps."""
    values = []

    def function(step):
        values.append(abs(step - kink) + 0.01 * step)
        return values[-1], (1.0 if step > kink else -1.0) + 0.01

    steps, found = searched(function, first)
    values = values[1:]  # without the one at zero
    assert found
    assert values[-1] == min(values)
    assert abs(steps[-1] - kink) < 0.2 * kink


def points_of(coefficients, *steps):
    """Points of a cubic function a + b t + c t^2 + d t^3."""
    a, b, c, d = coefficients
    return [Point(t, a + t * (b + t * (c + t * d)), b + t * (2 * c + 3 * t * d)) for t in steps]


@pytest.mark.parametrize(
    ("start", "end", "minimum"),
    [(0.0, 3.0, 1.0), (3.0, 0.0, 1.0), (0.0, 0.5, 1.0), (0.5, 0.0, 1.0), (2.0, 3.0, 1.0), (-0.9, 5.0, 1.0)],
)
def test_the_minimum_of_a_cubic_function(start, end, minimum):
    """Of t^3 - 3 t, which has its minimum at 1 and its maximum at -1."""
    found, beyond = _cubic_minimum(*points_of((2.0, -3.0, 0.0, 1.0), start, end))
    assert found == pytest.approx(minimum)
    assert beyond == ((found - start) * (end - start) < 0)


def test_cubic_functions_without_a_minimum():
    """A line has none: half of the way; a rising cubic function has none, which is not beyond the start."""
    assert _cubic_minimum(Point(1.0, 5.0, 0.0), Point(4.0, 5.0, 0.0)) == (2.5, False)
    _, beyond = _cubic_minimum(*points_of((0.0, 1.0, 0.0, 1.0), 0.0, 1.0))  # its slope is 1 or more
    assert not beyond


def test_the_zero_of_a_linear_slope():
    assert _secant(*points_of((1.0, -6.0, 1.0, 0.0), 0.0, 1.0)) == pytest.approx(3.0)
    assert _secant(*points_of((1.0, -6.0, 1.0, 0.0), 5.0, 1.0)) == pytest.approx(3.0)


PARABOLA = (9.0, -6.0, 1.0, 0.0)  # its minimum is at 3


@pytest.mark.parametrize(
    ("best", "newest"),
    [(0.0, 7.0), (0.0, 5.0), (0.0, 1.0), (5.0, 4.0)],
    ids=["higher", "other slope", "less steep", "less steep, to the left"],
)
@pytest.mark.parametrize("bracketed", [True, False])
def test_every_rule_finds_the_minimum_of_a_parabola(best, newest, bracketed):
    first, point = points_of(PARABOLA, best, newest)
    far = points_of(PARABOLA, 20.0 if newest > best else -20.0)[0]
    assert _next_step(first, far, point, bracketed, -100.0, 100.0) == pytest.approx(3.0)


def test_without_a_bracket_a_step_stays_between_its_ends():
    first, point = points_of(PARABOLA, 0.0, 1.0)
    assert _next_step(first, first, point, False, 1.5, 2.0) == 2.0
    assert _next_step(first, first, point, False, 4.0, 5.0) == 4.0


def test_a_function_that_falls_more_steeply_is_followed_to_the_end():
    """And to the minimum of the cubic function where there is a bracket."""
    first, point = Point(0.0, 0.0, -1.0), Point(1.0, -3.0, -4.0)
    assert _next_step(first, first, point, False, -7.0, 8.0) == 8.0
    assert _next_step(point, point, Point(0.5, -3.5, -5.0), False, -7.0, 8.0) == -7.0
    other = Point(3.0, 2.0, 6.0)
    expected, _ = _cubic_minimum(point, other)
    assert _next_step(first, other, point, True, -7.0, 8.0) == expected
    assert 1 < expected < 3


def test_a_step_in_a_bracket_goes_two_thirds_of_the_way_at_most():
    """Slopes that hardly change put the minimum far beyond the other end."""
    first, point = Point(0.0, 0.0, -1.0), Point(1.0, -0.999, -0.998)
    assert _next_step(first, Point(2.0, 1.0, 1.0), point, True, 0.0, 2.0) == pytest.approx(1 + SLOW)
    assert _next_step(first, first, point, False, 0.0, 2.0) == 2.0
