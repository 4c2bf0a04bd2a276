"""Counterfactuals: the smallest change of a sample that gives it another class, or makes a rejected answer accepted.

A change d of the sample costs |B d|, its length in the model's metric (B = Omega A, A the linear map of the steps in
front of the model); of all changes that cost the least, the one of least Euclidean length in the units of X is taken.
Where prototype t wins over another, D_t <= D_j, is a half space in y = B d; so is a distance to the boundary of at
least theta, D_t + 2 theta |p_j - p_t| <= D_j. A relative similarity of at least theta, (1 + theta) D_t <=
(1 - theta) D_j, and a largest distance to the winner, D_t <= c^2, are balls. For every prototype t that may win, the
point of an intersection of these that is nearest to the sample is found exactly, and the best t is taken:
- half spaces: the projection onto the one that is farthest away, if that lies in all others (always so with two
  prototypes); else least distance programming by non-negative least squares (Lawson and Hanson);
- balls bend |y|^2 + 2 g y + c <= 0: for a fixed s in place of |y|^2 they are half spaces, whose nearest point has the
  squared length phi(s). phi is convex and the answer is the smallest s = phi(s), which secants approach from below.
With a kernel the relative similarity is taken of the kernel's distances, and with a metric for each prototype D_j - D_t
is a quadric; the region is then no intersection of balls, and what is found, by SLSQP, is a local optimum. The cost of
a change is then measured in the mean of the metrics, |B d|^2 = mean_j |B_j d|^2.

Every result is verified by the model itself, and lies beyond the border by a share of about 1e-9 of the distances.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, nnls

from lvq.estimators.base import BaseLVQ
from lvq.model.links import Identity, Link
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.scorers import find_reject_classifier
from lvq.robustness import Floats, Found, compose, input_map, metric_root, need_model, project

MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)  # how far beyond the border, as a share; the next where rounding eats one up
Indices = NDArray[np.intp]


class Counterfactual(NamedTuple):
    """Changed samples, what the changes cost in the model's metric, and the classes they lead to.

    A sample that needs no change has distance 0; one for which none was found has distance inf and NaN for values.
    """

    samples: Floats
    distance: Floats
    label: NDArray[Any]


class Region(NamedTuple):
    """Where prototype t is the answer: D_t + offset <= D_j for the `rivals` j; and what an accepted answer needs."""

    prototype: int
    rivals: Indices
    offset: Floats
    others: Indices  # prototypes of other classes
    similar: float = 0.0  # least relative similarity to them
    reach: float = np.inf  # largest distance


class Place(NamedTuple):
    """A sample as the model sees it: D_j(y) = D_j + 2 E_j y + |y|^2 for a move y in the space of possible moves."""

    D: Floats
    E: Floats
    link: Link

    def distances(self, y: Floats) -> Floats:
        """Squared distances after a move."""
        return np.maximum(self.D + 2 * self.E @ y + y @ y, 0.0)

    def slopes(self, y: Floats) -> Floats:
        """Their gradients by the move."""
        return 2 * (self.E + y)

    def towards(self, prototype: int) -> Floats:
        """The move that ends as near to a prototype as can be."""
        return -self.E[prototype]


class LocalPlace(NamedTuple):
    """The same with a metric for each prototype: D_j(y) = |e_j + C_j y|^2."""

    D: Floats
    e: Floats
    C: Floats
    link: Link

    def distances(self, y: Floats) -> Floats:
        """Squared distances after a move."""
        return ((self.e + self.C @ y) ** 2).sum(axis=1)

    def slopes(self, y: Floats) -> Floats:
        """Their gradients by the move."""
        return 2 * np.einsum("jm,jmr->jr", self.e + self.C @ y, self.C)

    def towards(self, prototype: int) -> Floats:
        """The move that ends as near to a prototype as can be."""
        return np.linalg.lstsq(self.C[prototype], -self.e[prototype], rcond=None)[0]


class Sight:
    """What a model sees of samples, and which moves changes of X can make there.

    Parameters
    ----------
    found : Found
        The model, and the steps before it.
    X : array-like of shape (n_samples, n_features)
        Samples.
    """

    def __init__(self, found: Found, X: Any) -> None:
        model, before = found.model, input_map(found, "counterfactual")
        W = model._params.prototypes.astype(np.float64)
        self.link, self.roots = model._link, metric_root(model)
        self.Z, self.W = np.asarray(found.inputs(X), dtype=np.float64) - W.mean(axis=0), W - W.mean(axis=0)
        self.group = None
        if self.roots.ndim < 3:
            self.basis, self.lift = _possible_moves(compose(self.roots, before))
            self.seen, self.prototypes = project(self.Z, self.roots), project(self.W, self.roots)
            return
        self.group = np.searchsorted(model._metric.groups, np.arange(len(W)), side="right") - 1
        full = np.stack([compose(root, before) for root in self.roots])[self.group]
        spread, axes = np.linalg.eigh(np.einsum("jmn,jmk->nk", full, full) / len(full))
        _, self.lift = _possible_moves(np.sqrt(np.maximum(spread, 0.0))[:, None] * axes.T)
        self.full, self.prototypes = full @ self.lift, self.W

    def place(self, row: Any) -> Place | LocalPlace:
        """One sample."""
        if self.group is None:
            away = self.seen[row] - self.prototypes
            return Place((away**2).sum(axis=1), away @ self.basis, self.link)
        e = np.einsum("jmn,jn->jm", self.roots[self.group], self.Z[row] - self.W)
        return LocalPlace((e**2).sum(axis=1), e, self.full, self.link)


def counterfactual(model: Any, X: Any, target: ArrayLike | None = None) -> Counterfactual:
    """The smallest change of each sample that makes the model give another answer, or makes it accept its answer.

    Parameters
    ----------
    model : estimator
        A fitted model of this library, alone or at the end of a Pipeline of linear steps (see `lvq.certified_radius`),
        or a `RejectClassifier` of one whose measure is "auto", "relsim", "boundary", "distance" or a combination of
        these, and whose cells are prototypes or classes.
    X : array-like of shape (n_samples, n_features)
        Samples.
    target : class or array-like of shape (n_samples,), optional
        The class to reach; of a `RejectClassifier`, as an accepted answer. By default any class but the predicted one;
        of a `RejectClassifier` any accepted answer, so that samples it accepts stay as they are.

    Returns
    -------
    counterfactual : Counterfactual
        Named tuple of `samples`, `distance` and `label`.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0]], learning_rate=0, max_iter=1, solver="online")
    >>> model = model.fit([[0, 0], [4, 0]], ["left", "right"])
    >>> changed = counterfactual(model, [[0.5, 9.0]])
    >>> changed.samples.round(6), changed.distance.round(6), changed.label
    (array([[2., 9.]]), array([1.5]), array(['right'], dtype='<U5'))
    """
    found = need_model(model, "counterfactual")
    inner, (wary, _) = found.model, find_reject_classifier(model, X)
    _refuse_clipping(found.steps)
    sight = Sight(found, X)
    regions = _class_regions(inner) if wary is None else _accepted_regions(wary, inner, sight.prototypes)
    values = np.array(X, dtype=np.float64)
    first, accepted = _ask(model, X)
    wish = _Wish(first, _known_classes(target, inner.classes_, len(values)), wary is not None)
    done = wish.granted(first, accepted)
    samples, distance, label = np.where(done[:, None], values, np.nan), np.where(done, 0.0, np.inf), first.copy()
    for margin in MARGINS:
        moved, cost = values.copy(), np.full(len(values), np.inf)
        for row in np.flatnonzero(np.isinf(distance)):
            wanted = [r for r in regions if wish.allows(row, inner.prototype_labels_[r.prototype])]
            y = _nearest_move(sight.place(row), wanted, margin)
            if y is not None:
                moved[row] += sight.lift @ y
                cost[row] = np.linalg.norm(y)
        if np.isinf(cost).all():
            break
        answers, accepted = _ask(model, _like(X, moved))
        good = np.isfinite(cost) & wish.granted(answers, accepted)
        samples[good], distance[good], label[good] = moved[good], cost[good], answers[good]
    return Counterfactual(samples, distance, label)


# -- what is asked -----------------------------------------------------------------------------------------------------


class _Wish(NamedTuple):
    """Which answers will do: a given class, any other class than the first, or any that is accepted."""

    first: NDArray[Any]
    goal: NDArray[Any] | None
    wary: bool

    def granted(self, label: NDArray[Any], accepted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if self.goal is not None:
            return accepted & (label == self.goal)
        return accepted if self.wary else label != self.first

    def allows(self, row: Any, label: Any) -> bool:
        if self.goal is not None:
            return bool(label == self.goal[row])
        return self.wary or bool(label != self.first[row])


def _ask(model: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes, and which are accepted: all, where nothing can be rejected."""
    label = np.asarray(model.predict(X))
    classifier, inputs = find_reject_classifier(model, X)
    return label, np.ones(len(label), dtype=np.bool_) if classifier is None else classifier.accept(inputs)


