"""Counterfactuals: a small change of a sample that gives it another class, or makes its prediction accepted.

A change d of the sample costs |B d|, its length in the model's metric, with B = Omega A and A the linear map of the
steps before the model. The change of least cost is computed as in `moves`; of all changes with the same effect on the
model, the one of least Euclidean length in the units of X is taken. With local metrics the cost is measured in their
mean, |B d|^2 = mean_j |B_j d|^2.

Every result is verified by the model itself. It lies beyond the boundary by about 1e-9 of the distances.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from lvq.counterfactuals.moves import bisected, pulled_in, shortest_in_box
from lvq.counterfactuals.real_cases import Goal, Options, Search, predictions
from lvq.estimators.find_model import FoundModel, need_model, rejecting_layer
from lvq.inspection.certify import is_local
from lvq.inspection.columns import model_inputs, row_names
from lvq.inspection.steps import Floats, Indices, LinearMap, as_matrix, dense, input_map
from lvq.model.rows import as_numpy
from lvq.tables.header import listed
from lvq.typing import Labels, MatrixLike

# how far beyond the boundary, relative to the distances; the next one where rounding undoes the change
MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)
MOST_TARGETS = 8  # moves of a sample that are followed further where only predictions tell what is accepted
REACHES = (0.3, 1.0, 3.0)  # how far along each axis, by the mean length of the moves to the prototypes
OVERSHOOTS = (0.0, 1.0, 3.0)  # how far beyond a prototype a prediction is tried, by the distance to its rival


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
    plausible: bool = False,
) -> Counterfactual:
    """A small change of each sample that changes the prediction or makes it accepted.

    Without `samples` it is the smallest change in the model's metric, wherever that leads: exact with one metric for
    all prototypes, a local optimum with local metrics, which is rarely more than 5 % too long. With real `samples` it
    is a change that a person can read: within the range of the samples or given bounds, with whole categories, through
    any pipeline, of small length in stated units, and never longer than the one to the nearest real sample that is
    predicted as wanted, if neither has missing values. Missing values stay missing. With a `RejectClassifier` a sample
    is accepted where its own `accept` says so, by any measure; the change is the smallest one that was found along that
    boundary, and within 0.01 % of the smallest one of all where the accepted region of a prototype is convex.

    Parameters
    ----------
    model : estimator
        A fitted model of this library that predicts by the nearest prototype, alone or at the end of a Pipeline of
        linear steps (see `lvq.certified_radius`), or a `RejectClassifier` of one.
    X : array-like of shape (n_samples, n_features)
        Samples, as the model takes them.
    target : class or array-like of shape (n_samples,), optional
        The class to reach; with a `RejectClassifier`, as an accepted prediction. By default any class except the
        predicted one; with a `RejectClassifier` any accepted prediction, so that accepted samples stay as they are.
    samples : array-like of shape (n_real, n_features), optional
        Real samples, best the training samples, with the columns of X. All options below need them, and so do
        pipelines with categories or steps that are not linear.
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
    plausible : bool, default=False
        Whether the result must be as near to one of `samples` that is predicted as its class as 95 % of those are to
        each other.

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
        options = Options(samples, units, bounds or {}, immutable, max_changes, plausible)
        return _told(Counterfactual(*Search(model, found, X, goal, options).run(done)), X)
    given = {"units": units, "bounds": bounds, "immutable": immutable or None, "max_changes": max_changes}
    for name, value in {**given, "plausible": plausible or None}.items():
        if value is not None:
            raise ValueError(f"{name} of counterfactual needs samples, real samples with the columns of X; give them.")
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
    geometry, values = Geometry(found, X), _numbers(X)
    result = Counterfactual(
        np.where(done[:, None], values, np.nan), np.where(done, 0.0, np.inf), goal.first.copy(),
        np.where(done, 0.0, np.inf), np.ones(values.shape[1]),
    )  # fmt: skip
    labels = found.model.classes[found.model.labels]
    known = not goal.rejecting and not geometry.local
    for margin in MARGINS if known else MARGINS[:1]:
        rows = np.flatnonzero(np.isinf(result.cost))
        if known:
            rows, moves = _class_moves(geometry, goal, labels, rows, margin)
        else:
            rows, moves = _reached_moves(model, X, geometry, goal, labels, rows)
        if not len(rows):
            break
        change = geometry.changes(rows, moves)
        changed = values[rows] + change
        label, accepted = predictions(model, _like(X, changed, rows))
        good = goal.take(rows).reached(label, accepted)
        lengths = np.linalg.norm(change, axis=1), label, np.linalg.norm(moves, axis=1)
        for old, new in zip(result, (changed, *lengths)):
            old[rows[good]] = new[good]
    return result


