"""Streams that drift: prototypes that no longer win move to where the model is wrong."""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from lvq.model.sparse_rows import filled
from lvq.typing import Array


def reseed_idle(
    model: BaseEstimator, X: Array, y: np.ndarray, idle: list[int], after: int, random_state: np.random.RandomState
) -> list[int]:
    """Move idle prototypes of a fitted model of this library to wrongly predicted samples of their class.

    Parameters
    ----------
    model : estimator
        With a `model_`, which is replaced where a prototype moves.
    X, y : ndarray
        The last batch: samples, also sparse ones, and class indices. A prototype keeps its value of a feature that is
        missing in its sample.
    idle : list of int
        For each prototype, the number of rows of its class since it was the nearest of them.
    after : int
        Number of rows after which a prototype is idle.
    random_state : RandomState
        Draws the samples.

    Returns
    -------
    idle : list of int
        After this batch; a prototype that has moved starts again at 0.
    """
    fitted = model.model_
    labels = np.asarray(fitted.labels)
    # prototypes of a class that is new are among the others, so all start again
    waited = np.array(idle if len(idle) == len(labels) else np.zeros(len(labels)), dtype=np.int64)
    distances = fitted.distances(X.astype(fitted.dtype, copy=False))
    own = np.where(labels == y[:, None], distances, np.inf)
    waited += np.bincount(y, minlength=len(fitted.classes))[labels]
    waited[np.argmin(own, axis=1)] = 0
    wrong = labels[np.argmin(distances, axis=1)] != y
    prototypes = fitted.prototypes.copy()
    for label in np.unique(labels[waited >= after]):
        places = np.flatnonzero((labels == label) & (waited >= after))
        rows = random_state.permutation(np.flatnonzero(wrong & (y == label)))[: len(places)]
        moved, found = places[: len(rows)], filled(X[rows])
        prototypes[moved] = np.where(np.isnan(found), prototypes[moved], found)
        waited[moved] = 0
    if not np.array_equal(prototypes, fitted.prototypes):
        model.model_ = replace(fitted, prototypes=prototypes)
    return [int(rows) for rows in waited]
