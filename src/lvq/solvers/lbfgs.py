"""L-BFGS on the objective: converges without a learning rate.

The iterations are SciPy's, on the host, with the parameters as one float64 vector. Data and products keep their type
(float32 or float64) and their place: parameters are carried to a device and gradients back, which is little next to an
evaluation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from lvq.model.costs import MarginCost
from lvq.model.links import Part
from lvq.model.objective import Params, Problem
from lvq.model.observed import Observed
from lvq.model.relevance import Matrix, Weights
from lvq.model.rows import as_numpy, beside, is_sparse, like
from lvq.model.samples import ArraySamples, block_threads
from lvq.solvers import adam
from lvq.solvers.adam import RunningMeans
from lvq.solvers.state import Report, Result, not_finite, silent
from lvq.typing import Array

HESSIAN_PAIRS = 10  # pairs of steps and gradients that the approximation of the Hessian keeps,
FEW_PAIRS, MANY = 4, 100_000  # and with so many parameters, where on a GPU SciPy would take longer than an evaluation
MAX_RUNS = 2  # of L-BFGS
ADAM_STEPS, ADAM_RATE = 30, 0.1  # steps of Adam between two runs, and their first rate
CALM = 1e-3  # of 25 plain fits with one prototype per class that ended at smaller gradients no other run gained 1e-4
PATIENCE = 10  # iterations after which a second run must be better than the first
ROUGH = 30  # times the tolerance at which a first run stops if another one follows
TOL, LARGE_TOL = 1e-5, 1e-4  # where to stop, and where on large data
INCOMPLETE_TOL = 3e-4  # where values are missing: on 10 sets with a fifth missing 0.4 points more accurate than TOL
LARGE = 15_000  # samples from which epochs of Adam on batches come first,
LARGE_WORK = 15_000_000  # and, in the plain metric, number of samples times numbers of the prototypes
PASSES = 3  # of an evaluation over samples and prototypes, or matrices, each as large as their product
SINGLE = 1e12  # largest value, and one over the smallest unit, with which large data are held in float32

Function = Callable[[Params], tuple[Array, Params]]


@dataclass(frozen=True)
class LBFGS(Part):
    """L-BFGS on all samples, which needs no rate.

    Parameters
    ----------
    tol : float, optional
        Relative fall of the objective, and largest entry of the gradient, at which to stop. None means 1e-5, or 3e-4
        where values are missing; with 15,000 samples or more 1e-4, and at most as many iterations as epochs of Adam
        before them.
    device : str, optional
        Where to compute, as torch names it ("cuda", "mps", "cpu"); None is NumPy, or the device of the tensors given to
        `fit`.
    """

    tol: float | None = None
    device: str | None = None


def train(
    problem: Problem,
    params: Params,
    samples: ArraySamples,
    max_iter: int,
    tol: float | None,
    report: Report = silent,
    max_runs: int = MAX_RUNS,
) -> Result:
    """Minimise until the objective falls by less than `tol` of its size in a step, or for `max_iter` steps.

    A margin cost has kinks where a sample is equally far from two prototypes, and L-BFGS, which assumes a smooth
    function, can stall at one. So a run that converges is followed by a few steps of Adam, which passes kinks, and by
    another run, and the better of the two is the result. With one prototype per class another run seldom helps.

    With 15,000 samples or more, epochs of Adam on batches come first: each costs one evaluation, and they reach what
    takes L-BFGS tens of them, so L-BFGS only finishes the work. Samples are then best in float32, see `in_single`.
    L-BFGS works alone in the plain metric with few prototypes, and for samples in partitions, which have no batches.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    params : Params
        Where to start.
    samples : ArraySamples
        Samples, class by class, with weights of sum one.
    max_iter : int
        Most iterations, epochs of Adam included.
    tol : float or None
        As in `LBFGS`.
    report : callable
        Called with the number of iterations done and the objective.
    max_runs : int
        1 or 2 runs; with one, no steps of Adam follow.
    """
    free, history, most = problem.free(params), list[float](), max_iter
    matrix = 0 if params.relevance is None or params.relevance.ndim == 1 else params.relevance.size
    in_arrays = samples.in_memory and isinstance(samples.X, np.ndarray)
    products = PASSES * samples.n_samples * (params.prototypes.size + matrix) if in_arrays else 0
    large = is_large(params, samples)
    found = adam.first_epochs(problem, params, samples, max_iter, report) if large else None
    with block_threads(products):  # batches of the epochs are too small for threads

        def function(free: Params) -> tuple[Array, Params]:
            return problem.value_and_gradient(free, samples)

        if found is not None:
            history += np.minimum.accumulate(found.history).tolist()
            free = _better(problem, samples, free, problem.free(found.params))
            if tol is None:
                max_runs, most = 1, min(max_iter, 2 * len(history))
        if tol is None:
            incomplete = isinstance(problem.objective.metric, Observed)  # distances with errors by chance
            tol = INCOMPLETE_TOL if incomplete else LARGE_TOL if large else TOL
        labels, matrix = as_numpy(problem.objective.labels), isinstance(problem.relevance, Matrix)
        one_each = len(np.unique(labels)) == len(labels)  # several have better places behind kinks
        second = max_runs > 1 and isinstance(problem.objective.cost, MarginCost) and not (one_each and matrix)
        one_each = one_each and not isinstance(problem.relevance, Weights)  # which can be caught at 0
        rough = 1 if matrix or one_each or not second else ROUGH
        best = _minimise(function, free, most - len(history), rough * tol, np.inf, history, report)
        converged = best.converged
        calm = one_each and best.largest <= CALM * max(1.0, abs(best.value))
        if second and converged and not calm:
            start = _adam_steps(function, best.free)
            other = _minimise(function, start, most - len(history), tol, best.value, history, report)
            best, converged = min(best, other, key=lambda run: run.value), other.converged
        converged = converged or (large and len(history) < max_iter)
    return Result(problem.params(best.free), len(history), history, converged)


def is_large(params: Params, samples: ArraySamples) -> bool:
    """Whether epochs of Adam on batches come first.

    With few prototypes in the plain metric the batches themselves take most of the time. Matrices gain from Adam also
    then: of rank 2 it found much better ones for 20,000 samples of 32 features.
    """
    if samples.n_samples < LARGE or not samples.in_memory:
        return False
    work = samples.n_samples * params.prototypes.shape[0] * params.prototypes.shape[1]
    return params.relevance is not None or work >= LARGE_WORK


def in_single(params: Params, samples: ArraySamples, unit: float, tol: float | None) -> bool:
    """Whether samples are held in float32 during training: where they are many, and for no finer tolerance than usual.

    Evaluations then take half the time and memory. The samples are relative to their centre, and the objective falls
    by less than its rounding error only far below the tolerance. Values of extreme sizes would overflow.
    """
    if not is_large(params, samples) or is_sparse(samples.X) or samples.dtype == np.float32:
        return False
    if tol is not None and tol < TOL:
        return False
    largest = max(float(array.max() - array.min()) for array in (samples.X, params.prototypes))
    return largest < SINGLE and unit > 1 / SINGLE


def _better(problem: Problem, samples: ArraySamples, before: Params, after: Params) -> Params:
    """Where Adam ended, or the start where that is better on a part of the samples, as after a warm start."""
    X, y, weight = samples.thinned()
    part = ArraySamples(X, y, weight / weight.sum())
    return min(after, before, key=lambda free: float(problem.value_and_gradient(free, part)[0]))


class Minimum(NamedTuple):
    """Where a run ended, its value, the largest entry of the gradient there, and whether it converged."""

    free: Params
    value: float
    largest: float
    converged: bool


def _minimise(
    function: Function, start: Params, max_iter: int, tol: float, lowest: float, history: list[float], report: Report
) -> Minimum:
    """One run of L-BFGS, given up if it is not below the lowest value so far in time."""
    if max_iter < 1:
        return Minimum(start, np.inf, np.inf, False)
    before, finite = len(history), True

    def flat(vector: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal finite
        value, gradient = function(unravel(vector, start))
        slope = ravel(gradient)
        finite = finite and bool(np.isfinite(slope).all()) and np.isfinite(float(value))
        return float(value), slope

    def callback(intermediate_result: OptimizeResult) -> None:
        value = float(intermediate_result.fun)
        history.append(min(value, history[-1] if history else np.inf))
        report(len(history), history[-1])
        if len(history) - before >= PATIENCE and value > lowest:
            raise StopIteration

    vector = ravel(start)
    pairs = HESSIAN_PAIRS if len(vector) < MANY else FEW_PAIRS
    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": pairs, "ftol": tol, "gtol": tol}
    found = minimize(flat, vector, jac=True, method="L-BFGS-B", callback=callback, options=options)
    if not finite and lowest == np.inf and np.array_equal(found.x, vector):  # no step was made
        raise not_finite(start.prototypes.dtype)
    if not history:  # converged before the first step
        history.append(float(found.fun))
    return Minimum(unravel(found.x, start), float(found.fun), float(np.abs(found.jac).max()), found.status != 1)


def _adam_steps(function: Function, free: Params) -> Params:
    """Parameters after some steps of Adam, of order one and falling to zero."""
    means = RunningMeans()
    for step in range(ADAM_STEPS):
        free = means.step(free, function(free)[1], ADAM_RATE * (1 - step / ADAM_STEPS))
    return free


def ravel(params: Params) -> np.ndarray:
    """All numbers as one float64 vector on the host."""
    return np.concatenate([np.ravel(as_numpy(part)).astype(np.float64) for part in params if part is not None])


def unravel(vector: np.ndarray, template: Params) -> Params:
    """The vector's numbers in the shapes, types and places of a template."""
    parts, begin = list[Array | None](), 0
    for part in template:
        if part is None:
            parts.append(None)
            continue
        end = begin + int(np.prod(part.shape))
        piece, begin = vector[begin:end].reshape(tuple(part.shape)), end
        parts.append(like(beside(piece, part), part))
    return Params(*parts)
