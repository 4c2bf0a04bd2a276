"""Certified radii: how far a sample can be moved, in any direction, before the nearest prototype is of another class.

Everything is in the units of X, in front of the scalers of a pipeline. With z = A x + b the model's own input,
B = Omega A and p_j the projected prototype, D_j(x) = |B x - p_j|^2 up to a common shift. Below, d is a perturbation of
length |d| in the norm l_p, 1/p + 1/q = 1, k a prototype of the answer's class and j one of another class.

One metric for all. D_j - D_k is linear in x with gradient -2 B'(p_j - p_k), so by Hoelder's inequality it is positive
while |d| < r_jk = (D_j - D_k)/(2 |B'(p_j - p_k)|_q). The answer stands as long as every j is beaten by some k: the
radius is min_j max_k r_jk. With one prototype per class it is exact.

A metric for each prototype, B_j in place of B. Then D_j(x + d) - D_k(x + d) = f(d) = c + 2 g'd - d'S d with
c = D_j - D_k, g half the gradient of that difference and S = B_k'B_k - B_j'B_j. For every pair the largest of these
is taken, each a length below which f stays positive:
- l_2: for every t >= 0 with I - t S positive definite, |d|_2^2 + t f(d) is convex in d with the least value
  phi(t) = t c - t^2 g'(I - t S)^-1 g. So f(d) <= 0 needs |d|_2^2 >= phi(t), whatever t; the best t is sought. By the
  S-lemma that is the exact distance, so with one prototype per class the radius is exact. As |d|_1 >= |d|_2 it holds
  for l_1, and divided by sqrt(n) for l_inf.
- l_1, l_inf: f(d) >= c - 2 |g|_q |d| - kappa |d|^2 with d'S d <= kappa |d|^2, which is positive while
  |d| < c/(|g|_q + sqrt(|g|_q^2 + kappa c)). For equal matrices kappa is 0 and this is r_jk above.
- l_1, l_inf: roots of distances are Lipschitz, |B_j d|_2 <= L_j |d| with L_j the norm of B_j from l_p to l_2: the root
  of D_j stays above that of D_k while |d| < (sqrt(D_j) - sqrt(D_k))/(L_j + L_k).

A scaler that clips, such as MinMaxScaler(clip=True), moves z by A d' with |d'_l| <= |d_l| for every feature: it only
shortens the perturbation, and the bounds stand. A kernel is increasing in D and changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from lvq.estimators.base import BaseLVQ
from lvq.estimators.tensors import as_numpy
from lvq.model.metrics import Diagonal, Euclidean, LocalMatrix, Matrix

Floats = NDArray[np.float64]


class Found(NamedTuple):
    """A nearest-prototype model and the fitted transformers its samples pass through before they reach it."""

    model: BaseLVQ
    steps: tuple[Any, ...]

    def inputs(self, X: Any) -> Any:
        """What reaches the model."""
        for step in self.steps:
            X = step.transform(X)
        return X


def find_model(estimator: Any) -> Found | None:
    """The model that gives an estimator's answers: itself, or the end of a pipeline, a search, a frozen or a wary one.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GLVQ
    >>> find_model(make_pipeline(StandardScaler(), GLVQ()))
    Found(model=GLVQ(), steps=(StandardScaler(),))
    """
    if isinstance(estimator, BaseLVQ):
        return Found(estimator, ())
    if isinstance(estimator, FrozenEstimator):
        return find_model(estimator.estimator)
    if isinstance(estimator, Pipeline):
        last = find_model(estimator.steps[-1][1])
        return last and Found(last.model, _transformers(estimator.steps[:-1]) + last.steps)
    for name in ("best_estimator_", "predicting_estimator"):  # a search; a RejectClassifier
        if hasattr(estimator, name):
            return find_model(getattr(estimator, name))
    return None


def last_step(estimator: Any) -> Any:
    """The classifier at the end of pipelines, searches and frozen ones, of whatever library."""
    if isinstance(estimator, Pipeline):
        return last_step(estimator.steps[-1][1])
    if isinstance(estimator, FrozenEstimator):
        return last_step(estimator.estimator)
    return last_step(estimator.best_estimator_) if hasattr(estimator, "best_estimator_") else estimator


def _transformers(steps: list[tuple[str, Any]]) -> tuple[Any, ...]:
    """The transformers of pipelines within pipelines, in their order."""
    flat: tuple[Any, ...] = ()
    for _, step in steps:
        step = step.estimator if isinstance(step, FrozenEstimator) else step
        if isinstance(step, Pipeline):
            flat += _transformers(step.steps)
        elif step is not None and not isinstance(step, str):
            flat += (step,)
    return flat


def answers_by_posterior(model: BaseLVQ) -> bool:
    """Whether the answer is not the nearest prototype's."""
    return hasattr(model, "_by_posterior") and model._by_posterior()


