"""From prototypes to answers: everything that looks at distances. One `_distances(X)` feeds it all."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.tensors import as_numpy, same_kind
from lvq.estimators.validation import check_samples
from lvq.model.arrays import first_argmin
from lvq.model.certainty import Nearest, nearest, relative_similarity
from lvq.model.links import Link
from lvq.model.metrics import Euclidean
from lvq.model.objective import Params
from lvq.model.prototype_model import DecisionRule, PrototypeModel
from lvq.model.scores import class_distances, class_probabilities, class_scores
from lvq.solvers.online import Units


class Explanation(NamedTuple):
    """Why each sample got its label; all arrays have one row a sample."""

    label: np.ndarray
    winner: np.ndarray  # index of the nearest prototype
    rival: np.ndarray  # index of the nearest prototype of another class
    certainty: np.ndarray  # (d- - d+)/(d- + d+), in [0, 1]
    contributions: np.ndarray  # (n_samples, n_features): each feature's share in D- - D+; positive speaks for the label


class Answers:
    """What a fitted estimator can be asked. `_store` of the estimator sets the attributes declared here."""

    classes_: np.ndarray
    _params: Params
    _labels: np.ndarray
    _metric: Any
    _link: Link
    _units: Units

    def _parts(self) -> Any:
        raise NotImplementedError

    def _distances(self, X: Any) -> np.ndarray:
        """Squared distances of samples to prototypes in the learned metric, before any kernel: (N, M)."""
        check_is_fitted(self)
        X = check_samples(self, X)
        return self._metric.distances(X, self._params.prototypes, self._params.relevance)

    @property
    def model_(self) -> PrototypeModel:
        """The fitted model."""
        if not hasattr(self, "_params"):
            raise AttributeError(f"This {type(self).__name__} has no model_: it is not fitted.")
        from lvq.model.costs import SoftCost

        rule = DecisionRule(
            self._xi(),
            self._sharpness(),
            isinstance(self._parts().cost, SoftCost),
            bool(getattr(self, "_by_posterior", lambda: False)()),
        )
        names = getattr(self, "feature_names_in_", None)
        return PrototypeModel(
            self._params.prototypes, self._labels, self.classes_, self._metric, self._params.relevance, self._link,
            rule, feature_names=None if names is None else tuple(names),
        )  # fmt: skip

    def _xi(self) -> float | None:
        """The steepness of the cost, where it has one."""
        cost = self._parts().cost
        return float(cost.scaled(self._units.link).xi) if hasattr(cost, "xi") else None

    def _class_distances(self, X: Any) -> np.ndarray:
        """Smallest squared distance of each class, infinite for a class without prototypes: (N, C)."""
        distances = as_numpy(self._distances(X))
        return class_distances(distances, self._labels, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """The class of the nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        winner = as_numpy(first_argmin(self._distances(X)))
        return same_kind(self.classes_[self._labels[winner]], X)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much nearer each class is than all others.

        With d_k the smallest distance (after the kernel) to a prototype of class k and d_other that to all others, this
        is (d_other - d_k)/(d_other + d_k) in [-1, 1], or xi (d_other - d_k) for costs with a steepness xi.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The largest is that of the predicted class; with two classes one column, positive for ``classes_[1]``.
        """
        scores = class_scores(*self._linked_distances(X), self._xi())
        return same_kind(scores[:, 1] if len(self.classes_) == 2 else scores, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples answered rightly.

        Parameters
        ----------
        X : array-like or torch.Tensor of shape (n_samples, n_features)
            Samples.
        y : array-like or torch.Tensor of shape (n_samples,)
            Their classes; on any device.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        score : float
            Accuracy.
        """
        return accuracy_score(as_numpy(y), as_numpy(self.predict(X)), sample_weight=as_numpy(sample_weight))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Softmax of the classes' scores; not calibrated.

        For costs with a steepness xi the softmax of -xi d_k, else that of the relative scores of `decision_function`.
        `sklearn.calibration.CalibratedClassifierCV` calibrates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows sum to one; the largest is that of the predicted class.
        """
        return same_kind(class_probabilities(*self._linked_distances(X), self._xi(), self._sharpness()), X)

    def _sharpness(self) -> float:
        """How steeply relative scores become probabilities: GLVQ's slope where it has one."""
        slope = getattr(self, "slope", None)
        return float(slope) if isinstance(slope, Real) else 5.0

    def _linked_distances(self, X: Any) -> tuple[Link, np.ndarray]:
        distances = self._class_distances(X)
        return self._link, distances

    def explain(self, X: Any) -> Explanation:
        """For each sample the winner, its rival, the certainty, and what each feature contributes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        explanation : Explanation
            Named tuple of `label`, `winner`, `rival`, `certainty` and `contributions`. With u the difference of sample
            and prototype, feature l has the share u_l (Lambda u)_l in the squared distance; its contribution is its
            share in the rival's distance less that in the winner's, and a row sums to D- - D+.
        """
        distances = as_numpy(self._distances(X))
        found, certainty = self._answer(distances)
        X = check_samples(self, as_numpy(X))
        contributions = self._shares(X, found.rival) - self._shares(X, found.winner)
        labels = self.classes_[self._labels[found.winner]]
        return Explanation(labels, found.winner, found.rival, certainty, contributions)

    def _answer(self, distances: np.ndarray) -> tuple[Nearest, np.ndarray]:
        """Winner and rival of each sample, and how sure the answer is."""
        found = nearest(distances, self._labels)
        certainty = relative_similarity(self._link.value(found.winner_distance), self._link.value(found.rival_distance))
        return found, np.maximum(certainty, 0)  # rounding in a kernel can turn neighbours round

    def _shares(self, X: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
        """u * (Lambda u) for each sample and its prototype."""
        u = X - self._params.prototypes[prototypes]
        R = self._params.relevance
        if R is None or isinstance(self._metric, Euclidean):
            return u * u
        if R.ndim == 1:
            return R * u * u
        if R.ndim == 2:
            return u * ((u @ R.T) @ R)
        group = np.searchsorted(self._metric.groups, prototypes, side="right") - 1
        shares = np.empty_like(u)
        for g in np.unique(group):
            inside = group == g
            shares[inside] = u[inside] * ((u[inside] @ R[g].T) @ R[g])
        return shares
