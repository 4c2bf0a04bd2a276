"""Prototypes that a person can read: possible samples, and none that is of no use."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV

from lvq.counterfactuals.mixed_tables import Layout, Mixed
from lvq.estimators.found import FoundModel, find_layer, need_model
from lvq.estimators.replaced_prototypes import replace_prototypes
from lvq.input_columns import Indices, model_inputs
from lvq.input_values import input_values
from lvq.linear_maps import Floats
from lvq.rejection import RejectClassifier
from lvq.typing import MatrixLike


def readable_prototypes(
    estimator: BaseEstimator,
    X: MatrixLike,
    *,
    within_range: bool = True,
    whole_categories: bool = True,
    remove_unused: bool = True,
) -> BaseEstimator:
    """A copy of a fitted model whose prototypes are possible samples: each could be a row of X.

    Training moves prototypes to where they separate the classes, which may be outside the range of a column, or between
    categories. Predictions of the copy can differ: compare its accuracy. For prototypes that are real samples, with a
    metric trained for them, fit with ``sample_prototypes=True`` instead.

    Parameters
    ----------
    estimator : estimator
        A fitted model of this library, alone or at the end of a Pipeline whose steps have inverses, or in a search.
    X : array-like of shape (n_samples, n_columns)
        Training samples, as the estimator takes them.
    within_range : bool, default=True
        Whether each number of a prototype is moved into the range of its column.
    whole_categories : bool, default=True
        Whether a prototype gets one category of each column that an encoder of the pipeline takes, the nearest one.
        Without encoders this has no effect.
    remove_unused : bool, default=True
        Whether prototypes that are nearest to no sample are left out; each class keeps one.

    Returns
    -------
    readable : estimator
        A copy.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ, readable_prototypes
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(n_prototypes=3, random_state=0).fit(X, y)
    >>> readable = readable_prototypes(model, X)
    >>> bool((readable.prototypes_ >= X.min(axis=0)).all() and (readable.prototypes_ <= X.max(axis=0)).all())
    True
    """
    for kind in (RejectClassifier, CalibratedClassifierCV):
        if find_layer(estimator, kind) is not None:
            raise ValueError(
                f"readable_prototypes does not support {kind.__name__}, which was fitted to the predictions of the "
                "present prototypes; pass the model in it, and fit a new one to the result."
            )
    found = need_model(estimator, "readable_prototypes")
    Z = model_inputs(found, X, "readable_prototypes")
    kept = _used(found, Z) if remove_unused else np.arange(len(found.model.labels))
    prototypes = np.asarray(found.model.prototypes[kept], dtype=np.float64)
    if within_range or whole_categories:
        prototypes = _possible(found, X, Z, prototypes, within_range, whole_categories)
    copy = deepcopy(estimator)
    replace_prototypes(need_model(copy, "readable_prototypes").estimator, prototypes, kept, Z)
    return copy


def _used(found: FoundModel, Z: NDArray[np.floating]) -> Indices:
    """Prototypes that are nearest to a sample; of a class without any, the first."""
    model = found.model
    n_won = np.bincount(model.over_blocks(lambda D: D.argmin(axis=1), Z), minlength=len(model.labels))
    first = np.searchsorted(model.labels, np.unique(model.labels))
    without = [place for place in first if not n_won[model.labels == model.labels[place]].any()]
    return np.union1d(np.flatnonzero(n_won), np.array(without, dtype=np.intp)).astype(np.intp)


def _possible(
    found: FoundModel, X: MatrixLike, Z: NDArray[np.floating], prototypes: Floats, clip: bool, whole: bool
) -> Floats:
    """Prototypes in the columns of X, within their ranges and with whole categories, as the model sees them."""
    layout = Layout(found, X)
    if not len(layout.categorical) and not clip:
        return prototypes
    cells = input_values(found, prototypes)
    if cells is None:
        raise ValueError(
            "readable_prototypes needs steps with inverses before the model, to give prototypes in the units of X, and "
            f"one of {', '.join(type(step).__name__ for step in found.steps)} has none; pass the part of the pipeline "
            "after it, and X as it comes out of it."
        )
    samples = layout.split(X)
    numbers = cells[:, layout.numeric].astype(np.float64)
    numbers = np.where(np.isnan(numbers), np.nanmedian(samples.numbers, axis=0), numbers)  # columns without effect
    if clip:
        numbers = np.clip(numbers, np.nanmin(samples.numbers, axis=0), np.nanmax(samples.numbers, axis=0))
    rows = Mixed(numbers, cells[:, layout.categorical])
    possible = np.asarray(found.inputs(layout.join(rows)), dtype=np.float64)
    if whole or not len(layout.categorical):
        return possible
    return np.where(_numeric_features(found, layout, samples, Z), possible, prototypes)


def _numeric_features(found: FoundModel, layout: Layout, samples: Mixed, Z: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Features of the model that categories do not change: equal to those of the samples with other categories."""
    other = Mixed(samples.numbers, np.roll(samples.categories, 1, axis=0))
    return (np.asarray(found.inputs(layout.join(other))) == Z).all(axis=0)