def _like(X: Any, values: Floats) -> Any:
    """Changed values as the frame they came in, so that the model finds its feature names."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns, index=X.index)
    if hasattr(X, "column_names"):  # pyarrow
        return type(X).from_arrays(list(values.T), names=X.column_names)
    return type(X)(values, schema=X.columns) if hasattr(X, "columns") else values


def _known_classes(target: Any, classes: NDArray[Any], n_samples: int) -> NDArray[Any] | None:
    if target is None:
        return None
    goal = np.broadcast_to(np.asarray(target), n_samples)
    unknown = [label for label in np.unique(goal).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"target must be a class of {classes.tolist()}, or one for each sample, got {unknown}.")
    return goal


def _refuse_clipping(steps: tuple[Any, ...]) -> None:
    for step in steps:
        if getattr(step, "clip", False):
            raise ValueError(f"counterfactual cannot look behind {step!r}, which clips; set clip=False.")


# -- regions -----------------------------------------------------------------------------------------------------------


def _class_regions(model: BaseLVQ) -> list[Region]:
    """Where each prototype makes its class the answer."""
    labels = model._labels
    others = [np.flatnonzero(labels != label) for label in labels]
    return [Region(t, rivals, np.zeros(len(rivals)), rivals) for t, rivals in enumerate(others)]


def _accepted_regions(wary: RejectClassifier, model: BaseLVQ, prototypes: Floats) -> list[Region]:
    """Where each prototype makes an accepted answer."""
    parts = wary.measure_
    if parts.ambiguity not in ("auto", "relsim", "boundary", "distance") or parts.outlier not in (None, "distance"):
        raise ValueError(
            "counterfactual knows where the measures 'auto', 'relsim', 'boundary' and 'distance' accept, and their "
            f"combinations, got measure={wary.measure!r}; use one of these."
        )
    if callable(wary.cells_):
        raise ValueError("counterfactual needs cells that are prototypes or classes, got a function; use cells='auto'.")
    regions = []
    for region in _class_regions(model):
        t = region.prototype
        cell = model.prototype_labels_[t : t + 1].tolist()[0] if wary.cells_ == "class" else t
        threshold = _threshold(wary, cell, model.prototype_labels_[t : t + 1].tolist()[0])
        limits = wary.outlier_limits_
        reach = np.inf if limits is None else -float(limits.threshold_of([cell])[0])
        if threshold == np.inf or reach < 0:
            continue
        if wary.cells_ != "class" or parts.ambiguity == "boundary":
            # cell and midplanes are the winner's, so it must win over its own class as well
            own = np.setdiff1d(np.arange(len(model._labels)), [t, *region.others])
            region = region._replace(rivals=np.append(region.others, own), offset=np.zeros(len(model._labels) - 1))
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


def _threshold(wary: RejectClassifier, cell: Any, label: Any) -> float:
    point = wary.point_.get(label) if isinstance(wary.point_, dict) else wary.point_
    return np.inf if point is None else float(point.threshold_of([cell])[0])


# -- moves -------------------------------------------------------------------------------------------------------------


class Bends(NamedTuple):
    """Conditions kappa_i |y|^2 + 2 g_i y + c_i <= 0 on a move y: half spaces where kappa is 0, else balls."""

    kappa: Floats
    g: Floats
    c: Floats


def _possible_moves(B: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of what changes of X can do in the model's space, and the least change that does it."""
    U, S, V = np.linalg.svd(np.diag(B) if B.ndim == 1 else B, full_matrices=False)
    kept = S.max() * max(len(U), V.shape[1]) * np.finfo(np.float64).eps < S
    return U[:, kept], V[kept].T / S[kept]


