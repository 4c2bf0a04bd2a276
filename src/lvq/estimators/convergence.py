"""The warning of a fit that stopped before it converged."""

import warnings

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from lvq.solvers.state import Result


def warn_if_not_converged(estimator: BaseEstimator, result: Result) -> None:
    """Warn where lbfgs stopped at max_iter while the objective was still falling; called by `_fit`, called by `fit`."""
    if result.converged or not _still_falling(result.history):
        return
    warnings.warn(
        f"{type(estimator).__name__}: lbfgs stopped after {result.n_iter} iterations, before the objective "
        f"({result.history[-1]:.5g}) converged. Increase max_iter (now {estimator.max_iter}) or tol, or scale the "
        "features to unit variance.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _still_falling(history: list[float]) -> bool:
    """Whether the last tenth of the iterations brought more than a hundredth of the whole fall."""
    if len(history) < 2:
        return True
    late = history[-max(2, len(history) // 10)]
    return late - history[-1] > 0.01 * (history[0] - history[-1])