def need_model(estimator: Any, purpose: str) -> Found:
    """The model, or a sentence that says why there is none for this purpose."""
    found = find_model(estimator)
    if found is None:
        raise ValueError(
            f"{purpose} needs a model of this library, or a Pipeline that ends in one, got {type(estimator).__name__}."
        )
    check_is_fitted(found.model)
    if answers_by_posterior(found.model):
        raise ValueError(
            f"{purpose} needs answers by the nearest prototype, got {type(found.model).__name__} with "
            f"decision={found.model.decision!r}; set decision='nearest'."
        )
    if not isinstance(found.model._metric, Euclidean | Diagonal | Matrix | LocalMatrix):
        raise ValueError(f"{purpose} does not know the metric {found.model._metric!r}; use one of lvq.model.metrics.")
    return found


# -- transformers as linear maps ---------------------------------------------------------------------------------------


def _divide_by(step: Any) -> Floats:
    return np.ones(step.n_features_in_) if step.scale_ is None else 1 / step.scale_


def _principal_axes(step: Any) -> Floats:
    if not step.whiten:
        return step.components_
    spread = np.sqrt(step.explained_variance_)
    # the floor that scikit-learn puts under a vanishing variance
    return step.components_ / np.maximum(spread, np.finfo(spread.dtype).eps)[:, None]


def _selection(step: Any) -> Floats:
    return np.eye(step.n_features_in_)[step.get_support()]


LINEAR_STEPS: dict[type, Callable[[Any], Floats]] = {
    StandardScaler: _divide_by,
    MaxAbsScaler: _divide_by,
    RobustScaler: _divide_by,
    MinMaxScaler: lambda step: step.scale_,
    PCA: _principal_axes,
    IncrementalPCA: _principal_axes,
    TruncatedSVD: lambda step: step.components_,
    SelectorMixin: _selection,
}


def input_map(found: Found, purpose: str) -> Floats:
    """How a change of the pipeline's input changes the model's: a factor per feature, or a matrix (to, from)."""
    total: Floats = np.ones(1)
    for step in found.steps:
        kind = next((kind for kind in LINEAR_STEPS if isinstance(step, kind)), None)
        if kind is None:
            names = ", ".join(kind.__name__.replace("SelectorMixin", "feature selectors") for kind in LINEAR_STEPS)
            raise ValueError(
                f"{purpose} goes through linear steps only ({names}), got {type(step).__name__}; transform X with that "
                "step first, and hand over the rest of the pipeline."
            )
        # clipping shortens a change feature by feature, which says nothing once features have been mixed
        if getattr(step, "clip", False) and total.ndim == 2 and (np.count_nonzero(total, axis=1) > 1).any():
            raise ValueError(
                f"{purpose} cannot look behind {step!r}, which clips mixed features; set clip=False, or let it stand "
                "before the step that mixes them."
            )
        total = compose(np.asarray(LINEAR_STEPS[kind](step), dtype=np.float64), total)
    return total


def compose(after: Floats, before: Floats) -> Floats:
    """The two maps one after the other; a vector stands for a diagonal matrix."""
    if after.ndim == 1:
        return after * before if before.ndim == 1 else after[:, None] * before
    return after * before if before.ndim == 1 else after @ before


def project(rows: NDArray[Any], root: Floats) -> Floats:
    """Rows seen through a map; a vector stands for a diagonal matrix."""
    return rows * root if root.ndim == 1 else rows @ root.T