def _nearest_move(place: Place | LocalPlace, regions: list[Region], margin: float) -> Floats | None:
    """The shortest move into one of the regions; None where there is none."""
    if isinstance(place, LocalPlace):
        moves = [_by_descent(place, region, margin, None) for region in regions]
        return min((y for y in moves if y is not None), key=np.linalg.norm, default=None)
    conditions = [_bends(place, region, margin) for region in regions]
    ways = [_project(bends, 0.0) for bends in conditions]  # balls taken for the half spaces that touch them
    bounds = [np.inf if way is None else float(np.linalg.norm(way)) for way in ways]
    best, least = None, np.inf
    for at in np.argsort(bounds, kind="stable"):
        if bounds[at] >= least:
            break
        y = _into_balls(conditions[at], ways[at])
        if regions[at].similar > 0 and not isinstance(place.link, Identity):
            y = _by_descent(place, regions[at], margin, y)
        if y is not None and np.linalg.norm(y) < least:
            best, least = y, float(np.linalg.norm(y))
    return best


def _bends(place: Place, region: Region, margin: float) -> Bends:
    t, j, o, unit = region.prototype, region.rivals, region.others, margin * place.D.max()
    D, E = place.D, place.E
    kappa, g, c = [np.zeros(len(j))], [E[t] - E[j]], [D[t] - D[j] + region.offset + unit]
    if region.similar > 0 and isinstance(place.link, Identity):
        more, less = 1 + region.similar, 1 - region.similar
        kappa.append(np.full(len(o), more - less))
        g.append(more * E[t] - less * E[o])
        c.append(more * D[t] - less * D[o] + unit)
    if region.reach < np.inf:
        kappa.append(np.ones(1))
        g.append(E[t : t + 1])
        c.append(np.array([D[t] - region.reach**2 + unit]))
    return Bends(np.concatenate(kappa), np.concatenate(g), np.concatenate(c))


