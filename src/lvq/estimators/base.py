"""The base of all estimators: an estimator is a specification, `fit` turns it into a `PrototypeModel`.

`fit` in steps: validate the parameters and make the parts (`_parts`), check the samples (`inputs`), start
(`start_prototypes`, `training.begin`), run a solver (`training.run`), and set the result in one assignment.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lvq._warnings import warn
from lvq.estimators import training as steps
from lvq.estimators.changed_classes import with_class, without_class
from lvq.estimators.cross_fit import chosen_number
from lvq.estimators.inputs import Checked, given_prototypes, is_dask, training_samples
from lvq.estimators.parameters import estimator
from lvq.estimators.predictions import ModelPredictions
from lvq.estimators.specification import Parts, Specification, check_for_samples, check_parts
from lvq.estimators.streams import check_unchanged, next_batch, with_moments
from lvq.estimators.tensors import floating, require_torch
from lvq.estimators.training import Training
from lvq.model.objective import Params
from lvq.model.relevance import Scale
from lvq.model.rows import is_tensor
from lvq.model.samples import ArraySamples, filled, product_threads, single_threaded_products, typical_variance
from lvq.model.starts import on_sphere, prototypes_per_class, start_prototypes
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.state import Result, progress_lines, silent, state_problem
from lvq.typing import Label

LITTLE = 0.01  # fraction of the objective's fall: if the last tenth of the iterations adds less, there is no warning
SCALED = 4.0  # features count as scaled if their variance is between one over this and this


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator after an error or an interrupt: a fit succeeds or leaves it as it was."""
    before, given = dict(vars(estimator)), estimator.random_state
    drawn = given.get_state() if isinstance(given, RandomState) else None
    try:
        yield
    except BaseException:
        estimator.__dict__ = before  # one assignment, which a second interrupt cannot cut in half
        if drawn is not None:
            given.set_state(drawn)
        raise


