"""Counterfactuals: the smallest change of a sample that gives it another class, or makes its prediction accepted.

A change d of the sample costs |B d|, its length in the model's metric, with B = Omega A and A the linear map of the
steps before the model. The change of least cost is computed as in `shortest_moves`; of all changes with the same effect
on the model, the one of least Euclidean length in the units of X is taken. With local metrics the cost is measured in
their mean, |B d|^2 = mean_j |B_j d|^2, and the result is a local optimum.

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

from lvq.counterfactuals.constrained import Options, Search
from lvq.counterfactuals.goals import Goal, known_classes, like, numbers_of, predictions
from lvq.counterfactuals.regions import accepted_regions, class_regions
from lvq.counterfactuals.shortest_moves import LocalPosition, Position, shortest_move
from lvq.estimators.found import FoundModel, need_model
from lvq.input_columns import model_inputs
from lvq.linear_maps import Floats, LinearMap, compose, dense, input_map, project
from lvq.model.metrics import LocalMetric
from lvq.nearest_samples import row_names
from lvq.rejection.classifier import find_reject_classifier
from lvq.table_headers import listed
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
    plausible: bool = False,
) -> Counterfactual:
    """A small change of each sample that changes the prediction or makes it accepted.

    Without `samples` it is the smallest change in the model's metric, wherever that leads. With real `samples` it is
    a change that a person can read: within the range of the samples or given bounds, with whole categories, through
    any pipeline, of small length in stated units, and never longer than the one to the nearest real sample that is
    predicted as wanted, if neither has missing values. Missing values stay missing.

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
        the cost is minimal, the distance is the Euclidean length in the units of X, minimal among changes that the
        model does not distinguish. With them the distance is sqrt(sum of ((x_l - x'_l)/unit_l)^2 + number of changed
        categories). Changes that keep the categories are never shorter than
        ``certified_radius(model, X, units=units)``. A sample that needs no change has distance 0. One for which no
        change was found has distance infinity and NaN or None for values, which are no answer even where the model
        takes missing values; a UserWarning names these rows, and the attribute `found` is False for them.

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
    if samples is not None:
        options = Options(samples, units, bounds or {}, immutable, max_changes, plausible)
        return _told(_constrained(model, found, X, target, options), X, options)
    given = {"units": units, "bounds": bounds, "immutable": immutable or None, "max_changes": max_changes,
             "plausible": plausible or None}  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} of counterfactual needs samples, real samples with the columns of X; give them.")
    return _told(_unconstrained(model, found, X, target), X, None)


def _told(result: Counterfactual, X: MatrixLike, options: Options | None) -> Counterfactual:
    """The result, with a warning that names the rows without an answer and what may lead to one."""
    lacking = row_names(X, len(result.found))[~result.found].tolist()
    if lacking:
        remedies = ["another target"]
        if options is not None:
            asked = {
                "a larger max_changes": options.max_changes is not None,
                "fewer immutable columns": len(options.immutable) > 0,
                "wider bounds": len(options.bounds) > 0,
                "plausible=False": options.plausible,
            }
            remedies = [remedy for remedy, used in asked.items() if used] or [
                "more samples, among them some that are predicted as the target"
            ]
        rows = "row" if len(lacking) == 1 else "rows"
        warnings.warn(
            f"counterfactual found no change for {len(lacking)} of {len(result.found)} samples ({rows} "
            f"{listed(lacking)}); their values are NaN or None, which is no answer, and their distance is infinite. "
            f"Try {' or '.join(remedies)}.",
            UserWarning,
            stacklevel=3,
        )
    return result


def _unconstrained(model: BaseEstimator, found: FoundModel, X: MatrixLike, target: ArrayLike | None) -> Counterfactual:
    fitted, (reject, _) = found.model, find_reject_classifier(model, X)
    geometry = _Geometry(found, X)
    regions = class_regions(fitted) if reject is None else accepted_regions(reject, fitted, geometry.prototypes)
    values, (first, accepted) = numbers_of(X), predictions(model, X)
    goal = Goal(first, known_classes(target, fitted.classes, len(values)), reject is not None)
    done = goal.reached(first, accepted)
    result = Counterfactual(
        np.where(done[:, None], values, np.nan), np.where(done, 0.0, np.inf), first.copy(), np.where(done, 0.0, np.inf),
        np.ones(values.shape[1]),
    )  # fmt: skip
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
        label, accepted = predictions(model, like(X, values + change))
        good = np.isfinite(cost) & goal.reached(label, accepted)
        changed = (values + change, np.linalg.norm(change, axis=1), label, cost)
        for old, new in zip(result, changed):
            old[good] = new[good]
    return result


def _constrained(
    model: BaseEstimator, found: FoundModel, X: MatrixLike, target: ArrayLike | None, options: Options
) -> Counterfactual:
    most = options.max_changes
    if most is not None and (not isinstance(most, int | np.integer) or most < 1):
        raise ValueError(f"max_changes of counterfactual must be a whole number of at least 1, or None, got {most!r}.")
    first, accepted = predictions(model, X)
    rejecting = find_reject_classifier(model, X)[0] is not None
    goal = Goal(first, known_classes(target, found.model.classes, len(first)), rejecting)
    return Counterfactual(*Search(model, found, X, goal, options).run(goal.reached(first, accepted)))


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
