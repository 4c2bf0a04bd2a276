"""L-BFGS on the objective: converges without a learning rate. SciPy does the work.

The parameters travel to SciPy as one float64 vector; data and products stay where and as they are (NumPy or torch,
either precision).
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from lvq.model.arrays import Array, like, namespace
from lvq.model.objective import Params
from lvq.solvers.batch import Data, Problem
from lvq.solvers.online import Result
from lvq.solvers.progress import Report, silent
from lvq.solvers.threads import product_threads, thread_map

MEMORY = 10  # pairs of steps and gradients that the approximation of the Hessian keeps


def train(problem: Problem, params: Params, data: Data, max_iter: int, tol: float, report: Report = silent) -> Result:
    """Minimise until the objective falls by less than `tol` of its size in a step, or for `max_iter` steps.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    params : Params
        Where to start.
    data : Data
        Samples.
    max_iter : int
        Most iterations.
    tol : float
        Relative fall of the objective, and largest entry of the gradient, at which to stop.
    report : callable
        Called with the number of iterations done and the objective.
    """
    start = problem.free(params)
    history: list[float] = []
    threads = product_threads() if isinstance(data.X, np.ndarray) and problem.n_chunks(start, data) > 1 else 1
    with thread_map(threads) as mapping:

        def function(vector: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = problem.value_and_gradient(unravel(vector, start), data, mapping)
            return float(value), ravel(gradient)

        def callback(intermediate_result: Any) -> None:
            history.append(float(intermediate_result.fun))
            report(len(history), history[-1])

        found = minimize(
            function,
            ravel(start),
            jac=True,
            method="L-BFGS-B",
            callback=callback,
            options={"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": MEMORY, "ftol": tol, "gtol": tol},
        )
    return Result(problem.params(unravel(found.x, start)), int(found.nit), history, bool(found.status != 1))


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
