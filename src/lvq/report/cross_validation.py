"""Cross-validation for the report: how much accuracy and relevances depend on the training samples.

- Each fold fits a clone of the whole model, scalers and thresholds included, to the other folds.
- Where a fold is too small for a guarantee, its coverage and its accuracy of accepted predictions are None.
- Importances are those of the columns of X; matrices are stored with feature names, as an encoder may make different
  features in different folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import column_or_1d

from lvq.inspection.importance import variable_importances
from lvq.plots import lambda_matrix
from lvq.rejection import GuaranteeError, RejectClassifier
from lvq.rejection.classifier import find_reject_classifier
from lvq.report.features import Features, Floats
from lvq.typing import FittedFold, Fold, Labels, MatrixLike

Rows = NDArray[np.intp]
MAX_MATRIX_FEATURES = 200  # features up to which a fold stores its matrix


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Scores of one fold, and the relevances of the model fitted to the other folds.

    Attributes
    ----------
    accuracy : float
        Accuracy on all samples of the fold, accepted or not.
    n_samples : int
        Samples in the fold.
    coverage, accepted_accuracy : float or None
        Fraction of accepted predictions and their accuracy, for a model that may reject.
    features : tuple of str
        Names of the columns of X.
    relevances : tuple of float
        Importance of each column, of sum 1; empty for a Euclidean metric.
    matrix : ndarray of shape (n_features, n_features) or None
        Lambda divided by its trace (the mean over the prototypes where there are several), for up to 200 features.
    matrix_features : tuple of str
        Names of the features of the matrix, which are those that reach the model.
    predicted : ndarray or None
        Predictions of the samples of the fold.

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
    matrix: Floats | None = None
    matrix_features: tuple[str, ...] = ()
    predicted: Labels | None = None


def evaluate_folds(
    model: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike,
    cv: int | BaseCrossValidator | Sequence[Fold] | Sequence[FittedFold] = 5,
    seed: int | None = 0,
    *,
    feature_names: Sequence[str] | None = None,
    fit_params: Mapping[str, ArrayLike] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[FoldResult]:
    """Fit a clone of the model for each fold and score it on that fold.

    Parameters
    ----------
    model : estimator
        A model of this library, a Pipeline that ends in one, or a RejectClassifier around either; it is cloned.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their classes.
    cv : int, splitter or list of (train, test), default=5
        Number of stratified folds (fewer where no class has as many samples), an object with `split`, or the folds. A
        fold may be (train, test, model), with a model that is fitted to its training samples already.
    seed : int or None, default=0
        Random state of the folds.
    feature_names : sequence of str, optional
        Names of the columns of X, where X has none.
    fit_params : mapping from str to array-like of shape (n_samples,), optional
        For the model's `fit`, such as groups; each fold gets the entries of its samples.
    progress : callable, optional
        Called with (folds done, number of folds) after each fold.

    Returns
    -------
    list of FoldResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = evaluate_folds(GRLVQ(random_state=0), X, y, cv=3)
    >>> len(folds), sum(fold.n_samples for fold in folds), round(sum(folds[0].relevances), 6)
    (3, 150, 1.0)
    """
    X, labels = indexable(X, column_or_1d(y))
    splits = _splits(X, labels, cv, seed)
    results = []
    for done, (train, test, *given) in enumerate(splits, start=1):
        fitted = given[0] if given else fit_fold(model, X, labels, train, fit_params or {})
        results.append(_evaluate_fold(fitted, X, labels, train, test, feature_names))
        if progress is not None:
            progress(done, len(splits))
    return results


def _splits(
    X: MatrixLike, y: Labels, cv: int | BaseCrossValidator | Sequence[Fold] | Sequence[FittedFold], seed: int | None
) -> list[Fold] | list[FittedFold]:
    if hasattr(cv, "split"):
        return list(cv.split(X, y))
    if isinstance(cv, list) and cv:
        return cv
    if not isinstance(cv, int | np.integer) or cv < 2:
        raise ValueError(
            f"cv of evaluate_folds must be an integer of 2 or more, a splitter or a list of folds, got {cv!r}."
        )
    return stratified_splits(y, int(cv), seed)


def stratified_splits(y: Labels, n_folds: int, seed: int | None) -> list[Fold]:
    """Stratified folds, fewer where no class has as many samples."""
    largest = int(np.unique(y, return_counts=True)[1].max())
    if largest < 2:
        raise ValueError(
            "evaluate_folds needs a class with at least 2 samples, got one sample of each; check that y holds classes."
        )
    splitter = StratifiedKFold(min(n_folds, largest), shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # a class with fewer samples than folds is absent from some folds
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.zeros((len(y), 1)), y))


def fit_fold(
    model: BaseEstimator, X: MatrixLike, y: Labels, train: Rows, fit_params: Mapping[str, ArrayLike]
) -> BaseEstimator:
    """A clone of the model, fitted to the training samples of a fold; without rejection where that is not possible."""
    X_train = _safe_indexing(X, train)
    arguments = {name: _safe_indexing(values, train) for name, values in fit_params.items()}
    try:
        return clone(model).fit(X_train, y[train], **arguments)
    except GuaranteeError:
        if not isinstance(model, RejectClassifier):
            raise
        return clone(model.estimator).fit(X_train, y[train], **arguments)


def _evaluate_fold(
    fitted: BaseEstimator, X: MatrixLike, y: Labels, train: Rows, test: Rows, names: Sequence[str] | None
) -> FoldResult:
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    predicted = np.asarray(fitted.predict(X_test))
    correct = predicted == y[test]
    reject, inputs = find_reject_classifier(fitted, X_test)
    coverage = accepted_accuracy = None
    if reject is not None:
        accepted = reject.accept(inputs)
        coverage = float(accepted.mean())
        accepted_accuracy = float(correct[accepted].mean()) if accepted.any() else None
    features = Features(fitted, names)
    matrix = scaled_lambda(features.estimator)
    has_matrix = matrix is not None and len(matrix) <= MAX_MATRIX_FEATURES
    variables = None if features.model.relevance is None else variable_importances(fitted, X_train)
    return FoldResult(
        accuracy=float(correct.mean()),
        n_samples=len(correct),
        coverage=coverage,
        accepted_accuracy=accepted_accuracy,
        features=() if variables is None else tuple(features.renamed(variables.names)),
        relevances=() if variables is None else tuple(variables.importances.tolist()),
        matrix=matrix if has_matrix else None,
        matrix_features=tuple(features.names) if has_matrix else (),
        predicted=predicted,
    )


def scaled_lambda(estimator: BaseEstimator) -> Floats | None:
    """Lambda divided by its trace; None where the model has no matrix."""
    if estimator.model_.relevance is None or estimator.model_.has_weights:
        return None
    matrix = lambda_matrix(estimator)
    return matrix / np.trace(matrix)
