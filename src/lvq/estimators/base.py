"""What every estimator shares: validate, start, run, store; and everything that looks at distances.

An estimator is a table of choices. It names its parts in `_parts()`; this file turns them into prototypes. One
`_distances(X)` feeds `predict`, the scores, `explain` and the reject options.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lvq.estimators.parameters import estimator
from lvq.estimators.tensors import as_numpy, same_kind
from lvq.estimators.validation import (
    ParameterConstraints,
    check_batch,
    check_cost_matrix_classes,
    check_parts,
    check_samples,
    check_training_data,
    given_prototypes,
    make_kernel,
    shared_constraints,
)
from lvq.model.arrays import first_argmin
from lvq.model.certainty import answer, relative_similarity
from lvq.model.links import Identity, Kernel, Link
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params
from lvq.model.prototypes import prototypes_per_class, share_out, start_prototypes
from lvq.model.relevance import Relevance
from lvq.model.scores import class_distances, class_probabilities, class_scores
from lvq.solvers.online import Memory, Online, Result, Units, new_memory, train, units_of
from lvq.solvers.progress import progress_bar, silent


@dataclass(frozen=True)
class Parts:
    """What an estimator is made of; its link and prototypes come from the common parameters."""

    cost: Any
    relevance: Relevance


class Explanation(NamedTuple):
    """Why each sample got its label; all arrays have one row a sample."""

    label: np.ndarray
    winner: np.ndarray  # index of the nearest prototype
    rival: np.ndarray  # index of the nearest prototype of another class
    certainty: np.ndarray  # (d- - d+)/(d- + d+), in [0, 1]
    contributions: np.ndarray  # (n_samples, n_features): each feature's share in D- - D+; positive speaks for the label


@estimator
class BaseLVQ(ClassifierMixin, BaseEstimator):
    """Base of all estimators: from data and parts to prototypes, and from prototypes to answers."""

    _parameter_constraints: ClassVar[ParameterConstraints] = shared_constraints

    n_prototypes: Any = 1
    n_prototypes_total: int | None = None
    init: Any = "kmeans"
    kernel: Any = None
    kernel_width: Any = "auto"
    learning_rate: float = 0.1
    relevance_rate: float = 0.01
    schedule: str = "linear"
    max_iter: int = 100
    tol: float | None = None
    n_iter_no_change: int = 5
    shuffle: bool = True
    class_weight: Any = None
    random_state: Any = None
    warm_start: bool = False
    verbose: bool = False

    def _parts(self) -> Parts:
        raise NotImplementedError

    def _settings(self) -> Online:
        return Online(
            learning_rate=self.learning_rate,
            relevance_rate=self.relevance_rate,
            width_rate=self.learning_rate if self.kernel_width == "learned" else 0.0,
            schedule=self.schedule,
            step=getattr(self, "step", "gradient"),
            time_slope=getattr(self, "slope", None) == "time",
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            shuffle=self.shuffle,
        )

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn prototypes from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each sample's step, after division by their mean. A sample of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        parts = self._parts()
        check_parts(self, parts)
        again = self.warm_start and hasattr(self, "prototypes_")
        before: Any = getattr(self, "classes_", None)
        X, y, weight, classes = check_training_data(self, X, y, sample_weight, reset=not again)
        weight = weight / weight.mean()  # only their ratios count, so that the rate keeps its meaning
        random_state = check_random_state(self.random_state)
        if again and not np.array_equal(classes, before):
            raise ValueError(
                f"warm_start=True needs the classes of the first fit, {before.tolist()}; got "
                f"{classes.tolist()}. Set warm_start=False to start anew."
            )
        check_cost_matrix_classes(self, len(classes))
        self.classes_: np.ndarray = classes
        if not again:
            self._start(parts, X, y, weight, random_state)
        self._memory = self._new_memory(parts)
        result = self._train(parts, X, y, weight, random_state, stream=False)
        self.n_iter_, self.objective_history_ = result.n_iter, np.array(result.history)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one batch of a stream, each sample once.

        The first batch sets the starting prototypes and the units of rates and steepness. A class first seen later gets
        its prototypes from its first samples. As a stream has no known end, ``schedule="linear"`` stays at its start.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes that can occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each sample's step.

        Returns
        -------
        self : object
            The estimator, one batch wiser.
        """
        first = not hasattr(self, "prototypes_")
        if first:
            self._validate_params()
        parts = self._parts()
        check_parts(self, parts)
        X, y, weight, self.classes_ = check_batch(self, X, y, classes, sample_weight, first=first)
        random_state = check_random_state(self.random_state)
        if first:
            self._start(parts, X, y, weight, random_state)
            self._memory = self._new_memory(parts)
            self.n_iter_, self.objective_history_ = 0, np.array([])
        else:
            self._welcome_new_classes(parts, X, y, weight, random_state)
        if len(np.unique(self._labels)) < 2:  # nothing can be learned from one class; its prototypes are set
            return self
        result = self._train(parts, X, y, weight, random_state, stream=True)
        self.n_iter_ += 1
        self.objective_history_ = np.append(self.objective_history_, result.history)
        return self

    def _counts(self) -> np.ndarray:
        if self.n_prototypes_total is not None:
            return share_out(self.n_prototypes_total, len(self.classes_))
        return prototypes_per_class(self.n_prototypes, self.classes_)

    def _start(self, parts: Parts, X: np.ndarray, y: np.ndarray, weight: np.ndarray, random_state: Any) -> None:
        """Starting prototypes, metric and kernel, and the units that make the rest free of scale."""
        if isinstance(self.init, str):
            W, labels = self._start_of(X, y, weight, random_state)
        else:
            W, labels = given_prototypes(self, self._counts(), X)
        params = Params(W, parts.relevance.start(X, y, weight, labels), None)
        kernel = make_kernel(self.kernel)
        width = None
        self._params = params
        plain = self._objective_for(parts, labels, Identity())
        spread = units_of(plain, Relevance(), params, X, weight).link
        params = params._replace(relevance=parts.relevance.sized(params.relevance, spread))
        if isinstance(kernel, Kernel):
            spread = units_of(plain, Relevance(), params, X, weight).link
            width = float(np.sqrt(spread)) if isinstance(self.kernel_width, str) else float(self.kernel_width)
            kernel = kernel.with_width(width)
        self._link: Link = kernel
        objective = self._objective_for(parts, labels, kernel)
        self._units: Units = units_of(objective, parts.relevance, params, X, weight)
        self._store(params._replace(width=width), labels)

    def _start_of(
        self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, random_state: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Prototypes for those classes that have samples."""
        present, inner = np.unique(y, return_inverse=True)
        counts = self._counts()[present]
        W, labels = start_prototypes(X, inner, weight, counts, self.init, random_state, self.classes_[present])
        return W, present[labels]

    def _new_memory(self, parts: Parts) -> Memory:
        return new_memory(parts.relevance, parts.cost, self._params, len(self.classes_), self.learning_rate)

    def _welcome_new_classes(
        self, parts: Parts, X: np.ndarray, y: np.ndarray, weight: np.ndarray, random_state: Any
    ) -> None:
        new = ~np.isin(y, self._labels)
        if not new.any():
            return
        W, labels = self._start_of(X[new], y[new], weight[new], random_state)
        params, every = self._params, np.concatenate((self._labels, labels))
        order = np.argsort(every, kind="stable")
        relevance = params.relevance
        if relevance is not None and relevance.ndim == 3:
            relevance = self._with_new_matrices(
                relevance, parts.relevance.start(X, y, weight, every[order]), every, order
            )
        grown = Params(np.concatenate((params.prototypes, W))[order], relevance, params.width)
        memory = self._memory
        self._store(grown, every[order])
        self._memory = self._new_memory(parts)
        self._memory.step = memory.step
        kept = np.flatnonzero(order < len(params.prototypes))
        for name, before in memory.statistics._asdict().items():
            after = getattr(self._memory.statistics, name)
            if len(before) == len(params.prototypes):
                after[kept] = before
            elif len(before) == len(after):
                after[:] = before

    def _with_new_matrices(self, old: Any, fresh: Any, every: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Local matrices: the newcomers' at their start, the old ones kept."""
        per_prototype = len(fresh) == len(every)
        kept = order < len(self._labels) if per_prototype else np.isin(np.unique(every), self._labels)
        fresh[kept] = old
        return fresh

    def _train(
        self, parts: Parts, X: np.ndarray, y: np.ndarray, weight: np.ndarray, random_state: Any, *, stream: bool
    ) -> Result:
        objective = self._objective_for(parts, self._labels, self._link)
        settings = self._settings()
        report = progress_bar(type(self).__name__, settings.max_iter) if self.verbose and not stream else silent
        learned = self._params._replace(width=self._params.width if self.kernel_width == "learned" else None)
        result = train(
            objective, parts.relevance, learned, X, y, weight, settings, self._units, self._memory, random_state,
            report, stream=stream,
        )  # fmt: skip
        width = result.params.width if result.params.width is not None else self._params.width
        self._store(result.params._replace(width=width), self._labels)
        return result

    def _objective_for(self, parts: Parts, labels: np.ndarray, link: Link) -> Objective:
        cost = parts.cost
        if hasattr(cost, "scaled") and getattr(self, "_units", None) is not None:
            cost = cost.scaled(self._units.link)
        if getattr(cost, "prices", None) is not None:
            cost = replace(cost, prices=cost.prices.astype(self._params.prototypes.dtype))
        return Objective(parts.relevance.metric(labels), link, cost, labels)

    def _store(self, params: Params, labels: np.ndarray) -> None:
        """Learned things under the names users know."""
        self._params, self._labels = params, labels
        if params.width is not None:
            self.kernel_width_ = float(params.width)
            assert isinstance(self._link, Kernel)
            self._link = self._link.with_width(self.kernel_width_)
        self.prototypes_, self.prototype_labels_ = params.prototypes, self.classes_[labels]
        self._metric: Any = self._parts().relevance.metric(labels)
        if params.relevance is None:
            return
        if params.relevance.ndim == 1:
            self.relevances_ = params.relevance
        else:
            self.omega_ = params.relevance
            self.lambda_ = np.swapaxes(self.omega_, -1, -2) @ self.omega_

    # -- answering -----------------------------------------------------------------------------------------------------

    def _distances(self, X: Any) -> np.ndarray:
        """Squared distances of samples to prototypes in the learned metric, before any kernel: (N, M)."""
        check_is_fitted(self)
        X = check_samples(self, X)
        return self._metric.distances(X, self._params.prototypes, self._params.relevance)

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
        slope = getattr(self, "slope", None)
        sharpness = slope if isinstance(slope, float | int) and slope > 0 else 5.0
        return same_kind(class_probabilities(*self._linked_distances(X), self._xi(), sharpness), X)

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
        found = answer(distances, self._labels)
        certainty = relative_similarity(self._link.value(found.near), self._link.value(found.far))
        X = check_samples(self, as_numpy(X))
        contributions = self._shares(X, found.rival) - self._shares(X, found.winner)
        labels = self.classes_[self._labels[found.winner]]
        return Explanation(labels, found.winner, found.rival, certainty, contributions)

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