def _project(bends: Bends, s: float) -> Floats | None:
    """The shortest y with kappa s + 2 g y + c <= 0, or None where there is none."""
    limit, length = -(bends.c + bends.kappa * s), 2 * np.linalg.norm(bends.g, axis=1)
    flat = length == 0
    if (flat & (limit < 0)).any():
        return None
    normal, limit = 2 * bends.g[~flat] / length[~flat, None], limit[~flat] / length[~flat]
    if (limit >= 0).all():
        return np.zeros(bends.g.shape[1])
    worst = int(limit.argmin())
    unit = -limit[worst]
    y = -unit * normal[worst]
    if (normal @ y <= limit + 1e-12 * unit).all():
        return y
    system = np.vstack((-normal.T, -limit / unit))
    aim = np.append(np.zeros(normal.shape[1]), 1.0)
    residual = system @ nnls(system, aim)[0] - aim
    return None if residual[-1] > -1e-12 else residual[:-1] / -residual[-1] * unit


def _into_balls(bends: Bends, first: Floats | None) -> Floats | None:
    """The shortest y with kappa |y|^2 + 2 g y + c <= 0, from the one with kappa 0."""
    if first is None or not bends.kappa.any():
        return first
    s, gap, y = 0.0, float(first @ first), first
    ahead = gap  # phi itself is the first step: it cannot lie beyond the answer either
    for _ in range(100):
        if ahead <= s * (1 + 1e-13):
            return y
        at = _project(bends, ahead)
        if at is None:
            return None
        y, rise = at, float(at @ at) - ahead
        if rise >= gap:  # phi runs away from s: the balls do not meet
            return None
        s, gap, ahead = ahead, rise, ahead + max(rise, 0.0) * (ahead - s) / (gap - rise)
    return y


