"""Cross-validation among the training samples, compared with logistic regression on the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq.estimators.find_model import decides_by_cost, need_model
from lvq.reports.metrics import Interval
from lvq.typing import Fold, Labels, MatrixLike

Scores = list[float]

N_FOLDS = 5


@dataclass(frozen=True)
class Folds:
    """Accuracies of the folds of a cross-validation, and of logistic regression on the same folds.

    Examples
    --------
    >>> folds = Folds([0.9, 0.8, 0.9], [10, 10, 10], [0.9, 0.7, 0.8])
    >>> [round(end, 3) for end in folds.above_logistic_regression]
    [-0.326, 0.459]
    """

    accuracy: list[float]
    n_samples: list[int]
    logistic_regression: list[float] | None = None

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return float(np.mean(self.accuracy))

    @property
    def above_logistic_regression(self) -> Interval | None:
        """95 % interval of the accuracy minus the accuracy of logistic regression."""
        return None if self.logistic_regression is None else self.above(self.logistic_regression)

    def above(self, other: float | Sequence[float]) -> Interval:
        """95 % interval of the accuracy minus another one, by the t test of Nadeau and Bengio.

        The variance of the mean of J differences is the variance of one times 1 / J + n_test / n_train, as training
        sets share samples. A difference is known to one test sample at best, so its standard deviation is at least
        that: a difference of one sample in every fold shows nothing.
        """
        from scipy.stats import t

        differences = np.array(self.accuracy) - other
        count = len(differences)
        if count < 2:
            return -1.0, 1.0
        deviation = max(np.std(differences, ddof=1), 1 / np.mean(self.n_samples))
        half = t.ppf(0.975, count - 1) * deviation * np.sqrt(1 / count + 1 / (count - 1))
        return float(differences.mean() - half), float(differences.mean() + half)


def cross_validated(model: BaseEstimator, X: MatrixLike, y: Labels) -> Folds | None:
    """Refit a model without its rejection in five folds, and logistic regression after the same steps.

    Returns
    -------
    folds : Folds or None
        None where a class has a single sample, and for a model that decides by costs.
    """
    found, codes = need_model(model, "the report"), np.unique(y, return_inverse=True)[1]
    n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2 or decides_by_cost(model):
        return None
    splits = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(codes, codes))
    accuracy = fold_scores(make_pipeline(*found.steps, found.estimator), X, y, splits)
    return Folds(accuracy, [len(test) for _, test in splits], logistic_regression(found.steps, X, y, splits))


def logistic_regression(
    steps: Sequence[BaseEstimator], X: MatrixLike, y: Labels, splits: Sequence[Fold]
) -> Scores | None:
    """Accuracies of logistic regression after some steps; None where a split lacks a class."""
    if any(len(np.unique(y[train])) < len(np.unique(y)) for train, _ in splits):
        return None
    model = make_pipeline(*map(clone, steps), SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1000))
    return fold_scores(model, X, y, splits)


def fold_scores(model: BaseEstimator, X: MatrixLike, y: Labels, splits: Sequence[Fold]) -> Scores:
    """Accuracies of a model that is refitted on each split; one that has not converged counts too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Found unknown categories")
        scores: Scores = cross_val_score(model, X, y, cv=splits, scoring="accuracy", error_score="raise").tolist()
    return scores
