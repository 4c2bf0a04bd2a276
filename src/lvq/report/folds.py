"""What cross-validation says about a model: how much its accuracy and its relevances change with the samples.

Rules kept here:
- every fold fits a fresh copy of the whole model, scalers and thresholds included, on the other folds;
- a guarantee that a fold is too small for is no failure of the fold: its coverage and accepted accuracy are None;
- relevances carry their features' names, as an encoder may make other features in other folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import column_or_1d

from lvq.model.metrics import Euclidean
from lvq.plots.models import mean_matrix, relevance_profile
from lvq.rejection import GuaranteeError, RejectClassifier
from lvq.rejection.scorers import find_reject_classifier
from lvq.report.features import Features

WIDEST = 200  # features up to which a fold keeps its whole matrix


@dataclass(frozen=True, eq=False)
class FoldResult:
    """One fold: scores on the samples left out, and what the model fitted on the others holds relevant.

    Attributes
    ----------
    accuracy : float
        Share of right answers, whether accepted or not.
    n_samples : int
        Samples left out.
    coverage, accepted_accuracy : float or None
        Share of accepted answers and share of these that are right, for a model that may reject.
    features : tuple of str
        Names of the features that the model sees.
    relevances : tuple of float
        Weight of each, of sum 1; empty for a model that weighs none.
    relations : ndarray of shape (n_features, n_features) or None
        Lambda divided by its trace (the mean over the prototypes where there are several), for up to 200 features.

    Examples
    --------
    >>> FoldResult(accuracy=0.9, n_samples=30).coverage is None
    True
    """

    accuracy: float
    n_samples: int
    coverage: float | None = None
    accepted_accuracy: float | None = None
    features: tuple[str, ...] = ()
    relevances: tuple[float, ...] = ()
    relations: Any = None


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    cv: Any = 5,
    seed: int | None = 0,
    *,
    names: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[FoldResult]:
    """Fit a model anew on each fold's other samples and score it on the fold.

    Parameters
    ----------
    model : estimator
        A model of this library, a Pipeline that ends in one, or a RejectClassifier around either; it is cloned.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their classes.
    cv : int or splitter, default=5
        Number of stratified folds (fewer where no class has so many samples), or an object with `split`.
    seed : int or None, default=0
        Draws the folds.
    names : sequence of str, optional
        Names of the columns of X, where X has none itself.
    progress : callable, optional
        Called with (folds done, folds in all) after each.

    Returns
    -------
    list of FoldResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = cross_validate(GRLVQ(random_state=0), X, y, cv=3)
    >>> len(folds), sum(fold.n_samples for fold in folds), round(sum(folds[0].relevances), 6)
    (3, 150, 1.0)
    """
    X, y = indexable(X, column_or_1d(y))
    splits = _splits(X, y, cv, seed)
    results = []
    for done, (train, test) in enumerate(splits, start=1):
        results.append(_one_fold(model, X, y, train, test, names))
        if progress is not None:
            progress(done, len(splits))
    return results


def _splits(X: Any, y: Any, cv: Any, seed: int | None) -> list[tuple[Any, Any]]:
    if hasattr(cv, "split"):
        return list(cv.split(X, y))
    if not isinstance(cv, int | np.integer) or cv < 2:
        raise ValueError(f"cv of cross_validate must be an integer of 2 or more, or a splitter, got {cv!r}.")
    largest = int(np.unique(y, return_counts=True)[1].max())
    if largest < 2:
        raise ValueError("cross_validate needs a class with at least 2 samples, got one sample of each; is y a number?")
    splitter = StratifiedKFold(min(int(cv), largest), shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # a class with fewer samples than folds is left out of some, and that is all
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(X, y))


def _one_fold(model: Any, X: Any, y: Any, train: Any, test: Any, names: Any) -> FoldResult:
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    fitted = clone(model)
    try:
        fitted.fit(X_train, y[train])
    except GuaranteeError:
        if not isinstance(fitted, RejectClassifier):
            raise
        fitted = clone(model.estimator).fit(X_train, y[train])
    right = np.asarray(fitted.predict(X_test)) == y[test]
    reject, inputs = find_reject_classifier(fitted, X_test)
    coverage = accepted_accuracy = None
    if reject is not None:
        accepted = reject.accept(inputs)
        coverage = float(accepted.mean())
        accepted_accuracy = float(right[accepted].mean()) if accepted.any() else None
    features = Features(fitted, names)
    profile, relations = relevances_of(features.found.model)
    return FoldResult(
        accuracy=float(right.mean()),
        n_samples=len(right),
        coverage=coverage,
        accepted_accuracy=accepted_accuracy,
        features=() if profile is None else tuple(features.names),
        relevances=() if profile is None else tuple(profile.tolist()),
        relations=relations,
    )


def relevances_of(model: Any) -> tuple[Any, Any]:
    """Weights of the features, of sum 1, and Lambda over its trace; None where there is none, or too large a one."""
    R = model._params.relevance
    if isinstance(model._metric, Euclidean) or R is None:
        return None, None
    if R.ndim == 1:
        return relevance_profile(model), None
    whole = mean_matrix(model)
    whole = whole / np.trace(whole)
    return np.diagonal(whole), whole if len(whole) <= WIDEST else None
