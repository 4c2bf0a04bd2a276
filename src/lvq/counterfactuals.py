"""Counterfactuals: the smallest change of a sample that gives it another class, or makes its prediction accepted.

A change d of the sample costs |B d|, its length in the model's metric, with B = Omega A and A the linear map of the
steps before the model. The change of least cost is computed as in `lvq.shortest_moves`; of all changes with the same
effect on the model, the one of least Euclidean length in the units of X is taken. With local metrics the cost is
measured in their mean, |B d|^2 = mean_j |B_j d|^2, and the result is a local optimum.

Every result is verified by the model itself. It lies beyond the boundary by about 1e-9 of the distances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from lvq.estimators.found import FoundModel, need_model
from lvq.input_columns import model_inputs
from lvq.linear_maps import Floats, LinearMap, compose, dense, input_map, project
from lvq.model.arrays import as_numpy
from lvq.model.metrics import LocalMetric
from lvq.model.prototype_model import PrototypeModel
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.scorers import find_reject_classifier
from lvq.shortest_moves import LocalPosition, Position, Region, shortest_move
from lvq.typing import Label, Labels, MatrixLike

# how far beyond the boundary, relative to the distances; the next one where rounding undoes the change
MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)


class Counterfactual(NamedTuple):
    """Changed samples, the lengths of the changes, and the classes of the changed samples.

    A sample that needs no change has distance and cost 0. One for which no change was found has infinite distance and
    cost, and NaN for values.
    """

    samples: Floats
    distance: Floats  # Euclidean length of the change, in the units of X
    label: Labels
    cost: Floats  # length of the change in the model's metric, which is what was minimised


def counterfactual(model: BaseEstimator, X: MatrixLike, target: ArrayLike | None = None) -> Counterfactual:
    """The smallest change of each sample, in the model's metric, that changes the prediction or makes it accepted.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or at the end of a Pipeline of linear steps (see `lvq.certified_radius`),
        or a `RejectClassifier` of one whose measure is "auto", "relsim", "boundary", "distance" or a combination of
        these, and whose cells are prototypes or classes.
    X : array-like of shape (n_samples, n_features)
        Samples, as the model takes them.
    target : class or array-like of shape (n_samples,), optional
        The class to reach; with a `RejectClassifier`, as an accepted prediction. By default any class except the
        predicted one; with a `RejectClassifier` any accepted prediction, so that accepted samples stay as they are.

    Returns
    -------
    counterfactual : Counterfactual
        Named tuple of `samples`, in the columns of X; `distance`, the Euclidean length of the change in the units of X;
        `label`; and `cost`, the length of the change in the model's metric. The cost is minimal, the distance is
        minimal among changes that the model does not distinguish.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0]], learning_rate=0, max_iter=1, solver="online")
    >>> model = model.fit([[0, 0], [4, 0]], ["left", "right"])
    >>> changed = counterfactual(model, [[0.5, 9.0]])
    >>> changed.samples.round(6), changed.distance.round(6), changed.label
    (array([[2., 9.]]), array([1.5]), array(['right'], dtype='<U5'))
    """
    found = need_model(model, "counterfactual", nearest=True)
    fitted, (reject, _) = found.model, find_reject_classifier(model, X)
    geometry = _Geometry(found, X)
    regions = _class_regions(fitted) if reject is None else _accepted_regions(reject, fitted, geometry.prototypes)
    values, (first, accepted) = _numbers(X), _predict(model, X)
    goal = _Goal(first, _known_classes(target, fitted.classes, len(values)), reject is not None)
    done = goal.reached(first, accepted)
    result = Counterfactual(
        np.where(done[:, None], values, np.nan), np.where(done, 0.0, np.inf), first.copy(), np.where(done, 0.0, np.inf)
    )
    labels = fitted.classes[fitted.labels]
    for margin in MARGINS:
        change, cost = np.zeros_like(values), np.full(len(values), np.inf)
        for row in np.flatnonzero(np.isinf(result.cost)):
            wanted = [region for region in regions if goal.allows(row, labels[region.prototype])]
            position, axes = geometry.position(row)
            y = shortest_move(position, wanted, margin)
            if y is not None:
                change[row], cost[row] = geometry.to_input(y if axes is None else axes @ y), np.linalg.norm(y)
        if np.isinf(cost).all():
            break
        label, accepted = _predict(model, _like(X, values + change))
        good = np.isfinite(cost) & goal.reached(label, accepted)
        changed = Counterfactual(values + change, np.linalg.norm(change, axis=1), label, cost)
        for old, new in zip(result, changed):
            old[good] = new[good]
    return result


class _Geometry:
    """Samples and prototypes in the space where the model measures, and the moves that changes of X can make there."""

    def __init__(self, found: FoundModel, X: MatrixLike) -> None:
        model, before = found.model, input_map(found.steps, "counterfactual", clipping=False)
        W = model.prototypes.astype(np.float64)
        Z = model_inputs(found, X, "counterfactual") - W.mean(axis=0)
        self.link, self.local = model.link, isinstance(model.metric, LocalMetric)
        if not self.local:
            root = model.matrix_of(0)
            self.samples, self.prototypes = project(Z, root), project(W - W.mean(axis=0), root)
            self.along, self.to_input = _possible_moves(compose(root, before))
            return
        self.samples, self.prototypes = Z, W - W.mean(axis=0)
        self.roots = np.stack([model.matrix_of(prototype) for prototype in range(len(W))])
        full = np.stack([_as_matrix(compose(root, before)) for root in self.roots])
        _, back = _decomposed(_mean_root(full))
        self.moves, self.to_input = full @ back, lambda y: back @ y

    def position(self, row: int | np.intp) -> tuple[Position | LocalPosition, Floats | None]:
        """One sample, and axes of its moves; None where they are those of all moves.

        All distances depend on a move by its length and its products with the differences from the prototypes, so the
        shortest move is a combination of these.
        """
        difference = self.samples[row] - self.prototypes
        if self.local:
            e = self.roots * difference if self.roots.ndim == 2 else np.einsum("jmn,jn->jm", self.roots, difference)
            return LocalPosition((e**2).sum(axis=1), e, self.moves, self.link), None
        D, E = (difference**2).sum(axis=1), self.along(difference)
        if E.shape[1] <= len(E):
            return Position(D, E, self.link), None
        axes = np.linalg.qr(E.T)[0]
        return Position(D, E @ axes, self.link), axes


def _possible_moves(B: LinearMap) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """Two functions: rows of the model's space along the moves that changes of X can make there, and the shortest
    change of X that makes a move."""
    if B.ndim == 1:
        B = sparse.csr_array(sparse.diags_array(B))
    if not sparse.issparse(B) or (np.bincount(B.nonzero()[1]) > 1).any() or (np.bincount(B.nonzero()[0]) > 1).any():
        basis, back = _decomposed(dense(B))
        return lambda rows: rows @ basis, lambda y: back @ y
    to, source = B.nonzero()  # each column of X moves the sample along an axis of its own
    factor = np.asarray(B[to, source]).ravel()
    kept = np.abs(factor) > np.abs(factor).max(initial=0) * max(B.shape) * np.finfo(np.float64).eps
    to, source, factor = to[kept], source[kept], factor[kept]

    def to_input(y: Floats) -> Floats:
        change = np.zeros(B.shape[1])
        change[source] = y / factor
        return change

    return lambda rows: rows[:, to], to_input


def _as_matrix(linear: LinearMap) -> Floats:
    return np.diag(linear) if linear.ndim == 1 else dense(linear)


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


class _Goal(NamedTuple):
    """Which predictions to reach: a given class, any class except the first prediction, or any that is accepted."""

    first: Labels
    target: Labels | None
    rejecting: bool

    def reached(self, label: Labels, accepted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.target is not None:
            return accepted & (label == self.target)
        return accepted if self.rejecting else label != self.first

    def allows(self, row: int | np.intp, label: Label) -> bool:
        if self.target is not None:
            return bool(label == self.target[row])
        return self.rejecting or bool(label != self.first[row])


def _predict(model: BaseEstimator, X: MatrixLike) -> tuple[Labels, NDArray[np.bool_]]:
    """Predicted classes, and which are accepted: all, if the model rejects nothing."""
    label = np.asarray(as_numpy(model.predict(X)))
    reject, inputs = find_reject_classifier(model, X)
    return label, np.ones(len(label), dtype=np.bool_) if reject is None else reject.accept(inputs)


def _numbers(X: MatrixLike) -> Floats:
    try:
        return np.array(as_numpy(X), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("counterfactual needs X of numbers; leave out columns of other values.") from error


def _like(X: MatrixLike, values: Floats) -> MatrixLike:
    """Changed values as the frame they came in, so that the model finds its feature names."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns, index=X.index)
    if hasattr(X, "column_names"):  # pyarrow
        return type(X).from_arrays(list(values.T), names=X.column_names)
    return type(X)(values, schema=X.columns, orient="row") if hasattr(X, "columns") else values


