"""Counterfactuals: a small change of a sample that gives it another class, or makes its prediction accepted.

With real samples, the search is between the sample and these, see `real_cases`. Without them, it finds the smallest
change in the model's metric, wherever that leads:

A change d of X costs |B d|, with B = Omega A and A the linear map of the steps before the model. After a move y = B d
the distances are D_j + 2 e_j y + |y|^2 with e_j the difference from prototype j, so a prototype is the nearest in an
intersection of half spaces, whose shortest move is computed exactly. Among all changes that make this move, the one
with the least Euclidean length in the units of X is chosen. It lies beyond the boundary by about 1e-9 of the distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lvq._warnings import warn
from lvq.counterfactuals.moves import least_distance
from lvq.counterfactuals.real_cases import limited, nearest_changes
from lvq.estimators.find_model import FoundModel, need_model, rejecting_layer
from lvq.inspection.certify import is_local
from lvq.inspection.columns import frame_of, model_inputs, row_names
from lvq.inspection.mixed_rows import Layout, Mixed, differ, lengths
from lvq.inspection.steps import Indices, as_matrix, input_map, pseudo_inverse
from lvq.model.rows import as_numpy
from lvq.tables.header import listed
from lvq.typing import Floats, JSONValue, Labels, MatrixLike

if TYPE_CHECKING:
    from pandas import DataFrame

# how far beyond the boundary, relative to the distances; the next one where rounding undoes the change
MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)


class Counterfactual(NamedTuple):
    """Changed samples, the lengths of the changes, and the classes of the changed samples.

    A sample that needs no change has distance and cost 0. If no change was found for a sample, its distance and cost
    are infinite, its values NaN or None, its label the predicted class, and `found` is False.
    """

    samples: MatrixLike
    distance: Floats  # length of the change, in the units below
    label: Labels
    cost: Floats  # length of the change in the model's metric
    units: Floats  # length of one unit of each column; NaN for categories, whose change has the length 1
    changes: list[dict[str, JSONValue]]  # the lines of `table`

    def __repr__(self) -> str:
        found, changes = f"{int(self.found.sum())} of {len(self.found)} samples", f"{len(self.changes)} changed values"
        return f"Counterfactual({found}, {changes}; see .table())"

    def table(self) -> DataFrame | list[dict[str, JSONValue]]:
        """A line for each value that changes.

        Returns
        -------
        table : DataFrame, or list of dict where pandas is not installed
            Columns: `row` (its name in the index of X, or its number), `column`, and the values `before` and `after`.
        """
        return frame_of(self.changes)

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether there is an answer for each sample."""
        return np.isfinite(self.distance)