def _by_descent(place: Place | LocalPlace, region: Region, margin: float, start: Floats | None) -> Floats | None:
    """A short move into a region of any shape, from the best start at hand."""
    if isinstance(place, Place) and place.E.shape[1] > len(place.E):  # other directions change all distances alike
        span = np.linalg.svd(place.E, full_matrices=False)[2]
        y = _by_descent(place._replace(E=place.E @ span.T), region, margin, None if start is None else span @ start)
        return None if y is None else span.T @ y
    conditions = _Conditions(place, region, margin)
    inside = place.towards(region.prototype)
    ways = [_first_inside(conditions, np.zeros_like(inside) if start is None else start, inside)]
    unit = float(np.linalg.norm(inside)) or 1.0
    for begin in (ways[0], np.zeros_like(inside)):  # a region may be nearest on another side than its prototype's
        solution = minimize(
            lambda y: 0.5 * (y @ y),
            begin / unit,
            jac=lambda y: y,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda y: conditions(y * unit),
                "jac": lambda y: conditions.slopes(y * unit) * unit,
            },
            options={"maxiter": 200, "ftol": 1e-14},
        )
        ways.append(_first_inside(conditions, solution.x * unit, inside))
    ways = [way for way in ways if conditions.hold(way)]
    return min(ways, key=np.linalg.norm) if ways else None


class _Conditions:
    """What must be non-negative inside a region, in units of the largest distance."""

    def __init__(self, place: Place | LocalPlace, region: Region, margin: float) -> None:
        self.place, self.region, self.margin = place, region, margin
        self.unit = place.D.max()
        self.linked_unit = float(place.link.value(place.D).max())

    def __call__(self, y: Floats) -> Floats:
        t, j, o, theta = self.region.prototype, self.region.rivals, self.region.others, self.region.similar
        D = self.place.distances(y)
        parts = [(D[j] - D[t] - self.region.offset) / self.unit]
        if theta > 0:
            H = self.place.link.value(D)
            parts.append(((1 - theta) * H[o] - (1 + theta) * H[t]) / self.linked_unit)
        if self.region.reach < np.inf:
            parts.append(np.array([self.region.reach**2 - D[t]]) / self.unit)
        return np.concatenate(parts) - self.margin

    def slopes(self, y: Floats) -> Floats:
        """The gradient of each condition by the move."""
        t, j, o, theta = self.region.prototype, self.region.rivals, self.region.others, self.region.similar
        dD = self.place.slopes(y)
        parts = [(dD[j] - dD[t]) / self.unit]
        if theta > 0:
            dH = self.place.link.slope(self.place.distances(y))[:, None] * dD
            parts.append(((1 - theta) * dH[o] - (1 + theta) * dH[t]) / self.linked_unit)
        if self.region.reach < np.inf:
            parts.append(-dD[t : t + 1] / self.unit)
        return np.concatenate(parts)

    def hold(self, y: Floats) -> bool:
        """Whether a move meets the conditions; half the margin is left for the solver's tolerance."""
        return bool((self(y) >= -self.margin / 2).all())


def _first_inside(conditions: _Conditions, outside: Floats, inside: Floats) -> Floats:
    """On the way from one point to another the first that meets the conditions, by bisection; the end if none does."""
    if conditions.hold(outside):
        return outside
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if conditions.hold(outside + middle * (inside - outside)) else (middle, high)
    return outside + high * (inside - outside)
