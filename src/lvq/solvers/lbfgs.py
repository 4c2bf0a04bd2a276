"""L-BFGS on the objective: converges without a learning rate.

The iterations are SciPy's, on the host, with the parameters as one float64 vector. Data and products keep their type
(float32 or float64) and their place: parameters are carried to a device and gradients back, which is little beside an
evaluation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from lvq.model.costs import MarginCost
from lvq.model.links import Part
from lvq.model.objective import BlockObjective, Params
from lvq.model.observed import Observed
from lvq.model.relevance import Matrix, Weights
from lvq.model.rows import as_numpy, is_sparse
from lvq.model.samples import ArraySamples
from lvq.solvers import adam
from lvq.solvers.adam import Moments
from lvq.solvers.problem import Problem, ravel, unravel
from lvq.solvers.progress import Report, silent
from lvq.solvers.state import Result
from lvq.solvers.threads import product_threads, thread_map
from lvq.typing import Array

HESSIAN_PAIRS = 10  # pairs of steps and gradients that the approximation of the Hessian keeps
MAX_RUNS = 2  # of L-BFGS
ADAM_STEPS, ADAM_RATE = 30, 0.1  # steps of Adam between two runs, and their first rate
PATIENCE = 10  # iterations after which a later run must be better than the earlier ones
ROUGH = 30  # times the tolerance at which a first run stops if another one follows in any case
CALM = 1e-3  # of 25 fits with one prototype per class that ended at smaller gradients no other run improved any by 1e-4
TOL, LARGE_TOL = 1e-5, 1e-4  # where to stop, and where on large data
INCOMPLETE_TOL = 3e-4  # where values are missing: on 10 sets with a fifth missing 0.4 points more accurate than TOL
LARGE = 15_000  # samples from which epochs of Adam on batches come first,
LARGE_WORK = 15_000_000  # and, in the plain metric, number of samples times numbers of the prototypes
THREADED = 2**24  # products of a block from which threads pay
SINGLE = 1e12  # largest value, and one over the smallest unit, with which large data are held in float32
COMPARED = 8  # every so many samples tell whether those epochs improved on the start

Function = Callable[[Params], tuple[Array, Params]]


@dataclass(frozen=True)
class LBFGS(Part):
    """L-BFGS on all samples, which needs no rate.

    Parameters
    ----------
    tol : float, optional
        Relative fall of the objective, and largest entry of the gradient, at which to stop. None means 1e-5, and 3e-4
        where values are missing; from 15,000 samples on 1e-4, and at most as many iterations as there were epochs of
        Adam before them.
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
    another run, and the better of the two is the result. A run of one prototype per class with a matrix, or that ends
    at a small gradient, has not stalled.

    With 15,000 samples and more, epochs of Adam on batches come first: each costs one evaluation, and they reach what
    takes L-BFGS tens of them, so that L-BFGS only finishes the work. Samples are then best in float32, see `in_single`.
    In the plain metric with few prototypes L-BFGS does all of it, and for samples in partitions, which have no batches.

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
        Most runs; with one, no steps of Adam follow.
    """
    free, history = problem.free(params), list[float]()
    with thread_map(_threads(problem, params, samples)) as mapping:

        def function(free: Params) -> tuple[Array, Params]:
            return problem.value_and_gradient(free, samples, mapping)

        if not is_large(params, samples):
            rule = _rule(problem, _tolerance(problem, TOL) if tol is None else tol, max_runs)
            best, converged = _runs(function, free, max_iter, rule, history, report)
        else:
            found = adam.first_epochs(problem, params, samples, max_iter, report, mapping)
            history += np.minimum.accumulate(found.history).tolist()
            free = _better(problem, samples, free, problem.free(found.params))
            most = max_iter
            if tol is None:
                tol, max_runs, most = _tolerance(problem, LARGE_TOL), 1, min(max_iter, 2 * len(history))
            best, converged = _runs(function, free, most, _rule(problem, tol, max_runs), history, report)
            converged = converged or len(history) < max_iter
    return Result(problem.params(best), len(history), history, converged)


def _threads(problem: Problem, params: Params, samples: ArraySamples) -> int:
    """Threads over blocks of rows: one where blocks are too few or too small."""
    if not samples.in_memory or not isinstance(samples.X, np.ndarray):
        return 1
    rows = BlockObjective(problem.objective, params).rows(samples)
    matrix = 0 if params.relevance is None or params.relevance.ndim == 1 else params.relevance.size
    large = rows * (params.prototypes.size + matrix) >= THREADED and samples.n_samples > rows
    return product_threads() if large else 1


def _tolerance(problem: Problem, usual: float) -> float:
    """Where to stop unless it is given: with missing values distances have errors by chance, to which a fit adapts."""
    return INCOMPLETE_TOL if isinstance(problem.objective.metric, Observed) else usual


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
    block = samples.take(slice(None, None, COMPARED))
    part = ArraySamples(block.X, block.y, block.weight / block.weight.sum())
    values = [float(problem.value_and_gradient(free, part)[0]) for free in (before, after)]
    return before if values[0] < values[1] else after


class Rule(NamedTuple):
    """When a first run stops and whether another one follows: if its largest slope is above `calm` of the objective."""

    tol: float
    first_tol: float
    calm: float
    max_runs: int


def _rule(problem: Problem, tol: float, max_runs: int) -> Rule:
    """The rule for a problem, chosen by fits of four data sets with 1, 3 and 10 prototypes per class.

    Several prototypes of a class have better places behind kinks, and relevances of features can be caught at 0, so
    that a second run always pays, and the first may be rough. With matrices it seldom does, and with a matrix and one
    prototype per class it never did. The cross-entropy has one run: on wine, wdbc, heart_statlog, vehicle and digits a
    second one lowered the objective of three prototypes per class by 0 to 5 % and changed the log-loss of samples left
    out by -0.01 to 0.007, for 1.2 to 1.7 times the time; with one prototype per class it changed next to nothing.
    """
    labels, relevance = as_numpy(problem.objective.labels), problem.relevance
    if max_runs == 1 or not isinstance(problem.objective.cost, MarginCost):
        return Rule(tol, tol, np.inf, 1)
    one_each, matrix = len(np.unique(labels)) == len(labels), isinstance(relevance, Matrix)
    if one_each and not isinstance(relevance, Weights):
        return Rule(tol, tol, np.inf if matrix else CALM, max_runs)
    return Rule(tol, tol if matrix else ROUGH * tol, 0.0, max_runs)


def _runs(
    function: Function, start: Params, max_iter: int, rule: Rule, history: list[float], report: Report
) -> tuple[Params, bool]:
    """Runs of L-BFGS with steps of Adam between them: the best parameters, and whether the last run converged."""
    best, lowest, tol, calm = start, np.inf, rule.first_tol, rule.calm
    for left in reversed(range(rule.max_runs)):
        found = _minimise(function, start, max_iter - len(history), tol, lowest, history, report)
        if found.value < lowest:
            best, lowest = found.free, found.value
        if left == 0 or not found.converged or found.largest <= calm * max(1.0, abs(lowest)):
            break
        start, tol, calm = _adam_steps(function, best), rule.tol, 0.0
    return best, found.converged


class Minimum(NamedTuple):
    """Where a run ended, its value, the largest absolute entry of the gradient, and whether the run converged."""

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
    before = len(history)

    def flat(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = function(unravel(vector, start))
        return float(value), ravel(gradient)

    def callback(intermediate_result: OptimizeResult) -> None:
        value = float(intermediate_result.fun)
        history.append(min(value, history[-1] if history else np.inf))
        report(len(history), history[-1])
        if len(history) - before >= PATIENCE and value > lowest:
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": HESSIAN_PAIRS, "ftol": tol, "gtol": tol}
    found = minimize(flat, ravel(start), jac=True, method="L-BFGS-B", callback=callback, options=options)
    if not history:  # converged before the first step
        history.append(float(found.fun))
    return Minimum(unravel(found.x, start), float(found.fun), float(np.abs(found.jac).max()), found.status != 1)


def _adam_steps(function: Function, free: Params) -> Params:
    """Parameters after some steps of Adam, of order one and falling to zero."""
    moments = Moments(free)
    for step in range(ADAM_STEPS):
        free = moments.step(free, function(free)[1], ADAM_RATE * (1 - step / ADAM_STEPS))
    return free