def metric_root(model: BaseLVQ) -> Floats:
    """Omega, with |Omega (x - w)|^2 the model's distance; a vector stands for a diagonal matrix."""
    R = model._params.relevance
    if isinstance(model._metric, Euclidean) or R is None:
        return np.ones(model._params.prototypes.shape[1])
    return np.sqrt(R, dtype=np.float64) if R.ndim == 1 else np.asarray(R, dtype=np.float64)


# -- radii -------------------------------------------------------------------------------------------------------------

# of the dual norm, as scipy calls the distance
DUAL: dict[float, str] = {1.0: "chebyshev", 2.0: "euclidean", np.inf: "cityblock"}


def certified_radius(model: Any, X: Any, norm: float = 2) -> Floats:
    """No change of a sample that is smaller than its radius changes the model's answer.

    Exact for one prototype per class, if all prototypes share a metric or `norm` is 2; a lower bound otherwise.

    Parameters
    ----------
    model : estimator
        A fitted model of this library that answers by the nearest prototype, alone, in a `RejectClassifier`, or at the
        end of a Pipeline of scalers (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler), PCA, TruncatedSVD or
        feature selectors.
    X : array-like of shape (n_samples, n_features)
        Samples.
    norm : {1, 2, inf}, default=2
        How changes are measured: the sum of the features' changes, their Euclidean length, or the largest of them.

    Returns
    -------
    radius : ndarray of shape (n_samples,)
        In the units of X; 0 on a decision boundary.

    References
    ----------
    S. Saralajew, L. Holdijk, T. Villmann, Fast adversarial robustness certification of nearest prototype classifiers
    for arbitrary seminorms, NeurIPS 2020.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0, 0.0], [4.0, 0.0]], learning_rate=0).fit([[0, 0], [4, 0]], ["left", "right"])
    >>> certified_radius(model, [[0.5, 9.0], [4.0, 0.0]]).round(6)
    array([1.5, 2. ])
    """
    purpose = "certified_radius"
    if norm not in DUAL:
        raise ValueError(f"norm must be 1, 2 or inf, got {norm!r}.")
    found = need_model(model, purpose)
    Z = as_numpy(found.inputs(X))
    D = found.model._distances(Z)
    before = input_map(found, purpose)
    labels = found.model._labels
    # what rounding can do to a difference of two distances is no distance
    largest = D.max(axis=1, keepdims=True).astype(np.float64)
    if isinstance(found.model._metric, LocalMatrix):
        # each metric has its own scale: what rounds is the length of sample and prototype from the common centre
        W = found.model._params.prototypes
        middle = np.repeat(W.mean(axis=0, keepdims=True), len(W), axis=0)
        R = found.model._params.relevance
        lengths = [
            found.model._metric.distances(rows, middle, R).max(axis=1, keepdims=True)
            for rows in (np.asarray(Z, W.dtype), W)
        ]
        largest = np.maximum(largest, lengths[0].astype(np.float64) + lengths[1].max())
    doubt = (8 + found.model.n_features_in_) * np.finfo(D.dtype).eps * largest
    local = isinstance(found.model._metric, LocalMatrix)
    pairs: Any = _LocalPairs(found.model, Z, before, norm) if local else _shared_pairs(found.model, before, norm)
    D = D.astype(np.float64)
    answers = labels[D.argmin(axis=1)]
    radius = np.full(len(D), np.inf)
    for answer in np.unique(answers):
        rows, rivals = np.flatnonzero(answers == answer), np.flatnonzero(labels != answer)
        best = np.zeros((len(rows), len(rivals)))
        for own in np.flatnonzero(labels == answer):
            best = np.maximum(best, pairs(D, doubt, rows, own, rivals))
        radius[rows] = best.min(axis=1, initial=np.inf)
    return radius


def _ratio(value: Floats, scale: Floats) -> Floats:
    """value/scale; where the scale is 0 nothing can change the sign of the value."""
    return np.divide(value, scale, out=np.where(value > 0, np.inf, 0.0), where=scale > 0)


