"""The line search of Moré and Thuente (1994): a step that satisfies the strong Wolfe conditions.

Trial steps are minimisers of cubic and quadratic functions through the points so far. Constants are those of L-BFGS-B,
so that both take the same steps. Only numbers are handled here; the function may be computed anywhere.
"""

from collections.abc import Callable
from math import isfinite, sqrt
from typing import NamedTuple

FALL, CURVATURE = 1e-3, 0.9  # of the first slope: the least mean slope of a step, and the largest slope at its end
NARROW = 0.1  # relative width of a bracket that is not divided further
LARGEST_STEP = 1e10
MAX_TRIALS = 20
SLOW = 0.66  # of its width, which a bracket must lose in two trials; else it is halved


class Point(NamedTuple):
    """A step, and the value and slope of the function there."""

    step: float
    value: float
    slope: float

    def tilted(self, slope: float) -> "Point":
        """The point after a linear function is subtracted."""
        return Point(self.step, self.value - self.step * slope, self.slope - slope)


def line_search(evaluate: Callable[[float], tuple[float, float]], value: float, slope: float, step: float) -> bool:
    """Evaluate steps until one is acceptable, which is then the last evaluated one; False where none is found.

    Parameters
    ----------
    evaluate : callable
        Value and slope of the function at a step.
    value, slope : float
        Value and slope at step zero; the slope is negative.
    step : float
        The first trial step.

    Examples
    --------
    >>> steps = []
    >>> def parabola(step):
    ...     steps.append(step)
    ...     return (step - 3) ** 2, 2 * (step - 3)
    >>> line_search(parabola, 9.0, -6.0, 10.0), steps
    (True, [10.0, 3.0])
    """
    best = other = Point(0.0, value, slope)  # the lowest, and the other end of the bracket
    required = FALL * slope
    bracketed, tilting = False, True
    low, high = 0.0, 5 * step
    width, width_before = LARGEST_STEP, 2 * LARGEST_STEP
    for _ in range(MAX_TRIALS):
        point = Point(step, *evaluate(step))
        if not (isfinite(point.value) and isfinite(point.slope)):
            step = best.step + (step - best.step) / 10
            continue
        enough = point.value <= value + step * required
        tilting = tilting and not (enough and point.slope >= 0)
        stuck = bracketed and not (low < step < high and high - low > NARROW * high)
        if stuck or (enough and (abs(point.slope) <= -CURVATURE * slope or step == LARGEST_STEP)):
            return True
        tilt = required if tilting and point.value <= best.value and not enough else 0.0
        ends = best.tilted(tilt), other.tilted(tilt), point.tilted(tilt)
        step = _next_step(*ends, bracketed, low, high)
        higher, crossed = ends[2].value > ends[0].value, ends[2].slope * ends[0].slope < 0
        bracketed = bracketed or higher or crossed
        if higher:
            other = point
        else:
            best, other = point, best if crossed else other
        if bracketed:
            size = abs(other.step - best.step)
            if size >= SLOW * width_before:
                step = best.step + (other.step - best.step) / 2
            width, width_before = size, width
            low, high = sorted((best.step, other.step))
        else:
            low, high = step + 1.1 * (step - best.step), step + 4 * (step - best.step)
        step = min(step, LARGEST_STEP)
        if bracketed and not (low < step < high and high - low > NARROW * high):
            step = best.step
    return False


def _next_step(best: Point, other: Point, point: Point, bracketed: bool, low: float, high: float) -> float:
    """The next trial step, from the lowest point, the other end of the bracket and the newest point."""
    if point.value > best.value:  # a minimum lies between the two
        cubic, _ = _cubic_minimum(best, point)
        chord = (best.value - point.value) / (point.step - best.step)
        quadratic = best.step + best.slope / (chord + best.slope) / 2 * (point.step - best.step)
        near = abs(cubic - best.step) < abs(quadratic - best.step)
        return cubic if near else cubic + (quadratic - cubic) / 2
    if point.slope * best.slope < 0:  # here too
        cubic, _ = _cubic_minimum(point, best)
        secant = _secant(point, best)
        return max(cubic, secant, key=lambda step: abs(step - point.step))
    limit = high if point.step > best.step else low
    if abs(point.slope) < abs(best.slope):  # the function still falls, less steeply
        cubic, beyond = _cubic_minimum(point, best)
        trials = cubic if beyond else limit, _secant(point, best)
        if not bracketed:
            return min(max(max(trials, key=lambda step: abs(step - point.step)), low), high)
        step, end = min(trials, key=lambda step: abs(step - point.step)), point.step + SLOW * (other.step - point.step)
        return min(step, end) if point.step > best.step else max(step, end)
    return _cubic_minimum(point, other)[0] if bracketed else limit


def _cubic_minimum(start: Point, end: Point) -> tuple[float, bool]:
    """Minimum of the cubic function through two points; whether it exists and lies before `start`, seen from `end`."""
    length = end.step - start.step
    theta = 3 * (start.value - end.value) / length + start.slope + end.slope
    scale = max(abs(theta), abs(start.slope), abs(end.slope))
    if scale == 0:
        return start.step + length / 2, False
    root = scale * sqrt(max(0.0, (theta / scale) ** 2 - (start.slope / scale) * (end.slope / scale)))
    root = -root if length < 0 else root
    total = root - start.slope + root + end.slope
    fraction = (root - start.slope + theta) / total if total else 0.5
    return start.step + fraction * length, fraction < 0 and root != 0


def _secant(start: Point, end: Point) -> float:
    """Where the slope, taken as linear through two points, vanishes."""
    return start.step + start.slope / (start.slope - end.slope) * (end.step - start.step)
