"""Directions that tell a nuisance apart, removed one by one, and how well a model still tells it apart."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_consistent_length, column_or_1d

Floats = NDArray[np.float64]


class RemovalPath:
    """Samples whose directions are removed one by one, in coordinates of the rest, and a model of the nuisance there.

    Parameters
    ----------
    model : estimator
        The model, not fitted.
    Z : ndarray of shape (n_samples, n_features)
        Whitened samples.
    labels, weight : ndarray of shape (n_samples,)
        Indices of the nuisance's values, and weights.
    """

    def __init__(self, model: BaseEstimator, Z: Floats, labels: NDArray[np.intp], weight: Floats) -> None:
        self.estimator, self.Y, self.labels, self.weight = model, Z, labels, weight
        self.into, self.back = np.eye(Z.shape[1]), np.eye(Z.shape[1])  # Y = Z into', and the projected samples Y back
        self.directions, self.patterns = np.zeros((0, Z.shape[1])), np.zeros((0, Z.shape[1]))
        self.model = self._fitted()

    def remove(self) -> None:
        """Remove the leading eigenvector of the model's Lambda, along the change of the means that it measures."""
        direction = np.linalg.svd(self.model.omega_, full_matrices=False)[2][0]
        pattern = self._pattern(direction)
        rest = np.linalg.qr(direction[:, None], mode="complete")[0].T[1:]  # orthonormal rows, all other directions
        self.directions = np.vstack((self.directions, direction @ self.into))
        self.patterns = np.vstack((self.patterns, pattern @ self.back))
        self.Y = (self.Y - np.outer(self.Y @ direction, pattern)) @ rest.T
        self.into, self.back = rest @ (self.into - np.outer(pattern, direction @ self.into)), rest @ self.back
        self.model = self._fitted()

    def _pattern(self, direction: Floats) -> Floats:
        """What one unit of a direction changes: the means of the nuisance's values, as far as they differ in it.

        B v/(v'Bv) with B the covariance of these means and v the direction: with two values it is the difference of
        their means, which is 0 after the removal. The variance of a mean is added to B, so that where means do not
        differ the pattern is the direction itself.
        """
        groups = [np.flatnonzero(self.labels == value) for value in range(int(self.labels.max()) + 1)]
        means = np.array([np.average(self.Y[rows], axis=0, weights=self.weight[rows]) for rows in groups])
        noise = np.mean([np.square(self.weight[rows] / self.weight[rows].sum()).sum() for rows in groups])
        means -= means.mean(axis=0)
        pattern = means.T @ (means @ direction) / len(groups) + noise * direction
        return pattern / float(pattern @ direction)

    def correct(self, Z: Floats, labels: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the nuisance of other samples is predicted from what is left of them."""
        return self.model.predict(Z @ self.into.T) == labels

    def _fitted(self) -> BaseEstimator:
        model = clone(self.estimator)
        rank = getattr(model, "rank", None)
        if isinstance(rank, Integral):
            model.set_params(rank=min(int(rank), self.Y.shape[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a direction need not be exact
            model.fit(self.Y, self.labels, sample_weight=self.weight)
        if getattr(model, "omega_", np.empty(0)).ndim != 2:
            raise ValueError(
                f"estimator of NuisanceRemoval must learn one matrix for all prototypes, got {self.estimator!r}. Use "
                "GMLVQ, or LVQClassifier(relevance='matrix')."
            )
        return model


class RemovalFolds:
    """The path in each fold's training samples, in step."""

    def __init__(
        self,
        model: BaseEstimator,
        Z: Floats,
        labels: NDArray[np.intp],
        weight: Floats,
        cv: int,
        random_state: np.random.RandomState,
    ) -> None:
        self.Z, self.labels, self.weight = Z, labels, weight
        self.folds = list(StratifiedKFold(cv, shuffle=True, random_state=random_state).split(Z, labels))
        self.paths = [RemovalPath(model, Z[train], labels[train], weight[train]) for train, _ in self.folds]

    def remove(self) -> None:
        """Remove one more direction in each fold."""
        for path in self.paths:
            path.remove()

    def accuracy(self) -> float:
        """Weighted fraction of the held-out samples whose nuisance is predicted."""
        total = 0.0
        for (_, test), path in zip(self.folds, self.paths):
            total += float(self.weight[test] @ path.correct(self.Z[test], self.labels[test]))
        return total / float(self.weight.sum())


def class_means(X: Floats, labels: NDArray[np.intp], y: ArrayLike | None) -> Floats:
    """For each sample the mean of its class, over the means of all values of the nuisance, which count equally."""
    classes = np.zeros(len(X), dtype=np.intp) if y is None else np.unique(column_or_1d(y), return_inverse=True)[1]
    check_consistent_length(X, classes)
    result = np.empty_like(X)
    for each in range(int(classes.max()) + 1):
        rows = classes == each
        cells = [X[rows & (labels == value)].mean(axis=0) for value in np.unique(labels[rows])]
        result[rows] = np.mean(cells, axis=0)
    return result


def whitening(X: Floats) -> tuple[Floats, Floats]:
    """Root of the shrunk covariance of centred samples, and its inverse; both symmetric in standardised features."""
    scale = X.std(axis=0)
    scale[scale == 0] = 1.0
    covariance = LedoitWolf(assume_centered=True).fit(X / scale).covariance_
    spread, axes = np.linalg.eigh(covariance)
    spread = np.sqrt(np.maximum(spread, spread.max() * 1e-12))
    return (axes * spread) @ axes.T * scale, (axes / spread) @ axes.T / scale[:, None]