def _shared_pairs(model: BaseLVQ, before: Floats, norm: float) -> Callable[..., Floats]:
    root = metric_root(model)
    W = model._params.prototypes.astype(np.float64)
    projected, full = project(W - W.mean(axis=0), root), compose(root, before)
    pulled = projected * full if full.ndim == 1 else projected @ full
    slope = 2 * cdist(pulled, pulled, DUAL[norm])

    def pairs(D: Floats, doubt: Floats, rows: Any, own: int, rivals: Any) -> Floats:
        value = D[np.ix_(rows, rivals)] - D[rows, own, None] - doubt[rows]
        return _ratio(value, np.broadcast_to(slope[own, rivals], value.shape))

    return pairs


class _LocalPairs:
    """Bounds for models with several metrics; see the top of this file."""

    def __init__(self, model: BaseLVQ, Z: Any, before: Floats, norm: float) -> None:
        self.Z, self.norm = np.asarray(Z, dtype=np.float64), norm
        self.W = model._params.prototypes.astype(np.float64)
        self.roots = metric_root(model)
        self.full = [compose(root, before) for root in self.roots]
        self.lipschitz = np.array([operator_norm(B, norm) for B in self.full])
        groups = np.asarray(model._metric.groups)
        self.group = np.searchsorted(groups, np.arange(len(self.W)), side="right") - 1

    def slopes(self, rows: Any, prototype: int) -> Floats:
        """Half the gradient of D by the pipeline's input, for the given samples."""
        g = self.group[prototype]
        return ((self.Z[rows] - self.W[prototype]) @ self.roots[g].T) @ self.full[g]

    @cache  # noqa: B019 - it lives as long as one call of certified_radius
    def curved(self, here: int, there: int) -> tuple[Floats, Floats, float]:
        """S by its eigenvalues and axes, and its kappa, which is of use for other norms than the Euclidean."""
        F, G = self.full[here], self.full[there]
        return *difference_axes(F, G), 0.0 if self.norm == 2 else curvature(F.T @ F - G.T @ G, self.norm)

    def __call__(self, D: Floats, doubt: Floats, rows: Any, own: int, rivals: Any) -> Floats:
        bound = np.empty((len(rows), len(rivals)))
        here, own_slope = self.group[own], self.slopes(rows, own)
        for column, rival in enumerate(rivals):
            there = self.group[rival]
            value = np.maximum(D[rows, rival] - D[rows, own] - doubt[rows, 0], 0.0)
            slope = self.slopes(rows, rival) - own_slope
            sigma, axes, kappa = self.curved(here, there)
            best = distance_to_quadric(value, slope @ axes, sigma)
            if self.norm != 2:
                best = best / (1 if self.norm == 1 else np.sqrt(slope.shape[1]))
                steep = np.linalg.norm(slope, ord=np.inf if self.norm == 1 else 1, axis=1)
                best = np.maximum(best, _ratio(value, steep + np.sqrt(steep**2 + kappa * value)))
                # sqrt(a) - sqrt(b) = (a - b)/(sqrt(a) + sqrt(b)), without the cancellation
                gap = _ratio(value, np.sqrt(D[rows, rival]) + np.sqrt(D[rows, own]))
                steepest = np.full(len(gap), self.lipschitz[here] + self.lipschitz[there])
                best = np.maximum(best, _ratio(gap, steepest))
            bound[:, column] = best
        return bound