def counterfactual(
    model: BaseEstimator,
    X: MatrixLike,
    target: ArrayLike | None = None,
    *,
    samples: MatrixLike | None = None,
    units: ArrayLike | None = None,
    bounds: Mapping[str | int, tuple[float, float]] | None = None,
    immutable: Sequence[str | int] = (),
    max_changes: int | None = None,
) -> Counterfactual:
    """A small change of each sample that changes the prediction or makes it accepted.

    With real `samples` it is a change that a person can read: within the range of the samples or given bounds, with
    whole categories and with whole numbers in columns that hold no others. It works through any pipeline. Its length,
    in stated units, is small: never longer than the change to the nearest real sample with the wanted prediction, if
    neither has missing values. Missing values stay missing. With a `RejectClassifier` a sample is accepted where its
    own `accept` says so, by any measure. Without `samples` it is exactly the smallest change in the model's metric,
    wherever that leads, also to fractions of whole numbers; the model then needs one metric for all prototypes.

    Parameters
    ----------
    model : estimator
        A fitted model of this library that predicts by the nearest prototype, alone or at the end of a Pipeline of
        linear steps (see `lvq.certified_radius`), or a `RejectClassifier` of one.
    X : array-like of shape (n_samples, n_features)
        Samples, as the model takes them.
    target : class or array-like of shape (n_samples,), optional
        The class to reach; with a `RejectClassifier`, as an accepted prediction. By default any class except the
        predicted one; with a `RejectClassifier` any accepted prediction; accepted samples then stay as they are.
    samples : array-like of shape (n_real, n_features), optional
        Real samples, preferably the training samples, with the columns of X. All options below need them, and so do
        local metrics, a `RejectClassifier`, and pipelines with categories or steps that are not linear.
    units : array-like of shape (n_features,), optional
        Length of one unit of each column, for distances; by default the standard deviations of `samples`. A changed
        category has length 1.
    bounds : mapping of str or int to (float, float), optional
        Lower and upper end of columns of numbers; by default the range of `samples`. A sample that lies outside may
        stay where it is.
    immutable : sequence of str or int, optional
        Columns that keep their values.
    max_changes : int, optional
        Largest number of columns that change; they are chosen one after another by their effect.

    Returns
    -------
    counterfactual : Counterfactual
        Named tuple of `samples`, in the columns of X, as a data frame of pandas where X is a data frame; `distance`;
        `label`; `cost`, the length of the change in the model's metric; `units`; and `changes`, which the method
        `table` shows: the values that change. Without real samples the cost is as small as was found, and the distance
        is the Euclidean length in the units of X, minimal among changes that the model does not distinguish. With them
        the distance is sqrt(sum of ((x_l - x'_l)/unit_l)^2 + number of changed categories). Changes that keep the
        categories are never shorter than ``certified_radius(model, X, units=units)``. A sample that needs no change has
        distance 0. If no change was found for a sample, its distance is infinite and its values are NaN or None, which
        is not an answer even if the model takes missing values; a UserWarning names these rows, and the attribute
        `found` is False for them.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0]], max_iter=1)
    >>> model = model.fit([[0, 0], [4, 0]], ["left", "right"])
    >>> changed = counterfactual(model, [[0.5, 9.0]])
    >>> changed.samples.round(6), changed.distance.round(6), changed.label
    (array([[2., 9.]]), array([1.5]), array(['right'], dtype='<U5'))
    """
    found = need_model(model, "counterfactual", nearest=True)
    X, samples = (getattr(table, "to_pandas", lambda table=table: table)() for table in (X, samples))  # of polars
    task = Task(model, found, X, target)
    if samples is None:
        given = {"units": units, "bounds": bounds, "immutable": immutable or None, "max_changes": max_changes}
        needing = [name for name, value in given.items() if value is not None]
        needing += ["a RejectClassifier"] * task.rejecting + ["a model with local metrics"] * is_local(found.model)
        if needing:
            raise ValueError(
                f"counterfactual needs real samples, preferably the training samples, for {', '.join(needing)}."
            )
        return _result(task, *_smallest_changes(task), np.ones(len(task.layout.numeric)), X)
    real = task.layout.split(samples)
    limits = limited(task.layout, real, units, bounds or {}, immutable, max_changes)
    return _result(task, *nearest_changes(task, real, limits), limits.units, X)


