"""Counterfactuals: a small change of a sample that gives it another class, or makes its prediction accepted.

The change is searched between the sample and real samples, see `real_cases`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq.counterfactuals.real_cases import limited, nearest_changes
from lvq.counterfactuals.task import Task
from lvq.estimators.find_model import need_model
from lvq.inspection.columns import row_names
from lvq.inspection.mixed_rows import Mixed, lengths
from lvq.inspection.steps import Floats
from lvq.tables.header import listed
from lvq.typing import Labels, MatrixLike


class Counterfactual(NamedTuple):
    """Changed samples, the lengths of the changes, and the classes of the changed samples.

    A sample that needs no change has distance 0. One for which no change was found has infinite distance, NaN or None
    for values, and its own predicted class as label; `found` tells which.
    """

    samples: MatrixLike
    distance: Floats  # length of the change, in the units below
    label: Labels
    units: Floats  # length of one unit of each column; NaN for categories, whose change has the length 1

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether there is an answer for each sample."""
        return np.isfinite(self.distance)


def counterfactual(
    model: BaseEstimator,
    X: MatrixLike,
    target: ArrayLike | None = None,
    *,
    samples: MatrixLike,
    units: ArrayLike | None = None,
    bounds: Mapping[str | int, tuple[float, float]] | None = None,
    immutable: Sequence[str | int] = (),
    max_changes: int | None = None,
) -> Counterfactual:
    """A small change of each sample that changes the prediction or makes it accepted.

    It is a change that a person can read: within the range of real samples or given bounds, with whole categories,
    through any pipeline, of small length in stated units, and never longer than the one to the nearest real sample that
    is predicted as wanted, if neither has missing values. Missing values stay missing. With a `RejectClassifier` a
    sample is accepted where its own `accept` says so, by any measure.

    Parameters
    ----------
    model : estimator
        A fitted model of this library that predicts by the nearest prototype, alone or at the end of a Pipeline, or a
        `RejectClassifier` of one.
    X : array-like of shape (n_samples, n_features)
        Samples, as the model takes them.
    target : class or array-like of shape (n_samples,), optional
        The class to reach; with a `RejectClassifier`, as an accepted prediction. By default any class except the
        predicted one; with a `RejectClassifier` any accepted prediction; accepted samples then stay as they are.
    samples : array-like of shape (n_real, n_features)
        Real samples, best the training samples, with the columns of X.
    units : array-like of shape (n_features,), optional
        Length of one unit of each column, for distances; by default the standard deviations of `samples`. A changed
        category has the length 1.
    bounds : mapping of str or int to (float, float), optional
        Lower and upper end of columns of numbers; by default the range of `samples`. A sample that lies outside may
        stay where it is.
    immutable : sequence of str or int, optional
        Columns that keep their values.
    max_changes : int, optional
        Most columns that change; they are chosen one after the other by their effect.

    Returns
    -------
    counterfactual : Counterfactual
        Named tuple of `samples`, in the columns of X, as a data frame of pandas where X is a data frame; `distance`;
        `label`; and `units`. The distance is sqrt(sum of ((x_l - x'_l)/unit_l)^2 + number of changed categories), as
        small as was found. Changes that keep the categories are never shorter than
        ``certified_radius(model, X, units=units)``. A sample that needs no change has distance 0. One for which no
        change was found has distance infinity and NaN or None for values, which are no answer even where the model
        takes missing values; a UserWarning names these rows, and the attribute `found` is False for them.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0]], max_iter=1)
    >>> model = model.fit([[0, 0], [4, 0]], ["left", "right"])
    >>> changed = counterfactual(model, [[0.5, 9.0]], samples=[[0, 0], [4, 0], [4, 9]], units=[1.0, 1.0])
    >>> changed.samples.round(6), changed.distance.round(6), changed.label
    (array([[2., 9.]]), array([1.5]), array(['right'], dtype='<U5'))
    """
    found = need_model(model, "counterfactual", nearest=True)
    X, samples = (getattr(table, "to_pandas", lambda table=table: table)() for table in (X, samples))  # of polars
    task = Task(model, found, X, target)
    real = task.layout.split(samples)
    limits = limited(task.layout, real, units, bounds or {}, immutable, max_changes)
    return _result(task, *nearest_changes(task, real, limits), limits.units, X)


def _result(task: Task, changed: Mixed, found: NDArray[np.bool_], units: Floats, X: MatrixLike) -> Counterfactual:
    """The lengths of the changes, and a warning that names the rows without an answer."""
    label, _ = task.predicted(task.layout.join(changed))
    distance = lengths(units, changed, task.X)
    for values, unknown in ((distance, np.inf), (changed.numbers, np.nan), (changed.categories, None)):
        values[~found] = unknown
    lacking = row_names(X, len(found))[~found].tolist()
    if lacking:
        warnings.warn(
            f"counterfactual found no change for {len(lacking)} of {len(found)} samples (rows {listed(lacking)}); "
            "their values are NaN or None, which is no answer, and their distance is infinite. Try another target, "
            "more samples that are predicted as wanted, or less strict limits.",
            UserWarning,
            stacklevel=3,
        )
    whole = np.full(len(task.layout.names), np.nan)
    whole[task.layout.numeric] = units
    samples = task.layout.join(changed)
    if hasattr(samples, "iloc"):
        samples.index = X.index
    return Counterfactual(samples, distance, label, whole)