def difference_axes(F: Floats, G: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and axes of F'F - G'G, all that are not 0; few rows of many columns need no square of the columns.

    Examples
    --------
    >>> sigma, axes = difference_axes(np.array([[2.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]]))
    >>> sigma.round(12), axes.shape
    (array([-1.,  4.]), (3, 2))
    """
    pair = np.concatenate((F, G))
    if len(pair) >= pair.shape[1]:
        sigma, axes = np.linalg.eigh(F.T @ F - G.T @ G)
        return sigma, axes
    basis = np.linalg.qr(pair.T)[0]  # outside of all rows the difference is nothing
    F, G = F @ basis, G @ basis
    sigma, axes = np.linalg.eigh(F.T @ F - G.T @ G)
    return sigma, basis @ axes


def distance_to_quadric(c: Floats, g: Floats, sigma: Floats) -> Floats:
    """How far c + 2 g'd - d'S d <= 0 is from the origin, S diagonal with `sigma`: the best phi(t), by bisection.

    Examples
    --------
    >>> distance_to_quadric(np.array([4.0]), np.array([[0.0, 0.0]]), np.array([1.0, -3.0])).round(5)
    array([2.])
    >>> distance_to_quadric(np.array([4.0]), np.array([[1.0, 0.0]]), np.array([0.0, 0.0])).round(5)
    array([2.])
    """
    # t runs from 0 to 1/top, or to infinity, as u runs from 0 to 1. It stops short of 1/top, where I - t S is singular
    # and rounding could pass off too large a phi as a bound.
    top = max(0.0, float(sigma.max())) * (1 + 1e-6)
    unit = np.maximum(np.abs(sigma).max(), _ratio((g**2).sum(axis=1), c)) + 1e-100
    low, high, best = np.zeros(len(c)), np.ones(len(c)), np.zeros(len(c))
    for _ in range(50):
        u = (low + high) / 2
        t = u / (top * u + (1 - u) * unit)
        room = 1 - t[:, None] * sigma
        pull = g**2 / room
        best = np.maximum(best, t * c * (1 - 1e-9) - t**2 * pull.sum(axis=1))
        rising = c > t * (pull * (1 + 1 / room)).sum(axis=1)
        low, high = np.where(rising, u, low), np.where(rising, high, u)
    endless = (c > 0) & (top == 0) & (low > 1 - 1e-12)  # phi rises for ever: no d reaches the set
    return np.where(endless, np.inf, np.sqrt(best))


def operator_norm(B: Floats, norm: float) -> float:
    """The largest |B d|_2 of a d with |d|_p = 1; for p = inf, where that is hard to find, the least of three bounds.

    Examples
    --------
    >>> operator_norm(np.array([[3.0, 0.0], [0.0, 4.0]]), 1.0)
    4.0
    """
    columns = np.linalg.norm(B, axis=0)
    if norm == 1:
        return float(columns.max())
    spectral = float(np.linalg.norm(B, ord=2))
    if norm == 2:
        return spectral
    rows = np.linalg.norm(np.abs(B).sum(axis=1))
    return float(min(np.sqrt(B.shape[1]) * spectral, columns.sum(), rows))


def curvature(S: Floats, norm: float) -> float:
    """A kappa with d'S d <= kappa |d|_p^2 for all d; for p = 2 the smallest.

    Examples
    --------
    >>> curvature(np.array([[1.0, 0.0], [0.0, -5.0]]), 2.0)
    1.0
    """
    largest = max(0.0, float(np.linalg.eigvalsh(S)[-1]))
    if norm == 2:
        return largest
    if norm == 1:  # |d|_2 <= |d|_1, and a convex combination of entries is at most the largest
        return min(largest, float(np.abs(S).max()))
    return min(largest * len(S), float(np.abs(S).sum()))


def certified_accuracy(model: Any, X: Any, y: ArrayLike, radii: ArrayLike, norm: float = 2) -> Floats:
    """Share of samples that are answered rightly whatever change smaller than a radius they suffer.

    Parameters
    ----------
    model : estimator
        As in `certified_radius`.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their true classes.
    radii : array-like of shape (n_radii,)
        Sizes of change, in the units of X; at 0 stands the plain accuracy.
    norm : {1, 2, inf}, default=2
        How changes are measured.

    Returns
    -------
    accuracy : ndarray of shape (n_radii,)
        A falling curve; a lower bound where `certified_radius` is one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> curve = certified_accuracy(model, X, y, [0.0, 0.1, 10.0])
    >>> bool(curve[0] == model.score(X, y)), float(curve[2])
    (True, 0.0)
    """
    radius = certified_radius(model, X, norm)
    y = column_or_1d(y)
    check_consistent_length(radius, y)
    right = np.asarray(model.predict(X)) == y
    sizes = np.asarray(radii, dtype=np.float64)
    if not np.all(sizes >= 0):
        raise ValueError(f"radii must be 0 or more, got {radii!r}.")
    # the share of right samples whose radius reaches each size, by their sorted radii
    reach = np.sort(radius[right])
    return (len(reach) - np.searchsorted(reach, sizes, side="left")) / len(right)