class Task:
    """Samples and what to reach: a given class, any class except the predicted one, or any accepted prediction."""

    def __init__(self, model: BaseEstimator, found: FoundModel, X: MatrixLike, target: ArrayLike | None) -> None:
        self.model, self.found = model, found
        self.Z = model_inputs(found, X, "counterfactual")
        self.rejecting = rejecting_layer(model, X)[0] is not None
        self.first, accepted = self.predicted(X)
        self.target = None if target is None else np.broadcast_to(np.asarray(target), len(self.Z))
        unknown = np.setdiff1d([] if self.target is None else self.target, found.model.classes).tolist()
        if unknown:
            raise ValueError(
                f"target must be a class of {found.model.classes.tolist()}, or one for each sample, got {unknown}."
            )
        self.done = accepted & self.wanted(np.arange(len(self.Z)), self.first)
        self.layout = Layout(found, X)
        self.X = self.layout.split(X)

    def predicted(self, X: MatrixLike) -> tuple[Labels, NDArray[np.bool_]]:
        """Classes, and which are accepted: all, if the model rejects nothing."""
        label = np.asarray(as_numpy(self.model.predict(X)))
        reject, inputs = rejecting_layer(self.model, X)
        return label, np.ones(len(label), dtype=np.bool_) if reject is None else np.asarray(reject.accept(inputs))

    def wanted(self, rows: Indices | np.intp, labels: Labels) -> NDArray[np.bool_]:
        """Whether classes may be reached from rows of X; one class for each row, or arrays that broadcast."""
        if self.target is not None:
            return np.asarray(labels == self.target[rows])
        return np.full(np.broadcast(rows, labels).shape, True) if self.rejecting else labels != self.first[rows]

    def reached(self, rows: Indices, changed: Mixed) -> NDArray[np.bool_]:
        """Whether changed samples, one for each row of X, are predicted as wanted."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        label, accepted = self.predicted(self.layout.join(changed))
        return accepted & self.wanted(rows, label)

    def inputs(self, changed: Mixed) -> NDArray[np.floating]:
        """Changed samples as they reach the model."""
        return model_inputs(self.found, self.layout.join(changed), "counterfactual")


def _result(task: Task, changed: Mixed, found: NDArray[np.bool_], units: Floats, X: MatrixLike) -> Counterfactual:
    """The lengths of the changes, and a warning that names the rows without an answer."""
    label, _ = task.predicted(task.layout.join(changed))
    moved, model = task.inputs(changed).astype(np.float64) - task.Z, task.found.model
    roots = [as_matrix(model.matrix_of(j)) for j in range(len(model.labels) if is_local(model) else 1)]
    cost = np.sqrt(np.mean([((moved @ root.T) ** 2).sum(axis=1) for root in roots], axis=0))
    distance = lengths(units, changed, task.X)
    for values, unknown in ((cost, np.inf), (distance, np.inf), (changed.numbers, np.nan), (changed.categories, None)):
        values[~found] = unknown
    lacking = row_names(X, len(found))[~found].tolist()
    if lacking:
        warn(
            f"counterfactual found no change for {len(lacking)} of {len(found)} samples (rows {listed(lacking)}); "
            "their values are NaN or None, which is not an answer, and their distance is infinite. Try another target, "
            "more samples that are predicted as wanted, or less strict limits."
        )
    whole = np.full(len(task.layout.names), np.nan)
    whole[task.layout.numeric] = units
    samples = task.layout.join(changed)
    if hasattr(samples, "iloc"):
        samples.index = X.index
    return Counterfactual(samples, distance, label, cost, whole, _changes(task, changed, np.isfinite(distance), X))


def _changes(task: Task, changed: Mixed, found: NDArray[np.bool_], X: MatrixLike) -> list[dict[str, JSONValue]]:
    """Row, column, and the values before and after of each change."""
    layout, names = task.layout, row_names(X, len(found)).tolist()
    parts = zip((layout.numeric, layout.categorical), task.X, changed)
    lines = [
        (row, places[k], *(cells[[row], k].tolist()[0] for cells in (before, after)))
        for places, before, after in parts
        for row, k in np.argwhere(differ(before, after) & found[:, None]).tolist()
    ]
    keys = ("row", "column", "before", "after")
    ordered = sorted(lines, key=lambda line: line[:2])
    return [dict(zip(keys, (names[row], str(layout.names[k]), *values))) for row, k, *values in ordered]


def _smallest_changes(task: Task) -> tuple[Mixed, NDArray[np.bool_]]:
    """Changed samples, and for which there is an answer; each is verified by the model itself."""
    fitted = task.found.model
    before = as_matrix(input_map(task.found, "counterfactual"))[:, task.layout.numeric]
    root, labels = as_matrix(fitted.matrix_of(0)), fitted.classes[fitted.labels]
    W = fitted.prototypes.astype(np.float64)
    samples, prototypes = ((rows - W.mean(axis=0)) @ root.T for rows in (task.Z, W))
    B = root @ before
    back = pseudo_inverse(B)
    numbers, found = task.X.numbers.copy(), task.done.copy()
    for margin in MARGINS:
        for row in np.flatnonzero(~found):
            difference = samples[row] - prototypes
            seen = (B @ (back @ difference.T)).T  # the part that changes of X can change
            move = _class_move(seen, (difference**2).sum(axis=1), labels, task.wanted(row, labels), margin)
            if move is None:
                continue
            trial = Mixed(numbers[[row]] + back @ move, task.X.categories[[row]])
            if task.reached(np.array([row]), trial)[0]:
                numbers[row], found[row] = trial.numbers[0], True
    return task.X._replace(numbers=numbers), found


def _class_move(e: Floats, D: Floats, labels: NDArray, allowed: NDArray[np.bool_], margin: float) -> Floats | None:
    """The shortest move after which a prototype of an allowed class is nearest; None where there is none."""
    moves = []
    for target in np.flatnonzero(allowed):
        others = labels != labels[target]
        # D_t - D_j is linear in the move
        moves.append(least_distance(2 * (e[target] - e[others]), D[others] - D[target] - margin * D.max()))
    return min((move for move in moves if move is not None), key=np.linalg.norm, default=None)
