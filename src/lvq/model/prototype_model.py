"""The fitted model: prototypes, metric, link and decision rule, and every prediction that follows from them.

Only frozen arrays and parts: no hyper-parameters, no training state, no scikit-learn. All code that predicts, explains,
rejects, certifies, draws or exports reads this object. The first stage is `distances(X)`, the squared distances in the
learned metric; everything else (`nearest`, `scores`, `probabilities`, `posterior`, `decide`) is a function of these
distances, so they are computed once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lvq.model.arrays import as_numpy, first_argmin, is_tensor, like
from lvq.model.certainty import Nearest, nearest, relative_similarity
from lvq.model.folded import largest_value, prepared_prototypes, within_limits
from lvq.model.grouped_prediction import prediction_by
from lvq.model.links import Identity, Link
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.metrics import Diagonal, Euclidean, LocalMetric, Matrix, Metric, SharedMetric
from lvq.model.missing import Observed, has_missing, packed, require_complete
from lvq.model.model_checks import LARGEST, check
from lvq.model.samples import Map
from lvq.model.scores import class_distances, class_probabilities, class_scores, make_largest, posterior
from lvq.model.sparse_rows import canonical, filled, is_sparse, numbers, take_rows
from lvq.model.temperature import tempered
from lvq.typing import Array

BLOCK_BYTES = 2**25  # of distances and copies of samples that a prediction holds at a time on a device
CACHE_BYTES = 2**21  # the same on a processor: they stay in its cache
MIN_ROWS = 16  # at a time, with any number of prototypes: each block reads all of them
SMALL = 2**24  # products of distances up to which they are computed for all rows
ARRAYS = ("prototypes", "labels", "classes", "relevance", "importances", "variances")


class Explanation(NamedTuple):
    """Why each sample got its label; all arrays have one row per sample."""

    label: np.ndarray
    winner: np.ndarray  # index of the nearest prototype
    rival: np.ndarray  # index of the nearest prototype of another class
    certainty: np.ndarray  # (d- - d+)/(d- + d+), in [0, 1]
    contributions: (
        np.ndarray
    )  # (n_samples, n_features): contribution of each feature to D- - D+; positive: for the label


@dataclass(frozen=True)
class DecisionRule:
    """How distances become scores, probabilities and a predicted class.

    Parameters
    ----------
    xi : float, optional
        Steepness of the cost in units of 1/H; None for a cost of relative distances.
    sharpness : float, default=5.0
        For relative costs: how steeply relative scores become probabilities.
    soft : bool, default=False
        Whether the cost defines a posterior, softmax(-xi H) over all prototypes.
    by_posterior : bool, default=False
        Predict the class of the largest posterior instead of the class of the nearest prototype.
    temperature : float, default=1.0
        Probabilities are raised to the power of one over the temperature; see `lvq.model.temperature`.
    """

    xi: float | None = None
    sharpness: float = 5.0
    soft: bool = False
    by_posterior: bool = False
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.xi is not None and not 0 < self.xi <= LARGEST:
            raise ValueError(f"xi of a DecisionRule must be a positive number or None, got {self.xi!r}.")
        if not 0 < self.sharpness <= LARGEST:
            raise ValueError(f"sharpness of a DecisionRule must be a positive number, got {self.sharpness!r}.")
        if not 0 < self.temperature <= LARGEST:
            raise ValueError(f"temperature of a DecisionRule must be a positive number, got {self.temperature!r}.")
        if ((self.soft or self.by_posterior) and self.xi is None) or (self.by_posterior and not self.soft):
            raise ValueError("A DecisionRule by the posterior needs soft=True and a steepness xi.")


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
        Importance of each feature, of sum one, where features have relevances and the covariance of the samples was
        known.
    feature_names : tuple of str, optional
        Names of the features.
    variances : ndarray of shape (n_features,), optional
        Variance of each feature in the training samples, where missing values are ignored; None where they are an
        error. See `lvq.model.missing`.

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
    decision: DecisionRule = DecisionRule()
    importances: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    variances: np.ndarray | None = None

    def __post_init__(self) -> None:
        check(self)
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None and array.flags.writeable:  # the caller may write to it later
                object.__setattr__(self, name, array.copy())
        self._freeze()

    def _freeze(self) -> None:
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __repr__(self) -> str:
        kernel = "" if isinstance(self.link, Identity) else f", {type(self.link).__name__} kernel"
        return (
            f"PrototypeModel({len(self.prototypes)} prototypes, {len(self.classes)} classes, {self.n_features} features"
            f", {type(self.metric).__name__} metric{kernel})"
        )

    def __setstate__(self, state: dict[str, object]) -> None:
        """Unpickled and memory-mapped arrays are made read-only again."""
        self.__dict__.update(state)
        check(self)
        self._freeze()

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

    # -- distances -----------------------------------------------------------------------------------------------------

    def distances(self, X: Array) -> Array:
        """Squared distances of samples to prototypes in the learned metric, before any kernel: (N, M).

        Tensors are measured on their device and give tensors. X must be a floating array of finite numbers; where the
        model ignores missing values, NaN marks one.
        """
        if self.variances is not None and not is_sparse(X) and has_missing(X):
            return self._observed_distances(X)
        if isinstance(self.metric, SharedMetric) and not is_tensor(X) and not is_sparse(X):
            return self.metric.measured(X, prepared_prototypes(self), self.relevance)
        return self.metric.distances(X, *self._parameters(X))

    def _observed_distances(self, X: np.ndarray) -> np.ndarray:
        """Distances over observed features; those of complete rows as ever."""
        complete, D = ~np.isnan(X).any(axis=1), np.empty((len(X), len(self.prototypes)), dtype=X.dtype)
        D[complete] = self.distances(X[complete])
        D[~complete] = self._observed().distances(packed(X[~complete]), self.prototypes, self.relevance)
        return D

    def _observed(self) -> Observed:
        assert self.variances is not None
        return Observed(self.metric, self.variances)

    def differences(self, X: np.ndarray, prototypes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Difference u of each sample to its prototype, 0 where a value is missing, and the factor 1/s of u'Lambda u.

        The squared distance is u'Lambda u divided by the observed fraction s of the metric, 1 where nothing is missing.
        """
        u = X - self.prototypes[prototypes]
        if self.variances is None or not has_missing(X):
            return u, np.ones((len(X), 1), dtype=u.dtype)
        u[np.isnan(u)] = 0
        fraction = self._observed().fractions(packed(X), self.relevance)
        return u, 1 / np.take_along_axis(fraction, self.group[prototypes][:, None], 1)

    def _parameters(self, X: Array) -> tuple[Array, Array | None]:
        """Prototypes and parameters of the metric, as tensors like X where it is one."""
        W, R = self.prototypes, self.relevance
        if is_tensor(X):
            return like(W.copy(), X), None if R is None else like(R.copy(), X)
        return W, R

    def images(self, X: Array) -> Array:
        """Samples in the space in which the model measures, ``X @ Omega.T``; not for local metrics."""
        if not isinstance(self.metric, SharedMetric):
            raise ValueError(
                f"images needs one metric for all prototypes; this model has {type(self.metric).__name__}, one for "
                "each group of prototypes."
            )
        require_complete(X, "transform")
        return self.metric.project(X, self._parameters(X)[1])

    def contributions(self, X: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
        """Contribution u_l (Lambda u)_l of each feature to the squared distance of each sample to its prototype.

        Where values are missing it is divided by s, see `lvq.model.missing`; a missing value contributes 0.
        """
        (u, factor), R = self.differences(filled(X), prototypes), self.relevance
        if R is None:
            return u * u * factor
        group, local = self.group[prototypes], isinstance(self.metric, LocalMetric)
        if self.has_weights:
            return (R[group] if local else R) * u * u * factor
        result = np.empty_like(u)
        for g in np.unique(group):
            rows, omega = group == g, R[g] if local else R
            result[rows] = u[rows] * ((u[rows] @ omega.T) @ omega)
        return result * factor

    # -- functions of distances ----------------------------------------------------------------------------------------

    def nearest(self, distances: Array) -> tuple[Nearest, np.ndarray]:
        """Winner and rival of each sample, and the certainty of the prediction.

        The winner is the nearest prototype of the predicted class, the rival the nearest of all other classes.
        """
        if self.decision.by_posterior:
            table = self.posterior(distances)
            found = nearest(distances, self.labels, table.argmax(axis=1))
            second, first = np.partition(table, -2, axis=1)[:, -2:].T
            return found, ((first - second) / (first + second)).astype(distances.dtype)
        found = nearest(distances, self.labels)
        if len(np.unique(self.labels)) == 1:  # a stream with samples of one class so far
            return found, np.ones(len(distances), dtype=distances.dtype)
        certainty = relative_similarity(self.link.value(found.winner_distance), self.link.value(found.rival_distance))
        return found, np.maximum(certainty, 0)  # rounding in a kernel can exchange neighbours

    def decide(self, distances: Array) -> np.ndarray:
        """Index of the predicted class of each sample."""
        if self.decision.by_posterior:
            return self.posterior(as_numpy(distances)).argmax(axis=1)
        return self.labels[as_numpy(first_argmin(distances))]

    def scores(self, distances: np.ndarray) -> np.ndarray:
        """A score per class, (N, C); the largest is that of the predicted class."""
        if self.decision.by_posterior:
            table = self.posterior(distances)
            scores = np.log(np.maximum(table, np.finfo(np.float64).tiny))
            if len(self.classes) == 2:
                scores = scores - scores[:, ::-1]  # log odds
            return make_largest(scores.astype(distances.dtype), table.argmax(axis=1))
        return class_scores(self.link, self._class_distances(distances), self.decision.xi)

    def probabilities(self, distances: np.ndarray) -> np.ndarray:
        """A probability per class, (N, C), at the temperature of the decision rule."""
        rule = self.decision
        if rule.by_posterior:
            table = self.posterior(distances)
            return make_largest(tempered(table, rule.temperature).astype(distances.dtype), table.argmax(axis=1))
        xi, sharpness = rule.xi, rule.sharpness / rule.temperature
        xi = None if xi is None else xi / rule.temperature
        return class_probabilities(self.link, self._class_distances(distances), xi, sharpness)

    def posterior(self, distances: np.ndarray) -> np.ndarray:
        """Sum over the prototypes of each class of softmax(-xi H), (N, C), in float64; only for soft costs."""
        if not self.decision.soft or self.decision.xi is None:
            raise ValueError("posterior needs a model with a soft cost, SNPC or RSLVQ.")
        return posterior(self.link, distances, self.labels, len(self.classes), self.decision.xi)

    def _class_distances(self, distances: np.ndarray) -> np.ndarray:
        return class_distances(distances, self.labels, len(self.classes))

    # -- functions of samples ------------------------------------------------------------------------------------------

    def over_blocks(self, function: Callable[[Array], np.ndarray], X: Array, mapping: Map = map) -> np.ndarray:
        """A function of distances for all samples, block by block, so that memory stays bounded."""
        parts = list(mapping(lambda block: as_numpy(function(self.distances(block))), self._blocks(X)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def over_blocks_if_valid(
        self, function: Callable[[Array], np.ndarray], X: np.ndarray, mapping: Map = map
    ) -> np.ndarray | None:
        """`over_blocks` of samples that need not be checked before; None where some are not finite or too large."""

        def part(block: np.ndarray) -> np.ndarray | None:
            return function(self.distances(block)) if within_limits(block) else None

        parts = [result for result in mapping(part, self._blocks(X)) if result is not None]
        if len(parts) < len(self._blocks(X)):
            return None
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _blocks(self, X: Array, filled: bool = False) -> list[Array]:
        """Views of the samples; at least one, which may be empty. Sparse rows are not copied, unless `filled`."""
        size = BLOCK_BYTES if is_tensor(X) else CACHE_BYTES
        least = MIN_ROWS if len(self.prototypes) > 3 * self.n_features else 1
        rows = max(least, size // (8 * (len(self.prototypes) + 3 * self.n_features)))  # distances, copies, images
        if is_sparse(X) and not filled:
            images = 0 if self.relevance is None else int(np.prod(self.relevance.shape[:-1]))
            rows = max(1, BLOCK_BYTES // (8 * (4 * len(self.prototypes) + 2 * images)))
        return [take_rows(X, slice(begin, begin + rows)) for begin in range(0, max(1, X.shape[0]), rows)]

    @property
    def products(self) -> int:
        """Products of numbers in the distances of one sample."""
        matrix = 0 if self.relevance is None or self.has_weights else self.relevance.size
        return matrix + self.prototypes.size

    def predicted(self, X: np.ndarray, mapping: Map = map) -> np.ndarray | None:
        """Index of the predicted class of each sample, by folded prototypes or groups where all share a metric.

        None where values are not finite or too large: such samples need not be checked before. Missing values count as
        not finite, so that complete samples need no search for them.
        """
        if self.decision.by_posterior or is_sparse(X) or type(self.metric) not in (Euclidean, Diagonal, Matrix):
            return self.over_blocks_if_valid(self.decide, X, mapping)
        decided = prediction_by(self, X).predicted(X, mapping)
        if decided is None or not len(decided.close):
            return None if decided is None else decided.labels
        predicted, close = decided
        if len(X) * self.products <= SMALL:  # products of other rows may round otherwise, and scores are of all rows
            predicted[close] = self.over_blocks(self.decide, X, mapping)[close]
        else:
            predicted[close] = self.over_blocks(self.decide, X[close], mapping)
        return predicted

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
        X = self.checked(X)
        predicted = self.predicted(X)
        return self.classes[self.over_blocks(self.decide, X) if predicted is None else predicted]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the classes, (n_samples, n_classes), at the temperature of the decision rule."""
        return self.over_blocks(self.probabilities, self.checked(X))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores of the classes; with two classes one column, positive for the second."""
        scores = self.over_blocks(self.scores, self.checked(X))
        return scores[:, 1] if len(self.classes) == 2 else scores

    def explain(self, X: ArrayLike) -> Explanation:
        """Winner, rival, certainty and the contribution of each feature, for each sample."""
        parts = [self._explain(block) for block in self._blocks(self.checked(X), filled=True)]
        return Explanation(*(np.concatenate(columns) for columns in zip(*parts)))

    def _explain(self, X: np.ndarray) -> Explanation:
        found, certainty = self.nearest(self.distances(X))
        contributions = self.contributions(X, found.rival) - self.contributions(X, found.winner)
        labels = self.classes[self.labels[found.winner]]
        return Explanation(labels, found.winner, found.rival, certainty, contributions)

    def checked(self, X: ArrayLike) -> np.ndarray:
        """Samples as a floating array; ValueError where they do not fit the model."""
        X = canonical(X) if is_sparse(X) else np.asarray(as_numpy(X))
        if X.dtype.kind == "c":
            raise ValueError(f"X of PrototypeModel must hold real numbers, got {X.dtype}.")
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X of PrototypeModel must have shape (n_samples, {self.n_features}), got {X.shape}.")
        if within_limits(X):
            return X
        known = numbers(X)
        known = known if self.variances is None else known[~np.isnan(known)]  # NaN marks a missing value
        if not np.isfinite(known).all():
            raise ValueError("X of PrototypeModel contains NaN or infinite values.")
        largest, limit = np.abs(known).max(initial=0), largest_value(X.dtype, X.shape[1])
        if largest > limit:
            raise ValueError(
                f"X of PrototypeModel holds values as large as {largest:.3g}, whose squared distances overflow; "
                f"the largest allowed is {limit:.3g}."
            )
        return X

    # -- arrays --------------------------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The model as named arrays without objects, for any format that stores arrays; see `from_arrays`."""
        from lvq.model.storage import to_arrays

        return to_arrays(self)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The model of `to_arrays`; ValueError where the arrays do not form a consistent model."""
        from lvq.model.storage import from_arrays

        return from_arrays(cls, arrays)

    def save(self, path: str | Path) -> None:
        """Write the model to a ``.npz`` file: plain arrays and a JSON header, no code."""
        from lvq.model.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` has written."""
        from lvq.model.storage import load

        return load(cls, path)
