"""The fitted model: prototypes, metric, link and decision rule, and every prediction that follows from them.

Only frozen arrays and parts: no hyper-parameters, no training state, no scikit-learn. All code that predicts, explains,
rejects, certifies, draws or exports reads this object. The first stage is `distances(X)`, the squared distances in the
learned metric; everything else (`nearest`, `scores`, `probabilities`, `posterior`, `decide`) is a function of these
distances, so they are computed once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lvq.model.arrays import as_numpy, first_argmin, is_tensor, like
from lvq.model.certainty import Nearest, nearest, relative_similarity
from lvq.model.contributions import Explanation, contributions, differences, explain
from lvq.model.decision import DecisionRule
from lvq.model.folded import prepared_prototypes, within_limits
from lvq.model.grouped_prediction import prediction_by
from lvq.model.metrics import Diagonal, Euclidean, Matrix, SharedMetric
from lvq.model.missing import Observed, has_missing, require_complete
from lvq.model.missing_forms import SAMPLED
from lvq.model.missing_prediction import observed_prototypes
from lvq.model.model_arrays import ModelArrays
from lvq.model.model_checks import checked_samples
from lvq.model.sample_blocks import blocks_of
from lvq.model.samples import Map
from lvq.model.scores import class_distances, class_probabilities, class_scores, make_largest, posterior
from lvq.model.sparse_rows import is_sparse
from lvq.model.temperature import tempered
from lvq.typing import Array

__all__ = ["DecisionRule", "Explanation", "PrototypeModel"]  # saved models name the rule by this module
SMALL = 2**24  # products of distances up to which they are computed for all rows


@dataclass(frozen=True, eq=False, repr=False)
class PrototypeModel(ModelArrays):
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
        D, complete = observed_prototypes(self).distances(X)
        if len(complete):
            D[complete] = self.distances(X[complete])
        return D

    def observed(self) -> Observed:
        """The metric over observed features; for models that ignore missing values."""
        assert self.variances is not None
        return Observed(self.metric, self.variances)

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

    def differences(self, X: np.ndarray, prototypes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Difference of each sample to its prototype, and a factor; see `lvq.model.contributions`."""
        return differences(self, X, prototypes)

    def contributions(self, X: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
        """Contribution of each feature to the squared distance of each sample to its prototype."""
        return contributions(self, X, prototypes)

    # -- functions of distances ----------------------------------------------------------------------------------------

    def nearest(self, distances: Array, predicted: np.ndarray | None = None) -> tuple[Nearest, np.ndarray]:
        """Winner and rival of each sample, and the certainty of the prediction.

        The winner is the nearest prototype of the predicted class, the rival the nearest of all other classes. With
        `predicted`, indices of classes that something else has predicted, the certainty is negative where another class
        is nearer.
        """
        if predicted is None and self.decision.by_posterior:
            table = self.posterior(distances)
            found = nearest(distances, self.labels, table.argmax(axis=1))
            second, first = np.partition(table, -2, axis=1)[:, -2:].T
            return found, ((first - second) / (first + second)).astype(distances.dtype)
        found = nearest(distances, self.labels, predicted)
        if len(np.unique(self.labels)) == 1:  # a stream with samples of one class so far
            return found, np.ones(len(distances), dtype=distances.dtype)
        certainty = relative_similarity(self.link.value(found.winner_distance), self.link.value(found.rival_distance))
        if predicted is not None:
            return found, certainty
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
        parts = list(mapping(lambda block: as_numpy(function(self.distances(block))), blocks_of(self, X)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def over_blocks_if_valid(
        self, function: Callable[[Array], np.ndarray], X: np.ndarray, mapping: Map = map
    ) -> np.ndarray | None:
        """`over_blocks` of samples that need not be checked before; None where some are not finite or too large."""

        missing = self.variances is not None and not is_sparse(X)

        def part(block: np.ndarray) -> np.ndarray | None:
            return function(self.distances(block)) if within_limits(block, missing=missing) else None

        parts = [result for result in mapping(part, blocks_of(self, X)) if result is not None]
        if len(parts) < len(blocks_of(self, X)):
            return None
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @property
    def products(self) -> int:
        """Products of numbers in the distances of one sample."""
        matrix = 0 if self.relevance is None or self.has_weights else self.relevance.size
        return matrix + self.prototypes.size

    def products_of_labels(self, X: Array) -> int:
        """The same where the label alone is predicted; some rows tell whether values are missing."""
        if self.decision.by_posterior or not isinstance(self.metric, SharedMetric):
            return self.products
        if isinstance(self.metric, Matrix) and self.variances is not None and has_missing(X[::SAMPLED]):
            return self.n_features**2 + self.prototypes.size
        return self.prototypes.size

    def predicted(self, X: np.ndarray, mapping: Map = map) -> np.ndarray | None:
        """Index of the predicted class of each sample, by folded prototypes or groups where all share a metric.

        None where values are not finite or too large: such samples need not be checked before.
        """
        if self.decision.by_posterior or is_sparse(X) or type(self.metric) not in (Euclidean, Diagonal, Matrix):
            return self.over_blocks_if_valid(self.decide, X, mapping)
        if self.variances is not None and has_missing(X):
            if not within_limits(X, missing=True):
                return None
            decided = observed_prototypes(self).predicted(X, mapping)
            if decided is None:
                return self.over_blocks(self.decide, X, mapping)
        else:
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

    def explain(self, X: ArrayLike, predicted: np.ndarray | None = None) -> Explanation:
        """Winner, rival, certainty and the contribution of each feature, for each sample.

        With `predicted` the explanation is of these classes, as indices, in place of those that the model predicts.
        """
        blocks = blocks_of(self, self.checked(X), filled=True)
        if predicted is None:
            parts = [explain(self, block) for block in blocks]
        else:
            ends = np.cumsum([len(block) for block in blocks])[:-1]
            parts = [explain(self, block, part) for block, part in zip(blocks, np.split(predicted, ends))]
        return Explanation(*(np.concatenate(columns) for columns in zip(*parts)))

    def checked(self, X: ArrayLike) -> np.ndarray:
        """Samples as a floating array; ValueError where they do not fit the model."""
        return checked_samples(self, X)
