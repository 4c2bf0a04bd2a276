"""The warning of a fit that stopped before it converged."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from lvq.model.samples import ArraySamples, Samples
from lvq.solvers.state import Result

UNIT = 0.25, 4.0  # between these a variance is about one


def warn_if_not_converged(estimator: BaseEstimator, result: Result, samples: Samples) -> None:
    """Warn where lbfgs stopped at max_iter while the objective was still falling; called by `_fit`, called by `fit`."""
    if result.converged or not _still_falling(result.history):
        return
    scale = "" if _is_scaled(samples) else ", or scale the features to unit variance"
    warnings.warn(
        f"{type(estimator).__name__}: lbfgs stopped after {result.n_iter} iterations, before the objective "
        f"({result.history[-1]:.5g}) converged. Increase max_iter (now {estimator.max_iter}) or tol{scale}.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _is_scaled(samples: Samples) -> bool:
    """Whether the largest variance of a feature is about one, as behind a scaler; False where X is no array."""
    if not isinstance(samples, ArraySamples) or not isinstance(samples.X, np.ndarray):
        return False
    return UNIT[0] <= float(samples.thinned().variances().max(initial=0.0)) <= UNIT[1]


def _still_falling(history: list[float]) -> bool:
    """Whether the last tenth of the iterations brought more than a hundredth of the whole fall."""
    if len(history) < 2:
        return True
    late = history[-max(2, len(history) // 10)]
    return late - history[-1] > 0.01 * (history[0] - history[-1])
