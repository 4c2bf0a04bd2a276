"""How well a classifier does that may decline to answer: scorers for GridSearchCV, cross_validate and the like.

Each is a function of (estimator, X, y), given as `scoring`; higher is better. No single one of coverage and accuracy is
worth tuning for, as one is best where all is accepted and the other where hardly anything is; the cost weighs them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.samples import check_share


def last_classifier(estimator: Any, X: Any) -> tuple[RejectClassifier | None, Any]:
    """The RejectClassifier that answers, if one does, and the samples as they reach it."""
    while not isinstance(estimator, RejectClassifier):
        if isinstance(estimator, Pipeline):
            for _, step in estimator.steps[:-1]:
                X = step.transform(X) if hasattr(step, "transform") else X
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return None, X
    return estimator, X


def _needed(estimator: Any, X: Any) -> tuple[RejectClassifier, Any]:
    classifier, inputs = last_classifier(estimator, X)
    if classifier is None:
        raise ValueError(f"this scorer needs a RejectClassifier, or a Pipeline that ends in one, got {estimator!r}.")
    return classifier, inputs


def coverage_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """Share of the samples that get an answer; give it as `scoring` to GridSearchCV and the like.

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
    >>> result = cross_validate(RejectClassifier(GLVQ(random_state=0), coverage=0.8), X, y, scoring=scoring)
    >>> sorted(key for key in result if key.startswith("test"))
    ['test_accuracy', 'test_coverage']
    """
    classifier, X = _needed(estimator, X)
    return float(np.mean(classifier.accept(X)))


def accepted_accuracy_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Share of the accepted answers that are right, NaN where there are none; as `coverage_scorer`."""
    classifier, X = _needed(estimator, X)
    return classifier.score(X, y)


def cost_scorer(cost_ratio: float) -> Callable[[Any, Any, Any], float]:
    """A scorer that weighs answers against errors: minus the mean cost, an error costing 1, a rejection `cost_ratio`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RejectClassifier(GLVQ(random_state=0), cost_ratio=0.2)
    >>> bool(cross_val_score(model, X, y, scoring=cost_scorer(0.2)).mean() > -0.2)
    True
    """
    return partial(_negative_cost, cost_ratio=check_share("cost_ratio", cost_ratio))


def _negative_cost(estimator: Any, X: Any, y: Any, *, cost_ratio: float) -> float:
    classifier, X = _needed(estimator, X)
    accepted, y = classifier.accept(X), column_or_1d(y)
    check_consistent_length(accepted, y)
    return -float(np.mean(np.where(accepted, classifier.predict(X) != y, cost_ratio)))