@estimator
class BaseLVQ(ModelPredictions, ClassifierMixin, Specification):
    """Base of all estimators: from specification and samples to a fitted model."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor, dask array or dask data frame of shape (n_samples, n_features)
            Samples. Sparse ones, preferably CSR, are never made dense as a whole. With lbfgs and adam, tensors stay
            on their device; with lbfgs, the samples of dask stay on their workers.
        y : array-like, torch tensor, dask array or dask series of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples. With lbfgs and fewer than 15,000 samples, a weight of two is exactly the same as
            two copies. Online, a weight divided by the mean weight multiplies the step of its sample. Samples of weight
            0 are left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight)

    def _fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None = None
    ) -> Self:
        self._validate_params()
        warm = self.warm_start and hasattr(self, "model_")
        parts = self._parts(X, str(X.device) if is_tensor(X) else None)
        check_parts(self, parts)
        samples, classes, rows = self._checked(parts, X, y, sample_weight, reset=not warm)
        random_state = check_random_state(self.random_state)
        check_for_samples(self, parts, samples, len(classes))
        report = progress_lines(type(self).__name__, self.max_iter) if self.verbose else silent
        groups = None if groups is None else np.asarray(groups)[rows]
        with single_threaded_products(product_threads()):
            shaped, parts, temperature = self._settled(parts, samples, classes, groups, warm)
            if warm:
                check_unchanged(self, parts, classes, stream=False)
                before = steps.restarted(parts, self._training(), samples, random_state)
                training = with_moments(before, samples)
            else:
                training = shaped._begin(parts, samples, classes, random_state)
            training, result = steps.run(parts, training, samples, report)
            if isinstance(parts.solver, LBFGS):
                _warn_if_not_converged(self, result, samples)
            self._set_fitted(training, parts, classes, samples, result.n_iter, np.array(result.history), temperature)
        return self

    def _checked(
        self, parts: Parts, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> Checked:
        """Checked samples where the solver computes."""
        if is_dask(X):
            from lvq.estimators.partitions import training_partitions

            return Checked(*training_partitions(self, parts.solver, X, y, sample_weight, reset=reset))
        if parts.device is not None:
            require_torch(parts.device)
        X = floating(X, np.dtype(np.float32), type(self).__name__) if is_tensor(X) else X
        return training_samples(self, X, y, sample_weight, reset=reset, device=parts.device)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Update the model with one batch of a stream, each sample once.

        The first samples set the starting prototypes and the units of rates and steepness. A class first seen later
        gets its prototypes from its first samples; a new label that no call has named is added as by `add_class`,
        unless `classes` is given again. A stream has no known end, so the schedule "linear" keeps rates constant; in
        models with a cost, the rate of the prototypes is then a tenth of the learning rate. For streams that change
        fast, ``Online(schedule="constant")`` uses the whole rate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes that can occur; needed in the first call. If given later, other labels are an error.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each sample's step.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with unchanged_on_error(self):
            self._validate_params()
            parts = self._parts()
            parts = replace(parts, solver=parts.online)
            check_parts(self, parts)
            training, samples, known = next_batch(self, parts, X, y, classes, sample_weight)
            first = not hasattr(self, "model_")
            n_iter, history = (0, np.array([])) if first else (self.n_iter_, self.objective_history_)
            temperature = 1.0 if first else self.model_.decision.temperature
            if training.labels[0] != training.labels[-1]:  # with one class so far, there is nothing to learn
                training, result = steps.run_online(parts, training, samples, silent, stream=True)
                n_iter, history = n_iter + 1, np.append(history, result.history)
            self._set_fitted(training, parts, known, None, n_iter, history, temperature)
        return self

    def add_class(
        self, X: ArrayLike, label: Label, X_old: ArrayLike | None = None, y_old: ArrayLike | None = None
    ) -> Self:
        """Add a class to the fitted model; all other prototypes stay as they are, to the bit.

        The new class gets the median number of prototypes per class. They start at its mean, or its cluster centres,
        and are trained by the cost of the model (MCE by that of LOGM, SNPC by that of RSLVQ) with everything else
        fixed: against old samples if given, otherwise against the means of the old classes, each with the spread of the
        new samples. (If the model was fitted online or its prototypes were given, against the old prototypes instead of
        the means.) A `RejectClassifier` must be fitted again. A learned metric stays as it is, and a warning says so:
        if it was learned for few classes, as in tables, a new fit is better.

        Give a few old samples of each class, unless classes are well separated, as in embeddings of sentences: without
        them every old class is assumed to be as wide as the new one, and accuracy suffers where classes overlap, as in
        tf-idf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the new class.
        label : object
            The new class.
        X_old : array-like of shape (n_old, n_features), optional
            Samples of the old classes. If there are more than 1,000, the nearest to the new class are used, and a part
            of the others stands for the rest.
        y_old : array-like of shape (n_old,), optional
            Their classes.

        Returns
        -------
        self : object
            The estimator.
        """
        self._fitted("add_class")
        with unchanged_on_error(self), single_threaded_products():
            parts = self._parts()
            self._set_classes(*with_class(self, parts, X, label, X_old, y_old))
        if self.model_.relevance is not None and not isinstance(self._state.relevance, Scale):
            warn(
                f"add_class of {type(self).__name__}: the metric was learned without class {label!r} and stays as it "
                "is, which can cost much accuracy. Fit a new model, or use one without relevances."
            )
        return self

    def remove_class(self, label: Label) -> Self:
        """Remove a class from the fitted model; all other prototypes stay as they are, to the bit.

        Parameters
        ----------
        label : object
            The class.

        Returns
        -------
        self : object
            The estimator.
        """
        self._fitted("remove_class")
        with unchanged_on_error(self):
            self._set_classes(*without_class(self, label))
        return self

    def _set_classes(self, training: Training, classes: np.ndarray) -> None:
        """Set a model with other classes, without the importances of features, which no longer hold."""
        metric = training.state.relevance.metric(training.labels)
        arrays = {"prototypes": training.params.prototypes, "labels": training.labels, "classes": classes}
        model = replace(self.model_, **arrays, relevance=training.params.relevance, metric=metric, importances=None)
        self.__dict__.update({"model_": model, "_state": training.state})

    def _settled(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, groups: np.ndarray | None, warm: bool
    ) -> tuple[Self, Parts, float]:
        """This estimator with what depends on the samples, its parts, and the temperature of its probabilities."""
        if self.n_prototypes != "auto":
            return self, parts, 1.0
        if warm:
            counts = np.bincount(self.model_.labels, minlength=len(classes))
        else:
            counts = np.full(len(classes), chosen_number(self, parts, samples, classes))
        return clone(self).set_params(n_prototypes=dict(zip(classes.tolist(), counts.tolist()))), parts, 1.0

    def _begin(
        self,
        parts: Parts,
        samples: ArraySamples,
        classes: np.ndarray,
        random_state: RandomState,
        *,
        stream: bool = False,
    ) -> Training:
        if isinstance(self.init, str):
            W, labels = self._start_prototypes(samples, classes, random_state)
        else:
            W, labels = given_prototypes(self, self._counts(classes), samples, classes)
        if parts.unit_length:
            W = on_sphere(W, labels, samples)
        return steps.begin(parts, samples, W, labels, len(classes), random_state, stream=stream)

    def _counts(self, classes: np.ndarray) -> np.ndarray:
        assert not isinstance(self.n_prototypes, str)
        return prototypes_per_class(self.n_prototypes, classes)

    def _start_prototypes(
        self, samples: ArraySamples, classes: np.ndarray, random_state: RandomState, default: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Prototypes for those classes that have samples; `default` fills features without any value."""
        assert isinstance(self.init, str)
        known = filled(samples, default) if samples.in_memory else samples
        return start_prototypes(known, self._counts(classes), self.init, random_state, classes)

    def _training(self) -> Training:
        """The fitted model as the start of further training, with a random state of its own."""
        model, width = self.model_, getattr(self.model_.link, "width", None)
        problem = state_problem(self._state, model)
        if problem:
            raise ValueError(
                f"A part of this {type(self).__name__} has changed since it was fitted: it has {problem}. Call fit "
                "again, without a warm start."
            )
        params = Params(model.prototypes, model.relevance, width)
        return Training(params, model.labels, model.link, self._state.copy())

    def _set_fitted(
        self,
        training: Training,
        parts: Parts,
        classes: np.ndarray,
        samples: ArraySamples | None,
        n_iter: int,
        history: np.ndarray,
        temperature: float = 1.0,
    ) -> None:
        names, seed = getattr(self, "feature_names_in_", None), self.random_state
        shared = seed is None or seed is training.state.random_state  # and may be used elsewhere
        fitted = {
            "model_": steps.fitted_model(training, parts, classes, names, samples, temperature),
            "_state": training.state.copy() if shared else training.state,
            "_class_weight": self.class_weight,
            "n_iter_": n_iter,
            "objective_history_": history,
        }
        self.__dict__.update(fitted)


def _warn_if_not_converged(estimator: BaseEstimator, result: Result, samples: ArraySamples) -> None:
    """Warn where lbfgs stopped at max_iter while the last tenth of its iterations still brought a hundredth."""
    history = result.history
    late = history[-max(2, len(history) // 10)] if len(history) > 1 else np.inf
    if result.converged or late - history[-1] <= LITTLE * (history[0] - history[-1]):
        return
    as_directions = getattr(estimator, "metric", "euclidean") == "cosine"
    scaled = as_directions or (samples.in_memory and 1 / SCALED <= typical_variance(samples) <= SCALED)
    warn(
        f"{type(estimator).__name__}: lbfgs stopped after {result.n_iter} iterations, before the objective "
        f"({history[-1]:.5g}) converged. Increase max_iter (now {estimator.max_iter}) or the solver's tol"
        f"{'' if scaled else ', or scale the features to unit variance'}.",
        ConvergenceWarning,
    )
