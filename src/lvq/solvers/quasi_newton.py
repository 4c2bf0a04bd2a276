"""L-BFGS on a torch tensor, where it lies: the host sees numbers only, the parameters never leave their device.

The iterations are those of L-BFGS-B without bounds (Zhu, Byrd, Lu and Nocedal 1997), which SciPy has for arrays: the
same line search, the same first step, the same rules for stopping. The two-loop recursion needs only dot products of
the last steps and gradients. They are computed by one matrix product and read back together; the recursion then runs
on numbers, and the direction is another product. So an iteration reads back once for each evaluation, and once more.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lvq.model.arrays import like, namespace, zeros
from lvq.solvers.line_search import LARGEST_STEP, line_search
from lvq.typing import Array

EVALUATIONS = 20  # for each iteration, at most, on the average

Function = Callable[[Array], tuple[Array, Array]]


class Minimum(NamedTuple):
    """Where the iterations ended, and whether they converged before the last allowed one."""

    x: Array
    value: float
    largest: float  # absolute entry of the gradient
    converged: bool


def minimise(
    function: Function, start: Array, max_iter: int, tol: float, pairs: int, seen: Callable[[float], bool]
) -> Minimum:
    """Minimise a smooth function of a vector.

    Parameters
    ----------
    function : callable
        Value, a tensor of one number, and gradient at a vector.
    start : tensor of shape (n,)
        Where to start.
    max_iter : int
        Most iterations.
    tol : float
        Relative fall of the value in an iteration, and largest entry of the gradient, at which to stop.
    pairs : int
        Number of steps, with the changes of the gradient, that approximate the Hessian.
    seen : callable
        Called with the value after each iteration; True ends the run.
    """
    line = Line(function, start)
    here = line.here
    if here.largest <= tol:
        return Minimum(here.x, here.value, here.largest, True)
    memory, iterations = Pairs(here.gradient, pairs), 0
    while True:
        direction, slope = memory.direction()
        line.turn(direction)
        step = min(abs(slope) ** -0.5, LARGEST_STEP) if iterations == 0 and slope else 1.0
        if not (slope < 0 and line_search(line.evaluate, here.value, slope, step)):
            if memory.empty:
                return Minimum(here.x, here.value, here.largest, True)
            memory.forget()  # and try the gradient itself
            continue
        before, here = here, line.accept()
        iterations += 1
        if seen(here.value):
            return Minimum(here.x, here.value, here.largest, True)
        if iterations >= max_iter or line.evaluations > EVALUATIONS * max_iter:
            return Minimum(here.x, here.value, here.largest, False)
        if here.largest <= tol or before.value - here.value <= tol * max(abs(before.value), abs(here.value), 1.0):
            return Minimum(here.x, here.value, here.largest, True)
        curved = line.slope - slope > np.finfo(np.float64).eps * -slope
        memory.update(here.gradient, (line.step * direction, here.gradient - before.gradient) if curved else None)


class Place(NamedTuple):
    """A vector, the gradient, the value and the largest absolute entry of the gradient there."""

    x: Array
    gradient: Array
    value: float
    largest: float


class Line:
    """The function along a line; one transfer to the host for each evaluation."""

    def __init__(self, function: Function, start: Array) -> None:
        self.function, self.evaluations = function, 0
        self.direction, self.step, self.slope = zeros(tuple(start.shape), start), 0.0, 0.0
        self.here = self.there = Place(start, start, 0.0, 0.0)
        self.evaluate(0.0)
        self.accept()

    def turn(self, direction: Array) -> None:
        """Take another direction from the present place."""
        self.direction = direction

    def evaluate(self, step: float) -> tuple[float, float]:
        """Value and slope at a step."""
        x = self.here.x + step * self.direction
        value, gradient = self.function(x)
        numbers = namespace(x).stack((value.to(x.dtype), gradient @ self.direction, abs(gradient).max()))
        value, slope, largest = numbers.tolist()
        self.there, self.step, self.slope = Place(x, gradient, value, largest), step, slope
        self.evaluations += 1
        return value, slope

    def accept(self) -> Place:
        """Go to the last evaluated step."""
        self.here = self.there
        return self.here


class Pairs:
    """The last steps s and changes y of the gradient, as rows of one matrix, with the gradient as the last row.

    `products` are the dot products of all rows with each other, on the host; those of two steps are not needed, but
    cost nothing.
    """

    def __init__(self, gradient: Array, size: int) -> None:
        self.size = size
        self.rows = zeros((2 * size + 1, gradient.shape[0]), gradient)
        self.products = np.zeros((2 * size + 1, 2 * size + 1))
        self.order: list[int] = []  # rows of the steps, oldest first
        self.update(gradient, None)

    @property
    def empty(self) -> bool:
        """Whether there is no step."""
        return not self.order

    def forget(self) -> None:
        """Leave out all steps."""
        self.order = []

    def update(self, gradient: Array, pair: tuple[Array, Array] | None) -> None:
        """Take another gradient and, in place of the oldest, another pair."""
        changed, new = [2 * self.size], [gradient]
        if pair is not None:
            if len(self.order) == self.size:
                self.order.pop(0)
            place = min(set(range(self.size)) - set(self.order))
            self.order.append(place)
            changed, new = [2 * self.size, place, self.size + place], [gradient, *pair]
        for row, vector in zip(changed, new):
            self.rows[row] = vector
        products = np.array((self.rows @ namespace(gradient).stack(new).T).tolist())  # the one transfer
        self.products[:, changed], self.products[changed] = products, products.T
        if pair is not None and not self.products[place, self.size + place] > 0:  # rounding, or a kink
            self.order.pop()

    def direction(self) -> tuple[Array, float]:
        """-H g and its slope g'(-H g), by the two-loop recursion on the coefficients of the rows."""
        size, products = self.size, self.products
        coefficients = np.zeros(2 * size + 1)
        coefficients[-1] = -1.0
        factors = {}
        for place in reversed(self.order):
            factors[place] = products[place] @ coefficients / products[place, size + place]
            coefficients[size + place] -= factors[place]
        if self.order:
            last = self.order[-1]
            coefficients *= products[last, size + last] / products[size + last, size + last]
        for place in self.order:
            factor = products[size + place] @ coefficients / products[place, size + place]
            coefficients[place] += factors[place] - factor
        return like(coefficients, self.rows) @ self.rows, float(products[-1] @ coefficients)
