"""Null-space correction of Omega: the parts of a matrix that measure nothing are removed.

With correlated or few samples there are directions in which neither samples nor prototypes vary. What Omega does there
changes no distance, but it changes Lambda, and with it every picture of Lambda (Strickert et al. 2013). With V an
orthonormal basis of the directions in which they vary, Omega V V' gives the same distances, and has the smallest norm
of all matrices that do.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lvq.estimators.found import need_model
from lvq.input_columns import model_inputs
from lvq.typing import MatrixLike

Estimator = TypeVar("Estimator", bound=BaseEstimator)


def null_space_corrected(estimator: Estimator, X: MatrixLike, *, tolerance: float = 1e-10) -> Estimator:
    """A copy of a fitted model whose Omega is zero where neither the samples nor the prototypes vary.

    Distances of these samples, predictions and `feature_importances_` stay the same; `omega_`, `lambda_` and what is
    drawn of them lose what was arbitrary.

    Parameters
    ----------
    estimator : estimator
        Fitted model with one or more matrices, alone or in a Pipeline, a search or a RejectClassifier.
    X : array-like of shape (n_samples, n_columns)
        Training samples, as the estimator takes them.
    tolerance : float, default=1e-10
        Standard deviation, relative to that of the direction with the largest one, up to which a direction counts as
        one without variation. With larger values, such as 0.01, directions of little variation are removed too, and
        distances change a little.

    Returns
    -------
    corrected : estimator
        A copy.

    References
    ----------
    M. Strickert, B. Hammer, T. Villmann, M. Biehl. Regularization and improved interpretation of linear data mappings
    and adaptive distance measures. IEEE Symposium on Computational Intelligence and Data Mining, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from lvq import GMLVQ, null_space_corrected
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> X, y = np.column_stack([X, X.sum(axis=1)]), X[:, 0] > 0  # the third feature is the sum of the others
    >>> model = GMLVQ(random_state=0).fit(X, y)
    >>> corrected = null_space_corrected(model, X)
    >>> bool(abs(corrected.omega_ @ [1, 1, -1]).max() < 1e-9)
    True
    >>> np.allclose(corrected.model_.distances(X), model.model_.distances(X))
    True
    """
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance of null_space_corrected must be at least 0 and below 1, got {tolerance!r}.")
    found = need_model(estimator, "null_space_corrected")
    model, omega = found.model, found.model.relevance
    if omega is None or model.has_weights:
        raise ValueError(
            f"null_space_corrected needs a model with a matrix, got {type(found.estimator).__name__} with "
            f"{'relevances of single features' if omega is not None else 'the Euclidean metric'}; use GMLVQ, LGMLVQ or "
            "LVQClassifier(n_prototypes=2)."
        )
    Z = model_inputs(found, X, "null_space_corrected").astype(np.float64)
    basis = _varying(np.concatenate([Z, model.prototypes]), Z.mean(axis=0), tolerance)
    corrected = ((omega.astype(np.float64) @ basis) @ basis.T).astype(omega.dtype)
    copy = deepcopy(estimator)
    need_model(copy, "null_space_corrected").estimator.model_ = replace(model, relevance=corrected)
    return copy


def _varying(rows: NDArray[np.float64], centre: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """Orthonormal directions in which rows differ from a centre, (n_features, k)."""
    _, sizes, directions = np.linalg.svd(rows - centre, full_matrices=False)
    smallest = max(tolerance, len(rows) * np.finfo(np.float64).eps) * sizes[0]
    return directions[sizes > smallest].T
