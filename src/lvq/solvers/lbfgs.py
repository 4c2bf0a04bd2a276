"""L-BFGS on the objective: converges without a learning rate. The iterations are SciPy's.

SciPy gets the parameters as one float64 vector; data and products keep their device and type (NumPy or torch, float32
or float64).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from lvq.model.arrays import as_numpy, like
from lvq.model.costs import MarginCost
from lvq.model.objective import Params
from lvq.model.samples import ArraySamples
from lvq.solvers.adam import Moments
from lvq.solvers.batch import Problem
from lvq.solvers.progress import Report, silent
from lvq.solvers.state import Result
from lvq.solvers.threads import product_threads, thread_map
from lvq.typing import Array

HESSIAN_PAIRS = 10  # pairs of steps and gradients that the approximation of the Hessian keeps
MAX_RUNS = 4  # of L-BFGS
ADAM_STEPS, ADAM_RATE = 50, 0.1  # steps of Adam between two runs, and their first rate
MIN_GAIN = 1e-4  # relative gain of a run below which no other run follows
SMALLEST_STAGE, GROWTH = 5000, 8  # samples of the first part of large data, and the factor by which parts grow
OF_EACH_CLASS = 50  # samples of a class in every part, at least
TOL, STAGE_TOL = 1e-5, 2e-5  # where to stop; on large data and its parts

Function = Callable[[Params], tuple[Array, Params]]


def train(
    problem: Problem,
    params: Params,
    samples: ArraySamples,
    max_iter: int,
    tol: float,
    report: Report = silent,
    max_runs: int = MAX_RUNS,
) -> Result:
    """Minimise until the objective falls by less than `tol` of its size in a step, or for `max_iter` steps.

    A margin cost has kinks where a sample is equally far from two prototypes, and L-BFGS, which assumes a smooth
    function, can stall at one. So a run that converges is followed by a few steps of Adam, which passes kinks, and by
    another run, as long as that helps.

    With 40,000 samples and more, growing parts of the samples come first: most iterations then cost a fraction, and
    all samples only finish the work.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    params : Params
        Where to start.
    samples : ArraySamples
        Samples, class by class, with weights of sum one.
    max_iter : int
        Most iterations; of large data half of them on all samples, and half on each part.
    tol : float
        Relative fall of the objective, and largest entry of the gradient, at which to stop.
    report : callable
        Called with the number of iterations done and the objective.
    max_runs : int
        Most runs; with one, no steps of Adam follow.
    """
    start, stages = problem.free(params), _stages(samples)
    found, most = start, max_iter if len(stages) == 1 else -(-max_iter // 2)
    for stage in stages[:-1]:
        found, _, _ = _runs(problem, found, stage, most, max(tol, STAGE_TOL), max_runs, silent)
    best, history, converged = _runs(problem, found, samples, most, tol, max_runs if found is start else 1, report)
    return Result(problem.params(best), len(history), history, converged)


def default_tol(n_samples: int) -> float:
    """Where to stop unless told otherwise: earlier on large data, whose last digits cost most and change least."""
    return TOL if n_samples // GROWTH < SMALLEST_STAGE else STAGE_TOL


def _stages(samples: ArraySamples) -> list[ArraySamples]:
    """Growing parts of the samples, the last of them all; every class keeps some samples in each part."""
    stages = [samples]
    step, y = GROWTH, as_numpy(samples.y)
    while samples.n_samples // step >= SMALLEST_STAGE:
        starts = np.flatnonzero(np.diff(y, prepend=-1))  # samples are arranged class by class
        first = (starts[:, None] + np.arange(OF_EACH_CLASS)).ravel()
        first = first[(first < len(y)) & (y[np.minimum(first, len(y) - 1)] == np.repeat(y[starts], OF_EACH_CLASS))]
        block = samples.take(np.union1d(np.arange(0, samples.n_samples, step), first))
        stages.append(ArraySamples(block.X, block.y, block.weight / block.weight.sum()))
        step *= GROWTH
    return stages[::-1]


def _runs(
    problem: Problem, start: Params, samples: ArraySamples, max_iter: int, tol: float, max_runs: int, report: Report
) -> tuple[Params, list[float], bool]:
    """Runs of L-BFGS with steps of Adam between them: the best parameters, the history, whether it converged."""
    best, lowest, history = start, np.inf, list[float]()
    parallel = isinstance(samples.X, np.ndarray) and problem.n_blocks(best, samples) > 1
    with thread_map(product_threads() if parallel else 1) as mapping:

        def function(free: Params) -> tuple[Array, Params]:
            return problem.value_and_gradient(free, samples, mapping)

        for again in range(max_runs):
            found, converged = _minimise(function, start, max_iter - len(history), tol, history, report)
            gain = lowest - found.value
            if gain > 0:
                best, lowest = found.free, found.value
            stalled = again > 0 and not gain > MIN_GAIN * max(1.0, abs(lowest))
            if stalled or not converged or again == max_runs - 1 or not isinstance(problem.objective.cost, MarginCost):
                break
            start = _adam_steps(function, best)
    return best, history, converged


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

    def callback(intermediate_result: OptimizeResult) -> None:
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
    parts = [np.ravel(as_numpy(part)).astype(np.float64) for part in params if part is not None]
    return np.concatenate(parts)


def unravel(vector: np.ndarray, template: Params) -> Params:
    """The vector's numbers in the shapes, types and places of a template."""
    parts: list[Array | None] = []
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
