"""Scorers of classifiers with a reject option, for GridSearchCV, cross_validate and the like.

Each is a function of (estimator, X, y), given as `scoring`; larger is better. For model selection use `chow_scorer`:
coverage alone is highest where nothing is rejected, and accepted accuracy where nearly everything is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.estimators.find_model import find_layer, layers
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.validation import check_fraction
from lvq.typing import MatrixLike


def find_reject_classifier(estimator: BaseEstimator, X: MatrixLike) -> tuple[RejectClassifier | None, MatrixLike]:
    """The RejectClassifier inside an estimator and the samples as they reach it; None where there is none."""
    classifier = find_layer(estimator, RejectClassifier)
    for layer in () if classifier is None else layers(estimator):
        if layer is classifier:
            break
        if isinstance(layer, Pipeline) and len(layer) > 1:
            X = layer[:-1].transform(X)
    return classifier, X


def _needed(estimator: BaseEstimator, X: MatrixLike) -> tuple[RejectClassifier, MatrixLike]:
    classifier, inputs = find_reject_classifier(estimator, X)
    if classifier is None:
        raise ValueError(f"this scorer needs a RejectClassifier, or a Pipeline that ends in one, got {estimator!r}.")
    return classifier, inputs


def coverage_scorer(estimator: BaseEstimator, X: MatrixLike, y: ArrayLike | None = None) -> float:
    """Fraction of the samples that are accepted, to report beside other scores.

    Parameters
    ----------
    estimator : RejectClassifier, or a Pipeline that ends in one
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : ignored

    Returns
    -------
    coverage : float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> scoring = {"coverage": coverage_scorer, "accuracy": accepted_accuracy_scorer}
    >>> result = cross_validate(RejectClassifier(GLVQ(random_state=0), min_coverage=0.8), X, y, scoring=scoring)
    >>> sorted(key for key in result if key.startswith("test"))
    ['test_accuracy', 'test_coverage']
    """
    classifier, X = _needed(estimator, X)
    return classifier.coverage(X)


def accepted_accuracy_scorer(estimator: BaseEstimator, X: MatrixLike, y: ArrayLike) -> float:
    """Accuracy of the accepted predictions, to report beside other scores; NaN where nothing is accepted."""
    classifier, X = _needed(estimator, X)
    return classifier.accepted_accuracy(X, y)


def chow_scorer(price: float) -> Callable[[BaseEstimator, MatrixLike, ArrayLike], float]:
    """A scorer by Chow's risk: minus the mean cost, where an error costs 1 and a rejection costs `price`.

    Parameters
    ----------
    price : float
        Cost of a rejection, between 0 and 1, the cost of an error.

    Returns
    -------
    scorer : callable
        A function of (estimator, X, y); larger is better, 0 is the best.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RejectClassifier(GLVQ(random_state=0), cost_ratio=0.2)
    >>> bool(cross_val_score(model, X, y, scoring=chow_scorer(price=0.2)).mean() > -0.2)
    True
    """
    return partial(_negative_chow_risk, price=check_fraction("price", price))


def _negative_chow_risk(estimator: BaseEstimator, X: MatrixLike, y: ArrayLike, *, price: float) -> float:
    classifier, X = _needed(estimator, X)
    predictions, y = classifier.predictions(X), column_or_1d(y)
    check_consistent_length(predictions.predicted, y)
    accepted = classifier.reason_for(predictions) == ""
    return -float(np.mean(np.where(accepted, predictions.predicted != y, price)))