def _class_moves(
    geometry: Geometry, goal: Goal, labels: Labels, rows: Indices, margin: float
) -> tuple[Indices, Floats]:
    """For each row that has one, the shortest move after which a prototype of an allowed class is nearest."""
    found_rows, moves = list[np.intp](), list[Floats]()
    for row in rows:
        e, D = geometry.position(row)
        free, best = np.full(e.shape[1], np.inf), None
        for target in np.flatnonzero([goal.allows(row, label) for label in labels]):
            others = labels != labels[target]
            # D_t - D_j is linear in the move
            limit = D[others] - D[target] - margin * D.max()
            y = shortest_in_box(2 * (e[target] - e[others]), limit, -free, free)
            if y is not None and (best is None or np.linalg.norm(y) < np.linalg.norm(best)):
                best = y
        if best is not None:
            found_rows.append(row)
            moves.append(best)
    return np.array(found_rows, dtype=np.intp), np.array(moves)


def _reached_moves(
    model: BaseEstimator, X: MatrixLike, geometry: Geometry, goal: Goal, labels: Labels, rows: Indices
) -> tuple[Indices, Floats]:
    """For each row that has one, the shortest move found after which the prediction is as wanted."""
    values = _numbers(X)

    def accepted(owners: Indices, moves: Floats) -> NDArray[np.bool_]:
        changed = values[owners] + geometry.changes(owners, moves)
        return goal.take(owners).reached(*predictions(model, _like(X, changed, owners)))

    owner, ends = list[np.intp](), list[Floats]()
    for row in rows:
        allowed = np.flatnonzero([goal.allows(row, label) for label in labels])
        ends += (found := geometry.ends(row, allowed, labels))
        owner += [row] * len(found)
    owners, moves = np.array(owner, dtype=np.intp), np.array(ends)
    if not len(owners):
        return owners, moves
    good = accepted(owners, moves).reshape(-1, len(OVERSHOOTS))  # the first of each prototype that is accepted
    kept = np.flatnonzero(good & (good.cumsum(axis=1) == 1))
    if not len(kept):
        return owners[kept], moves[kept]
    owners, moves = owners[kept], moves[kept]
    straight = bisected(np.zeros_like(moves), moves, lambda jobs, y: accepted(owners[jobs], y))
    kept = _shortest_of_each(owners, straight, MOST_TARGETS)
    few, moves = owners[kept], moves[kept]
    free = np.full(moves.shape, np.inf)
    moves = pulled_in(moves, lambda jobs, y: accepted(few[jobs], y), -free, free)
    kept = _shortest_of_each(few, moves, 1)
    return few[kept], moves[kept]


def _shortest_of_each(owners: Indices, moves: Floats, count: int) -> Indices:
    """The shortest moves of each row."""
    order = np.lexsort((np.linalg.norm(moves, axis=1), owners))
    rank = np.arange(len(order)) - np.searchsorted(owners[order], owners[order])
    return order[rank < count]


