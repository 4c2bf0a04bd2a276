"""Form and temperature where samples belong to groups, such as patients: no group is in two folds."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_features, _num_samples, check_consistent_length, column_or_1d

from lvq.estimators.calibration import ITERATIONS, MAX_SAMPLES, MIN_SAMPLES, N_FOLDS
from lvq.estimators.choice import Form, best_of, can_choose, with_form
from lvq.estimators.validation import class_weights
from lvq.model.arrays import as_numpy

if TYPE_CHECKING:
    from lvq.estimators.classifier import LVQClassifier


def group_folds(
    y: np.ndarray, groups: ArrayLike, n_folds: int, seed: int | None = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds without a common group, stratified by class as far as the groups allow; at most one for each group.

    Examples
    --------
    >>> folds = group_folds(np.array([0, 1] * 3), [1, 1, 2, 2, 3, 3], n_folds=5)
    >>> sorted(test.tolist() for _, test in folds)
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


class LeftOut(NamedTuple):
    """Logarithms of the probabilities of samples whose group was left out of a fit; class indices, weights, folds."""

    table: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    fold: np.ndarray


def grouped_choice(
    estimator: "LVQClassifier",
    forms: Sequence[Form],
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike,
) -> tuple[Form | None, float]:
    """The form with the smallest log-loss of groups that were left out of a fit, and its temperature.

    None is the form of the estimator itself, where there are none to choose from or samples are too few; in the last
    case the temperature is one.
    """
    if forms and not can_choose(_num_samples(X), _num_features(X)):
        forms = forms[:1]
    models = [with_form(estimator, form) for form in forms] or [estimator]
    found = [_left_out(model, X, y, sample_weight, groups) for model in models]
    known = [left_out for left_out in found if left_out is not None]
    if not known:
        return None, 1.0
    place, temperature = best_of([left_out.table for left_out in known], *known[0][1:])
    return forms[place] if forms else None, temperature


def _left_out(
    estimator: "LVQClassifier", X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike
) -> LeftOut | None:
    """Predictions of short fits without some of the groups; None where there are too few."""
    labels, members = column_or_1d(as_numpy(y)), column_or_1d(groups)
    check_consistent_length(X, labels, members)
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(as_numpy(sample_weight), dtype=np.float64)
    counted = weight * class_weights(estimator.class_weight, labels)
    rows = np.flatnonzero(weight > 0)
    if len(rows) > MAX_SAMPLES:
        rows = np.sort(np.random.RandomState(0).choice(rows, MAX_SAMPLES, replace=False))
    if len(rows) < MIN_SAMPLES or len(np.unique(members[rows])) < 2:
        return None
    short = clone(estimator).set_params(
        calibration=None, max_iter=min(ITERATIONS, estimator.max_iter), random_state=0, warm_start=False, verbose=False
    )
    parts, classes = list[LeftOut](), np.unique(labels[rows])
    for number, (train, test) in enumerate(group_folds(labels[rows], members[rows], N_FOLDS)):
        train, test = rows[train], rows[test]
        if len(np.unique(labels[train])) < len(classes):  # a class of one group
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = clone(short).fit(_safe_indexing(X, train), labels[train], weight[train])
        table = np.asarray(model.predict_proba(_safe_indexing(X, test)), dtype=np.float64)
        table = np.log(np.maximum(table, np.finfo(np.float64).tiny))
        truth = np.searchsorted(model.classes_, labels[test])
        parts.append(LeftOut(table, truth, counted[test], np.full(len(test), number)))
    return LeftOut(*map(np.concatenate, zip(*parts))) if parts else None
