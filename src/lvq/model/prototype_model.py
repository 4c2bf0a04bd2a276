"""The fitted model: prototypes, metric, link and decision rule, and every prediction that follows from them.

Only frozen arrays and parts: no hyper-parameters, no training state, no scikit-learn. All code that predicts, explains,
rejects, certifies, draws or exports reads this object. The first stage is `distances(X)`, the squared distances in the
learned metric; everything else (`nearest`, `scores`, `probabilities`, `posterior`, `decide`) is a function of these
distances.

In a metric that all prototypes share, distances are one product with folded prototypes: of |Omega (x - w_j)|^2 only
``b_j - 2 x'F_j`` differs between prototypes, with ``F_j = Omega'Omega w_j`` and ``b_j = w_j'F_j``. `predict` needs
nothing else; all other outputs add ``|Omega x|^2``, which changes no order.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lvq.model import rows, scores, storage
from lvq.model.links import Identity, Link
from lvq.model.local_metrics import LocalDiagonal, require_quadratic
from lvq.model.metrics import Diagonal, Euclidean, LocalMetric, Mahalanobis, Metric, SharedMetric, mean_apart
from lvq.model.observed import Observed, ObservedPrototypes
from lvq.model.samples import block_map
from lvq.typing import Array

ARRAYS = ("prototypes", "labels", "classes", "relevance", "importances", "variances")
FOLDABLE = (Euclidean, Diagonal, Mahalanobis)
FAR = 4.0  # from the origin, in units of the prototypes' spread: their centre, from which on samples are centred


class Explanation(NamedTuple):
    """Why each sample got its label; all arrays have one row per sample."""

    label: np.ndarray
    winner: np.ndarray  # index of the nearest prototype of the label
    rival: np.ndarray  # index of the nearest prototype of another class
    certainty: np.ndarray  # (d- - d+)/(d- + d+), in [0, 1]
    # (n_samples, n_features): contribution of each feature to D- - D+; positive: for the label
    contributions: np.ndarray


class Folded(NamedTuple):
    """Prototypes folded with the metric: scores are ``(x - centre) @ columns + offset``."""

    centre: np.ndarray | None
    columns: np.ndarray  # (n, M)
    offset: np.ndarray  # (M,)


@dataclass(frozen=True, eq=False, repr=False)
class PrototypeModel:
    """A fitted nearest-prototype classifier: arrays, metric, link and decision rule.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, n_features)
        Prototypes, class by class.
    labels : ndarray of shape (n_prototypes,)
        Index of each prototype's class, ascending.
    classes : ndarray of shape (n_classes,)
        The classes.
    metric : Metric
        Shape of the metric.
    relevance : ndarray or None
        Parameters of the metric: relevances or Omega, shared, or one of them per group of prototypes.
    link : Link
        Kernel on the squared distances; `Identity` for none.
    decision : DecisionRule
        How distances become a prediction.
    importances : ndarray of shape (n_features,), optional
        Importance of each feature, of sum one, where features have relevances and the samples were known.
    feature_names : tuple of str, optional
        Names of the features.
    variances : ndarray of shape (n_features,), optional
        Variance of each feature in the training samples, where missing values are ignored; None where they are an
        error. See `lvq.model.observed`.
    unit_length : bool, default=False
        Whether samples are divided by their length; squared distances are then ``2 - 2 cos(x, w)``; prototypes have
        length one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X, y).model_
    >>> model.predict(X[:2]), model.distances(X[:2]).shape
    (array([0, 0]), (2, 3))
    """

    prototypes: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    metric: Metric = field(default_factory=Euclidean)
    relevance: np.ndarray | None = None
    link: Link = field(default_factory=Identity)
    decision: scores.DecisionRule = field(default_factory=scores.DecisionRule)
    importances: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    variances: np.ndarray | None = None
    unit_length: bool = False

    def __post_init__(self) -> None:
        storage.check(self)
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None and array.flags.writeable:  # the caller may write to it later
                array = array.copy(order="K")
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        kernel = "" if isinstance(self.link, Identity) else f", {type(self.link).__name__} kernel"
        return (
            f"PrototypeModel({len(self.prototypes)} prototypes, {len(self.classes)} classes, {self.n_features} features"
            f", {type(self.metric).__name__} metric{kernel})"
        )

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Unpickled arrays are checked and made read-only again."""
        self.__dict__.update(state)
        self.__post_init__()

    # -- arrays --------------------------------------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.prototypes.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the prototypes."""
        return self.prototypes.dtype

    @property
    def group(self) -> np.ndarray:
        """Index of each prototype's metric, (n_prototypes,); all 0 where all prototypes have the same."""
        if not isinstance(self.metric, LocalMetric):
            return np.zeros(len(self.prototypes), dtype=np.intp)
        return self.metric.group

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that decides predictions: prototypes, metric, kernel and decision rule."""
        parts = [repr((self.classes.tolist(), self.link, self.decision)).encode()]
        parts += [part.tobytes() for part in (self.prototypes, self.labels, self.relevance) if part is not None]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    @property
    def log_odds_scale(self) -> float | None:
        """xi/T of a model with log-odds (xi/T) (D- - D+), a sum over features; None for other log-odds."""
        rule = self.decision
        if not rule.log_probabilities or rule.xi is None or not isinstance(self.link, Identity):
            return None
        return rule.xi / rule.temperature

    @property
    def has_weights(self) -> bool:
        """Whether the metric's parameters are relevances of features, not matrices."""
        return self.relevance is not None and (self.relevance.ndim == 1 or isinstance(self.metric, LocalDiagonal))

    def matrix_of(self, prototype: int) -> np.ndarray:
        """Omega of a prototype, with |Omega (x - w)|^2 its squared distance; a vector is a diagonal matrix."""
        R = self.relevance
        if R is None:
            return np.ones(self.n_features)
        own = R[self.group[prototype]] if isinstance(self.metric, LocalMetric) else R
        return np.sqrt(own, dtype=np.float64) if self.has_weights else own.astype(np.float64)

    @classmethod
    def from_prototypes(
        cls, prototypes: ArrayLike, labels: ArrayLike, metric: Literal["euclidean", "cosine"] = "euclidean"
    ) -> Self:
        """A model of given prototypes, without training.

        Parameters
        ----------
        prototypes : array-like of shape (n_prototypes, n_features)
            The prototypes, such as the means of embedded sentences.
        labels : array-like of shape (n_prototypes,)
            The class of each.
        metric : {"euclidean", "cosine"}, default="euclidean"
            Whether samples and prototypes are compared as they are, or by their directions.

        Returns
        -------
        model : PrototypeModel
            The steepness of its probabilities suits one sample of each class.

        Examples
        --------
        >>> model = PrototypeModel.from_prototypes([[0.0, 1.0], [2.0, 0.0]], ["up", "right"], metric="cosine")
        >>> model.predict([[5.0, 4.0]]).tolist(), model.predict_proba([[1.0, 1.0]]).tolist()
        (['right'], [[0.5, 0.5]])
        """
        if metric not in ("euclidean", "cosine"):
            raise ValueError(f"metric of from_prototypes must be 'euclidean' or 'cosine', got {metric!r}.")
        W, names = np.array(prototypes), np.asarray(labels)
        W = W if W.dtype in (np.float32, np.float64) else W.astype(np.float64)
        if W.ndim != 2 or names.shape != W.shape[:1]:
            raise ValueError(
                "from_prototypes needs prototypes of shape (n_prototypes, n_features) and a label for each; got shapes "
                f"{W.shape} and {names.shape}."
            )
        classes, index = np.unique(names, return_inverse=True)
        order = np.argsort(index, kind="stable")
        W = rows.checked_unit_rows(W, "PrototypeModel") if metric == "cosine" else W
        given = cls(W[order], index[order], classes, unit_length=metric == "cosine")
        apart = mean_apart(given.metric, given.prototypes)
        xi = scores.STEEP_APART / apart if apart > 0 else 1.0
        return replace(given, decision=scores.DecisionRule(xi=xi, log_probabilities=True))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The model as named arrays without objects, for any format that stores arrays; see `from_arrays`."""
        return storage.to_arrays(self)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The model of `to_arrays`; ValueError where the arrays do not form a consistent model."""
        return storage.from_arrays(cls, arrays)

    def save(self, path: str | Path) -> None:
        """Write the model to a ``.npz`` file: plain arrays and a JSON header, no code."""
        storage.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` has written."""
        return storage.load(cls, path)

    # -- distances -----------------------------------------------------------------------------------------------------

    @cached_property
    def _centre(self) -> np.ndarray | None:
        """A point near the prototypes that samples are taken relative to; None where they are near the origin."""
        W = self.prototypes
        low, high = W.min(axis=0), W.max(axis=0)
        centre = rows.rounded_centre(W.mean(axis=0), low, high)
        spread = np.maximum(high - centre, centre - low).max()
        return centre if np.abs(centre).max() > FAR * spread else None

    @cached_property
    def _folded(self) -> Folded:
        return self._folded_at(self._centre)

    def _folded_at(self, centre: np.ndarray | None) -> Folded:
        W, R = self.prototypes, self.relevance
        if R is not None or centre is not None:  # else W is used as it is: of sparse features it may be large
            W = W.astype(np.float64) - (0 if centre is None else centre)
        F = W if R is None else W * R if R.ndim == 1 else (W @ R.T) @ R
        columns = np.multiply(F.T, -2, dtype=self.dtype, order="C")
        return Folded(centre, columns, np.einsum("ij,ij->i", W, F, dtype=np.float64).astype(self.dtype))

    def _scores(self, X: Array) -> tuple[Array, Array]:
        """Squared distances up to a constant per row, and the samples relative to the centre."""
        folded = self._folded if self._centre is None or not rows.is_sparse(X) else self._folded_at(None)
        if rows.is_tensor(X):
            centre = None if folded.centre is None else rows.like(folded.centre, X)
            folded = Folded(centre, rows.like(folded.columns, X), rows.like(folded.offset, X))
        V = X if folded.centre is None else X - folded.centre
        scores = V @ folded.columns
        scores += folded.offset
        return scores, V

    def distances(self, X: Array) -> Array:
        """Squared distances of samples to prototypes in the learned metric, before any kernel: (N, M).

        Tensors are measured on their device and give tensors. X must be as `checked` returns it: a floating array of
        finite numbers, with rows of unit length where the model is one of directions; where it ignores missing values,
        NaN marks one.
        """
        if self.variances is not None and rows.has_missing(X):
            return self._observed_distances(X)
        W, R = self._parameters(X)
        if type(self.metric) not in FOLDABLE:
            centre = 0 if self._centre is None or rows.is_sparse(X) else rows.like(self._centre, X)
            return self.metric.prepare(W - centre, R).distances(rows.shifted(X, centre))[0]
        scores, V = self._scores(X)
        winner = rows.first_argmin(scores)
        assert isinstance(self.metric, SharedMetric)
        scores += rows.row_squares(self.metric.project(V, R))[:, None]
        return _with_winner(rows.clipped(scores), winner)

    @cached_property
    def _observed(self) -> ObservedPrototypes:
        assert self.variances is not None
        return Observed(self.metric, self.variances).prepare(self.prototypes, self.relevance)

    def _observed_distances(self, X: np.ndarray) -> np.ndarray:
        """Distances over observed features; the usual distances for complete rows."""
        D = self._observed.distances(X)[0]
        complete = np.flatnonzero(~np.isnan(X).any(axis=1))
        if len(complete):
            D[complete] = self.distances(X[complete])
        return D

    def _parameters(self, X: Array) -> tuple[Array, Array | None]:
        """Prototypes and parameters of the metric, as tensors like X where it is one."""
        W, R = self.prototypes, self.relevance
        if rows.is_tensor(X):
            return rows.like(W.copy(), X), None if R is None else rows.like(R.copy(), X)
        return W, R

    def images(self, X: Array) -> Array:
        """Samples in the space in which the model measures, ``X @ Omega.T``; not for local metrics."""
        if not isinstance(self.metric, SharedMetric):
            raise ValueError(
                f"images needs one metric for all prototypes; this model has {type(self.metric).__name__}, one for "
                "each group of prototypes."
            )
        rows.require_complete(X, "transform")
        return self.metric.project(X, self._parameters(X)[1])

    def slopes(self, X: np.ndarray, prototypes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u and Lambda u of each sample and its prototype: u_l (Lambda u)_l is what feature l contributes to D.

        The squared distance is their product. Where values are missing, u is 0, and Lambda u is divided by the observed
        fraction s of the metric, see `lvq.model.observed`.
        """
        require_quadratic(self.metric, "A contribution of features")
        group, local, R = self.group[prototypes], isinstance(self.metric, LocalMetric), self.relevance
        u = rows.dense(X) - self.prototypes[prototypes]
        slope = u = u if self.variances is None else np.nan_to_num(u)
        if R is not None and self.has_weights:
            slope = (R[group] if local else R) * u
        elif R is not None:
            slope = np.empty_like(u)
            for g in np.unique(group):
                inside, omega = group == g, R[g] if local else R
                slope[inside] = (u[inside] @ omega.T) @ omega
        if self.variances is not None and rows.has_missing(X):
            fraction = self._observed.fractions((~np.isnan(X)).astype(u.dtype))
            slope = slope / np.take_along_axis(fraction, group[:, None], 1)
        return u, slope

    # -- functions of distances ----------------------------------------------------------------------------------------

    def nearest(self, distances: Array, predicted: np.ndarray | None = None) -> tuple[scores.Nearest, np.ndarray]:
        """Winner and rival of each sample, and the certainty of the prediction.

        The winner is the nearest prototype of the predicted class, the rival the nearest of all other classes. With
        `predicted`, indices of classes that something else has predicted, the certainty is negative where another class
        is nearer.
        """
        if predicted is None and self.decision.by_posterior:
            table = self.posterior(distances)
            found = scores.nearest(distances, self.labels, table.argmax(axis=1))
            second, first = np.partition(table, -2, axis=1)[:, -2:].T
            return found, ((first - second) / (first + second)).astype(distances.dtype)
        found = scores.nearest(distances, self.labels, predicted)
        if self.labels[0] == self.labels[-1]:  # a stream with samples of one class so far
            return found, np.ones(len(distances), dtype=distances.dtype)
        certainty = scores.relative_similarity(
            self.link.value(found.winner_distance), self.link.value(found.rival_distance)
        )
        if predicted is not None:
            return found, certainty
        return found, np.maximum(certainty, 0)  # rounding in a kernel can exchange neighbours

    def decide(self, distances: Array) -> np.ndarray:
        """Index of the predicted class of each sample."""
        if self.decision.by_posterior:
            return self.posterior(rows.as_numpy(distances)).argmax(axis=1)
        return self.labels[rows.as_numpy(rows.first_argmin(distances))]

    def scores(self, distances: np.ndarray) -> np.ndarray:
        """A score per class, (N, C); the predicted class has the largest."""
        distances = rows.as_numpy(distances)
        if self.decision.by_posterior:
            table = self.posterior(distances)
            logarithms = np.log(np.maximum(table, np.finfo(np.float64).tiny))
            if len(self.classes) == 2:
                logarithms = logarithms - logarithms[:, ::-1]  # log odds
            return scores.make_largest(logarithms.astype(distances.dtype), table.argmax(axis=1))
        rule, of_classes = self.decision, self._class_distances(distances)
        if rule.log_probabilities and rule.xi is not None:
            return scores.class_log_probabilities(self.link, of_classes, rule.xi / rule.temperature)
        return scores.class_scores(self.link, of_classes, rule.xi)

    def probabilities(self, distances: np.ndarray) -> np.ndarray:
        """A probability per class, (N, C), at the temperature of the decision rule."""
        rule, distances = self.decision, rows.as_numpy(distances)
        if rule.by_posterior:
            table = self.posterior(distances)
            return scores.make_largest(
                scores.tempered(table, rule.temperature).astype(distances.dtype), table.argmax(axis=1)
            )
        xi, sharpness = rule.xi, rule.sharpness / rule.temperature
        xi = None if xi is None else xi / rule.temperature
        return scores.class_probabilities(self.link, self._class_distances(distances), xi, sharpness)

    def posterior(self, distances: np.ndarray) -> np.ndarray:
        """Sum over the prototypes of each class of softmax(-xi H), (N, C), in float64; only for soft costs."""
        if not self.decision.soft or self.decision.xi is None:
            raise ValueError("posterior needs a model with a soft cost, SNPC or RSLVQ.")
        return scores.posterior(self.link, distances, self.labels, len(self.classes), self.decision.xi)

    def _class_distances(self, distances: np.ndarray) -> np.ndarray:
        return scores.class_distances(distances, self.labels, len(self.classes))

    # -- functions of samples ------------------------------------------------------------------------------------------

    @property
    def products(self) -> int:
        """Products of numbers in the distances of one sample."""
        matrix = 0 if self.relevance is None or self.has_weights else self.relevance.size
        return matrix + self.prototypes.size

    def blocks(self, X: Array) -> Iterator[Array]:
        """Parts of the samples, to bound memory; at least one, which may be empty."""
        images = 0 if self.relevance is None else int(np.prod(self.relevance.shape[:-1]))
        length = rows.block_rows(X, len(self.prototypes) + images)
        return (X[begin : begin + length] for begin in range(0, max(1, X.shape[0]), length))

    def over_blocks(self, function: Callable[[Array], np.ndarray], X: Array) -> np.ndarray:
        """A function of distances for all samples, block by block."""
        found = block_map.get()(lambda block: rows.as_numpy(function(self.distances(block))), self.blocks(X))
        return np.concatenate(list(found))

    def predicted(self, X: Array) -> np.ndarray:
        """Index of the predicted class of each sample."""
        fast = type(self.metric) in FOLDABLE and not self.decision.by_posterior
        if not fast or (self.variances is not None and rows.has_missing(X)):
            return self.over_blocks(self.decide, X)
        winners = [rows.as_numpy(rows.first_argmin(self._scores(block)[0])) for block in self.blocks(X)]
        return self.labels[np.concatenate(winners)]

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The predicted class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        return self.classes[self.predicted(self.checked(X))]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the classes, (n_samples, n_classes), at the temperature of the decision rule."""
        return self.over_blocks(self.probabilities, self.checked(X))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores of the classes; with two classes one column, positive for the second."""
        scores = self.over_blocks(self.scores, self.checked(X))
        return scores[:, 1] if len(self.classes) == 2 else scores

    def explain(self, X: ArrayLike, predicted: np.ndarray | None = None) -> Explanation:
        """Winner, rival, certainty and the contribution of each feature, for each sample.

        With `predicted` the explanation is of these classes, as indices, instead of those that the model predicts.
        """
        blocks = list(self.blocks(self.checked(X)))
        ends = np.cumsum([block.shape[0] for block in blocks])[:-1]
        given = [None] * len(blocks) if predicted is None else np.split(predicted, ends)
        parts = [self._explained(block, part) for block, part in zip(blocks, given)]
        return Explanation(*(np.concatenate(columns) for columns in zip(*parts)))

    def _explained(self, X: np.ndarray, predicted: np.ndarray | None) -> Explanation:
        """The explanation of samples that are held at a time."""
        found, certainty = self.nearest(self.distances(X), predicted)
        far, near = (np.multiply(*self.slopes(X, nearest)) for nearest in (found.rival, found.winner))
        return Explanation(self.classes[self.labels[found.winner]], found.winner, found.rival, certainty, far - near)

    def checked(self, X: ArrayLike) -> np.ndarray:
        """Samples as a floating array, of unit length if need be; ValueError where they do not fit the model."""
        X = rows.canonical(X) if rows.is_sparse(X) else np.asarray(rows.as_numpy(X))
        if X.dtype.kind == "c":
            raise ValueError(f"X of PrototypeModel must hold real numbers, got {X.dtype}.")
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X of PrototypeModel must have shape (n_samples, {self.n_features}), got {X.shape}.")
        known = rows.numbers(X)
        if (self.variances is None and not np.isfinite(known).all()) or np.isinf(known).any():  # else NaN is missing
            raise ValueError("X of PrototypeModel contains NaN or infinite values.")
        rows.check_magnitude(X, "PrototypeModel")
        return rows.checked_unit_rows(X, "PrototypeModel") if self.unit_length else X


def _with_winner(D: Array, winner: Array) -> Array:
    """Distances whose smallest is the winner's alone where rounding has made an earlier one equal to it."""
    wrong = rows.first_argmin(D) != winner
    if wrong.any():
        xp, part, own = rows.namespace(D), D[wrong], winner[wrong]
        smallest = rows.take_columns(part, own)
        above = xp.nextafter(smallest, xp.full_like(smallest, float("inf")))
        part = xp.maximum(part, above[:, None])
        rows.put_columns(part, own, smallest)
        D[wrong] = part
    return D
