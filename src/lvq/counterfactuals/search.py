"""Counterfactuals: a small change of a sample that gives it another class, or makes its prediction accepted.

With real samples the change is searched between the sample and these, see `real_cases`. Without, it is the smallest in
the model's metric. A change d costs |B d|, with B = Omega A and A the linear map of the steps before the model. After a
move y = B d the distances are D_j + 2 e_j y + |y|^2 with e_j the difference from prototype j, so a prototype is the
nearest in an intersection of half spaces, whose shortest move is computed exactly. Of all changes that make this move,
the one of least Euclidean length in the units of X is taken.

Every result is verified by the model itself. It lies beyond the boundary by about 1e-9 of the distances.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from lvq.counterfactuals.moves import least_distance
from lvq.counterfactuals.real_cases import Goal, Search, predictions
from lvq.estimators.find_model import FoundModel, need_model, rejecting_layer
from lvq.inspection.certify import is_local
from lvq.inspection.columns import model_inputs, row_names
from lvq.inspection.steps import Floats, Indices, LinearMap, as_matrix, dense, input_map
from lvq.model.rows import as_numpy
from lvq.tables.header import listed
from lvq.typing import Labels, MatrixLike

# how far beyond the boundary, relative to the distances; the next one where rounding undoes the change
MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)


class Counterfactual(NamedTuple):
    """Changed samples, the lengths of the changes, and the classes of the changed samples.

    A sample that needs no change has distance and cost 0. One for which no change was found has infinite distance and
    cost, NaN or None for values, and its own predicted class as label; `found` tells which.
    """

    samples: MatrixLike
    distance: Floats  # length of the change, in the units below
    label: Labels
    cost: Floats  # length of the change in the model's metric
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
    samples: MatrixLike | None = None,
    units: ArrayLike | None = None,
    bounds: Mapping[str | int, tuple[float, float]] | None = None,
    immutable: Sequence[str | int] = (),
    max_changes: int | None = None,
) -> Counterfactual:
    """A small change of each sample that changes the prediction or makes it accepted.

    With real `samples` it is a change that a person can read: within the range of the samples or given bounds, with
    whole categories, through any pipeline, of small length in stated units, and never longer than the one to the
    nearest real sample that is predicted as wanted, if neither has missing values. Missing values stay missing. With a
    `RejectClassifier` a sample is accepted where its own `accept` says so, by any measure. Without `samples` it is the
    smallest change in the model's metric, wherever that leads, and exact; the model then needs one metric for all
    prototypes.

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
        Real samples, best the training samples, with the columns of X. All options below need them, and so do local
        metrics, a `RejectClassifier`, and pipelines with categories or steps that are not linear.
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
        Named tuple of `samples`, in the columns of X, as a data frame where X is one and `samples` were given;
        `distance`; `label`; `cost`, the length of the change in the model's metric; and `units`. Without real samples
        the cost is as small as was found, and the distance is the Euclidean length in the units of X, minimal among
        changes that the model does not distinguish. With them the distance is sqrt(sum of ((x_l - x'_l)/unit_l)^2 +
        number of changed categories). Changes that keep the categories are never shorter than
        ``certified_radius(model, X, units=units)``. A sample that needs no change has distance 0. One for which no
        change was found has distance infinity and NaN or None for values, which are no answer even where the model
        takes missing values; a UserWarning names these rows, and the attribute `found` is False for them.

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
    first, accepted = predictions(model, X)
    rejecting = rejecting_layer(model, X)[0] is not None
    goal = Goal(first, _known_classes(target, found.model.classes, len(first)), rejecting)
    done = goal.reached(first, accepted)
    if samples is not None:
        search = Search(model, found, X, goal, samples)
        search.limit(units, bounds or {}, immutable, max_changes)
        return _told(Counterfactual(*search.run(done)), X)
    given = {"units": units, "bounds": bounds, "immutable": immutable or None, "max_changes": max_changes}
    needing = [name for name, value in given.items() if value is not None]
    needing += ["a RejectClassifier"] * rejecting + ["a model with local metrics"] * is_local(found.model)
    if needing:
        raise ValueError(
            f"counterfactual needs real samples, best the training samples, for {', '.join(needing)}; give them."
        )
    return _told(_smallest(model, found, X, goal, done), X)


def _told(result: Counterfactual, X: MatrixLike) -> Counterfactual:
    """The result, with a warning that names the rows without an answer."""
    lacking = row_names(X, len(result.found))[~result.found].tolist()
    if lacking:
        warnings.warn(
            f"counterfactual found no change for {len(lacking)} of {len(result.found)} samples (rows "
            f"{listed(lacking)}); their values are NaN or None, which is no answer, and their distance is infinite. "
            "Try another target, more samples that are predicted as wanted, or less strict limits.",
            UserWarning,
            stacklevel=3,
        )
    return result


def _known_classes(target: ArrayLike | None, classes: Labels, n_samples: int) -> Labels | None:
    if target is None:
        return None
    goal = np.broadcast_to(np.asarray(target), n_samples)
    unknown = [label for label in np.unique(goal).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"target must be a class of {classes.tolist()}, or one for each sample, got {unknown}.")
    return goal


def _numbers(X: MatrixLike) -> Floats:
    try:
        return np.array(as_numpy(X), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("counterfactual needs X of numbers; leave out columns of other values.") from error


def _like(X: MatrixLike, values: Floats, rows: Indices) -> MatrixLike:
    """Changed rows as the frame they came in, for its feature names."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns, index=X.index[rows])
    if hasattr(X, "column_names"):  # pyarrow
        return type(X).from_arrays(list(values.T), names=X.column_names)
    return type(X)(values, schema=X.columns, orient="row") if hasattr(X, "columns") else values


def _smallest(
    model: BaseEstimator, found: FoundModel, X: MatrixLike, goal: Goal, done: NDArray[np.bool_]
) -> Counterfactual:
    """The smallest changes in the metric of a model that has one."""
    fitted, before = found.model, input_map(found, "counterfactual", clipping=False)
    Z, values, W = model_inputs(found, X, "counterfactual"), _numbers(X), fitted.prototypes.astype(np.float64)
    root, labels = as_matrix(fitted.matrix_of(0)), fitted.classes[fitted.labels]
    samples, prototypes = ((rows - W.mean(axis=0)) @ root.T for rows in (Z, W))
    B = root @ before
    back = pseudoinverse(B)
    label, cost = goal.first.copy(), np.where(done, 0.0, np.inf)
    distance = cost.copy()
    changed = np.where(done[:, None], values, np.nan)
    for margin in MARGINS:
        for row in np.flatnonzero(np.isinf(cost)):
            allowed = np.flatnonzero([goal.allows(row, name) for name in labels])
            difference = samples[row] - prototypes
            seen = (B @ (back @ difference.T)).T  # the part that changes of X can change
            move = _class_move(seen, (difference**2).sum(axis=1), labels, allowed, margin)
            if move is None:
                continue
            change, rows = back @ move, np.array([row])
            predicted, accepted = predictions(model, _like(X, values[rows] + change, rows))
            if goal.take(rows).reached(predicted, accepted)[0]:
                changed[row], label[row] = values[row] + change, predicted[0]
                cost[row], distance[row] = np.linalg.norm(move), np.linalg.norm(change)
    return Counterfactual(changed, distance, label, cost, np.ones(values.shape[1]))


def _class_move(e: Floats, D: Floats, labels: Labels, allowed: Indices, margin: float) -> Floats | None:
    """The shortest move after which a prototype of an allowed class is nearest; None where there is none."""
    best = None
    for target in allowed:
        others = labels != labels[target]
        # D_t - D_j is linear in the move
        y = least_distance(2 * (e[target] - e[others]), D[others] - D[target] - margin * D.max())
        if y is not None and (best is None or np.linalg.norm(y) < np.linalg.norm(best)):
            best = y
    return best


def pseudoinverse(B: LinearMap) -> LinearMap:
    """Gives the shortest vectors whose images by B are given; sparse where B selects and scales different columns.

    Examples
    --------
    >>> pseudoinverse(sparse.csr_array([[0.0, 4.0, 0.0]])).toarray().tolist()
    [[0.0], [0.25], [0.0]]
    """
    relative = max(B.shape) * np.finfo(np.float64).eps
    if not sparse.issparse(B) or max(np.bincount(places).max(initial=0) for places in B.nonzero()) > 1:
        return np.linalg.pinv(dense(B), rcond=relative)
    back = sparse.csr_array(B.T)
    kept = np.abs(back.data) > np.abs(back.data).max(initial=0) * relative
    back.data = np.divide(1, back.data, out=np.zeros_like(back.data), where=kept)
    return back
