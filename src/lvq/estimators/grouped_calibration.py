"""The temperature of probabilities where samples belong to groups, such as patients: no group is in two folds."""

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, compute_sample_weight
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.estimators.calibration import ITERATIONS, MAX_SAMPLES, MIN_SAMPLES, N_FOLDS
from lvq.model.arrays import as_numpy
from lvq.model.temperature import fitted_temperature

if TYPE_CHECKING:
    from lvq.estimators.classifier import LVQClassifier


def group_folds(
    y: np.ndarray, groups: ArrayLike, n_folds: int, seed: int | None = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds without a common group, stratified by class as far as the groups allow; at most one for each group.

    Examples
    --------
    >>> folds = group_folds(np.array([0, 1] * 3), [1, 1, 2, 2, 3, 3], n_folds=5)
    >>> [test.tolist() for _, test in folds]
    [[0, 1], [2, 3], [4, 5]]
    """
    from sklearn.model_selection import StratifiedGroupKFold  # here: a first fit does not load the module

    groups = column_or_1d(groups)
    check_consistent_length(y, groups)
    n_folds = min(n_folds, len(np.unique(groups)), int(np.unique(y, return_counts=True)[1].max()))
    if n_folds < 2:
        raise ValueError("groups must have at least two different values, so that one can be left out; got one.")
    with warnings.catch_warnings():  # a class with fewer samples than folds is absent from some folds
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return [fold for fold in splitter.split(np.zeros((len(y), 1)), y, groups) if len(fold[0]) and len(fold[1])]


def grouped_temperature(
    estimator: "LVQClassifier", X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike
) -> float:
    """Temperature with the smallest log-loss of groups that were left out of a fit; one where there are too few."""
    y, groups = column_or_1d(as_numpy(y)), column_or_1d(groups)
    check_consistent_length(X, y, groups)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(as_numpy(sample_weight), dtype=np.float64)
    counted = weight * compute_sample_weight(estimator.class_weight, y)
    rows = np.flatnonzero(weight > 0)
    if len(rows) > MAX_SAMPLES:
        rows = np.sort(np.random.RandomState(0).choice(rows, MAX_SAMPLES, replace=False))
    if len(rows) < MIN_SAMPLES or len(np.unique(groups[rows])) < 2:
        return 1.0
    short = clone(estimator).set_params(
        calibration=None, max_iter=min(ITERATIONS, estimator.max_iter), random_state=0, warm_start=False, verbose=False
    )
    tables, truths, weights, classes = [], [], [], np.unique(y[rows])
    for train, test in group_folds(y[rows], groups[rows], N_FOLDS):
        train, test = rows[train], rows[test]
        if len(np.unique(y[train])) < len(classes):  # a class of one group
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = clone(short).fit(_safe_indexing(X, train), y[train], weight[train])
        table = np.asarray(model.predict_proba(_safe_indexing(X, test)), dtype=np.float64)
        tables.append(np.log(np.maximum(table, np.finfo(np.float64).tiny)))
        truths.append(np.searchsorted(model.classes_, y[test]))
        weights.append(counted[test])
    if not tables:
        return 1.0
    return fitted_temperature(np.concatenate(tables), np.concatenate(truths), np.concatenate(weights))
