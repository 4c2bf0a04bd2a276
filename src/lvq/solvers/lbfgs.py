"""L-BFGS on the objective: converges without a learning rate. The iterations are SciPy's.

SciPy gets the parameters as one float64 vector; data and products keep their device and type (NumPy or torch, float32
or float64).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from lvq.model.arrays import Array, like, namespace
from lvq.model.costs import MarginCost
from lvq.model.objective import Params
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Moments
from lvq.solvers.batch import Problem
from lvq.solvers.progress import Report, silent
from lvq.solvers.state import Result
from lvq.solvers.threads import product_threads, thread_map

HESSIAN_PAIRS = 10  # pairs of steps and gradients that the approximation of the Hessian keeps
MAX_RUNS = 4  # of L-BFGS
ADAM_STEPS, ADAM_RATE = 50, 0.1  # steps of Adam between two runs, and their first rate
MIN_GAIN = 1e-4  # relative gain of a run below which no other run follows

Function = Callable[[Params], tuple[Any, Params]]


def train(
    problem: Problem, params: Params, samples: ArraySamples, max_iter: int, tol: float, report: Report = silent
) -> Result:
    """Minimise until the objective falls by less than `tol` of its size in a step, or for `max_iter` steps.

    A margin cost has kinks where a sample is equally far from two prototypes, and L-BFGS, which assumes a smooth
    function, can stall at one. So a run that converges is followed by a few steps of Adam, which passes kinks, and by
    another run, as long as that helps. The result is never worse than the start.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    params : Params
        Where to start.
    samples : ArraySamples
        Samples, class by class, with weights of sum one.
    max_iter : int
        Most iterations, in all runs.
    tol : float
        Relative fall of the objective, and largest entry of the gradient, at which to stop.
    report : callable
        Called with the number of iterations done and the objective.
    """
    best = problem.free(params)
    history: list[float] = []
    parallel = isinstance(samples.X, np.ndarray) and problem.n_blocks(best, samples) > 1
    with thread_map(product_threads() if parallel else 1) as mapping:

        def function(free: Params) -> tuple[Any, Params]:
            return problem.value_and_gradient(free, samples, mapping)

        lowest, start = np.inf, best
        for again in range(MAX_RUNS):
            found, converged = _minimise(function, start, max_iter - len(history), tol, history, report)
            gain = lowest - found.value
            if gain > 0:
                best, lowest = found.free, found.value
            stalled = again > 0 and not gain > MIN_GAIN * max(1.0, abs(lowest))
            if stalled or not converged or not isinstance(problem.objective.cost, MarginCost):
                break
            start = _adam_steps(function, best)
    return Result(problem.params(best), len(history), history, converged)


class Found(NamedTuple):
    """A point and its value."""

    free: Params
    value: float


def _minimise(
    function: Function, start: Params, max_iter: int, tol: float, history: list[float], report: Report
) -> tuple[Found, bool]:
    """One run of L-BFGS; whether it converged."""
    if max_iter < 1:
        return Found(start, np.inf), False

    def flat(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = function(unravel(vector, start))
        return float(value), ravel(gradient)

    def callback(intermediate_result: Any) -> None:
        history.append(min(float(intermediate_result.fun), history[-1] if history else np.inf))
        report(len(history), history[-1])

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": HESSIAN_PAIRS, "ftol": tol, "gtol": tol}
    found = minimize(flat, ravel(start), jac=True, method="L-BFGS-B", callback=callback, options=options)
    if not history:  # converged before the first step
        history.append(float(found.fun))
    return Found(unravel(found.x, start), float(found.fun)), found.status != 1


def _adam_steps(function: Function, free: Params) -> Params:
    """Parameters after some steps of Adam, of order one and falling to zero."""
    moments = Moments(free)
    for step in range(ADAM_STEPS):
        free = moments.step(free, function(free)[1], ADAM_RATE * (1 - step / ADAM_STEPS))
    return free


def ravel(params: Params) -> np.ndarray:
    """All numbers as one float64 vector."""
    parts = [np.ravel(_to_numpy(part)).astype(np.float64) for part in params if part is not None]
    return np.concatenate(parts)


def unravel(vector: np.ndarray, template: Params) -> Params:
    """The vector's numbers in the shapes, types and places of a template."""
    parts: list[Any] = []
    begin = 0
    for part in template:
        if part is None:
            parts.append(None)
            continue
        shape = tuple(np.shape(part)) if isinstance(part, float) else tuple(part.shape)
        end = begin + int(np.prod(shape))
        piece = vector[begin:end].reshape(shape)
        parts.append(float(piece) if isinstance(part, float) else like(piece, part))
        begin = end
    return Params(*parts)


def _to_numpy(array: Array) -> np.ndarray:
    if isinstance(array, float) or namespace(array) is np:
        return np.asarray(array)
    return array.detach().cpu().numpy()
