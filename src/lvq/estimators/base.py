"""What every estimator shares in learning: validate, start, run, store.

An estimator is a table of choices. It names its parts in `_parts()`; this file turns them into prototypes, and
`answers.py` turns those into answers.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from lvq.estimators.answers import Answers
from lvq.estimators.parameters import estimator
from lvq.estimators.validation import (
    ParameterConstraints,
    check_batch,
    check_cost_matrix_classes,
    check_parts,
    check_rank,
    check_same_parts,
    check_stream,
    check_training_data,
    check_width,
    given_prototypes,
    make_kernel,
    shared_constraints,
)
from lvq.model.links import Identity, Kernel, Link
from lvq.model.objective import Objective, Params
from lvq.model.prototypes import prototypes_per_class, share_out, start_prototypes
from lvq.model.relevance import Relevance
from lvq.solvers.online import Memory, Online, Result, Units, new_memory, train, units_of
from lvq.solvers.progress import progress_bar, silent


@dataclass(frozen=True)
class Parts:
    """What an estimator is made of; its link and prototypes come from the common parameters."""

    cost: Any
    relevance: Relevance


@estimator
class BaseLVQ(Answers, ClassifierMixin, BaseEstimator):
    """Base of all estimators: from data and parts to prototypes."""

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
        if again:
            check_same_parts(self, parts)
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
        check_stream(self, parts)
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
        check_rank(self, parts.relevance, X.shape[1])
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
            kernel = kernel.with_width(check_width(self, width))
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
            if name in ("seen", "scores"):  # of the classes and of the whole; all others are of the prototypes
                after[:] = before
            elif len(before):
                after[kept] = before

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
        for name in ("relevances_", "omega_", "kernel_width_"):  # of an earlier fit with other parts
            self.__dict__.pop(name, None)
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

    @property
    def lambda_(self) -> np.ndarray:
        """Omega'Omega; made when asked for, as of 5,000 features it takes 200 MB, for each matrix."""
        omega = getattr(self, "omega_", None)
        if omega is None:
            raise AttributeError(f"This {type(self).__name__} has no lambda_: no matrix has been learned.")
        return np.swapaxes(omega, -1, -2) @ omega
