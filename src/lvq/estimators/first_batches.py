"""The first batch of a stream of which a first pass has found the variances of the features."""

import numpy as np
from numpy.typing import ArrayLike

from lvq.estimators.atomic import unchanged_on_error
from lvq.estimators.base import BaseLVQ
from lvq.model.feature_moments import FeatureMoments


def fit_first_batch(
    estimator: BaseLVQ, X: ArrayLike, y: ArrayLike, classes: np.ndarray, moments: FeatureMoments
) -> None:
    """`partial_fit` of an estimator with ``missing="ignore"`` that is not fitted; moments of the features are known.

    Parameters
    ----------
    estimator : estimator
        Of this library; fitted, or unchanged where an error is raised.
    X, y : array-like
        The first samples of a stream, and their classes.
    classes : ndarray
        All classes.
    moments : FeatureMoments
        Of all samples of the stream, or of earlier ones; all batches join them, the first one too.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> moments = FeatureMoments(np.array([8.0]), np.array([0.5]), np.array([19.5]))
    >>> model = GLVQ(missing="ignore")
    >>> fit_first_batch(model, [[0.0], [1.0]], [0, 1], np.array([0, 1]), moments)
    >>> model.model_.variances.tolist()
    [2.0]
    """
    with unchanged_on_error(estimator):
        estimator._partial_fit(X, y, classes, None, moments)
