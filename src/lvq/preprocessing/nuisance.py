"""Removal of the directions that show a nuisance, such as the site or the device that samples come from.

A GMLVQ is trained to predict the nuisance; the leading eigenvector v of its Lambda separates the values best. What it
measures is subtracted along p, the difference of the values' means: x - p v'(x - mean), with v'p = 1. Then another
GMLVQ is trained, until the nuisance is predicted no better than by chance. All this is done in whitened features, with
a shrunk covariance, so neither the units nor correlations of the features matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from numbers import Integral
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from lvq.estimators.cost_based import GMLVQ
from lvq.inspection.steps import ADAPTERS, Adapter
from lvq.model.relevance import Matrix
from lvq.typing import Floats

LIMIT = 2.0  # accuracies up to this many standard errors above chance count as chance; one in forty is above it


class NuisanceRemoval(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Project samples along the directions that show a nuisance: site, device, batch, observer.

    The directions are the leading eigenvectors of GMLVQ models that predict the nuisance, one after another, until it
    is predicted no better than by chance in held-out samples. All features are kept, in their units.

    Parameters
    ----------
    cv : int, default=5
        Folds in which the accuracy of the nuisance is measured.
    random_state : int, RandomState or None
        Seed of the folds.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    directions_ : ndarray of shape (n_directions, n_features)
        What is measured: ``(X - mean_) @ directions_.T`` shows the nuisance, and is 0 after `transform`.
    patterns_ : ndarray of shape (n_directions, n_features)
        How one unit of each changes the features, and what is subtracted for it.
    accuracies_ : ndarray of shape (n_directions + 1,)
        Accuracy of the nuisance in held-out samples, all its values weighted equally, before the first direction was
        removed and after each.
    chance_ : float
        One divided by the number of values of the nuisance.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where X had them.

    Examples
    --------
    >>> import numpy as np
    >>> from lvq.preprocessing import NuisanceRemoval
    >>> rng = np.random.default_rng(0)
    >>> site = np.repeat(["north", "south"], 100)
    >>> X = rng.normal(size=(200, 3)) + 2 * (site == "south")[:, None]
    >>> removal = NuisanceRemoval(random_state=0).fit(X, nuisance=site)
    >>> removal.directions_.shape, bool(removal.accuracies_[0] > 0.9 > 0.6 > removal.accuracies_[-1])
    ((1, 3), True)
    >>> Z = removal.transform(X)
    >>> bool(abs(Z[site == "north"].mean(axis=0) - Z[site == "south"].mean(axis=0)).max() < 0.3)
    True

    In a pipeline the nuisance is an argument of `fit`:

    >>> from sklearn.pipeline import make_pipeline
    >>> from lvq import GLVQ
    >>> y = (X[:, 0] > X[:, 1]).astype(int)
    >>> model = make_pipeline(NuisanceRemoval(random_state=0), GLVQ(random_state=0))
    >>> model.fit(X, y, nuisanceremoval__nuisance=site).score(X, y) > 0.9
    True
    """

    def __init__(self, *, cv: int = 5, random_state: int | np.random.RandomState | None = None) -> None:
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, nuisance: ArrayLike | None = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), optional
            Their classes. If given, only differences within the classes count: differences that arise because a class
            is more frequent at one site are not removed.
        nuisance : array-like of shape (n_samples,)
            The site or device of each sample, whose effect is removed.

        Returns
        -------
        self : NuisanceRemoval
            The fitted transformer.
        """
        from sklearn.model_selection import StratifiedKFold

        self._validate_params()
        samples: Floats = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        labels = self._checked(samples, nuisance)
        within = samples - _class_means(samples, labels, y)
        root, inverse = _whitening(within)
        Z, weight = within @ inverse, 1 / np.bincount(labels)[labels]
        chance = 1 / int(labels.max() + 1)
        limit = chance + LIMIT * float(np.sqrt(chance * (1 - chance) * (weight**2).sum())) / float(weight.sum())
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=check_random_state(self.random_state))
        splits = list(folds.split(Z, labels))
        paths = [_removals(Z[train], labels[train], weight[train]) for train, _ in splits]
        accuracies: list[float] = []
        while not accuracies or (accuracies[-1] > limit and len(accuracies) < Z.shape[1]):
            hits = [next(path).correct(Z[test], labels[test]) @ weight[test] for path, (_, test) in zip(paths, splits)]
            accuracies.append(float(sum(hits) / weight.sum()))
        whole = next(islice(_removals(Z, labels, weight), len(accuracies) - 1, None))
        self.mean_ = samples.mean(axis=0)
        self.directions_, self.patterns_ = whole.directions @ inverse.T, whole.patterns @ root
        self.accuracies_, self.chance_ = np.array(accuracies), chance
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Project samples along the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
            The samples, without the nuisance.
        """
        check_is_fitted(self)
        samples: NDArray[np.floating] = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        projected = samples - ((samples - self.mean_) @ self.directions_.T) @ self.patterns_
        return projected.astype(samples.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> ArrayLike:
        """The samples unchanged: they have all features, and what was removed cannot be restored.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples after `transform`.

        Returns
        -------
        X : array-like of shape (n_samples, n_features)
            The same.
        """
        check_is_fitted(self)
        return X

    def _checked(self, X: Floats, nuisance: ArrayLike | None) -> NDArray[np.intp]:
        """Indices of the nuisance's values."""
        if nuisance is None:
            raise ValueError(
                "fit of NuisanceRemoval needs nuisance, the site or device of each sample; the second argument, y, is "
                "the class. Call fit(X, nuisance=...), or in a pipeline fit(X, y, nuisanceremoval__nuisance=...)."
            )
        nuisance = column_or_1d(nuisance)
        check_consistent_length(X, nuisance)
        check_classification_targets(nuisance)
        values, labels, counts = np.unique(nuisance, return_inverse=True, return_counts=True)
        if len(values) < 2 or counts.min() < self.cv:
            raise ValueError(
                f"nuisance of NuisanceRemoval must have two values or more, each in at least cv={self.cv} samples, got "
                f"{dict(zip(values.tolist(), counts.tolist()))}. Leave rare values out, or give a smaller cv."
            )
        return labels


NuisanceRemoval._parameter_constraints = {
    "cv": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state"],
}


class _Removed(NamedTuple):
    """What is removed from whitened samples, and a model of the nuisance in the coordinates of the rest."""

    directions: Floats
    patterns: Floats
    rest: Floats  # Z @ rest are the coordinates
    model: GMLVQ

    def correct(self, Z: Floats, labels: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the nuisance is predicted from the rest."""
        return self.model.predict(Z @ self.rest) == labels


def _removals(Z: Floats, labels: NDArray[np.intp], weight: Floats) -> Iterator[_Removed]:
    """Nothing removed, then one direction, two, and so on.

    Each is the leading eigenvector of the Lambda of a model of the nuisance, removed along the change of the means that
    it measures.
    """
    n_features = Z.shape[1]
    left = np.eye(n_features)  # Z @ left are the projected samples, which are 0 along the axes
    axes = directions = patterns = np.zeros((0, n_features))
    while True:
        basis = np.linalg.qr(np.vstack((axes, np.eye(n_features))).T)[0][:, len(axes) :]  # all other directions
        Y = Z @ left @ basis
        model = _fitted(Y, labels, weight)
        yield _Removed(directions, patterns, left @ basis, model)
        direction = np.linalg.svd(model.omega_, full_matrices=False)[2][0]
        axis, pattern = basis @ direction, basis @ _pattern(Y, labels, weight, direction)
        axes, patterns = np.vstack((axes, axis)), np.vstack((patterns, pattern))
        directions = np.vstack((directions, left @ axis))
        left = left - np.outer(left @ axis, pattern)


def _fitted(Y: Floats, labels: NDArray[np.intp], weight: Floats) -> GMLVQ:
    """A model of the nuisance; a matrix with one row fewer than there are values separates all means."""
    model = GMLVQ(relevance=Matrix(rank=min(int(labels.max()), Y.shape[1])), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # directions do not have to be exact
        return model.fit(Y, labels, sample_weight=weight)


def _pattern(Y: Floats, labels: NDArray[np.intp], weight: Floats, direction: Floats) -> Floats:
    """What one unit of a direction changes: the means of the nuisance's values, as far as they differ in it.

    B v/(v'Bv) with B the covariance of these means and v the direction: with two values it is the difference of their
    means, which is 0 after the removal. The variance of a mean is added to B, so the pattern is the direction itself
    where means do not differ.
    """
    groups = [np.flatnonzero(labels == value) for value in range(int(labels.max()) + 1)]
    means = np.array([np.average(Y[rows], axis=0, weights=weight[rows]) for rows in groups])
    noise = np.mean([np.square(weight[rows] / weight[rows].sum()).sum() for rows in groups])
    means -= means.mean(axis=0)
    pattern = means.T @ (means @ direction) / len(groups) + noise * direction
    return pattern / float(pattern @ direction)


def _class_means(X: Floats, labels: NDArray[np.intp], y: ArrayLike | None) -> Floats:
    """The mean of each sample's class, over the means of all values of the nuisance, which count equally."""
    classes = np.zeros(len(X), dtype=np.intp) if y is None else np.unique(column_or_1d(y), return_inverse=True)[1]
    check_consistent_length(X, classes)
    result = np.empty_like(X)
    for each in range(int(classes.max()) + 1):
        rows = classes == each
        cells = [X[rows & (labels == value)].mean(axis=0) for value in np.unique(labels[rows])]
        result[rows] = np.mean(cells, axis=0)
    return result


def _whitening(X: Floats) -> tuple[Floats, Floats]:
    """Root of the shrunk covariance of centred samples, and its inverse; both symmetric in standardised features."""
    from sklearn.covariance import LedoitWolf

    scale = X.std(axis=0)
    scale[scale == 0] = 1.0
    covariance = LedoitWolf(assume_centered=True).fit(X / scale).covariance_
    spread, axes = np.linalg.eigh(covariance)
    spread = np.sqrt(np.maximum(spread, spread.max() * 1e-12))
    return (axes * spread) @ axes.T * scale, (axes / spread) @ axes.T / scale[:, None]


ADAPTERS[NuisanceRemoval] = Adapter(
    linear=lambda step: np.eye(step.n_features_in_) - step.patterns_.T @ step.directions_,
    inverse=lambda step, rows: rows,  # every feature is kept, in its units
)