def _known_classes(target: ArrayLike | None, classes: Labels, n_samples: int) -> Labels | None:
    if target is None:
        return None
    goal = np.broadcast_to(np.asarray(target), n_samples)
    unknown = [label for label in np.unique(goal).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"target must be a class of {classes.tolist()}, or one for each sample, got {unknown}.")
    return goal


def _class_regions(model: PrototypeModel) -> list[Region]:
    """Where each prototype is nearer than all of other classes."""
    others = [np.flatnonzero(model.labels != label) for label in model.labels]
    return [Region(t, rivals, np.zeros(len(rivals)), rivals) for t, rivals in enumerate(others)]


def _accepted_regions(reject: RejectClassifier, model: PrototypeModel, prototypes: Floats) -> list[Region]:
    """Where each prototype wins and the prediction is accepted."""
    parts = reject.measure_
    if parts.ambiguity not in ("auto", "relsim", "boundary", "distance") or parts.outlier not in (None, "distance"):
        raise ValueError(
            "counterfactual supports the measures 'auto', 'relsim', 'boundary', 'distance' and their combinations, "
            f"got measure={reject.measure!r}; use one of these."
        )
    if callable(reject.cells_):
        raise ValueError("counterfactual needs cells that are prototypes or classes, got a function; use cells='auto'.")
    regions, labels = [], model.classes[model.labels].tolist()
    for region in _class_regions(model):
        t = region.prototype
        label = labels[t]
        cell = label if reject.cells_ == "class" else t
        threshold = _threshold(reject, cell, label)
        limits = reject.outlier_limits_
        reach = np.inf if limits is None else -float(limits.threshold_of([cell])[0])
        if threshold == np.inf or reach < 0:
            continue
        if reject.cells_ != "class" or parts.ambiguity == "boundary":
            # cell and boundary depend on the winner, so it must also be nearer than the other prototypes of its class
            own = np.setdiff1d(np.arange(len(labels)), [t, *region.others])
            region = region._replace(rivals=np.append(region.others, own), offset=np.zeros(len(labels) - 1))
        if parts.ambiguity == "distance":
            reach = min(reach, -threshold)
        elif parts.ambiguity == "boundary" and threshold > 0:
            region.offset[: len(region.others)] = (
                2 * threshold * np.linalg.norm(prototypes[region.others] - prototypes[t], axis=1)
            )
        else:
            region = region._replace(similar=max(0.0, threshold))
        regions.append(region._replace(reach=reach))
    return regions


def _threshold(reject: RejectClassifier, cell: Label, label: Label) -> float:
    point = reject.point_.get(label) if isinstance(reject.point_, dict) else reject.point_
    return np.inf if point is None else float(point.threshold_of([cell])[0])
