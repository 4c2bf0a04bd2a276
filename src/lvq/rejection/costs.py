"""Costs of mistakes: the class with the least expected cost is predicted.

With probabilities p_i of the classes and costs c_ij of predicting class j for a sample of class i, the prediction j
has the expected cost sum_i p_i c_ij. For two classes this is a threshold on the probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from lvq.rejection.around import AroundClassifier
from lvq.typing import Argument, Labels, MatrixLike

Costs = Mapping[str, float] | ArrayLike


def cost_matrix(costs: Costs, classes: ArrayLike) -> NDArray[np.float64]:
    """Costs as a matrix: rows are true classes, columns predicted ones.

    Parameters
    ----------
    costs : mapping or array-like of shape (n_classes, n_classes)
        A mapping has keys "true:predicted", as in ``{"bad:good": 5}``; mistakes that are not named cost 1, correct
        predictions 0.
    classes : array-like of shape (n_classes,)
        The classes, in the order of rows and columns.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)

    Examples
    --------
    >>> cost_matrix({"bad:good": 5}, ["bad", "good"])
    array([[0., 5.],
           [1., 0.]])
    """
    names = [str(label) for label in np.asarray(classes).tolist()]
    if isinstance(costs, Mapping):
        matrix, pairs = 1.0 - np.eye(len(names)), [f"{true}:{other}" for true in names for other in names]
        for key, cost in costs.items():
            if pairs.count(key) != 1:
                raise ValueError(
                    f"costs must have keys 'true:predicted' of the classes {', '.join(map(repr, names[:8]))}, got "
                    f"{key!r}; if names of classes contain colons, give a matrix."
                )
            matrix.flat[pairs.index(key)] = float(cost)
    else:
        matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (len(names), len(names)):
        raise ValueError(
            f"costs must have one row and one column for each of the {len(names)} classes {names[:8]}, got shape "
            f"{matrix.shape}."
        )
    off = matrix[~np.eye(len(names), dtype=bool)]
    if not np.isfinite(matrix).all() or matrix.min() < 0 or (len(off) and not off.any()):
        raise ValueError(f"costs must be finite numbers of 0 or more, with one above 0, got {matrix.tolist()}.")
    return matrix


class CostClassifier(AroundClassifier):
    """A classifier that predicts the class with the least expected cost.

    Parameters
    ----------
    estimator : classifier
        Any classifier with `predict_proba`, best with calibrated probabilities.
    costs : mapping or array-like of shape (n_classes, n_classes)
        Costs of the mistakes; see `cost_matrix`.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Its classes.
    costs_ : ndarray of shape (n_classes, n_classes)
        Costs of all mistakes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lvq import LVQClassifier
    >>> from lvq.rejection import CostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostClassifier(LVQClassifier(relevance=None, random_state=0), {"0:1": 50}).fit(X / X.std(axis=0), y)
    >>> bool((model.predict(X / X.std(axis=0)) == 0).sum() > (y == 0).sum())
    True
    """

    decides_by_cost = True  # it may not predict the class of the nearest prototype

    def __init__(self, estimator: BaseEstimator, costs: Costs) -> None:
        self.estimator = estimator
        self.costs = costs

    def fit(self, X: MatrixLike, y: ArrayLike, **fit_params: Argument) -> Self:
        """Fit the classifier; the costs do not change it, only the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        **fit_params : dict
            Passed to the classifier's `fit`.

        Returns
        -------
        self : object
        """
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"The 'estimator' parameter of CostClassifier must have predict_proba, got {self.estimator!r}."
            )
        classes = np.unique(np.asarray(y))
        if len(classes) > 1:
            cost_matrix(self.costs, classes)  # an error before anything is computed
        fitted = clone(self.estimator).fit(X, y, **fit_params)
        self.estimator_, self.costs_ = fitted, cost_matrix(self.costs, fitted.classes_)
        return self

    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Probabilities of the classes, which do not depend on the costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Minus the expected cost of each prediction; for two classes, how much the second one saves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        expected = self.predict_proba(X) @ self.costs_
        return expected[:, 0] - expected[:, 1] if expected.shape[1] == 2 else -expected

    def predict(self, X: MatrixLike) -> Labels:
        """Predict the class with the least expected cost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[(self.predict_proba(X) @ self.costs_).argmin(axis=1)]