class Geometry:
    """Samples and prototypes in the space where the model measures, and the moves that changes of X can make there.

    With one metric all distances depend on a move by its length and its products with the differences from the
    prototypes, so the shortest move is a combination of these, and with few prototypes it has few coordinates.
    """

    def __init__(self, found: FoundModel, X: MatrixLike) -> None:
        model, before = found.model, input_map(found, "counterfactual", clipping=False)
        W = model.prototypes.astype(np.float64)
        Z = model_inputs(found, X, "counterfactual") - W.mean(axis=0)
        self._known_axes: dict[int, Floats | None] = {}
        self.samples, self.prototypes, self.local = Z, W - W.mean(axis=0), is_local(model)
        if not self.local:
            root = as_matrix(model.matrix_of(0))
            self.samples, self.prototypes = Z @ root.T, self.prototypes @ root.T
            self.along, self.to_input = _possible_moves(root @ before)
            return
        self.roots = np.stack([model.matrix_of(prototype) for prototype in range(len(W))])
        full = np.stack([dense(as_matrix(root) @ before) for root in self.roots])
        _, back = _decomposed(_mean_root(full))
        self.moves, self.to_input = full @ back, lambda y: y @ back.T

    def position(self, row: int | np.intp) -> tuple[Floats, Floats]:
        """Differences e_j of a sample from the prototypes along its moves y, and its distances D_j, for one metric.

        After a move the distances are D_j + 2 e_j y + |y|^2.
        """
        difference = self.samples[row] - self.prototypes
        e, axes = self.along(difference), self._axes(row)
        return e if axes is None else e @ axes, (difference**2).sum(axis=1)

    def towards(self, row: int | np.intp) -> Floats:
        """The moves that end nearest to each prototype."""
        if not self.local:
            return -self.position(row)[0]
        difference = self.samples[row] - self.prototypes
        e = self.roots * difference if self.roots.ndim == 2 else np.einsum("jmn,jn->jm", self.roots, difference)
        return np.stack([np.linalg.lstsq(C, -part, rcond=None)[0] for C, part in zip(self.moves, e)])

    def _axes(self, row: int | np.intp) -> Floats | None:
        """Axes of the coordinates of a row's moves; None where these are all possible moves."""
        if self.local:
            return None
        if int(row) not in self._known_axes:
            e = self.along(self.samples[row] - self.prototypes)
            self._known_axes[int(row)] = np.linalg.qr(e.T)[0] if e.shape[1] > len(e) else None
        return self._known_axes[int(row)]

    def changes(self, rows: Indices, moves: Floats) -> Floats:
        """Changes of X that make moves of some rows."""
        axes = [self._axes(row) for row in rows]
        return self.to_input(np.stack([move if of is None else of @ move for of, move in zip(axes, moves)]))

    def ends(self, row: int | np.intp, targets: Indices, labels: Labels) -> list[Floats]:
        """Moves to prototypes, and beyond them away from the nearest of another class."""
        found, there = list[Floats](), self.towards(row)
        for target in targets.tolist():
            others = there[labels != labels[target]]
            away = there[target] - others[((others - there[target]) ** 2).sum(axis=1).argmin()]
            found += [there[target] + times * away for times in OVERSHOOTS]
        if self.local:  # regions are no half spaces, and may be nearest on any side
            reach = np.linalg.norm(there, axis=1).mean()
            axes = np.concatenate((np.eye(there.shape[1]), -np.eye(there.shape[1])))
            found += [times * reach * axis for axis in axes for times in REACHES]
        return found


def _possible_moves(B: LinearMap) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """Two functions of rows: coordinates in the model's space along the moves that changes of X can make there, and the
    shortest changes of X that make moves."""
    if not sparse.issparse(B) or (np.bincount(B.nonzero()[1]) > 1).any() or (np.bincount(B.nonzero()[0]) > 1).any():
        basis, back = _decomposed(dense(B))
        return lambda rows: rows @ basis, lambda y: y @ back.T
    to, source = B.nonzero()  # each column of X moves the sample along an axis of its own
    factor = np.asarray(B[to, source]).ravel()
    kept = np.abs(factor) > np.abs(factor).max(initial=0) * max(B.shape) * np.finfo(np.float64).eps
    to, source, factor = to[kept], source[kept], factor[kept]

    def to_input(y: Floats) -> Floats:
        change = np.zeros((len(y), B.shape[1]))
        change[:, source] = y / factor
        return change

    return lambda rows: rows[:, to], to_input


def _mean_root(full: Floats) -> Floats:
    """B with B'B the mean of all B_j'B_j, with few rows."""
    stacked = full.reshape(-1, full.shape[2]) / np.sqrt(len(full))
    if len(stacked) < stacked.shape[1]:
        return stacked
    spread, axes = np.linalg.eigh(stacked.T @ stacked)
    return np.sqrt(np.maximum(spread, 0.0))[:, None] * axes.T


def _decomposed(B: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of the images of B, and the shortest vectors whose images they are."""
    U, S, V = np.linalg.svd(B, full_matrices=False)
    kept = S.max() * max(len(U), V.shape[1]) * np.finfo(np.float64).eps < S
    return U[:, kept], V[kept].T / S[kept]
